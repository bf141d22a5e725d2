import { createRuntime } from '../packs/open-runtime.ts';
import type { Runtime, RuntimeOptions } from '../runtime/runtime.ts';
import type { GlobalInvocation } from './command.ts';
import { openProgress } from './terminal/progress.ts';
import { parseSettings } from './arguments.ts';

type Extra = Pick<RuntimeOptions, 'explain' | 'nestedInSkills' | 'cache'>;

/** Opens the runtime that the global flags describe; a long scan shows progress. */
export async function openRuntime({ flags, terminal, signal }: GlobalInvocation, extra: Extra = {}): Promise<Runtime> {
  const config = await parseSettings(flags.set);
  const progress = openProgress(terminal);
  try {
    return await createRuntime({
      ...(flags.cwd === undefined ? {} : { cwd: flags.cwd }),
      ...(flags.config === undefined ? {} : { configFile: flags.config }),
      ...(config === undefined ? {} : { config }),
      roots: flags.root ?? [],
      onlyRoots: flags['only-root'] ?? false,
      ...(flags.source === undefined ? {} : { source: flags.source }),
      cache: flags['no-cache'] !== true,
      signal,
      onProgress: ({ directories, skills }) => {
        progress.show(
          `scanning for skills: ${skills.toLocaleString('en')} found in ${directories.toLocaleString('en')} folders`,
        );
      },
      ...extra,
    });
  } finally {
    progress.end();
  }
}
