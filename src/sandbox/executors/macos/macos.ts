import path from 'node:path';

import type { AttachedWorkspace, Executor, ProgramEnd, ProgramSpec } from '#core';
import { isPresent, namesIn, realPath } from '#platform';
import { findNpm } from '../linux/runtimes.ts';
import { runChild } from '../../process/child-process.ts';
import { executorUnavailable } from '../failures.ts';
import { movedMountsDenied, networkDenied, startFolder } from '../program-spec.ts';
import { macosProfile } from './macos-profile.ts';
import { writableFolders } from '../../workspace/layout.ts';
import type { WorkspaceFolder } from '../../program-types.ts';

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

/**
 * Runs programs under `sandbox-exec`. **Unverified**: written from Apple's documentation and other projects' profiles; only the profile
 * text is tested, and it has not run on macOS yet. It enforces limits on time and output, and reports that it enforces no others.
 */
export function macosExecutor(): Executor {
  return {
    name: 'macos',
    attach: async (place) => {
      if (process.platform !== 'darwin' || !isPresent(SANDBOX_EXEC))
        throw executorUnavailable('macos', 'sandbox-exec is only available on macOS', {
          hint: 'use bubblewrap on Linux, or the container executor',
          reasons: [`${SANDBOX_EXEC} does not exist`],
          install: 'apt-get install bubblewrap',
        });
      const root = realPath(place.root);
      const stopping = new AbortController();
      const attached: AttachedWorkspace = {
        capabilities: {
          isolation: 'seatbelt',
          limits: { wallMs: 'runtime', outputBytes: 'runtime' },
          hasNetworkGrants: false,
          hasInteraction: false,
          hasTerminal: false,
        },
        root,
        run: (spec, streams) => run({ id: place.id, root, skills: place.skills }, stopping.signal, spec, streams),
        detach: () => Promise.resolve(stopping.abort()),
      };
      return await Promise.resolve(attached);
    },
  };
}

async function run(
  { root, skills }: WorkspaceFolder,
  stopping: AbortSignal,
  spec: ProgramSpec,
  streams: Parameters<AttachedWorkspace['run']>[1],
): Promise<ProgramEnd> {
  const denied = spec.network.length > 0 ? networkDenied(spec) : movedMountsDenied(spec);
  if (denied !== undefined) return denied;
  const profile = macosProfile({
    workspace: root,
    mounts: spec.mounts ?? [],
    writable: writableFolders(spec).map((name) => path.join(root, name)),
    readable: [...skills.map(({ snapshot }) => realPath(snapshot)), ...nodeFiles(realPath(process.execPath))],
  });
  const signal = streams.signal === undefined ? stopping : AbortSignal.any([streams.signal, stopping]);
  return await runChild(
    {
      argv: [SANDBOX_EXEC, '-p', profile, ...spec.argv],
      cwd: startFolder(root, spec.cwd),
      env: spec.env,
      executor: 'macos',
    },
    { stdin: spec.stdin, limits: spec.limits, streams: { ...streams, signal } },
  );
}

/** Node with its libraries and npm, and not the folder around them, which may be `~/.local`. */
function nodeFiles(node: string): readonly string[] {
  const libraries = path.join(path.dirname(path.dirname(node)), 'lib');
  const npm = findNpm(node);
  return [
    node,
    ...namesIn(libraries)
      .filter((name) => name.endsWith('.dylib'))
      .map((name) => path.join(libraries, name)),
    ...(npm === undefined ? [] : [npm]),
  ];
}
