import { createRuntime } from '../packs/open-runtime.ts';
import type { Runtime, RuntimeOptions } from '../runtime/runtime.ts';
import type { GlobalInvocation } from './command.ts';
import { openProgress } from './terminal/progress.ts';
import { settingsOf } from './settings.ts';

type Extra = Pick<RuntimeOptions, 'explain' | 'nestedInSkills' | 'cache'>;

/** The runtime that the global flags describe; a scan that takes long shows that it goes on. */
export async function openRuntime({ flags, terminal, signal }: GlobalInvocation, extra: Extra = {}): Promise<Runtime> {
  const config = await settingsOf(flags.set);
  const progress = openProgress(terminal);
  try {
    return await createRuntime({
      ...(flags.cwd === undefined ? {} : { cwd: flags.cwd }),
      ...(flags.config === undefined ? {} : { configFile: flags.config }),
      ...(config === undefined ? {} : { config }),
      roots: flags.root ?? [],
      onlyRoots: flags['only-root'] ?? false,
      cache: flags['no-cache'] !== true,
      signal,
      onProgress: ({ directories, skills }) => {
        progress.show(
          `looking for skills: ${skills.toLocaleString('en')} found in ${directories.toLocaleString('en')} folders`,
        );
      },
      ...extra,
    });
  } finally {
    progress.end();
  }
}
