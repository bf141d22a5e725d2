import type { RunServer, RunServerOptions } from './run-server.ts';

/** Resolves when the server listens. Throws `input/invalid` for a weak token, and system errors for the port. */
export async function createRunServer(options: RunServerOptions): Promise<RunServer> {
  // The routes and their schemas are more than half of what skillwright/agent would load.
  const { createRunServer: create } = await import('./run-server.ts');
  return create(options);
}
