import { DEFAULT_LIMITS } from '../../core/execution.ts';
import type { Inspect } from '../../sandbox/programs/preflight.ts';
import type { Workspace } from '../../sandbox/workspace/workspace.ts';

const LIMITS = { ...DEFAULT_LIMITS, wallMs: 10_000, outputBytes: 256 * 1024 };

/** Asks the inside of a workspace what is there, where that is another place than this machine. */
export function inspectIn(openWorkspace: () => Promise<Workspace>): Inspect {
  return async (argv) => {
    const { attached } = await openWorkspace();
    const chunks: Uint8Array[] = [];
    const spec = {
      argv,
      cwd: 'work',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
      stdin: new Uint8Array(),
      limits: LIMITS,
      network: [],
    };
    const stdout = { write: (chunk: Uint8Array) => chunks.push(Uint8Array.from(chunk)) > 0 };
    const end = await attached.run(spec, { stdout, stderr: { write: () => true } });
    return end.exitCode === 0 ? Buffer.concat(chunks).toString('utf8') : undefined;
  };
}
