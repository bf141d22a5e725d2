/** The bytes of a secret in hexadecimal digits with separators, and in base64 with line breaks. */
import type { Pattern } from './redact-scan.ts';
import {
  anyStep,
  BACKSLASH,
  bothCases,
  END,
  firstBytes,
  formStep,
  knownStep,
  NO,
  toHead,
  toPatterns,
  type Head,
  type Step,
} from './redact-steps.ts';

export function digitPatterns(bytes: Buffer, mark: Uint8Array): readonly Pattern[] {
  const hex = toPatterns(hexStarts(bytes), () => Array.from(bytes, hexStep), mark);
  return [...hex, ...base64Cores(bytes).flatMap((core) => base64Patterns(core, mark))];
}

const HEX_SEPARATORS = Buffer.from(' :-,._\n\r\t');
const MAX_SEPARATORS = 24;
/** Node shows this many bytes of a buffer. */
const SHOWN_BYTES = 50;

/** Two hexadecimal digits, behind separators, `0x`, `\x`, or the address of a dump. */
function hexStep(byte: number, index: number): Step {
  const place = Math.min(index, 1) + Number(index >= SHOWN_BYTES);
  return knownStep(`${String(place)}x${String(byte)}`, () => makeHexStep(byte, place));
}

function makeHexStep(byte: number, place: number): Step {
  const pair = anyStep([formStep(`x${byte.toString(16).padStart(2, '0')}`)]);
  const digits: Step = (data, at) => {
    const high = hexDigit(data[at]);
    if (at >= data.length) return END;
    if (high !== byte >> 4) return NO;
    if (at + 1 >= data.length) return END;
    return hexDigit(data[at + 1]) === (byte & 15) ? at + 2 : NO;
  };
  const separated: Step = (data, at) => {
    const position = skipSeparators(data, at);
    if (position >= data.length) return END;
    if (position === at) return NO;
    const found = digits(data, position);
    if (found !== NO) return found;
    const sign = data[position];
    return sign === 0x30 || sign === BACKSLASH ? pair(data, position + 1) : NO;
  };
  if (place === 0) return digits;
  const escaped: Step = (data, at) => (data[at] === BACKSLASH ? pair(data, at + 1) : NO);
  const next = anyStep([digits, escaped, separated]);
  const isLong = place === 2;
  return (data, at) => {
    // Once enough of it was found, Node's end of a long buffer stands for the rest.
    if (isLong && data[at - 1] === ELLIPSIS_END) return at;
    const found = next(data, at);
    if (found >= 0) return found;
    if (isLong) {
      const ended = ellipsis(data, at);
      if (ended !== NO) return ended;
    }
    const line = skipToDumpLine(data, at);
    if (line < 0) return found === END || line === END ? END : NO;
    return digits(data, line);
  };
}

const ELLIPSIS_END = 0x2e;
const ellipsis = formStep(' ...');

function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function skipSeparators(data: Uint8Array, at: number): number {
  const end = Math.min(data.length, at + MAX_SEPARATORS);
  let position = at;
  while (position < end && HEX_SEPARATORS.includes(data[position] ?? 0)) position += 1;
  return position;
}

/** The bytes of a line as text, which dumps show behind them. */
const MAX_COLUMN = 48;

/** Behind the address of the next line of `od`, `xxd` and `hexdump`. */
function skipToDumpLine(data: Uint8Array, at: number): number {
  const limit = at + MAX_COLUMN;
  let position = at;
  if (position >= data.length) return END;
  if (data[position] !== 0x20 && data[position] !== 0x0a) return NO;
  while (data[position] !== 0x0a) {
    position += 1;
    if (position > limit) return NO;
    if (position >= data.length) return END;
  }
  const start = position + 1;
  position = start;
  while (hexDigit(data[position]) >= 0 && position < start + 16) position += 1;
  if (position >= data.length) return END;
  if (position - start < 6) return NO;
  if (data[position] === 0x3a) position += 1;
  const from = position;
  while (data[position] === 0x20 && position < from + 4) position += 1;
  if (position >= data.length) return END;
  return position === from ? NO : position;
}

function hexStarts([first = 0, second = 0]: Uint8Array): readonly string[] {
  const pairs = bothDigits(first.toString(16).padStart(2, '0'));
  const next = bothDigits(second.toString(16).padStart(2, '0')).map((pair) => pair.charAt(0));
  const after = [...next, ...Array.from(HEX_SEPARATORS, (byte) => String.fromCharCode(byte)), '\\'];
  return pairs.flatMap((pair) => after.map((each) => pair + each));
}

function bothDigits(pair: string): readonly string[] {
  const [high = '', low = ''] = pair;
  return [high, high.toUpperCase()].flatMap((a) => [low, low.toUpperCase()].map((b) => a + b));
}

/** Base64 of three bytes is four characters, so a text inside of another has three encodings: the characters that depend on it alone. */
function base64Cores(bytes: Uint8Array): readonly string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

const BASE64_FORMS: Readonly<Record<string, readonly string[]>> = {
  '+': ['+', '-', '%2b'],
  '/': ['/', '_', '%2f', '\\/'],
};
const BREAKS = ['\r\n', '\n', String.raw`\r\n`, String.raw`\n`];

const lineBreak = anyStep(BREAKS.map(formStep));

function base64Patterns(core: string, mark: Uint8Array): readonly Pattern[] {
  const characters = core.split('').map((each) => BASE64_FORMS[each] ?? [each]);
  const toStep = (forms: readonly string[], index: number): Step =>
    knownStep(`${index === 0 ? 's' : 'w'}${forms.join('')}`, () => {
      const character = anyStep(forms.map(formStep));
      return index === 0 ? character : anyStep([character, (data, at) => afterBreak(data, at, character)]);
    });
  const heads = characters
    .slice(0, 3)
    .map((forms, index) =>
      (index === 0 ? [''] : ['', ...BREAKS]).flatMap((text) =>
        forms.flatMap(bothCases).map((form): Head => toHead(text + form)),
      ),
    );
  return toPatterns(firstBytes(heads), () => characters.map(toStep), mark);
}

/** A character behind a line break and the indentation of the next line. */
function afterBreak(data: Uint8Array, at: number, character: Step): number {
  let position = lineBreak(data, at);
  if (position < 0) return position;
  const from = position;
  while (data[position] === 0x20 && position < from + 16) position += 1;
  return character(data, position);
}
