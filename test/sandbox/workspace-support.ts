import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';

import type { AttachedWorkspace, Executor, Identity, WorkspaceFolder } from '../../src/core/execution.ts';
import { removeTree } from '../../src/platform/fs/remove-tree.ts';
import { openWorkspaces, type Workspaces, type WorkspacesOptions } from '../../src/sandbox/workspace/workspace.ts';
import { scratch } from '../skills/registry/support.ts';

export const IS_ROOT = process.getuid?.() === 0;

/** Somebody else than we are, where we may give files away. */
export const NOBODY: Identity = { uid: 65_534, gid: 65_534 };

export interface RecordingExecutor extends Executor {
  readonly attached: WorkspaceFolder[];
  readonly detached: string[];
}

/** Runs nothing: says whether it isolates, and keeps what it was told. */
export function fakeExecutor(
  kind: 'isolating' | 'local',
  more: { readonly identity?: Identity; readonly onAttach?: () => Promise<void> } = {},
): RecordingExecutor {
  const attached: WorkspaceFolder[] = [];
  const detached: string[] = [];
  return {
    name: kind === 'isolating' ? 'bubblewrap' : 'local',
    identity: more.identity,
    attached,
    detached,
    async attach(place): Promise<AttachedWorkspace> {
      await more.onAttach?.();
      attached.push(place);
      return {
        capabilities: {
          isolation: kind === 'isolating' ? 'bubblewrap' : 'none',
          limits: {},
          hasNetworkGrants: false,
          hasInteraction: false,
          hasTerminal: false,
        },
        root: kind === 'isolating' ? '/workspace' : place.root,
        run: () => Promise.reject(new Error('it runs nothing')),
        detach: async () => void detached.push(place.id),
      };
    },
  };
}

export interface Bench {
  /** Of the test, on the way to all the others. */
  readonly folder: string;
  readonly base: string;
  readonly workspaces: Workspaces;
}

/** Workspaces in a folder of the test's own, reachable for every user. */
export function openBench(options: Partial<WorkspacesOptions> = {}): Bench {
  const folder = scratch();
  chmodSync(folder, 0o711);
  // Read-only files are not removed by what cleans up after tests, unless it is root.
  const inner = path.join(folder, 'inner');
  mkdirSync(inner, { mode: 0o711 });
  const base = path.join(inner, 'base');
  const workspaces = openWorkspaces({ base, ...options });
  onTestFinished(async () => {
    await workspaces.close();
    await removeTree(inner);
  });
  return { folder, base, workspaces };
}
