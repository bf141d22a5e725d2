/** The patterns over the passages of one file. */
import { quoted } from '../../core/text/text.ts';
import type { ScanFinding, ScanSeverity } from './finding.ts';
import { columnBefore, lowered } from './folded-line.ts';
import { openManyFinder } from './find-many.ts';
import type { Sightings } from './find-many.ts';
import { hasLongRun } from './long-run.ts';
import { proseOrCode, sourceLines } from './passages.ts';
import type { Passage } from './passages.ts';
import { isDenied } from './pattern.ts';
import type { Signal } from './pattern.ts';
import { PATTERNS } from './patterns/all.ts';
import { SCAN_RULES, isRuleId } from './rules.ts';
import type { RuleId } from './rules.ts';

/** What a pattern found, before it is judged together with others. */
export interface Hit {
  readonly means: RuleId | Signal;
  readonly severity: ScanSeverity;
  readonly passage: Passage;
  readonly line: number;
  readonly column: number;
  readonly says: string;
  readonly excerpt: string;
}

/** No file says more by the same pattern than this: the rest of it is more of the same. */
const MAX_HITS = 20;
const EXCERPT = 80;

/** Passages of a kind as one text, a line each, so that a pattern runs once for a file. */
interface Sheet {
  readonly kind: 'prose' | 'code';
  readonly passages: readonly Passage[];
  readonly starts: readonly number[];
  readonly lower: string;
  readonly sightings: Sightings;
}

const FINDER = openManyFinder(PATTERNS.map(({ find }) => find));

/** For one file after the other. */
export function openMatcher(): (passages: readonly Passage[]) => readonly Hit[] {
  const look = FINDER.openLook();
  return (passages) => matchSheets(sheetsOf(passages, look));
}

type Look = ReturnType<typeof FINDER.openLook>;

/** A pattern with all its fields, also those that it has not: to ask objects of many forms takes longer than the answer. */
interface Question {
  readonly number: number;
  readonly isForProse: boolean;
  readonly isForCode: boolean;
  readonly longRun: number;
  readonly means: RuleId | Signal;
  readonly severity: ScanSeverity;
  readonly also: RegExp | undefined;
  readonly unless: RegExp | undefined;
  readonly evenDenied: boolean;
  readonly says: string;
}

const QUESTIONS: readonly Question[] = PATTERNS.map((pattern, number) => ({
  number,
  isForProse: pattern.in !== 'code',
  isForCode: pattern.in !== 'prose',
  longRun: pattern.longRun ?? 0,
  means: pattern.means,
  severity: pattern.severity ?? severityOf(pattern.means),
  also: pattern.also,
  unless: pattern.unless,
  evenDenied: pattern.evenDenied === true,
  says: pattern.says,
}));

function matchSheets(sheets: readonly Sheet[]): readonly Hit[] {
  const hits: Hit[] = [];
  for (const question of QUESTIONS) {
    const { number, isForProse, isForCode, longRun } = question;
    for (const sheet of sheets) {
      const isSeen =
        longRun === 0 ? sheet.sightings[number] !== undefined : hasLongRun(sheet.lower, longRun, isEncoded);
      if (!isSeen) continue;
      if (sheet.kind === 'prose' ? isForProse : isForCode)
        for (const hit of matchSheet(question, sheet)) hits.push(hit);
    }
  }
  return hits;
}

/** Of the kinds that have any text. */
function sheetsOf(all: readonly Passage[], look: Look): readonly Sheet[] {
  const prose: Passage[] = [];
  const code: Passage[] = [];
  for (const passage of all) (proseOrCode(passage.kind) === 'prose' ? prose : code).push(passage);
  return [
    ...(prose.length === 0 ? [] : [sheetOf(prose, 'prose', look)]),
    ...(code.length === 0 ? [] : [sheetOf(code, 'code', look)]),
  ];
}

function sheetOf(passages: readonly Passage[], kind: 'prose' | 'code', look: Look): Sheet {
  let length = 0;
  const starts = passages.map(({ text }) => {
    const start = length;
    length += text.length + 1;
    return start;
  });
  const lower = lowered(passages.map(({ text }) => text).join('\n'));
  return { kind, passages, starts, lower, sightings: look(lower) };
}

const NO_HIT: readonly Hit[] = [];

function matchSheet(question: Question, sheet: Sheet): readonly Hit[] {
  const { lower, sightings } = sheet;
  // More than hits: a text full of near misses must not cost more than one full of hits.
  const found = FINDER.matches(lower, sightings, { expression: question.number, most: MAX_HITS * 10 });
  if (found.length === 0) return NO_HIT;
  const hits: Hit[] = [];
  for (const { index, length } of found) {
    if (hits.length >= MAX_HITS) break;
    const hit = hitAt(question, sheet, index, length);
    if (hit !== undefined) hits.push(hit);
  }
  return hits;
}

function isEncoded(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x2f && code <= 0x39) || code === 0x2b;
}

function hitAt(question: Question, sheet: Sheet, index: number, length: number): Hit | undefined {
  const place = passageAt(sheet.starts, index);
  const passage = sheet.passages[place];
  const start = sheet.starts[place];
  if (passage === undefined || start === undefined) return undefined;
  const lower = sheet.lower.slice(start, start + passage.text.length);
  if (question.also?.test(lower) === false || question.unless?.test(lower) === true) return undefined;
  const at = index - start;
  if (sheet.kind === 'prose' && !question.evenDenied && isDenied(lower.slice(0, at))) return undefined;
  return {
    means: question.means,
    severity: question.severity,
    passage,
    ...sourceOf(passage, at),
    says: question.says,
    excerpt: quoted(passage.text.slice(at, at + length).trim(), EXCERPT),
  };
}

function severityOf(means: RuleId | Signal): ScanSeverity {
  return isRuleId(means) ? SCAN_RULES[means].severity : 'low';
}

function passageAt(starts: readonly number[], index: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where offset `at` of a passage stands in its file. */
export function sourceOf(passage: Passage, at: number): { readonly line: number; readonly column: number } {
  const offset = at + passage.skipped;
  const lines = sourceLines(passage);
  const source = lines.findLast((line) => line.at <= offset) ?? lines[0];
  if (source === undefined) return { line: 1, column: 1 };
  return {
    line: source.line,
    column: columnBefore(source.source, proseOrCode(passage.kind), Math.max(0, offset - source.at)),
  };
}

export function findingOf(hit: Hit, path: string): ScanFinding | undefined {
  if (!isRuleId(hit.means)) return undefined;
  const { means: rule, severity, line, column, says, excerpt } = hit;
  return { rule, severity, path, line, column, message: `${says}: ${excerpt}` };
}
