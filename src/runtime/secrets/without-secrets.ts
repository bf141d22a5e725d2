import type { Redactor } from '../../journal/redact/redact.ts';

/**
 * A value rid of secrets, in every text of it: what a skill's program got to know must reach neither a model nor a record by any
 * way. Texts are replaced by texts, so that the shape stays what it was.
 */
export function redacted<Value>(value: Value, redactor: Redactor): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return redactor.isEmpty ? value : (inside(value, redactor) as Value);
}

/** The same value where nothing was found in it. */
function inside(value: unknown, redactor: Redactor, isCut = false): unknown {
  if (typeof value === 'string') return cleanText(value, redactor, isCut);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.map((item) => inside(item, redactor));
    return items.every((item, place) => item === value[place]) ? value : items;
  }
  const isStart = 'truncated' in value && value.truncated === true;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const clean = entries.map(
    ([key, item]) => [redactor.text(key), inside(item, redactor, isStart && SHOWN.has(key))] as const,
  );
  const isSame = clean.every(([key, item], place) => key === entries[place]?.[0] && item === entries[place][1]);
  return isSame ? value : Object.fromEntries(clean);
}

/** What is the start alone where its object is `truncated`. */
const SHOWN: ReadonlySet<string> = new Set(['text', 'content']);

const CUT = '…';

/** Before a mark that says so, and at the end of what is the start alone, a text may have been cut in the middle of a secret. */
function cleanText(text: string, redactor: Redactor, isCut: boolean): string {
  const clean = redactor.text(text);
  if (!isCut && !clean.includes(CUT)) return clean;
  const pieces = clean.split(CUT);
  return pieces
    .map((piece, place) => (isCut || place < pieces.length - 1 ? decided(piece, redactor) : piece))
    .join(CUT);
}

/** A text without an end that could be the beginning of a secret. */
function decided(text: string, redactor: Redactor): string {
  return Buffer.from(redactor.stream().write(Buffer.from(text))).toString('utf8');
}
