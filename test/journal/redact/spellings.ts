import { escapeXml } from '../../../src/core/index.ts';
import { redactionProblem, splitSecret } from '../../../src/journal/redact/redact-variants.ts';

/** The line lengths of wrapped base64: PEM, and MIME with the `base64` program. */
const WRAPS: readonly number[] = [64, 76];

/** Every spelling of a value that programs are known to print by accident, without duplicates, as their writers make them. */
export function listSpellings(value: string): readonly Buffer[] {
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
    (alone.match(new RegExp(`.{1,${String(width)}}`, 'g')) ?? []).filter(
      (line) => line.length >= 8 && redactionProblem(line) === undefined,
    ),
  );
  const standard = [alone, alone.replace(/=+$/, ''), ...inside, ...wrapped];
  return standard.flatMap((spelling) => [
    spelling,
    spelling.replaceAll('+', '-').replaceAll('/', '_'),
    encodeURIComponent(spelling),
  ]);
}
