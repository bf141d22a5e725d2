/** Makes case ids unique in the suite and valid as file names. */
import type { EvalCase } from './case.ts';
import type { Position } from '../../core/json/json-position.ts';
import { printable, quoted } from '../../core/text/text.ts';
import type { DraftCase } from './draft.ts';
import type { CaseProblem } from './problem.ts';

/** A draft with the position of its id. */
export interface LocatedDraft {
  readonly draft: DraftCase;
  readonly position: Position;
}

const ID = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,127}$/u;
const MAX_CHARACTERS = 128;
/** Reserved device names of Windows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export interface UniqueCases {
  readonly cases: readonly EvalCase[];
  readonly problems: readonly CaseProblem[];
}

export function withUniqueIds(drafts: readonly LocatedDraft[]): UniqueCases {
  const cases: EvalCase[] = [];
  const problems: CaseProblem[] = [];
  const first = new Map<string, LocatedDraft>();
  const numbers = new Map<string, number>();
  const add = (
    { draft, position }: LocatedDraft,
    problem: Pick<CaseProblem, 'message' | 'hint' | 'severity'>,
  ): void => {
    problems.push({ file: draft.case.place.file, ...position, ...problem });
  };
  for (const located of drafts) {
    const { id, case: rest } = located.draft;
    const fit = fitId(id.text);
    if (id.origin === 'own' && fit !== id.text) {
      add(located, invalidId(id.text));
      continue;
    }
    if (id.origin === 'foreign' && fit !== id.text)
      add(located, { ...invalidId(id.text), hint: `using ${fit}`, severity: 'warning' });
    const before = first.get(fold(fit));
    if (before !== undefined && id.origin === 'own') {
      add(located, duplicateId(fit, before));
      continue;
    }
    const free = before === undefined ? fit : freeId(fit, first, numbers);
    if (before !== undefined && id.origin === 'foreign')
      add(located, { ...duplicateId(fit, before), hint: `using ${free} here`, severity: 'warning' });
    first.set(fold(free), located);
    cases.push({ id: free, ...rest });
  }
  return { cases, problems };
}

/** Many file systems treat names that differ only in case as equal. */
function fold(id: string): string {
  return id.normalize('NFC').toLowerCase();
}

function fitId(text: string): string {
  if (ID.test(text) && !DEVICE.test(text) && !text.endsWith('.')) return text;
  const slug = text
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, MAX_CHARACTERS - 8)
    .replace(/[-.\uD800-\uDBFF]+$/, '');
  return slug === '' ? 'case' : DEVICE.test(slug) ? `case-${slug}` : slug;
}

/** `numbers` keeps the last number per stem, so that many equal ids stay linear. */
function freeId(id: string, taken: ReadonlyMap<string, unknown>, numbers: Map<string, number>): string {
  const stem = id.slice(0, MAX_CHARACTERS - 8);
  let number = (numbers.get(fold(stem)) ?? 1) + 1;
  while (taken.has(fold(`${stem}-${String(number)}`))) number += 1;
  numbers.set(fold(stem), number);
  return `${stem}-${String(number)}`;
}

function invalidId(text: string): Pick<CaseProblem, 'message' | 'hint' | 'severity'> {
  return {
    message: `invalid case id ${quoted(text)}`,
    hint: 'use up to 128 letters, digits, dots, hyphens and underscores, starting with a letter or digit',
    severity: 'error',
  };
}

function duplicateId(
  id: string,
  { draft, position }: LocatedDraft,
): Pick<CaseProblem, 'message' | 'hint' | 'severity'> {
  const { file } = draft.case.place;
  return {
    message: `duplicate id ${quoted(id)}: already used at ${printable(file)}:${String(position.line)}`,
    hint: 'give each case a unique id',
    severity: 'error',
  };
}
