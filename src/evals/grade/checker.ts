/** Programs of a suite that look at what a run left. Whoever runs them gives the sandbox; here is only what their end means. */
import type { EvalCase, OutputCheck } from '../cases/case.ts';
import type { CheckResult } from '../report/result.ts';
import { quoted } from '../../core/text/text.ts';
import { failed, judged, notJudged, SHOWN_CHARACTERS, skipped } from './check.ts';
import type { CheckHead } from './check.ts';
import type { RunFacts } from './run-facts.ts';

export type CheckerCheck = Extract<OutputCheck, { readonly type: 'checker' }>;

/** How a checker ended. `said`: what it printed, shortened. */
export type CheckerEnd =
  | { readonly type: 'exited'; readonly code: number; readonly said: string }
  /** It could not be run, was ended by a limit, or crashed. */
  | { readonly type: 'broken'; readonly reason: string };

/** Runs one checker over the outputs of a run, in the sandbox. Must end when the signal says so. */
export type RunChecker = (
  check: CheckerCheck,
  about: { readonly case: EvalCase; readonly facts: RunFacts; readonly signal: AbortSignal },
) => Promise<CheckerEnd>;

/** Exit 2 and above: the checker itself says that it cannot judge. */
const FAILED = 1;

export async function gradeByCheckers(
  one: EvalCase,
  facts: RunFacts,
  {
    run,
    deadlineMs,
    signal,
  }: { readonly run: RunChecker | undefined; readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [place, check] of (one.expect.output ?? []).entries()) {
    if (check.type !== 'checker') continue;
    const head: CheckHead = {
      id: `output[${String(place)}]`,
      kind: 'output',
      asked: `the checker ${quoted(check.script, 120)} passes`,
    };
    if (run === undefined) results.push(skipped(head, 'nothing runs checkers here'));
    else results.push(endResult(head, await endOf(run, check, { case: one, facts, deadlineMs, signal })));
  }
  return results;
}

interface CheckerRun {
  readonly case: EvalCase;
  readonly facts: RunFacts;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** The end of a checker, or that it has none in time: one that does not listen is not waited for. */
async function endOf(
  run: RunChecker,
  check: CheckerCheck,
  { deadlineMs, signal, ...about }: CheckerRun,
): Promise<CheckerEnd> {
  const limit = AbortSignal.timeout(deadlineMs);
  const both = AbortSignal.any([signal, limit]);
  const stopped = new Promise<CheckerEnd>((resolve) => {
    const stop = (): void =>
      resolve({
        type: 'broken',
        reason: limit.aborted ? `it did not end within ${String(deadlineMs)} ms` : 'it was cancelled',
      });
    if (both.aborted) stop();
    else both.addEventListener('abort', stop, { once: true });
  });
  const ran = run(check, { ...about, signal: both }).catch((error: unknown): CheckerEnd => ({
    type: 'broken',
    reason: error instanceof Error ? error.message : 'it threw',
  }));
  return Promise.race([ran, stopped]);
}

function endResult(head: CheckHead, end: CheckerEnd): CheckResult {
  if (end.type === 'broken') return notJudged(head, end.reason);
  const { code, said } = end;
  const text = `exit ${String(code)}${said.trim() === '' ? '' : `: ${quoted(said.trim(), SHOWN_CHARACTERS)}`}`;
  if (code === 0) return judged(head, '');
  return code === FAILED ? failed(head, text) : notJudged(head, text);
}
