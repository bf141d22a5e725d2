/** Splits broken frontmatter into one piece per field, based on the start of each line. */
import { fieldOfKey, type FieldName } from './fields.ts';

/** A key with all lines up to the next key. */
export interface Piece {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  /** Just after the colon. */
  readonly valueStart: number;
  /** The rest of the line after the colon, trimmed. */
  readonly rest: string;
  /** Start of the line of the key. */
  readonly start: number;
  /** Start of the line below it. */
  readonly bodyStart: number;
  /** Start of the first line that is not part of the piece. */
  readonly end: number;
  /** End of the lines below the piece that are neither indented nor fields. */
  readonly tailEnd: number;
  readonly column: number;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface KeyLine {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
}

const KEY = /(["']?)([\p{L}_][\p{L}\p{N}_./-]{0,63})\1 {0,4}([:：])/uy;

interface OpenPiece {
  readonly line: number;
  readonly column: number;
  readonly key: KeyLine;
  /** Start of the lines that `tailEnd` ends. */
  readonly end?: number;
}

/** `stray` is the first non-blank line before any piece. */
export function splitPieces(
  text: string,
  start: number,
  end: number,
): { readonly pieces: readonly Piece[]; readonly stray?: Span } {
  const pieces: Piece[] = [];
  let stray: Span | undefined;
  let open: OpenPiece | undefined;
  // The first line sets the margin, because all fields may be indented. A line with less indentation lowers it.
  let margin = -1;
  const close = (at: number): void => {
    if (open !== undefined) pieces.push(toPiece(text, open, at));
  };
  for (let line = start; line < end;) {
    const feed = text.indexOf('\n', line);
    const next = feed === -1 || feed >= end ? end : feed + 1;
    const first = skipBlank(text, line, next);
    const column = first - line;
    if (first < next && text.charCodeAt(first) !== 0x23) margin = margin === -1 ? column : Math.min(margin, column);
    if (first < next && column <= margin) {
      const key = keyAt(text, first, next);
      if (key !== undefined) {
        close(line);
        open = { line, column, key };
      } else if (!isContinuation(text.charCodeAt(first))) {
        if (open === undefined) stray ??= { start: line, end: next };
        else if (open.end === undefined) open = { ...open, end: line };
      }
    }
    line = next;
  }
  close(end);
  return stray === undefined ? { pieces } : { pieces, stray };
}

/** Splits a piece at known fields that are indented inside it, except below `metadata:`, where they belong. */
export function splitIndented(text: string, piece: Piece, field: FieldName | undefined): readonly Piece[] {
  if (piece.rest === '' || field === 'metadata' || /^[|>]/.test(piece.rest)) return [piece];
  const starts: { readonly line: number; readonly key: KeyLine }[] = [];
  for (let line = piece.bodyStart; line < piece.end;) {
    const feed = text.indexOf('\n', line);
    const next = feed === -1 || feed >= piece.end ? piece.end : feed + 1;
    const key = keyAt(text, skipBlank(text, line, next), next);
    if (key !== undefined && fieldOfKey(key.key) !== undefined) starts.push({ line, key });
    line = next;
  }
  const [first] = starts;
  if (first === undefined) return [piece];
  const cut = starts.map(({ line, key }, index) =>
    toPiece(text, { line, column: key.keyStart - line, key }, starts[index + 1]?.line ?? piece.end),
  );
  return [{ ...piece, end: first.line, tailEnd: first.line }, ...cut];
}

function toPiece(text: string, { line, column, key, end }: OpenPiece, tailEnd: number): Piece {
  const own = end ?? tailEnd;
  const feed = text.indexOf('\n', line);
  const bodyStart = feed === -1 || feed >= own ? own : feed + 1;
  return {
    ...key,
    rest: text.slice(key.valueStart, bodyStart).trim(),
    start: line,
    bodyStart,
    end: own,
    tailEnd,
    column,
  };
}

/** A key at `at` with its colon. Without a space after the colon only known fields count, so that `http://` is not a field. */
function keyAt(text: string, at: number, end: number): KeyLine | undefined {
  KEY.lastIndex = at;
  const match = KEY.exec(text);
  if (match === null || match[2] === undefined) return undefined;
  const valueStart = at + match[0].length;
  if (valueStart > end) return undefined;
  const key = match[2];
  const spaced = match[3] === ':' && (valueStart >= end || text.charCodeAt(valueStart) <= 0x20);
  if (!spaced && fieldOfKey(key.toLowerCase()) === undefined) return undefined;
  const quote = match[1]?.length ?? 0;
  return { key, keyStart: at, keyEnd: at + key.length + quote * 2, valueStart };
}

/** List items, comments and closing brackets at the margin belong to the field above. */
function isContinuation(code: number): boolean {
  return code === 0x2d || code === 0x23 || code === 0x7d || code === 0x5d;
}

function skipBlank(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}
