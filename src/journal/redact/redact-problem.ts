/** A value shorter than this, or wide-spread, would be found in text that has nothing to do with it. */
const MIN_BYTES = 6;
/** An environment holds no more of one variable. */
const MAX_BYTES = 32 * 1024;

/** Words that stand in output for many reasons; as values they protect nothing. */
const COMMON: ReadonlySet<string> = new Set(
  `secret secrets password passwd passphrase changeme default example sample enabled disabled localhost production development
   staging testing undefined unknown username required optional administrator private public string number boolean token access`.split(
    /\s+/,
  ),
);

/** Why a value cannot be kept out of texts without destroying them; nothing where it can. Never says the value. */
export function redactionProblem(value: string): string | undefined {
  const bytes = Buffer.from(value.trim());
  if (bytes.length < MIN_BYTES) return `has fewer than ${String(MIN_BYTES)} bytes`;
  if (Buffer.byteLength(value) > MAX_BYTES) return `is longer than ${String(MAX_BYTES)} bytes`;
  if (COMMON.has(value.trim().toLowerCase())) return 'is a common word';
  if (isRepetitive(bytes)) return 'repeats itself';
  return undefined;
}

/** A long start that repeats itself would be compared anew at every place of a text that goes on like it. */
const LONG_START = 64;

/** It, or a long start of it, is a shorter text said four times or more. */
function isRepetitive(bytes: Uint8Array): boolean {
  // For each start, how much of its end is its start again.
  const borders = new Int32Array(bytes.length);
  let border = 0;
  for (let at = 1; at < bytes.length; at += 1) {
    while (border > 0 && bytes[at] !== bytes[border]) border = borders[border - 1] ?? 0;
    if (bytes[at] === bytes[border]) border += 1;
    borders[at] = border;
    const length = at + 1;
    if ((length >= LONG_START || length === bytes.length) && (length - border) * 4 <= length) return true;
  }
  return false;
}
