/** How the cases of a report did in earlier reports. */
import { hasVerdict, isCounted, type EvalReport, type Rate } from './result.ts';
import { sumCosts, modelsText, countTokens } from './report-text.ts';
import { ratePasses } from './same-requests.ts';

export interface TrendRow {
  readonly startedAt: string;
  readonly models: string;
  /** Cases of the last report that this one has too; the numbers are about them only. */
  readonly cases: number;
  readonly passRate: Rate;
  readonly tokens: number;
  /** Names of evaluated skills that changed since the row before. */
  readonly changed: readonly string[];
}

/** Rows of the reports that share a case with the last one, oldest first. Only the arm with the skill counts, without harness checks and quarantined cases. */
export function buildTrend(reports: readonly EvalReport[]): readonly TrendRow[] {
  const last = reports.at(-1);
  const ids = new Set(last?.results.filter(({ arm }) => arm === 'with').map((result) => result.case));
  const digests = new Map<string, string>();
  return reports.flatMap((report): readonly TrendRow[] => {
    const own = report.results.filter(
      (result) =>
        result.arm === 'with' &&
        result.isHarnessCheck !== true &&
        ids.has(result.case) &&
        isCounted(result) &&
        hasVerdict(result),
    );
    // A failed control leaves no score.
    if (own.length === 0 || report.trigger?.isValid === false) return [];
    const skills = report.skills.filter(({ role }) => role !== 'control');
    const changed = skills.filter(({ name, digest }) => digests.has(name) && digests.get(name) !== digest);
    for (const { name, digest } of skills) digests.set(name, digest);
    return [
      {
        startedAt: report.startedAt,
        models: modelsText(report.models),
        cases: new Set(own.map((result) => result.case)).size,
        passRate: ratePasses(own),
        tokens: countTokens(sumCosts(own)) / own.length,
        changed: changed.map(({ name }) => name),
      },
    ];
  });
}
