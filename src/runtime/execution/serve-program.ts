import path from 'node:path';

import type { Isolation } from '../../core/execution.ts';
import { servePort, servingCommand } from '../../sandbox/network/serve-port.ts';
import type { ServedPort } from '../../sandbox/network/serve-port.ts';
import type { RunFolder, Workspace } from '../../sandbox/workspace/workspace.ts';
import type { ExecutionParts } from './parts.ts';

/** Programs of these have a network of their own; without isolation a port is that of this machine already. */
const OWN_NETWORK: ReadonlySet<Isolation> = new Set(['bubblewrap', 'namespaces', 'container']);

/** Short, because the path of a socket is limited. */
const SOCKET = 'serve.sock';

/** What comes before the command of a program whose port is served. */
export function servingStart({ serve }: ExecutionParts, workspace: Workspace, run: RunFolder): readonly string[] {
  if (serve === undefined || !hasOwnNetwork(workspace)) return [];
  return servingCommand(`${workspace.attached.root}/${run.path}/${SOCKET}`, serve.port);
}

export async function serveProgram(
  { serve }: ExecutionParts,
  workspace: Workspace,
  run: RunFolder,
): Promise<ServedPort | undefined> {
  if (serve === undefined || !hasOwnNetwork(workspace)) return undefined;
  return await servePort({ ...serve, socketPath: path.join(run.host, SOCKET) });
}

function hasOwnNetwork({ attached }: Workspace): boolean {
  return OWN_NETWORK.has(attached.capabilities.isolation);
}
