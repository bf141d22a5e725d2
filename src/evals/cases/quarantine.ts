/** Flaky cases: run and shown, but not counted until a date. Afterwards they count again, so that nothing is forgotten there. */
import type { JsonPath } from '#core';
import type { WrittenCase } from './case-schema.ts';
import { addProblem, type CaseReport } from './problem.ts';

export interface Quarantine {
  /** The last day on which it holds, such as `2026-12-31`, in UTC. */
  readonly until: string;
  /** What was measured: so many of so many attempts passed. */
  readonly passed: number;
  readonly of: number;
}

const DAY_MS = 86_400_000;
/** How long a proposed quarantine lasts, and how long any may last from today. */
const USUAL_DAYS = 30;
const MOST_DAYS = 90;
/** A case is proposed if at least so many attempts were made, and at least this part of them differs from the others. */
const LEAST_ATTEMPTS = 5;
const LEAST_PART = 0.2;

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Returns undefined for one that ended, with a warning, and for a wrong one, with an error. */
export function readQuarantine(
  report: CaseReport,
  written: WrittenCase['quarantine'],
  now = Date.now(),
): Quarantine | undefined {
  if (written === undefined) return undefined;
  const { until, passed, of } = written;
  const at: JsonPath = ['quarantine'];
  const time = /^\d{4}-\d{2}-\d{2}$/.test(until) ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(time) || toDay(time) !== until) {
    addProblem(
      report,
      [...at, 'until'],
      'quarantine.until is not a date',
      `write a day such as ${toDay(now + USUAL_DAYS * DAY_MS)}`,
    );
    return undefined;
  }
  if (passed >= of) {
    const hint = 'fix the case or the skill; passed and of say how many of how many attempts passed';
    addProblem(report, at, 'only a case that sometimes passes and sometimes fails can be in quarantine', hint);
    return undefined;
  }
  if (until < toDay(now)) {
    const hint = 'remove the quarantine, or measure the case again with --repeat 10';
    addProblem(report, at, `the quarantine ended on ${until}: the case counts again`, hint, 'warning');
    return undefined;
  }
  if (time > now + MOST_DAYS * DAY_MS) {
    const last = toDay(now + MOST_DAYS * DAY_MS);
    addProblem(
      report,
      [...at, 'until'],
      `a quarantine lasts at most ${String(MOST_DAYS)} days`,
      `write ${last} or earlier`,
    );
    return undefined;
  }
  return { until, passed, of };
}

/** The quarantine to propose for a case of which so many attempts passed; undefined if it is steady enough, or if there were too few attempts. */
export function proposeQuarantine(passed: number, of: number, startedAt: string): Quarantine | undefined {
  const time = Date.parse(startedAt);
  const odd = Math.min(passed, of - passed);
  if (of < LEAST_ATTEMPTS || odd < of * LEAST_PART || Number.isNaN(time)) return undefined;
  return { until: toDay(time + USUAL_DAYS * DAY_MS), passed, of };
}
