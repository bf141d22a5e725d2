import { escapeXml } from '#core';

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
 * Returns every encoding of a value that programs are known to print by accident, without duplicates. Encodings below the minimum
 * length are omitted.
 */
export function listVariants(value: string): readonly Buffer[] {
  const texts = [...new Set([value, value.trim()])];
  const spellings = new Set([
    ...texts.flatMap((text) => [text, ...jsonSpellings(text), ...urlSpellings(text), ...markupSpellings(text)]),
    ...texts.flatMap((text) => [...shellSpellings(text), ...base64Spellings(text), ...hexSpellings(text)]),
    ...splitSecret(value).flatMap((part) => [part, ...jsonSpellings(part)]),
  ]);
  return [...spellings].map((spelling) => Buffer.from(spelling));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** What writers escape beside what JSON demands, in lower case: Go and Rails, Flask, Gson and Newtonsoft. */
const ESCAPED_IN_JSON: readonly RegExp[] = [
  /[<>&\u2028\u2029]/g,
  /[<>&'\u2028\u2029]/g,
  /[<>&'=\u2028\u2029]/g,
  /[<>&'"\u2028\u2029]/g,
];
/** In upper case: serialize-javascript, Django, PHP with its flags for HTML, and System.Text.Json. */
const ESCAPED_IN_UPPER_CASE: readonly RegExp[] = [
  /[<>/\u2028\u2029]/g,
  /[<>&]/g,
  /[<>&'"]/g,
  /[<>&'"+`\x7f]/g,
  /[\\<>&'"=;`\x7f-]/g,
];

/** As JavaScript, Python (ASCII only) and PHP (escaped slashes) write it, safe for HTML, and JSON inside JSON. */
function jsonSpellings(text: string): readonly string[] {
  const plain = inJson(text);
  const scripts = [plain, asciiOnly(plain), asciiOnly(plain, true)];
  const safe = new Set([
    ...ESCAPED_IN_JSON.map((escaped) => escapeJson(text, escaped)),
    ...ESCAPED_IN_UPPER_CASE.map((escaped) => escapeJson(text, escaped, true)),
  ]);
  const escaped = [...safe].flatMap((spelling) => [spelling, asciiOnly(spelling), asciiOnly(spelling, true)]);
  return [
    ...[...new Set([...scripts, ...escaped])].flatMap((spelling) => [spelling, spelling.replaceAll('/', '\\/')]),
    inJson(plain),
  ];
}

/** Escapes these characters by their code, and the others as JSON does. */
function escapeJson(text: string, escaped: RegExp, isUpper = false): string {
  let end = 0;
  const parts: string[] = [];
  for (const { 0: unit, index } of text.matchAll(escaped)) {
    parts.push(inJson(text.slice(end, index)), unicodeEscape(unit, isUpper));
    end = index + 1;
  }
  return [...parts, inJson(text.slice(end))].join('');
}

function asciiOnly(text: string, isUpper = false): string {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => unicodeEscape(unit, isUpper));
}

function unicodeEscape(unit: string, isUpper = false): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${isUpper ? hex.toUpperCase() : hex}`;
}

/** The escaped characters: libraries differ. */
const ENCODED_IN_URLS: readonly RegExp[] = [
  /[^\w.~-]/gu,
  /[^\w.~/-]/gu,
  // encodeURIComponent, encodeURI, and the name and password of a URL
  /[^\w.~!'()*-]/gu,
  /[^\w.~!'()*;,/?:@&=+$#-]/gu,
  /[^\w.~!'()*&+,$%-]/gu,
  // The first two of them in the query of a URL of Node, and what it makes of a plain text in a path, a query and a fragment
  /[^\w.~!()*-]/gu,
  /[^\w.~!()*;,/?:@&=+$#-]/gu,
  /[^!$-;=@-\]_a-z|~]/gu,
  /[^!$-;=@-_a-z|~]/gu,
  /[^!$-&(-;=?-~]/gu,
  /[^!$-;=?-~]/gu,
  /[^!#-;=?-_a-~]/gu,
  // Paths of Go, and everything but letters and digits
  /[^\w.~$&+:=@-]/gu,
  /[^\w.~$&+,/:;=@-]/gu,
  /[^a-zA-Z0-9]/gu,
];
/** Forms encode a space as a plus. */
const ENCODED_IN_FORMS: readonly RegExp[] = [/[^\w.~-]/gu, /[^\w.*-]/gu, /[^\w.-]/gu, /[^\w.!()*-]/gu];

/** With hexadecimal digits in either case. */
function urlSpellings(text: string): readonly string[] {
  if (/^[a-zA-Z0-9]*$/.test(text)) return [];
  return [percentEncoded, lowerPercentEncoded].flatMap((encode) => [
    ...ENCODED_IN_URLS.map((encoded) => text.replaceAll(encoded, encode)),
    ...ENCODED_IN_FORMS.map((encoded) => text.replaceAll(encoded, encode).replaceAll('%20', '+')),
  ]);
}

function percentEncoded(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '%$&');
}

function lowerPercentEncoded(character: string): string {
  return percentEncoded(character).toLowerCase();
}

const APOSTROPHES = ["'", '&#39;', '&#039;', '&#x27;', '&apos;'];
const QUOTES = ['"', '&quot;', '&#34;', '&#x22;'];

/** Writers differ in quotes; Handlebars, Mustache, Underscore and Go escape further characters. */
function markupSpellings(text: string): readonly string[] {
  const full = escapeXml(text);
  const all = APOSTROPHES.flatMap((apostrophe) =>
    QUOTES.map((quote) => full.replaceAll('&#39;', apostrophe).replaceAll('&quot;', quote)),
  );
  const escaped = MARKUP_CODES.flatMap((codes) =>
    [full, full.replaceAll('&#39;', '&#x27;')].map((each) => each.replaceAll(codes, hexReference)),
  );
  const go = full.replaceAll('&quot;', '&#34;').replaceAll('+', '&#43;');
  return [...new Set([...all, ...escaped, go])].flatMap((each) => [
    each,
    each.replaceAll(/[^\0-\x7f]/gu, decimalReference),
  ]);
}

/** Underscore, Handlebars, Mustache, and the rules of OWASP. */
const MARKUP_CODES: readonly RegExp[] = [/`/g, /[`=]/g, /[`=/]/g, /\//g];

function hexReference(character: string): string {
  return `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
}

function decimalReference(character: string): string {
  return `&#${String(character.charCodeAt(0))};`;
}

/** In single quotes as shells and Python write them, in double quotes, and unquoted. */
function shellSpellings(text: string): readonly string[] {
  return [
    text.replaceAll("'", String.raw`'\''`),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll(/[$`"\\]/g, String.raw`\$&`),
    text.replaceAll(/[^\w@%+=:,./\n\u0080-\uffff-]/g, String.raw`\$&`),
  ];
}

function hexSpellings(text: string): readonly string[] {
  const hex = Buffer.from(text).toString('hex');
  return [hex, hex.toUpperCase()];
}

/**
 * Base64 encodes three bytes in four characters, so a value inside a longer text has three encodings. Of each, only the characters
 * that depend on nothing but the value are used; of the value alone also the whole encoding and its wrapped lines.
 */
function base64Spellings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const alone = bytes.toString('base64');
  const inside = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const wrapped = WRAPS.filter((width) => alone.length > width).flatMap((width) =>
    (alone.match(new RegExp(`.{1,${String(width)}}`, 'g')) ?? []).filter(isWorthALine),
  );
  const standard = [alone, alone.replace(/=+$/, ''), ...inside, ...wrapped];
  return standard.flatMap((spelling) => [
    spelling,
    spelling.replaceAll('+', '-').replaceAll('/', '_'),
    encodeURIComponent(spelling),
  ]);
}
