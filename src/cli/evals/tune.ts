/** `eval tune`: compares descriptions of a skill, and writes the best one only with --write and only if it is an improvement. */
import path from 'node:path';

import { printable } from '#core';
import { tuneDescription } from '#evals';
import { EXIT, UsageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { openProgress } from '../terminal/progress.ts';
import type { EvalInvocation } from './flags.ts';
import { readRequest } from './run.ts';

export async function evalTune(invocation: EvalInvocation): Promise<number> {
  const { positionals, flags, terminal } = invocation;
  const [, skill = '.', ...rest] = positionals;
  if (rest.length > 0) throw new UsageError('eval tune takes one skill', 'usage: skillwright eval tune SKILL');
  const progress = openProgress(terminal);
  const tuned = await tuneDescription({
    ...readRequest(invocation, await openRuntime(invocation), progress),
    skill,
    proposals: flags.proposals,
    proposer: flags.proposer,
  }).finally(() => progress.end());
  if (tuned === undefined) return EXIT.invalidEvaluation;
  terminal.remark(tuned.notes.map(printable));
  if (!terminal.printJson(tuned.report)) terminal.out(tuned.lines);
  terminal.remark(`results: ${printable(path.relative(invocation.surroundings.cwd, tuned.folder))}`);
  if (tuned.report.invalid.length > 0) return EXIT.invalidEvaluation;
  if (flags.write !== true) return EXIT.done;
  const written = tuned.write();
  if ('reason' in written) {
    terminal.err(`not written: ${written.reason}`);
    return EXIT.failed;
  }
  terminal.remark(`wrote the description to ${printable(written.file)}`);
  return EXIT.done;
}
