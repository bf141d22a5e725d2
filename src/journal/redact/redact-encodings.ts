/**
 * Finds a secret in whatever way its characters are written: each one raw, escaped, percent-encoded or as a character reference, also
 * mixed and escaped twice; its bytes as hexadecimal digits with separators; its base64 with line breaks.
 */
import { codePointAt } from '#core';
import { digitPatterns } from './redact-digits.ts';
import type { Pattern } from './redact-scan.ts';
import {
  anyStep,
  BACKSLASH,
  bothCases,
  END,
  firstBytes,
  formStep,
  knownStep,
  MAX_KNOWN,
  NO,
  toHead,
  toPatterns,
  type Head,
  type Step,
} from './redact-steps.ts';

/** The patterns of one text of a secret. `isWhole`: also its bytes, in hexadecimal digits and base64. */
export function encodedPatterns(text: string, mark: Uint8Array, isWhole: boolean): readonly Pattern[] {
  const units = splitUnits(text);
  const spelled = toPatterns(firstBytes(units.slice(0, 3).map(unitHeads)), () => units.map(unitStep), mark);
  return isWhole ? [...spelled, ...digitPatterns(Buffer.from(text), mark)] : spelled;
}

/** One character; a row of backslashes is one unit, because writers double them. */
function splitUnits(text: string): readonly string[] {
  return text.match(/\\+|[^\\]/gsu) ?? [];
}

const LETTERS: Readonly<Record<string, string>> = {
  '\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f', '\v': 'v', '\u0007': 'a', '\u001b': 'e', '\0': '0',
}; // prettier-ignore
const NAMES: Readonly<Record<string, readonly string[]>> = {
  '&': ['amp'], '<': ['lt'], '>': ['gt'], '"': ['quot'], "'": ['apos'],
}; // prettier-ignore

/** Everything that one character can be, without the backslashes before it. */
interface Forms {
  /** Complete texts, in latin1, longest first. */
  readonly plain: readonly string[];
  /** Complete texts behind a backslash. Letters of hexadecimal digits are in lower case. */
  readonly escaped: readonly string[];
}

function unitForms(unit: string): Forms {
  const code = codePointAt(unit, 0);
  const bytes = [...Buffer.from(unit)];
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0'));
  const codes = unit.split('').map((each) => each.charCodeAt(0).toString(16).padStart(4, '0'));
  const one = code < 0x100 ? code.toString(16).padStart(2, '0') : undefined;
  const percents = [hex, ...(one === undefined || bytes.length === 1 ? [] : [[one]])];
  const octal = bytes.map((byte) => byte.toString(8).padStart(3, '0')).join('\\');
  const letter = LETTERS[unit];
  return {
    plain: [
      ...percents.flatMap((list) => [
        list.map((each) => `%${each}`).join(''),
        list.map((each) => `%25${each}`).join(''),
      ]),
      codes.map((each) => `%u${each}`).join(''),
      ...(unit === ' ' ? ['+'] : []),
      ...(unit === '\n' ? ['\r\n'] : []),
      ...[`#${String(code)}`, `#x${code.toString(16)}`, ...(NAMES[unit] ?? [])].flatMap((name) => [
        `&${name};`,
        `&amp;${name};`,
      ]),
      ...[`#0${String(code)}`, `#x0${code.toString(16)}`].map((name) => `&${name};`),
    ].toSorted((a, b) => b.length - a.length),
    escaped: [
      codes.map((each) => `u${each}`).join('\\'),
      `u{${code.toString(16)}}`,
      `U${code.toString(16).padStart(8, '0')}`,
      ...percents.map((list) => list.map((each) => `x${each}`).join('\\')),
      octal,
      ...(letter === undefined ? [] : [letter]),
    ],
  };
}

function rawStep(unit: string): Step {
  const bytes = Buffer.from(unit);
  return (data, at) => {
    for (let index = 0; index < bytes.length; index += 1) {
      if (at + index >= data.length) return END;
      if (data[at + index] !== bytes[index]) return NO;
    }
    return at + bytes.length;
  };
}

/** How shells and tables write a quote inside of quotes, longest first. */
const QUOTED: Readonly<Record<string, readonly string[]>> = {
  "'": [`'"'"'`, String.raw`'\''`, "''"],
  '"': ['""'],
};

function unitStep(unit: string, index: number, units: readonly string[]): Step {
  const isLast = index === units.length - 1;
  if (unit.startsWith('\\')) return backslashStep(unit.length, isLast);
  const isAfterBackslash = units[index - 1]?.startsWith('\\') === true;
  // `''` is one quote, unless the secret has two. At the end, what follows may be the quote around the secret.
  const isAlone = !isLast && units[index + 1] !== unit;
  const key = [isAfterBackslash, isAlone, !isLast].map(Number).join('') + unit;
  return knownStep(key, () => characterStep(unit, { isAfterBackslash, isAlone, isInner: !isLast }));
}

interface UnitPosition {
  readonly isAfterBackslash: boolean;
  /** The next unit is another one. */
  readonly isAlone: boolean;
  /** Others follow. */
  readonly isInner: boolean;
}

function characterStep(unit: string, { isAfterBackslash, isAlone, isInner }: UnitPosition): Step {
  const { plain, escaped } = unitForms(unit);
  const quoted = isAlone ? (QUOTED[unit] ?? []) : [];
  const raw = rawStep(unit);
  // `&` and `%` also begin what they are written as.
  const longer = isInner && /^[&%]$/.test(unit) ? [...quoted, ...plain] : quoted;
  const direct = withLongest(longer.map(formStep), anyStep([raw, ...plain.map(formStep)]));
  const behind = anyStep([...(/^\w$/.test(unit) && !isAfterBackslash ? [] : [raw]), ...escaped.map(formStep)]);
  const afterBackslash = anyStep([direct, behind]);
  return (data, at) => {
    const position = skipBackslashes(data, at);
    if (position > at) return position >= data.length ? END : behind(data, position);
    return isAfterBackslash ? afterBackslash(data, at) : direct(data, at);
  };
}

/** A longer form that the data does not decide yet holds back a shorter one. */
function withLongest(longer: readonly Step[], other: Step): Step {
  return (data, at) => {
    for (const step of longer) {
      const found = step(data, at);
      if (found !== NO) return found;
    }
    return other(data, at);
  };
}

/** At least as many as the secret has. Those that follow may escape the next character; none does so after the last. */
function backslashStep(count: number, isLast: boolean): Step {
  // In addresses it becomes a slash.
  const encoded = anyStep([...unitForms('\\').plain, '/'].map(formStep));
  const code = anyStep(unitForms('\\').escaped.map(formStep));
  const one: Step = (data, at) => {
    if (at >= data.length) return END;
    const end = skipBackslashes(data, at);
    if (end === at) return encoded(data, at);
    return end >= data.length ? END : code(data, end);
  };
  return (data, at) => {
    const end = skipBackslashes(data, at);
    if (isLast && end - at >= count) return at + count;
    let position = at;
    for (let turn = 0; turn < count && position >= 0; turn += 1) position = one(data, position);
    if (position !== NO) return position;
    return end - at >= count ? end : NO;
  };
}

function skipBackslashes(data: Uint8Array, at: number): number {
  let position = at;
  while (data[position] === BACKSLASH) position += 1;
  return position;
}

const knownHeads = new Map<string, readonly Head[]>();

/** How a unit can begin: of each text the three bytes that a table needs, once. Secrets begin with few different units. */
function unitHeads(unit: string): readonly Head[] {
  const key = unit.startsWith('\\') ? '\\' : unit;
  const found = knownHeads.get(key);
  if (found !== undefined) return found;
  const heads = [...new Map(listHeads(key).map((head) => [head.text.slice(0, 3), head])).entries()];
  const short = heads.map(([text, { isOpen }]): Head => ({ text, isOpen }));
  if (knownHeads.size >= MAX_KNOWN) knownHeads.clear();
  knownHeads.set(key, short);
  return short;
}

function listHeads(unit: string): readonly Head[] {
  if (unit.startsWith('\\')) {
    const forms = unitForms('\\');
    return [
      { text: '\\', isOpen: false },
      { text: '\\\\', isOpen: false },
      { text: '\\\\\\', isOpen: true },
      ...[...forms.plain, '/', ...forms.escaped.map((form) => `\\${form}`)].flatMap(bothCases).map(toHead),
    ];
  }
  const { plain, escaped } = unitForms(unit);
  const raw = Buffer.from(unit).toString('latin1');
  const behind = [...escaped.flatMap(bothCases), ...(/^\w$/.test(unit) ? [] : [raw])];
  return [raw, ...plain.flatMap(bothCases), ...behind.map((form) => `\\${form}`), ...(QUOTED[unit] ?? [])]
    .map(toHead)
    .concat(
      ['\\\\\\', ...behind.map((form) => `\\\\${form}`)].map((text) => ({ text: text.slice(0, 3), isOpen: true })),
    );
}
