/** What an evaluation lacks: attempts without a record, where stored runs are graded again, and checks that did not run. */
import { countText } from '#core';
import { isCounted, type EvalReport } from './result.ts';

const MOST_NAMES = 20;

/** Undefined if every planned attempt has a record. */
export function missingText({ missing = [] }: Pick<EvalReport, 'missing'>): string | undefined {
  if (missing.length === 0) return undefined;
  const more = missing.length > MOST_NAMES ? ` and ${String(missing.length - MOST_NAMES)} more` : '';
  return `${countText(missing.length, 'attempt')} without a record: ${missing.slice(0, MOST_NAMES).join(', ')}${more}`;
}

const MOST_REASONS = 3;

/** Undefined if every check ran of the results that did not fail. Without a judge or a sandbox, they are not decided. */
export function uncheckedText({ results }: Pick<EvalReport, 'results'>): string | undefined {
  const own = results.filter((result) => result.arm === 'with' && isCounted(result) && result.isHarnessCheck !== true);
  const open = own
    .filter(({ status }) => status === 'passed' || status === 'skipped')
    .map(({ checks }) => checks.filter(({ status }) => status === 'skipped'))
    .filter((checks) => checks.length > 0);
  if (open.length === 0) return undefined;
  const reasons = [...new Set(open.flat().map(({ found }) => found))].slice(0, MOST_REASONS).join('; ');
  return `${String(open.length)} of ${countText(own.length, 'result')} have checks that did not run: ${reasons}`;
}
