import path from 'node:path';

import type { AttachedWorkspace, Executor, ProgramEnd, ProgramSpec } from '#core';
import { isPresent, realPath } from '#platform';
import { executorUnavailable } from '../failures.ts';
import { movedMountsDenied, networkDenied, startFolder } from '../program-spec.ts';
import { macosProfile } from './macos-profile.ts';
import { writableFolders } from '../../workspace/layout.ts';
import { runChild } from '../../process/child-process.ts';

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

/**
 * Runs programs under `sandbox-exec`. **Unverified**: written from Apple's documentation and other projects' profiles; only the profile
 * text is tested, and it has not run on macOS yet. It enforces limits on time and output, and reports that it enforces no others.
 */
export function macosExecutor({
  interpreters = [process.execPath],
}: { readonly interpreters?: readonly string[] } = {}): Executor {
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
      const profileFor = (spec: ProgramSpec): string =>
        macosProfile({
          workspace: root,
          mounts: spec.mounts ?? [],
          writable: writableFolders(spec).map((name) => path.join(root, name)),
          readable: [
            ...place.skills.map(({ snapshot }) => realPath(snapshot)),
            ...interpreters.map((file) => path.dirname(path.dirname(realPath(file)))),
          ],
        });
      return await Promise.resolve(attached(root, profileFor, stopping));
    },
  };
}

function attached(
  root: string,
  profileFor: (spec: ProgramSpec) => string,
  stopping: AbortController,
): AttachedWorkspace {
  return {
    capabilities: {
      isolation: 'seatbelt',
      limits: { wallMs: 'runtime', outputBytes: 'runtime' },
      hasNetworkGrants: false,
      hasInteraction: false,
      hasTerminal: false,
    },
    root,
    run: async (spec, streams) =>
      await run({ root, profile: profileFor(spec), stopping: stopping.signal }, spec, streams),
    detach: async () => {
      stopping.abort();
      await Promise.resolve();
    },
  };
}

interface Sandbox {
  readonly root: string;
  readonly profile: string;
  readonly stopping: AbortSignal;
}

async function run(
  { root, profile, stopping }: Sandbox,
  spec: ProgramSpec,
  streams: Parameters<AttachedWorkspace['run']>[1],
): Promise<ProgramEnd> {
  const denied = spec.network.length > 0 ? networkDenied(spec) : movedMountsDenied(spec);
  if (denied !== undefined) return denied;
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
