import { escapeXml } from '#core';
import { isWorthALine, splitSecret } from './redact-parts.ts';

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

/** As JavaScript, Python (ASCII only), PHP (escaped slashes) and Go (HTML-safe) write it, and JSON inside JSON. */
function jsonSpellings(text: string): readonly string[] {
  const plain = inJson(text);
  const scripts = [plain, asciiOnly(plain), asciiOnly(plain, true)];
  return [
    ...scripts,
    ...scripts.map((spelling) => spelling.replaceAll('/', '\\/')),
    plain.replaceAll(/[<>&\u2028\u2029]/g, (character) => unicodeEscape(character)),
    inJson(plain),
  ];
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
];
/** Forms encode a space as a plus. */
const ENCODED_IN_FORMS: readonly RegExp[] = [/[^\w.~-]/gu, /[^\w.*-]/gu, /[^\w.-]/gu];

/** With hexadecimal digits in either case. */
function urlSpellings(text: string): readonly string[] {
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

function markupSpellings(text: string): readonly string[] {
  const full = escapeXml(text);
  return [
    full,
    full.replaceAll('&#39;', '&#x27;'),
    full.replaceAll('&#39;', '&apos;').replaceAll('&quot;', '&#34;'),
    full.replaceAll('&#39;', "'"),
    full.replaceAll('&#39;', "'").replaceAll('&quot;', '"'),
    full.replaceAll('&quot;', '&#34;'),
  ];
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
