/** Runs the patterns over the passages of one file. */
import { quoted } from '#core';
import type { ScanFile, ScanFinding, ScanSeverity } from './finding.ts';
import { lowerCase, sourceColumn, type LineKind } from './normalize-line.ts';
import { openLineFilter } from './line-filter.ts';
import { splitPassages, proseOrCode, sourceLines, type Passage } from './passages.ts';
import { isDenied, type Pattern, type Signal } from './pattern.ts';
import { PATTERNS } from './patterns/all.ts';
import { SCAN_RULES, isRuleId, type RuleId } from './rules.ts';

/** A match of one pattern. Combined rules look at several hits together. */
export interface Hit {
  readonly means: RuleId | Signal;
  readonly severity: ScanSeverity;
  readonly passage: Passage;
  readonly line: number;
  readonly column: number;
  readonly says: string;
  readonly excerpt: string;
}

/** Hits per pattern and file; more of the same add nothing. */
const MAX_HITS = 20;
const EXCERPT = 80;

let filter: ReturnType<typeof openLineFilter> | undefined;

export interface MatchedText {
  readonly passages: readonly Passage[];
  readonly hits: readonly Hit[];
}

export function matchText(file: ScanFile): MatchedText {
  // Opened when the first file is scanned, because it takes longer than loading the rest of the library.
  filter ??= openLineFilter(PATTERNS.map(({ find }) => find.source));
  const passages = splitPassages(file);
  const lines = passages.map(({ text }) => lowerCase(text));
  const candidates = filter(lines);
  const hits = PATTERNS.flatMap((pattern, at) =>
    KINDS.flatMap((kind) => matchPattern(pattern, kind, { passages, lines, candidates: candidates.get(at) ?? [] })),
  );
  return { passages, hits };
}

const KINDS: readonly LineKind[] = ['prose', 'code'];

interface Candidates {
  readonly passages: readonly Passage[];
  /** The passages in lower case. */
  readonly lines: readonly string[];
  readonly candidates: readonly number[];
}

function matchPattern(pattern: Pattern, kind: LineKind, { passages, lines, candidates }: Candidates): readonly Hit[] {
  if (candidates.length === 0 || (pattern.in !== 'any' && pattern.in !== kind)) return [];
  const { find, longRun } = pattern;
  const hits: Hit[] = [];
  // The limit on matches is higher than that on hits, because some matches are dropped; it bounds the cost of a hostile text.
  let left = MAX_HITS * 10;
  for (const at of candidates) {
    const [passage, lower = ''] = [passages[at], lines[at]];
    if (passage === undefined || proseOrCode(passage.kind) !== kind) continue;
    if (longRun !== undefined && !hasLongRun(lower, longRun, isBase64)) continue;
    // `matchAll` would copy the expression, which then starts without compiled code.
    find.lastIndex = 0;
    for (let match = find.exec(lower); match !== null && left > 0; match = find.exec(lower), left -= 1)
      hits.push(...hitAt(pattern, passage, { lower, index: match.index, length: match[0].length }));
    if (hits.length >= MAX_HITS || left === 0) break;
  }
  return hits.slice(0, MAX_HITS);
}

/**
 * Whether a text has at least `length` consecutive characters of one class. Reads backwards from the last possible character of a run, so
 * it skips most of a text.
 */
export function hasLongRun(text: string, length: number, isInClass: (code: number) => boolean): boolean {
  for (let last = length - 1; last < text.length;) {
    let at = last;
    while (at > last - length && isInClass(text.charCodeAt(at))) at -= 1;
    if (at === last - length) return true;
    last = at + length;
  }
  return false;
}

/** In lower case: a-z, 0-9, `+` and `/`. */
function isBase64(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x2f && code <= 0x39) || code === 0x2b;
}

function hitAt(
  pattern: Pattern,
  passage: Passage,
  { lower, index, length }: { readonly lower: string; readonly index: number; readonly length: number },
): readonly Hit[] {
  if (pattern.also?.test(lower) === false || pattern.unless?.test(lower) === true) return [];
  const isProse = proseOrCode(passage.kind) === 'prose';
  if (isProse && pattern.evenDenied !== true && (passage.isProhibited || isDenied(lower.slice(0, index)))) return [];
  return [
    {
      means: pattern.means,
      severity: severityHere(pattern, lower),
      passage,
      ...sourcePosition(passage, index),
      says: pattern.says,
      excerpt: quoted(passage.text.slice(index, index + length).trim(), EXCERPT),
    },
  ];
}

function severityHere(pattern: Pattern, passage: string): ScanSeverity {
  const severity = pattern.severity ?? findSeverity(pattern.means);
  return severity !== 'low' && pattern.milder?.test(passage) === true ? 'medium' : severity;
}

function findSeverity(means: RuleId | Signal): ScanSeverity {
  return isRuleId(means) ? SCAN_RULES[means].severity : 'low';
}

/** The position in the file of offset `at` of a passage. */
function sourcePosition(passage: Passage, at: number): { readonly line: number; readonly column: number } {
  const offset = at + passage.skipped;
  const lines = sourceLines(passage);
  const source = lines.findLast((line) => line.at <= offset) ?? lines[0];
  if (source === undefined) return { line: 1, column: 1 };
  return {
    line: source.line,
    column: sourceColumn(source.source, proseOrCode(passage.kind), Math.max(0, offset - source.at)),
  };
}

export function toFinding(hit: Hit, path: string): ScanFinding | undefined {
  if (!isRuleId(hit.means)) return undefined;
  const { means: rule, severity, line, column, says, excerpt } = hit;
  return { rule, severity, path, line, column, message: `${says}: ${excerpt}` };
}
