/**
 * Searches many patterns in one pass over bytes. A filter table is indexed by the next three bytes; patterns are compared only if one
 * starts with them.
 */

import type { Redactor } from '#core';

/** A pattern and its replacement. */
export interface Pattern {
  /** Its fixed first bytes, at least three. */
  readonly start: Uint8Array;
  readonly mark: Uint8Array;
  /** Returns the length of the match at `at`: `NOTHING`, or `UNDECIDED` if the data ends inside a possible match. */
  measure(data: Uint8Array, at: number, context: MatchContext): number;
}

export interface MatchContext {
  /** The byte before the position; -1 at the start. */
  readonly before: number;
  /** No data follows. */
  readonly isLast: boolean;
}

export const NOTHING = 0;
export const UNDECIDED = -1;

const ANCHOR = 3;
const TABLE_BITS = 16;

export interface PatternTable {
  /** 1 if a pattern may start with the three bytes of this index. */
  readonly filter: Uint8Array;
  readonly byStart: ReadonlyMap<number, readonly Pattern[]>;
  /** The first byte and the first two bytes of every pattern, for the end of a chunk. */
  readonly beginnings: ReadonlySet<number>;
}

export function patternTable(patterns: readonly Pattern[]): PatternTable {
  const filter = new Uint8Array(1 << TABLE_BITS);
  const byStart = new Map<number, Pattern[]>();
  const beginnings = new Set<number>();
  for (const pattern of patterns) {
    const [first = 0, second = 0, third = 0] = pattern.start;
    const key = (first << 16) | (second << 8) | third;
    filter[slot(key)] = 1;
    const same = byStart.get(key);
    if (same === undefined) byStart.set(key, [pattern]);
    else same.push(pattern);
    beginnings.add(first).add(0x1_0000 | (first << 8) | second);
  }
  return { filter, byStart, beginnings };
}

function slot(key: number): number {
  return Math.imul(key, 0x9e37_79b1) >>> (32 - TABLE_BITS);
}

/** A cheap test that a text contains no match: it is ASCII, and no pattern starts in it. */
export function isPlainlyFree({ filter, byStart }: PatternTable, text: string): boolean {
  let key = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return false;
    key = ((key << 8) | code) & 0xff_ffff;
    if (filter[slot(key)] === 1 && byStart.has(key)) return false;
  }
  return true;
}

/** A chunk of the data, with the state from earlier chunks. */
export interface ScanRequest extends MatchContext {
  readonly data: Uint8Array;
  /** The number of bytes at the start that an earlier mark already replaced. */
  readonly covered: number;
}

export interface Scan {
  /** The replacement of `data` up to `decided`; undefined if nothing changed. */
  readonly pieces: readonly Uint8Array[] | undefined;
  /** From this offset on, more data could change the result. */
  readonly decided: number;
  /** The number of bytes after `decided` that belong to the last mark. */
  readonly covered: number;
}

/**
 * Finds the longest match at each position, from left to right. Overlapping matches are merged, so that no part of a secret remains;
 * adjacent matches get a mark each.
 */
export function scan({ filter, byStart, beginnings }: PatternTable, request: ScanRequest): Scan {
  const { data, before, isLast, covered } = request;
  const pieces: Uint8Array[] = [];
  let hidden = covered;
  const finish = (decided: number): Scan => {
    if (hidden === 0) return { pieces: undefined, decided, covered: 0 };
    if (decided > hidden) pieces.push(data.subarray(hidden, decided));
    return { pieces, decided, covered: Math.max(0, hidden - decided) };
  };
  const places = data.length - ANCHOR + 1;
  let key = ((data[0] ?? 0) << 8) | (data[1] ?? 0);
  for (let at = 0; at < places; at += 1) {
    key = ((key << 8) | (data[at + 2] ?? 0)) & 0xff_ffff;
    if (filter[slot(key)] === 0) continue;
    const candidates = byStart.get(key);
    if (candidates === undefined) continue;
    const found = longest(candidates, data, at, { before: at === 0 ? before : (data[at - 1] ?? 0), isLast });
    if (found === UNDECIDED) return finish(at);
    if (found === undefined) continue;
    if (at >= hidden) {
      if (at > hidden) pieces.push(data.subarray(hidden, at));
      pieces.push(found.mark);
    }
    hidden = Math.max(hidden, at + found.length);
  }
  return finish(isLast ? data.length : endOfDecided(beginnings, data));
}

function longest(
  candidates: readonly Pattern[],
  data: Uint8Array,
  at: number,
  context: MatchContext,
): { readonly mark: Uint8Array; readonly length: number } | typeof UNDECIDED | undefined {
  let length = NOTHING;
  let mark: Uint8Array | undefined;
  for (const candidate of candidates) {
    const measured = candidate.measure(data, at, context);
    if (measured === UNDECIDED) return UNDECIDED;
    if (measured > length) {
      length = measured;
      mark = candidate.mark;
    }
  }
  return mark === undefined ? undefined : { mark, length };
}

/** The last one or two bytes are too short for the table, so only the beginnings are compared. */
function endOfDecided(beginnings: ReadonlySet<number>, data: Uint8Array): number {
  const { length } = data;
  const last = data[length - 1] ?? 0;
  if (length > 1 && beginnings.has(0x1_0000 | ((data[length - 2] ?? 0) << 8) | last)) return length - 2;
  return length > 0 && beginnings.has(last) ? length - 1 : length;
}

/** A pattern of fixed bytes. */
export function literal(bytes: Uint8Array, mark: Uint8Array): Pattern {
  return {
    start: bytes,
    mark,
    measure: (data, at, { isLast }) => {
      const end = Math.min(bytes.length, data.length - at);
      for (let index = ANCHOR; index < end; index += 1) if (data[at + index] !== bytes[index]) return NOTHING;
      if (end === bytes.length) return end;
      return isLast ? NOTHING : UNDECIDED;
    },
  };
}

/** Redacts output that arrives in chunks. */
export type RedactedStream = ReturnType<Redactor['stream']>;

/** Redacts complete data. Returns the same array if nothing was found. */
export function redactBytes(table: PatternTable, data: Uint8Array): Uint8Array {
  const { pieces } = scan(table, { data, before: -1, isLast: true, covered: 0 });
  return pieces === undefined ? data : Buffer.concat(pieces);
}

/** Finds secrets that are split over any number of chunks. The output adds up to that of `redactBytes` for the whole. */
export function redactedStream(table: PatternTable): RedactedStream {
  let held: Uint8Array = new Uint8Array();
  let covered = 0;
  let before = -1;
  const take = (chunk: Uint8Array, isLast: boolean): Uint8Array => {
    const data = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const found = scan(table, { data, before, isLast, covered });
    before = found.decided === 0 ? before : (data[found.decided - 1] ?? before);
    covered = found.covered;
    // A copy, because the caller may reuse the memory.
    held = Uint8Array.from(data.subarray(found.decided));
    return found.pieces === undefined ? data.subarray(0, found.decided) : Buffer.concat(found.pieces);
  };
  return { write: (chunk) => take(chunk, false), end: () => take(new Uint8Array(), true) };
}

/** Chains several streams. */
export function joinedStreams(streams: readonly RedactedStream[]): RedactedStream {
  return {
    write: (chunk) => streams.reduce((data, stream) => stream.write(data), chunk),
    end: () =>
      streams.reduce<Uint8Array>((data, stream) => Buffer.concat([stream.write(data), stream.end()]), new Uint8Array()),
  };
}
