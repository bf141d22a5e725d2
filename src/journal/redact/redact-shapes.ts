import { NOTHING, UNDECIDED, type Pattern, type MatchContext } from './redact-scan.ts';

/** Keys that are recognized by their format. Each is a fixed prefix and a run of certain bytes, matched without backtracking. */
interface Shape {
  readonly start: string;
  readonly body: ByteSet;
  /** The length after the prefix. Longer runs match up to `most`, which limits what a stream holds back. */
  readonly least: number;
  readonly most: number;
  /** An additional check of the run. */
  readonly accepts?: (body: Uint8Array) => boolean;
  /** Bytes that must not precede the prefix (default: letters, digits and `_`). */
  readonly notAfter?: ByteSet;
}

/** 1 for each byte in the set. */
type ByteSet = Uint8Array;

const WORD = byteSet(/\w/);
const TOKEN = byteSet(/[\w-]/);
const DOTTED = byteSet(/[\w.-]/);
const MOST_TOKEN = 1024;
const MOST_LONG_TOKEN = 16 * 1024;

const SHAPES: readonly Shape[] = [
  ...['AKIA', 'ASIA'].map((start): Shape => ({ start, body: byteSet(/[A-Z0-9]/), least: 16, most: 16 })),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'].map((start): Shape => ({
    start,
    body: WORD,
    least: 20,
    most: MOST_TOKEN,
  })),
  { start: 'sk-', body: TOKEN, least: 20, most: MOST_TOKEN },
  ...['xoxb-', 'xoxa-', 'xoxp-'].map((start): Shape => ({ start, body: TOKEN, least: 10, most: MOST_TOKEN })),
  { start: 'AIza', body: TOKEN, least: 30, most: MOST_TOKEN },
  // A run that is not a token is checked once, because no token starts inside of it.
  { start: 'eyJ', body: DOTTED, least: 20, most: MOST_LONG_TOKEN, accepts: hasThreeParts, notAfter: DOTTED },
  ...['Bearer ', 'bearer '].map((start): Shape => ({
    start,
    body: byteSet(/[\w.~+/=-]/),
    least: 20,
    most: MOST_LONG_TOKEN,
  })),
];

const PEM_START = '-----BEGIN ';
const PEM_DASHES = '-----';
/** The title between the dashes: `RSA PRIVATE KEY`, `PGP PRIVATE KEY BLOCK`. */
const MOST_PEM_TITLE = 64;
const LEAST_PEM_BODY = 40;
const MOST_PEM_BODY = 16 * 1024;
/** Base64, plain or escaped line breaks, and header lines such as `Proc-Type: 4,ENCRYPTED`. */
const PEM_BODY = byteSet(/[\w+/=\s\\:,.-]/);

/** Returns the patterns that replace such keys by a mark. */
export function shapePatterns(mark: Uint8Array): readonly Pattern[] {
  const pem: Pattern = { start: Buffer.from(PEM_START), mark, measure: measurePem };
  return [...SHAPES.map((shape) => shapePattern(shape, mark)), pem];
}

function shapePattern({ start, body, least, most, accepts, notAfter = WORD }: Shape, mark: Uint8Array): Pattern {
  return {
    start: Buffer.from(start),
    mark,
    measure: (data, at, { before, isLast }) => {
      if (before >= 0 && notAfter[before] === 1) return NOTHING;
      const opened = measureText(start, data, at, isLast);
      if (opened <= 0) return opened;
      const from = at + opened;
      const end = endOfRun(body, data, from, from + most);
      if (end === data.length && end < from + most && !isLast) return UNDECIDED;
      if (end - from < least || accepts?.(data.subarray(from, end)) === false) return NOTHING;
      return end - at;
    },
  };
}

function endOfRun(body: ByteSet, data: Uint8Array, from: number, limit: number): number {
  const last = Math.min(limit, data.length);
  let end = from;
  while (end < last && body[data[end] ?? 0] === 1) end += 1;
  return end;
}

/** Returns the length of a fixed text, or `UNDECIDED` if the data ends inside of it. */
function measureText(text: string, data: Uint8Array, at: number, isLast: boolean): number {
  const end = Math.min(text.length, data.length - at);
  for (let index = 0; index < end; index += 1) if (data[at + index] !== text.charCodeAt(index)) return NOTHING;
  if (end === text.length) return end;
  return isLast ? NOTHING : UNDECIDED;
}

function hasThreeParts(body: Uint8Array): boolean {
  const parts = Buffer.from(body).toString('latin1').split('.');
  return parts.length === 3 && parts.every((part) => part.length >= 4);
}

/** A private key with its dashed lines; the last one may be missing, because output may be truncated. */
function measurePem(data: Uint8Array, at: number, { isLast }: MatchContext): number {
  const opened = measureText(PEM_START, data, at, isLast);
  if (opened <= 0) return opened;
  const from = endOfTitle(data, at + opened, isLast);
  if (from <= 0) return from;
  const end = endOfPemBody(data, from);
  if (end === data.length && end < from + MOST_PEM_BODY && !isLast) return UNDECIDED;
  if (end - from < LEAST_PEM_BODY) return NOTHING;
  const closed = measureText('-----END ', data, end, isLast);
  if (closed <= 0) return closed === UNDECIDED ? UNDECIDED : end - at;
  const last = endOfTitle(data, end + closed, isLast);
  if (last === UNDECIDED) return UNDECIDED;
  return (last === NOTHING ? end : last) - at;
}

/** After `... PRIVATE KEY-----`. */
function endOfTitle(data: Uint8Array, from: number, isLast: boolean): number {
  const head = Buffer.from(data.subarray(from, from + MOST_PEM_TITLE)).toString('latin1');
  const [title] = /^[A-Z0-9 ]*-{0,5}/.exec(head) ?? [''];
  if (title === head && head.length < MOST_PEM_TITLE && !title.endsWith(PEM_DASHES))
    return isLast ? NOTHING : UNDECIDED;
  return /PRIVATE KEY(?: BLOCK)?-----$/.test(title) ? from + title.length : NOTHING;
}

/** The body ends at a row of dashes or at a byte that no key contains. */
function endOfPemBody(data: Uint8Array, from: number): number {
  const limit = Math.min(data.length, from + MOST_PEM_BODY);
  let dashes = 0;
  for (let end = from; end < limit; end += 1) {
    const byte = data[end] ?? 0;
    if (PEM_BODY[byte] !== 1) return end;
    dashes = byte === 0x2d ? dashes + 1 : 0;
    if (dashes === PEM_DASHES.length) return end + 1 - dashes;
  }
  return limit;
}

function byteSet(members: RegExp): ByteSet {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte < 0x80 && members.test(String.fromCharCode(byte)) ? 1 : 0,
  );
}
