/** Cases about the evaluated skills that were not run, because a part of them was asked for. */
import { countText } from '#core';
import type { EvalReport } from './result.ts';

const MOST_NAMES = 10;

export function countLeftOut({ leftOut = [] }: Pick<EvalReport, 'leftOut'>): number {
  return leftOut.reduce((sum, { cases }) => sum + cases.length, 0);
}

/** Undefined if all cases ran. */
export function leftOutText(report: Pick<EvalReport, 'leftOut' | 'results'>): string | undefined {
  const { leftOut = [], results } = report;
  const left = countLeftOut(report);
  if (left === 0) return undefined;
  const ran = new Set(results.map((result) => result.case)).size;
  const names = leftOut.map(({ file, cases }) => {
    const more = cases.length > MOST_NAMES ? ` and ${String(cases.length - MOST_NAMES)} more` : '';
    return `${file} (${cases.slice(0, MOST_NAMES).join(', ')}${more})`;
  });
  const files =
    names.length > MOST_NAMES
      ? [...names.slice(0, MOST_NAMES), `${String(names.length - MOST_NAMES)} more files`]
      : names;
  return `the verdict holds for ${String(ran)} of ${countText(left + ran, 'case')}, without those of ${files.join(', ')}`;
}
