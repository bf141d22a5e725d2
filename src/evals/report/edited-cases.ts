/**
 * Finds cases whose outcomes in two reports are not comparable: what they check or are given was edited in between, or a report counts them in
 * nothing.
 */
import { ENDED, hasVerdict, isCounted, type CaseResult, type EvalReport } from './result.ts';

/** Conditions that belong to the case, by their name in `given`. The model and the skill may differ: they are what is compared. */
const CONDITIONS = {
  expectations: 'checks',
  inputs: 'input files',
  budget: 'limits',
  permissions: 'permissions',
  configuration: 'configuration',
} as const;

type Judges = Readonly<Record<'before' | 'after', EvalReport['judge']>>;

/** Such as `the checks and the limits changed`; undefined if the case is the same, and counts, in both reports. */
export function describeEdits(
  old: readonly CaseResult[],
  now: readonly CaseResult[],
  { before, after }: Judges,
): string | undefined {
  const [wasFlaky, isFlaky] = [!old.every(isCounted), !now.every(isCounted)];
  if (wasFlaky) return isFlaky ? 'it is in quarantine' : 'its quarantine ended';
  if (isFlaky) return 'it was put in quarantine';
  const edits = [
    ...(sameValues(old, now, ({ input }) => input) ? [] : ['request']),
    ...Object.entries(CONDITIONS).flatMap(([key, name]) => (hasSameCondition(key, old, now) ? [] : [name])),
  ];
  const isJudged = [...old, ...now].some(({ checks }) => checks.some(({ kind }) => kind === 'judge'));
  if (isJudged && before?.id !== after?.id) edits.push('judge');
  const [first, ...others] = [...new Set(edits)];
  if (first !== undefined) return `the ${[first, ...others].join(' and the ')} changed`;
  return sameValues(old.filter(hasVerdict), now.filter(hasVerdict), listUnjudged)
    ? undefined
    : 'not the same checks were judged';
}

function hasSameCondition(key: string, old: readonly CaseResult[], now: readonly CaseResult[]): boolean {
  const isRecorded = [old, now].every((results) => results.some(({ given }) => given?.['inputs'] !== undefined));
  if (isRecorded) return sameValues(old, now, ({ given }) => given?.[key]);
  // Without conditions, the texts of the checks tell.
  return key !== 'expectations' || sameValues(old.filter(hasVerdict), now.filter(hasVerdict), listAsked);
}

/** Whether the results have one value in common; results without the value say nothing. */
function sameValues(
  old: readonly CaseResult[],
  now: readonly CaseResult[],
  read: (result: CaseResult) => string | undefined,
): boolean {
  const values = (results: readonly CaseResult[]): ReadonlySet<string> =>
    new Set(results.map(read).filter((value) => value !== undefined));
  const [was, is] = [values(old), values(now)];
  return was.size === 0 || is.size === 0 || [...is].some((value) => was.has(value));
}

function listAsked({ checks }: CaseResult): string {
  const own = checks.filter(({ id }) => !id.startsWith(ENDED));
  return own.map(({ id, asked }) => `${id} ${asked}`).join('\n');
}

function listUnjudged({ checks }: CaseResult): string {
  const unjudged = checks.filter(({ status }) => status === 'skipped');
  return unjudged.map(({ id }) => id).join('\n');
}
