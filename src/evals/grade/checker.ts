/** Grades by the exit codes of checker scripts. The caller runs them in a sandbox. */
import { timerMs } from '#platform';
import type { EvalCase, OutputCheck } from '../cases/case.ts';
import type { CheckResult } from '../report/result.ts';
import { quoted } from '#core';
import { errored, failed, passed, SHOWN_CHARACTERS, skipped, type CheckHead } from './check.ts';

export type CheckerCheck = Extract<OutputCheck, { readonly type: 'checker' }>;

/** `said` is the shortened output of the checker. */
export type CheckerEnd =
  | { readonly type: 'exited'; readonly code: number; readonly output: string }
  /** The checker did not start, hit a limit or crashed. */
  | { readonly type: 'broken'; readonly reason: string };

/** Runs one checker over the outputs of a run, in the sandbox. It should stop when the signal aborts. */
export type RunChecker = (check: CheckerCheck, signal: AbortSignal) => Promise<CheckerEnd>;

export async function gradeByCheckers(
  one: EvalCase,
  run: RunChecker | undefined,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [place, check] of (one.expect.output ?? []).entries()) {
    if (check.type !== 'checker') continue;
    const asked = `the checker ${quoted(check.script, 120)} passes`;
    const head: CheckHead = { id: `output[${String(place)}]`, kind: 'output', asked };
    if (run === undefined) results.push(skipped(head, 'program execution is disabled, so checkers cannot run'));
    else results.push(endResult(head, await runWithDeadline(run, check, signal, deadlineMs)));
  }
  return results;
}

/** Does not wait for a checker that ignores its signal. */
async function runWithDeadline(
  run: RunChecker,
  check: CheckerCheck,
  whole: AbortSignal,
  deadlineMs: number,
): Promise<CheckerEnd> {
  const deadline = AbortSignal.timeout(timerMs(deadlineMs));
  const signal = AbortSignal.any([whole, deadline]);
  const stopped = new Promise<CheckerEnd>((resolve) => {
    const stop = (): void =>
      resolve({
        type: 'broken',
        reason: deadline.aborted ? `the checker did not finish within ${String(deadlineMs)} ms` : 'cancelled',
      });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  const ran = run(check, signal).catch((error: unknown): CheckerEnd => ({
    type: 'broken',
    reason: error instanceof Error ? error.message : String(error),
  }));
  return Promise.race([ran, stopped]);
}

/** Exit code 0 passes and 1 fails; any other code means that the checker has no verdict. */
function endResult(head: CheckHead, end: CheckerEnd): CheckResult {
  if (end.type === 'broken') return errored(head, end.reason);
  const { code, output } = end;
  const text = `exit ${String(code)}${output.trim() === '' ? '' : `: ${quoted(output.trim(), SHOWN_CHARACTERS)}`}`;
  if (code === 0) return passed(head);
  return code === 1 ? failed(head, text) : errored(head, text);
}
