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

const MIN_LINE = 8;
const MAX_DEPTH = 8;
/** Names of JSON members with secret values; other members are addresses and names. */
const SECRET_MEMBER = /key|token|secret|passw|passphrase|credential/i;

/**
 * Returns the parts of a value that are secrets on their own, because programs split values: lines, the password of a URL, keys in a
 * JSON file.
 */
export function splitSecret(value: string): readonly string[] {
  const inner = [...urlPasswords(value), ...jsonMembers(value)].filter((part) => redactionProblem(part) === undefined);
  return [...new Set([...inner, ...[value, ...inner].flatMap(splitLines)])];
}

/** The lines of a multi-line key. The first and last line of a PEM file are not secret. */
function splitLines(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.length === 1 ? [] : lines.filter((line) => isWorthALine(line) && !/^-{5}[A-Z0-9 ]+-{5}$/.test(line));
}

/** Long and random enough to be searched on its own. */
function isWorthALine(line: string): boolean {
  return line.length >= MIN_LINE && redactionProblem(line) === undefined;
}

/** As written, and decoded. */
function urlPasswords(value: string): readonly string[] {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/]+)@/i.exec(value.trim()) ?? [];
  if (password === undefined) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

function jsonMembers(value: string): readonly string[] {
  if (!/^\s*[{[]/.test(value)) return [];
  try {
    return stringsIn(JSON.parse(value), false, 0);
  } catch {
    return [];
  }
}

function stringsIn(value: unknown, isSecret: boolean, depth: number): readonly string[] {
  if (typeof value === 'string') return isSecret ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    stringsIn(member, isSecret || SECRET_MEMBER.test(name), depth + 1),
  );
}

/** The line lengths of wrapped base64: PEM, and MIME with the `base64` program. */
const WRAPS: readonly number[] = [64, 76];

/**
 * Returns the fixed texts of a value, without duplicates: itself, its parts, its bytes in hexadecimal digits, and base64 with its padding
 * and each of its lines alone. `encodedPatterns` finds all other spellings; those here can also be part of the name of a secret.
 */
export function listFixedTexts(value: string): readonly Buffer[] {
  const texts = new Set([value, value.trim()]);
  const fixed = new Set([
    ...texts,
    ...splitSecret(value),
    ...[...texts].flatMap((text) => [...base64Spellings(text), ...hexSpellings(text)]),
  ]);
  return Array.from(fixed, (text) => Buffer.from(text));
}

function hexSpellings(text: string): readonly string[] {
  const hex = Buffer.from(text).toString('hex');
  return [hex, hex.toUpperCase()];
}

function base64Spellings(text: string): readonly string[] {
  const alone = Buffer.from(text).toString('base64');
  const wrapped = WRAPS.filter((width) => alone.length > width).flatMap((width) =>
    (alone.match(new RegExp(`.{1,${String(width)}}`, 'g')) ?? []).filter(isWorthALine),
  );
  return [alone, alone.replace(/=+$/, ''), ...wrapped].flatMap((spelling) => [
    spelling,
    spelling.replaceAll('+', '-').replaceAll('/', '_'),
    encodeURIComponent(spelling),
  ]);
}
