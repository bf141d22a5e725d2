/** Shorter or very common values occur in unrelated text. */
const MIN_BYTES = 6;
/** The longest value of an environment variable. */
const MAX_BYTES = 32 * 1024;

/** Common words in output; they are useless as secrets. */
const COMMON: ReadonlySet<string> = new Set(
  `secret secrets password passwd passphrase changeme default example sample enabled disabled localhost production development
   staging testing undefined unknown username required optional administrator private public string number boolean token access`.split(
    /\s+/,
  ),
);

/** Returns why a value cannot be redacted without destroying other text, or undefined. Never contains the value. */
export function redactionProblem(value: string): string | undefined {
  const bytes = Buffer.from(value.trim());
  if (bytes.length < MIN_BYTES) return `has fewer than ${String(MIN_BYTES)} bytes`;
  if (Buffer.byteLength(value) > MAX_BYTES) return `has more than ${String(MAX_BYTES)} bytes`;
  if (COMMON.has(value.trim().toLowerCase())) return 'is a common word';
  if (isRepetitive(bytes)) return 'repeats itself';
  return undefined;
}

/** A long repetitive start would be compared again at every position of a similar text. */
const LONG_START = 64;

/** Whether the value, or a long start of it, repeats a shorter text four times or more. */
function isRepetitive(bytes: Uint8Array): boolean {
  // The border array: for each prefix, the length of its longest suffix that is also a prefix.
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
