import path from 'node:path';

import type { Executor } from '../../src/core/execution.ts';
import { runChild } from '../../src/sandbox/process/child-process.ts';

/** Isolates nothing: shows that attacks would succeed without a sandbox. Never runs them as root, to protect this machine. */
export function openExecutor(): Executor {
  const identity = process.getuid?.() === 0 ? { uid: 64_322, gid: 64_322 } : undefined;
  return {
    name: 'local',
    identity,
    attach: async ({ root }) =>
      await Promise.resolve({
        capabilities: {
          isolation: 'none',
          limits: { wallMs: 'runtime' },
          hasNetworkGrants: false,
          hasInteraction: false,
          hasTerminal: false,
        },
        root,
        run: async (spec, streams) =>
          await runChild(
            {
              argv: spec.argv,
              cwd: path.join(root, spec.cwd),
              env: spec.env,
              identity,
            },
            { stdin: spec.stdin, limits: spec.limits, streams },
          ),
        detach: async () => await Promise.resolve(),
      }),
  };
}
