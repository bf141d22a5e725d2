/** `runs resume`: continues an interrupted run at this terminal. */
import path from 'node:path';

import { describeAction, printable, VOCABULARY_NAMES } from '#core';
import { projectOfRun, readRun } from '#journal';
import { isInside, readSealKey, realPath, tryRealPath } from '#platform';
import type { RESUME_FLAGS } from '../agent/agent-flags.ts';
import { endLines } from '../agent/agent-model.ts';
import { openAgent } from '../agent/open-agent.ts';
import { agentExecution } from '../agent/programs.ts';
import { resumingCommand } from '../agent/resume-command.ts';
import type { Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { reportWarning } from '../terminal/terminal.ts';

type ResumeInvocation = Invocation<typeof RESUME_FLAGS>;

/** `directory` is where the current project records its runs. */
export async function resumeRun(invocation: ResumeInvocation, place: string, directory: string): Promise<number> {
  const {
    flags,
    terminal,
    surroundings: { cwd, home },
  } = invocation;
  const { info } = readRun(place, { content: 'start' });
  const giveUp = (problems: readonly string[]): number => {
    if (!terminal.printJson({ path: place, type: 'impossible', problems }))
      terminal.err(problems.map((problem) => `impossible: ${printable(problem)}`));
    return EXIT.impossible;
  };
  // A run that worked in another project must not go on with the files of this one.
  const project = projectOfRun(info, { folder: place, cwd, directory, isSealed: true });
  if (project !== undefined && project !== realPath(cwd))
    return giveUp([`the run worked in ${printable(project)}: resume it there, or pass --cwd`]);
  const named = new Set((flags.in ?? []).map((file) => path.resolve(cwd, file)));
  const { runtime, display, options, work, judge } = await openAgent(invocation, {
    isOneValue: true,
    recordedVocabulary: VOCABULARY_NAMES.find((name) => name === info.vocabulary),
  });
  const { executor } = flags;
  const { resumeAgent } = await import('#agent/resume');
  const resumed = await work((steps) =>
    resumeAgent({
      ...options,
      path: place,
      mayBring: (file) => named.has(file) || isInProject(file, cwd),
      again: flags.again,
      onRepeat: (actions) => {
        reportWarning(terminal, `run ${info.run} was resumed before; these actions may happen again:`);
        terminal.err(actions.map((action) => `  ${printable(describeAction(action))}`));
      },
      steps,
      sealKey: readSealKey(home),
      run: {
        ...options.run,
        directory: path.dirname(place),
        execution:
          info.executor === null
            ? undefined
            : { ...agentExecution(invocation, runtime, executor), onOutput: display.output },
      },
    }),
  );
  if (resumed.type === 'impossible') return giveUp(resumed.problems);
  const { result } = resumed;
  if (!terminal.printJson({ resumes: info.run, ...result })) {
    display.end(result.answer);
    terminal.remark(endLines(result).map((line) => terminal.wrap(line, 2)));
  }
  const { status, showRest } = judge(result, resumingCommand(result.run ?? info.run, flags));
  showRest();
  return status;
}

/** Resolves links: a path inside the project that leads outside does not count. */
function isInProject(file: string, cwd: string): boolean {
  const [real, project] = [tryRealPath(file), tryRealPath(cwd)];
  return real !== undefined && project !== undefined && isInside(real, project);
}
