/** Finished evaluations of a project, as the console shows them. */
import path from 'node:path';

import { invalidInput, quoted } from '#core';
import { htmlReport, pageData, type PageOptions } from '../page/report-page.ts';
import { resultView } from '../page/run-view.ts';
import { ownArm } from '../report/report-text.ts';
import { groupBy, type EvalReport } from '../report/result.ts';
import { evaluationNames, evaluationsFolder, reportIn } from './report-folder.ts';

/** More evaluations make an unreadable table. */
const MAX_HISTORY = 20;

/** Returns what `EvaluationSource` of the server asks for. */
export function storedEvaluations(cwd: string) {
  const read = (id: string): EvalReport => {
    const report = evaluationNames(cwd).includes(id) ? reportIn(path.join(evaluationsFolder(cwd), id)) : undefined;
    if (report !== undefined) return report;
    throw invalidInput(
      `there is no finished evaluation ${quoted(id)}`,
      'the name of a folder in .agent/evals',
      'run skillwright eval first',
    );
  };
  const options = (report: EvalReport, against: string | undefined): PageOptions => ({
    view: resultView,
    earlier: all()
      .map(([, other]) => other)
      .filter(({ startedAt }) => startedAt < report.startedAt)
      .toReversed(),
    before: against === undefined ? undefined : read(against),
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
      all().map(([id, report]) => {
        const { startedAt, isPartial, wallMs } = report;
        const { totals, passRate } = ownArm(report);
        const models = report.models.map((model) => model.id);
        return { id, startedAt, skills: skillNames(report), models, totals, passRate, isPartial, wallMs };
      }),
    page: (id: string, against?: string) => pageData(read(id), options(read(id), against)),
    html: (id: string, against?: string) => htmlReport(read(id), options(read(id), against)),
    history: ({ case: name, suite }: { readonly case?: string; readonly suite?: string }) =>
      all()
        .filter(([, report]) => suite === undefined || skillNames(report).join(', ') === suite)
        .slice(0, MAX_HISTORY)
        .flatMap(([id, { startedAt, results }]) => {
          const found = results.filter((result) => name === undefined || result.case === name);
          return [...groupBy(found, ({ case: one, arm }) => JSON.stringify([one, arm])).values()].flatMap(
            (attempts) => {
              const worst = attempts.find(({ status }) => status !== 'passed') ?? attempts[0];
              if (worst === undefined) return [];
              const passed = attempts.filter(({ status }) => status === 'passed').length;
              const { case: one, arm, status } = worst;
              return [{ id, startedAt, case: one, arm, status, passed, attempts: attempts.length }];
            },
          );
        }),
  };
}

/** The evaluated skills name the suite; control skills are not evaluated. */
function skillNames({ skills }: EvalReport): readonly string[] {
  return skills.filter(({ role }) => role !== 'control').map(({ name }) => name);
}
