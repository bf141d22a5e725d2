import { codePointAt, countText, isObject, positionOf, printable, quoted } from '#core';

export type JsonObjectReading =
  | {
      readonly type: 'object';
      readonly value: Readonly<Record<string, unknown>>;
      /** The offset of its first brace, and the offset after its last. */
      readonly from: number;
      readonly to: number;
    }
  | { readonly type: 'broken'; readonly problem: JsonProblem };

interface JsonProblem extends ReturnType<typeof positionOf> {
  readonly kind: 'missing' | 'cut' | 'invalid' | 'too-large';
  readonly message: string;
  readonly offset: number;
}

/** The offset of the first mistake in a text that is not JSON. V8 does not always report one. */
export function jsonErrorOffset(text: string): number {
  const scanned = scanObject(`{"":${text}}`, 0, Number.POSITIVE_INFINITY, { mayRepeat: true });
  const at = typeof scanned === 'number' ? scanned - 1 : scanned.offset;
  return Math.min(at - '{"":'.length, text.length);
}

type Fault = Pick<JsonProblem, 'kind' | 'message' | 'offset'>;

export const MAX_JSON_CHARACTERS = 16 * 1024 * 1024;
export const MAX_JSON_DEPTH = 64;
export const MAX_WORD = 1000;

const WORD = /[\w.+-]+/y;
const VALID_WORD = /^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)$/;

/** A brace in prose such as `{name}` starts no object: a key or the closing brace must follow. */
const OBJECT_START = /\{[ \t\r\n]*(?=["}]|$)/y;

/**
 * Reads the first JSON object in a text, whatever surrounds it. The scan adds two things to `JSON.parse`: the exact position of a
 * mistake, and an error for a duplicate key, since it is unclear which of the two values the model meant.
 */
export function readJsonObject(text: string): JsonObjectReading {
  if (text.length > MAX_JSON_CHARACTERS) {
    const message = `the text has ${String(text.length)} characters; the limit is ${String(MAX_JSON_CHARACTERS)}`;
    return broken(text, { kind: 'too-large', message, offset: MAX_JSON_CHARACTERS });
  }
  const from = findObjectStart(text);
  if (typeof from !== 'number') return broken(text, from);
  const to = scanObject(text, from, MAX_JSON_DEPTH);
  if (typeof to !== 'number') return broken(text, to);
  const value: unknown = JSON.parse(text.slice(from, to));
  return { type: 'object', value: isObject(value) ? value : {}, from, to };
}

function broken(text: string, fault: Fault): JsonObjectReading {
  return { type: 'broken', problem: { ...fault, ...positionOf(text, fault.offset) } };
}

function findObjectStart(text: string): number | Fault {
  let firstBrace = -1;
  for (let brace = text.indexOf('{'); brace !== -1; brace = text.indexOf('{', brace + 1)) {
    OBJECT_START.lastIndex = brace;
    if (OBJECT_START.test(text)) return brace;
    if (firstBrace === -1) firstBrace = brace;
  }
  const message = 'the text contains no JSON object';
  if (firstBrace === -1) return { kind: 'missing', message, offset: text.length };
  const offset = skipSpace(text, firstBrace + 1);
  return {
    kind: 'missing',
    message: `${message}: ${mismatch('a key in double quotes after {', text, offset)}`,
    offset,
  };
}

type Expected = 'first key' | 'key' | 'colon' | 'first item' | 'value' | 'comma';

/** Validates the object that starts at `from`. Returns the offset after its last brace. */
function scanObject(
  text: string,
  from: number,
  maxDepth: number,
  { mayRepeat }: { readonly mayRepeat: boolean } = { mayRepeat: false },
): number | Fault {
  /** The keys of each open object; undefined for a list. */
  const open: (Set<string> | undefined)[] = [new Set()];
  let expected: Expected = 'first key';
  let at = from + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (at >= text.length) return cut(text, open.length, '');
    const sign = text.charAt(at);
    const keys = open.at(-1);
    const isClosing =
      sign === (keys === undefined ? ']' : '}') && expected !== 'key' && expected !== 'value' && expected !== 'colon';
    if (isClosing) {
      open.pop();
      at += 1;
      if (open.length === 0) return at;
      expected = 'comma';
    } else if (expected === 'comma' || expected === 'colon') {
      if (sign !== (expected === 'comma' ? ',' : ':'))
        return invalid(mismatch(describeExpected(expected, keys), text, at), at);
      expected = expected === 'comma' && keys !== undefined ? 'key' : 'value';
      at += 1;
    } else if (sign === '"') {
      const end = scanString(text, at, open.length);
      if (typeof end !== 'number') return end;
      if (expected === 'key' || expected === 'first key') {
        const key = String(JSON.parse(text.slice(at, end)));
        if (!mayRepeat && keys?.has(key) === true) return invalid(`duplicate key ${quoted(key)}`, end - 1);
        keys?.add(key);
        expected = 'colon';
      } else {
        expected = 'comma';
      }
      at = end;
    } else if (expected === 'key' || expected === 'first key') {
      return invalid(mismatch(describeExpected(expected, keys), text, at), at);
    } else if (sign === '{' || sign === '[') {
      if (open.length >= maxDepth)
        return { kind: 'too-large', message: `nested more than ${String(maxDepth)} levels deep`, offset: at };
      open.push(sign === '{' ? new Set() : undefined);
      expected = sign === '{' ? 'first key' : 'first item';
      at += 1;
    } else {
      const end = scanWord(text, at, open.length);
      if (typeof end !== 'number') return end;
      expected = 'comma';
      at = end;
    }
  }
}

function describeExpected(expected: Expected, keys: Set<string> | undefined): string {
  if (expected === 'comma') return keys === undefined ? 'a comma or ]' : 'a comma or }';
  if (expected === 'colon') return 'a colon after the key';
  return expected === 'key' ? 'another key in double quotes after the comma' : 'a key in double quotes or }';
}

function scanWord(text: string, at: number, depth: number): number | Fault {
  WORD.lastIndex = at;
  const [word] = WORD.exec(text) ?? [];
  if (word === undefined) return invalid(mismatch('a value', text, at), at);
  if (word.length > MAX_WORD)
    return invalid(`expected a value, found a number or word of more than ${String(MAX_WORD)} characters`, at);
  if (at + word.length === text.length) return cut(text, depth, '');
  return VALID_WORD.test(word) ? at + word.length : invalid(`expected a value, found ${quoted(word)}`, at);
}

function scanString(text: string, start: number, depth: number): number | Fault {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code === 0x0a) return invalid('a line break inside a string: write it as \\n', at);
    if (code < 0x20)
      return invalid(`a control character inside a string: write it as \\u${code.toString(16).padStart(4, '0')}`, at);
    if (code !== 0x5c) continue;
    at += 1;
    const escape = text.charAt(at);
    if (escape === 'u') {
      const end = at + 5;
      for (at += 1; at < Math.min(end, text.length); at += 1)
        if (!/[0-9a-fA-F]/.test(text.charAt(at)))
          return invalid('the escape \\u must be followed by four hexadecimal digits', at);
      at = end - 1;
    } else if (escape !== '' && !'"\\/bfnrt'.includes(escape)) {
      return invalid('a backslash in a string must be followed by one of "\\/bfnrtu', at);
    }
  }
  return cut(text, depth, 'inside a string, ');
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  return at;
}

function invalid(message: string, offset: number): Fault {
  return { kind: 'invalid', message, offset };
}

function cut(text: string, depth: number, where: string): Fault {
  return {
    kind: 'cut',
    message: `the text ends ${where}with ${countText(depth, 'open bracket')}`,
    offset: text.length,
  };
}

function mismatch(expected: string, text: string, at: number): string {
  const sign = String.fromCodePoint(codePointAt(text, at));
  return `expected ${expected}, found ${sign === '"' ? 'a double quote' : quoted(sign)}`;
}

export type AnswerReading =
  | {
      readonly type: 'object';
      readonly value: Readonly<Record<string, unknown>>;
      readonly notes: readonly string[];
    }
  | { readonly type: 'unreadable'; readonly problem: JsonProblem };

const QUOTED_BEFORE = 40;

/**
 * Returns the first object of an answer, also where prose or a code fence surrounds it. Trailing commas, single quotes and comments are
 * errors, because repairing them means guessing, and the agent would act on the guess.
 */
export function readAnswer(text: string): AnswerReading {
  const reading = readJsonObject(text);
  if (reading.type === 'broken') return { type: 'unreadable', problem: withPosition(reading.problem, text) };
  return { type: 'object', value: reading.value, notes: describeIgnoredText(text, reading.from, reading.to) };
}

/** The message names the error, its line and column, and the text before it. */
function withPosition(problem: JsonProblem, text: string): JsonProblem {
  const { message, offset, line, column } = problem;
  const before = text.slice(Math.max(0, offset - QUOTED_BEFORE), offset);
  const after = before.trim() === '' ? '' : `, after ${quoted(before)}`;
  return { ...problem, message: `${message}; line ${line}, column ${column}${after}` };
}

/** White space and the marks of a code fence around the object need no note. */
function describeIgnoredText(text: string, from: number, to: number): readonly string[] {
  const rest = text.slice(to);
  const before = text
    .slice(0, from)
    .trim()
    .replace(/```\w*$/, '')
    .trim().length;
  const after = rest.trim().replace(/^```/, '').trim().length;
  const next = readJsonObject(rest);
  const isOnly = next.type === 'broken' && next.problem.kind === 'missing';
  return [
    ...(before === 0 ? [] : [`ignored ${countText(before, 'character')} of text before the object`]),
    ...(isOnly ? [] : ['the answer contains more than one object; only the first was used']),
    ...(after === 0 ? [] : [`ignored ${countText(after, 'character')} of text after the object`]),
  ];
}

export interface Repairable {
  readonly message: string;
  readonly hint?: string;
  readonly nearest?: readonly string[];
}

/** The one message that asks for the answer again. Quoted text is printed on one line, so that it cannot pass for an instruction. */
export function repairRequest({ message, hint, nearest = [] }: Repairable): string {
  return [
    `Your last answer was not used: ${printable(message)}.`,
    ...(hint === undefined ? [] : [`What to do: ${printable(hint)}.`]),
    ...(nearest.length === 0 ? [] : [`Did you mean ${nearest.map((name) => quoted(name)).join(' or ')}?`]),
    'Nothing was done. Answer again with one JSON object and nothing else: no text around it, no code fence, double quotes,' +
      ' no comments, no comma before a closing bracket.',
  ].join('\n');
}
