/** Runs, failures and cost by day and by skill. */
import type { RunRow, RunStatistics } from './api/runs.ts';
import type { Immutable } from './router.ts';

type Row = Immutable<RunRow>;

/** The length of `2026-11-20`. */
const DAY = 10;
const MAX_DAYS = 90;
const MAX_SKILLS = 20;
const FAILED: ReadonlySet<string> = new Set(['failed', 'record-failed', 'killed', 'unreadable']);

interface Sum {
  runs: number;
  failed: number;
  tokens: number;
  usd: number;
}

export function countRuns(rows: readonly Row[]): Omit<Immutable<RunStatistics>, 'unread'> {
  const days = new Map<string, Sum>();
  const skills = new Map<string, Sum>();
  const models = new Set<string>();
  const add = (sums: Map<string, Sum>, name: string, { state, usage }: Row): void => {
    const sum = sums.get(name) ?? { runs: 0, failed: 0, tokens: 0, usd: 0 };
    sum.runs += 1;
    if (FAILED.has(state)) sum.failed += 1;
    sum.tokens += (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
    sum.usd += usage?.usd ?? 0;
    sums.set(name, sum);
  };
  for (const row of rows) {
    for (const model of row.usage?.models ?? []) models.add(model);
    for (const skill of row.skills) add(skills, skill, row);
    if (row.startedAt !== undefined) add(days, row.startedAt.slice(0, DAY), row);
  }
  return {
    days: [...days]
      .toSorted(([one], [two]) => (one < two ? -1 : 1))
      .slice(-MAX_DAYS)
      .map(([day, sum]) => ({ day, ...sum })),
    skills: [...skills]
      .toSorted(([, one], [, two]) => two.runs - one.runs)
      .slice(0, MAX_SKILLS)
      .map(([skill, sum]) => ({ skill, ...sum })),
    models: [...models].toSorted(),
  };
}
