/** Runs the patterns over the passages of one file. */
import { quoted } from '../../core/text/text.ts';
import type { ScanFinding, ScanSeverity } from './finding.ts';
import { lowerCase, sourceColumn } from './normalize-line.ts';
import type { LineKind } from './normalize-line.ts';
import { openMultiPatternMatcher } from './multi-pattern-matcher.ts';
import type { Candidates, MultiPatternMatcher } from './multi-pattern-matcher.ts';
import { proseOrCode, sourceLines } from './passages.ts';
import type { Passage } from './passages.ts';
import { isDenied } from './pattern.ts';
import type { Pattern, Signal } from './pattern.ts';
import { PATTERNS } from './patterns/all.ts';
import { SCAN_RULES, isRuleId } from './rules.ts';
import type { RuleId } from './rules.ts';

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

/** All passages of one kind joined into one text, one line each, so that each pattern runs once per file. */
interface JoinedPassages {
  readonly kind: LineKind;
  readonly passages: readonly Passage[];
  /** The offset of each passage in `lower`. */
  readonly starts: readonly number[];
  readonly lower: string;
  readonly candidates: Candidates;
}

let built: MultiPatternMatcher | undefined;

/** Built when the first file is scanned, because it takes longer than loading the rest of the library. */
function matcher(): MultiPatternMatcher {
  return (built ??= openMultiPatternMatcher(PATTERNS.map(({ find }) => find)));
}

export function matchPassages(passages: readonly Passage[]): readonly Hit[] {
  const joined = (['prose', 'code'] as const).flatMap((kind) => joinPassages(passages, kind) ?? []);
  const expressions = new Set(joined.flatMap(({ candidates }) => [...candidates.keys()]));
  return [...expressions]
    .toSorted((a, b) => a - b)
    .flatMap((expression) => joined.flatMap((text) => matchPattern(expression, text)));
}

function joinPassages(all: readonly Passage[], kind: LineKind): JoinedPassages | undefined {
  const passages: Passage[] = [];
  const texts: string[] = [];
  const starts: number[] = [];
  let length = 0;
  for (const passage of all) {
    if (proseOrCode(passage.kind) !== kind) continue;
    passages.push(passage);
    texts.push(passage.text);
    starts.push(length);
    length += passage.text.length + 1;
  }
  if (length === 0) return undefined;
  const lower = lowerCase(texts.join('\n'));
  return { kind, passages, starts, lower, candidates: matcher().candidates(lower) };
}

function matchPattern(expression: number, joined: JoinedPassages): readonly Hit[] {
  const { lower, candidates, kind } = joined;
  const pattern = PATTERNS[expression];
  if (pattern === undefined || (pattern.in !== 'any' && pattern.in !== kind)) return [];
  if (pattern.longRun !== undefined && !hasLongRun(lower, pattern.longRun, isBase64)) return [];
  // The limit on matches is higher than that on hits, because some matches are dropped; it bounds the cost of a hostile text.
  const hits: Hit[] = [];
  for (const { index, length } of matcher().matches(lower, candidates, {
    expression,
    limit: MAX_HITS * 10,
  })) {
    if (hits.length >= MAX_HITS) break;
    const hit = hitAt(pattern, joined, index, length);
    if (hit !== undefined) hits.push(hit);
  }
  return hits;
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

function hitAt(pattern: Pattern, joined: JoinedPassages, index: number, length: number): Hit | undefined {
  const place = passageAt(joined.starts, index);
  const passage = joined.passages[place];
  const start = joined.starts[place];
  if (passage === undefined || start === undefined) return undefined;
  const lower = joined.lower.slice(start, start + passage.text.length);
  if (pattern.also?.test(lower) === false || pattern.unless?.test(lower) === true) return undefined;
  const at = index - start;
  if (joined.kind === 'prose' && pattern.evenDenied !== true && (passage.isProhibited || isDenied(lower.slice(0, at))))
    return undefined;
  return {
    means: pattern.means,
    severity: severityHere(pattern, lower),
    passage,
    ...sourcePosition(passage, at),
    says: pattern.says,
    excerpt: quoted(passage.text.slice(at, at + length).trim(), EXCERPT),
  };
}

function severityHere(pattern: Pattern, passage: string): ScanSeverity {
  const severity = pattern.severity ?? severityOf(pattern.means);
  return severity !== 'low' && pattern.milder?.test(passage) === true ? 'medium' : severity;
}

function severityOf(means: RuleId | Signal): ScanSeverity {
  return isRuleId(means) ? SCAN_RULES[means].severity : 'low';
}

/** The index of the last passage that starts at or before an offset (binary search). */
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

export function findingOf(hit: Hit, path: string): ScanFinding | undefined {
  if (!isRuleId(hit.means)) return undefined;
  const { means: rule, severity, line, column, says, excerpt } = hit;
  return { rule, severity, path, line, column, message: `${says}: ${excerpt}` };
}
