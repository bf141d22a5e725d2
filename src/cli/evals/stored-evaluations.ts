/** Finished evaluations of a project, as the console shows them. */
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { quoted } from '../../core/text/text.ts';
import { pageData } from '../../evals/page/page-data.ts';
import type { PageOptions } from '../../evals/page/page-data.ts';
import { htmlReport } from '../../evals/page/report-page.ts';
import { resultView } from '../../evals/page/run-view.ts';
import type { EvalReport } from '../../evals/report/result.ts';
import type { EvaluationSource } from '../../server/server-options.ts';
import { evaluationNames, evaluationsFolder, reportIn } from './report-folder.ts';

export function storedEvaluations(cwd: string): EvaluationSource {
  const read = (id: string): EvalReport => {
    const report = evaluationNames(cwd).includes(id) ? reportIn(path.join(evaluationsFolder(cwd), id)) : undefined;
    if (report !== undefined) return report;
    throw new SkillError({
      code: 'input/invalid',
      message: `there is no finished evaluation ${quoted(id)}`,
      hint: 'run skillwright eval first',
      data: { expected: 'the name of a folder in .agent/evals' },
    });
  };
  const options = (against: string | undefined): PageOptions => ({
    view: resultView,
    ...(against === undefined ? {} : { before: read(against) }),
  });
  const all = (): readonly (readonly [string, EvalReport])[] =>
    evaluationNames(cwd)
      .toReversed()
      .flatMap((id) => {
        const report = reportIn(path.join(evaluationsFolder(cwd), id));
        return report === undefined ? [] : [[id, report] as const];
      });
  return {
    list: () =>
      all().map(([id, { startedAt, skills, models, arms, isPartial, wallMs }]) => {
        // The evaluated arm is the first.
        const [own] = arms;
        const { passed = 0, failed = 0, error = 0, skipped = 0 } = own?.totals ?? {};
        return {
          id,
          startedAt,
          skills: skills.map(({ name }) => name),
          models: models.map((model) => model.id),
          totals: { passed, failed, error, skipped },
          passRate: own?.passRate ?? { count: 0, of: 0, low: 0, high: 1 },
          isPartial,
          wallMs,
        };
      }),
    page: (id, against) => pageData(read(id), options(against)),
    html: (id, against) => htmlReport(read(id), options(against)),
    history: (name) =>
      all().flatMap(([id, { startedAt, results }]) => {
        const found = results.filter((result) => result.case === name);
        const arms = [...new Set(found.map(({ arm }) => arm))];
        return arms.map((arm) => {
          const attempts = found.filter((result) => result.arm === arm);
          const passed = attempts.filter(({ status }) => status === 'passed').length;
          const worst = attempts.find(({ status }) => status !== 'passed')?.status ?? 'passed';
          return { id, startedAt, arm, status: worst, passed, attempts: attempts.length };
        });
      }),
  };
}
