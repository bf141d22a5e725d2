import type { Redactor } from '#core';

/** Removes secrets from all strings of a value. Strings are replaced by strings, so the type stays the same. */
export function redacted<Value>(value: Value, redactor: Redactor): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return redactor.isEmpty ? value : (inside(value, redactor) as Value);
}

/** Returns the same object if nothing was found. */
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

/** Keys that hold truncated text if the object has `truncated: true`. */
const SHOWN: ReadonlySet<string> = new Set(['text', 'content']);

const CUT = '…';

/** Text before an ellipsis, or at the end of truncated text, may end inside a secret. */
function cleanText(text: string, redactor: Redactor, isCut: boolean): string {
  const clean = redactor.text(text);
  if (!isCut && !clean.includes(CUT)) return clean;
  const pieces = clean.split(CUT);
  return pieces
    .map((piece, place) => (isCut || place < pieces.length - 1 ? decided(piece, redactor) : piece))
    .join(CUT);
}

/** Removes an ending that could be the prefix of a secret. */
function decided(text: string, redactor: Redactor): string {
  return Buffer.from(redactor.stream().write(Buffer.from(text))).toString('utf8');
}
