import { createRuntime } from '#packs';
import type { Runtime, RuntimeOptions } from '#runtime';
import type { GlobalInvocation } from './command.ts';
import { openProgress } from './terminal/progress.ts';
import { reportWarning, type Terminal } from './terminal/terminal.ts';
import { configProblem, defined, isSkillError, printable } from '#core';
import { usageError } from './exit.ts';
import { parseSettings } from './arguments.ts';

type Extra = Pick<RuntimeOptions, 'explain' | 'nestedInSkills' | 'cache' | 'recordedVocabulary'>;

interface RuntimeInvocation extends Omit<GlobalInvocation, 'flags'> {
  readonly flags: GlobalInvocation['flags'] & {
    readonly auto?: boolean | undefined;
    readonly vocabulary?: RuntimeOptions['vocabulary'];
  };
}

/** Opens the runtime that the global flags describe; a long scan shows progress. */
export async function openRuntime({ flags, terminal, signal }: RuntimeInvocation, extra: Extra = {}): Promise<Runtime> {
  const auto = flags.auto === true ? ['policy.sandboxed=allow'] : [];
  const config = await parseSettings(
    flags.set === undefined && auto.length === 0 ? undefined : [...(flags.set ?? []), ...auto],
  );
  const progress = openProgress(terminal);
  try {
    const runtime = await createRuntime({
      ...defined({ cwd: flags.cwd, configFile: flags.config, config, vocabulary: flags.vocabulary }),
      roots: flags.root ?? [],
      onlyRoots: flags['only-root'] ?? false,
      source: flags.source,
      cache: flags['no-cache'] !== true,
      signal,
      onProgress: ({ directories, skills }) => {
        progress.show(`scanning for skills: ${String(skills)} found in ${String(directories)} folders`);
      },
      onWarning: (message) => reportWarning(terminal, printable(message)),
      ...extra,
    });
    // The next command no longer finds it, so every command reports it.
    for (const { code, message } of runtime.diagnostics)
      if (code === 'root/interrupted') terminal.remark(`note: ${message}`);
    return runtime;
  } catch (error) {
    if (flags.source === undefined || !isSkillError(error) || error.code !== 'input/invalid') throw error;
    throw usageError(error.message, error.hint);
  } finally {
    progress.end();
  }
}

const REPORTED: ReadonlySet<string> = new Set([
  'config/not-for-project',
  'config/wider',
  'config/ignored-file',
  'root/missing',
  'root/not-a-directory',
  'root/not-supported',
  'root/unreadable',
]);

/**
 * An invalid file is not used at all, nor is a TOML file, a project cannot set keys that belong to the user or loosen what the user allows,
 * and a root that cannot be read has no skills: tools, settings and skills would only seem to be missing.
 */
export function warnAboutConfig({ diagnostics }: Runtime, terminal: Terminal): void {
  const problem = configProblem(diagnostics);
  if (problem !== undefined) reportWarning(terminal, `${problem.message} (${problem.hint})`);
  for (const { code, path, message, hint } of diagnostics)
    if (REPORTED.has(code)) reportWarning(terminal, `${printable(path)}: ${message}; ${hint}`);
}
