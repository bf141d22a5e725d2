/** Ids of cases, unique in the suite and fit for names of files and for reports. */
import type { EvalCase } from './case.ts';
import type { Position } from '../../core/json/json-position.ts';
import { printable, quoted } from '../../core/text/text.ts';
import type { DraftCase } from './draft.ts';
import type { CaseProblem } from './problem.ts';

/** A draft, and where its id is written. */
export interface PlacedDraft {
  readonly draft: DraftCase;
  readonly position: Position;
}

const ID = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,127}$/u;
const MAX_CHARACTERS = 128;
/** Names that Windows keeps for devices. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export interface UniqueCases {
  readonly cases: readonly EvalCase[];
  readonly problems: readonly CaseProblem[];
}

export function withUniqueIds(drafts: readonly PlacedDraft[]): UniqueCases {
  const cases: EvalCase[] = [];
  const problems: CaseProblem[] = [];
  const first = new Map<string, PlacedDraft>();
  const numbers = new Map<string, number>();
  const tellOf = ({ draft, position }: PlacedDraft, told: Pick<CaseProblem, 'message' | 'hint' | 'severity'>): void => {
    problems.push({ file: draft.case.place.file, ...position, ...told });
  };
  for (const placed of drafts) {
    const { id, case: rest } = placed.draft;
    const fit = fitId(id.text);
    if (id.origin === 'own' && fit !== id.text) {
      tellOf(placed, unfit(id.text));
      continue;
    }
    if (id.origin === 'foreign' && fit !== id.text)
      tellOf(placed, { ...unfit(id.text), hint: `${fit} is used`, severity: 'warning' });
    const before = first.get(fold(fit));
    if (before !== undefined && id.origin === 'own') {
      tellOf(placed, repeated(fit, before));
      continue;
    }
    const free = before === undefined ? fit : freeId(fit, first, numbers);
    if (before !== undefined && id.origin === 'foreign')
      tellOf(placed, { ...repeated(fit, before), hint: `${free} is used here`, severity: 'warning' });
    first.set(fold(free), placed);
    cases.push({ id: free, ...rest });
  }
  return { cases, problems };
}

/** Two ids that differ in case alone are one name to many file systems. */
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

/** `numbers` has the last number that a stem got: a hundred thousand cases of one id take no longer than others. */
function freeId(id: string, taken: ReadonlyMap<string, unknown>, numbers: Map<string, number>): string {
  const stem = id.slice(0, MAX_CHARACTERS - 8);
  let number = (numbers.get(fold(stem)) ?? 1) + 1;
  while (taken.has(fold(`${stem}-${String(number)}`))) number += 1;
  numbers.set(fold(stem), number);
  return `${stem}-${String(number)}`;
}

function unfit(text: string): Pick<CaseProblem, 'message' | 'hint' | 'severity'> {
  return {
    message: `${quoted(text)} cannot be the id of a case`,
    hint: 'use up to 128 letters, digits, dots, hyphens and underscores, and start with a letter or a digit',
    severity: 'error',
  };
}

function repeated(id: string, { draft, position }: PlacedDraft): Pick<CaseProblem, 'message' | 'hint' | 'severity'> {
  const { file } = draft.case.place;
  return {
    message: `the id ${quoted(id)} is taken by the case at ${printable(file)}:${String(position.line)}`,
    hint: 'give each case an id of its own',
    severity: 'error',
  };
}
