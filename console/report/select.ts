/** Filters and sorts the results of the table. Pure, so that tests need no browser. */
import { countTokens } from '#evals/report';
import type { CaseResult, CaseStatus } from './data.ts';

export const COLUMNS = ['status', 'case', 'tags', 'arm', 'checks', 'tokens', 'time'] as const;
export type Column = (typeof COLUMNS)[number];

export interface Selection {
  readonly text: string;
  readonly statuses: readonly CaseStatus[];
  readonly tag: string;
  readonly column: Column | '';
  readonly isDescending: boolean;
}

export const EVERYTHING: Selection = { text: '', statuses: [], tag: '', column: '', isDescending: false };

export interface Row {
  readonly result: CaseResult;
  readonly place: number;
  readonly words: string;
}

export function toRows(results: readonly CaseResult[]): readonly Row[] {
  return results.map((result, place) => ({
    result,
    place,
    words: [
      result.case,
      result.name,
      result.input.slice(0, 500),
      result.reason.slice(0, 300),
      ...result.tags,
      ...result.loaded,
    ]
      .join('\n')
      .toLowerCase(),
  }));
}

export function selected(
  rows: readonly Row[],
  { text, statuses, tag, column, isDescending }: Selection,
): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter(
    (row) =>
      (statuses.length === 0 || statuses.includes(row.result.status)) &&
      (tag === '' || row.result.tags.includes(tag)) &&
      words.every((word) => row.words.includes(word)),
  );
  if (column === '') return found;
  const sign = isDescending ? -1 : 1;
  return found.toSorted((a, b) => sign * compared(a.result, b.result, column) || a.place - b.place);
}

const ORDER = { failed: 0, error: 1, skipped: 2, passed: 3 } as const satisfies Record<CaseStatus, number>;

function compared(a: CaseResult, b: CaseResult, column: Column): number {
  switch (column) {
    case 'status':
      return ORDER[a.status] - ORDER[b.status];
    case 'case':
      return text(a.case, b.case);
    case 'tags':
      return text(a.tags.join(), b.tags.join());
    case 'arm':
      return text(a.arm, b.arm) || a.attempt - b.attempt;
    case 'checks':
      return passedPart(a) - passedPart(b);
    case 'tokens':
      return countTokens(a.cost) - countTokens(b.cost);
    case 'time':
      return a.cost.wallMs - b.cost.wallMs;
  }
}

function text(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function passedPart({ checks }: CaseResult): number {
  return checks.length === 0 ? -1 : checks.filter(({ status }) => status === 'passed').length / checks.length;
}
