import path from 'node:path';

import { SkillError, type RunResult } from '#core';
import { servePort, servingCommand, type RunFolder, type ServedPort, type Workspace } from '#sandbox';
import type { ExecutionParts } from './parts.ts';

/** Programs of these have a network of their own; without isolation a port is that of this machine already. */
const OWN_NETWORK: ReadonlySet<RunResult['isolation']> = new Set(['bubblewrap', 'namespaces', 'container']);

/** Short, because the path of a socket is limited. */
const SOCKET = 'serve.sock';

/** What comes before the command of a program whose port is served. */
export function servingStart({ serve }: ExecutionParts, workspace: Workspace, run: RunFolder): readonly string[] {
  if (serve === undefined || !hasOwnNetwork(workspace)) return [];
  const { root, capabilities } = workspace.attached;
  return servingCommand(`${root}/${run.path}/${SOCKET}`, serve.port, capabilities.isolation === 'container');
}

export async function serveProgram(
  { serve }: ExecutionParts,
  workspace: Workspace,
  run: RunFolder,
): Promise<ServedPort | undefined> {
  if (serve === undefined || !hasOwnNetwork(workspace)) return undefined;
  const { isolation, hasNetworkGrants } = workspace.attached.capabilities;
  if (!hasNetworkGrants)
    throw new SkillError({
      code: 'executor/failed',
      message: `port ${String(serve.port)} cannot be served: the engine of the ${isolation} executor cannot mount a socket of this machine`,
      hint: 'use an engine that runs on this machine, or another executor (skillwright doctor lists them)',
      data: { executor: isolation, cause: 'no shared files' },
    });
  return await servePort({ ...serve, socketPath: path.join(run.host, SOCKET) });
}

function hasOwnNetwork({ attached }: Workspace): boolean {
  return OWN_NETWORK.has(attached.capabilities.isolation);
}
