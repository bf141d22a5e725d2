import { isObject } from '../../core/json/json-schema.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { endOfRun, JsonStringReader } from './json-string.ts';
import { JsonValueBuilder } from './json-value.ts';
import { isWordCode, PlainWord } from './json-word.ts';
import { countText } from '../../core/text/line-text.ts';
import { quoted } from '../../core/text/text.ts';

/** Told of an object while it is read. Nobody is told of keys, nor of anything outside of the object. */
export interface JsonStreamHandlers {
  /** A string has grown. What is told adds up to the string, and no character is told in halves. */
  readonly onText?: (path: JsonPath, delta: string) => void;
  /** A value is complete; an object or a list after all that is in it. */
  readonly onValue?: (path: JsonPath, value: unknown) => void;
  /** The object is complete or will never be; once. */
  readonly onEnd?: (end: JsonStreamEnd) => void;
}

export interface JsonStreamLimits {
  /** Of the whole text, with all that stands around the object. */
  readonly maxCharacters?: number;
  /** How deep objects and lists may go. */
  readonly maxDepth?: number;
}

export interface JsonStream {
  /** Reads on. Tells whether more is wanted: nothing behind the end of the object is, nor behind a mistake. */
  write(chunk: string): boolean;
  /** There is no more text. Gives the same every time. */
  end(): JsonStreamEnd;
}

export type JsonStreamEnd =
  | {
      readonly type: 'object';
      readonly value: Readonly<Record<string, unknown>>;
      /** Where its first brace stands in the text, and the place behind its last. */
      readonly from: number;
      readonly to: number;
    }
  | { readonly type: 'broken'; readonly problem: JsonProblem };

export interface JsonProblem {
  /** No object at all; one that does not end; one that is no JSON; one beyond the limits. */
  readonly kind: 'missing' | 'cut' | 'invalid' | 'too-large';
  readonly message: string;
  /** Where it is, from 0. */
  readonly offset: number;
  /** The same from 1. */
  readonly line: number;
  readonly column: number;
}

/** An answer of a model beyond these was not meant to be read by anybody. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_DEPTH = 64;
/** No number that anybody means has more digits. */
const MAX_WORD = 1000;

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What is read, or what must come next. Numbers and not words: every sign asks. */
const AN_OBJECT = 0;
const FIRST_KEY_OR_END = 1;
const FIRST_KEY = 2;
const KEY = 3;
const A_COLON = 4;
const FIRST_ITEM = 5;
const VALUE = 6;
const COMMA_OR_END = 7;
const REST_OF_STRING = 8;
const REST_OF_WORD = 9;
const NOTHING = 10;

/**
 * Reads the first object of a text that comes in any pieces. What stands before it may be anything: a brace begins the object where a
 * quote or another brace that closes it comes next. Strict from there on: what `JSON.parse` refuses is refused at its place, and so is
 * a key that stands twice, because nobody can say which of the two was meant. Never throws, whatever the text is.
 */
export function openJsonStream(handlers: JsonStreamHandlers = {}, limits: JsonStreamLimits = {}): JsonStream {
  return new JsonStreamReader(handlers, limits);
}

class JsonStreamReader implements JsonStream {
  readonly #handlers: JsonStreamHandlers;
  readonly #maxCharacters: number;
  readonly #maxDepth: number;
  readonly #string = new JsonStringReader();
  readonly #plainWord = new PlainWord();
  readonly #built: JsonValueBuilder;
  #expected = AN_OBJECT;
  #isKey = false;
  #word = '';
  #wordStart = 0;
  /** The text before this piece, and where its last line starts. */
  #before = 0;
  #line = 1;
  #lineStart = 0;
  #start = 0;
  /** The first brace that began no object, for the case that none comes. */
  #looseBrace: JsonProblem | undefined;
  #end: JsonStreamEnd | undefined;

  constructor(handlers: JsonStreamHandlers, { maxCharacters, maxDepth }: JsonStreamLimits) {
    this.#handlers = handlers;
    this.#maxCharacters = maxCharacters ?? MAX_CHARACTERS;
    this.#maxDepth = maxDepth ?? MAX_DEPTH;
    this.#built = new JsonValueBuilder(handlers.onText !== undefined || handlers.onValue !== undefined);
  }

  write(chunk: string): boolean {
    const room = this.#maxCharacters - this.#before;
    const piece = chunk.length > room ? chunk.slice(0, room) : chunk;
    let at = 0;
    while (at < piece.length && this.#end === undefined) at = this.#step(piece, at);
    if (this.#expected === REST_OF_STRING) this.#tellText();
    if (piece !== chunk) this.#fail('too-large', `more than ${this.#maxCharacters} characters`, room);
    this.#before += piece.length;
    return this.#end === undefined;
  }

  end(): JsonStreamEnd {
    if (this.#end !== undefined) return this.#end;
    if (this.#expected === AN_OBJECT) {
      this.#finish({ type: 'broken', problem: this.#looseBrace ?? this.#problem('missing', NO_OBJECT, 0) });
    } else {
      const inside = this.#expected === REST_OF_STRING ? 'inside a string, ' : '';
      const open = countText(Math.max(1, this.#built.depth), 'bracket');
      this.#fail('cut', `the text ends ${inside}with ${open} open`, 0);
    }
    return this.end();
  }

  /** Reads at least one character, or expects something else at the same place. Gives the next place. */
  #step(piece: string, at: number): number {
    switch (this.#expected) {
      case AN_OBJECT:
        return this.#findObject(piece, at);
      case REST_OF_STRING:
        return this.#readString(piece, at);
      case REST_OF_WORD:
        return this.#readWord(piece, at);
      default:
        return this.#readSigns(piece, at);
    }
  }

  /** Signs, blanks and what lies whole in this piece, until something else is to be read. */
  #readSigns(piece: string, from: number): number {
    let at = from;
    while (at < piece.length) {
      const code = piece.charCodeAt(at);
      if (code === 0x0a) this.#countLine(at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
        at += 1;
        continue;
      }
      at = this.#readSign(piece, at, code);
      const expected = this.#expected;
      if (expected >= REST_OF_STRING || expected === AN_OBJECT) return at;
    }
    return at;
  }

  #findObject(piece: string, at: number): number {
    const brace = piece.indexOf('{', at);
    const end = brace === -1 ? piece.length : brace;
    // By hand: `indexOf` would look beyond the brace, and again for each of a million braces.
    for (let place = at; place < end; place += 1) if (piece.charCodeAt(place) === 0x0a) this.#countLine(place);
    if (brace === -1) return end;
    this.#start = this.#before + brace;
    this.#expected = FIRST_KEY_OR_END;
    return brace + 1;
  }

  #readSign(piece: string, at: number, code: number): number {
    switch (this.#expected) {
      case FIRST_KEY_OR_END:
        return this.#beginObject(piece, at, code);
      case FIRST_KEY:
      case KEY:
        if (code === QUOTE) return this.#beginKey(piece, at);
        if (code === CLOSE_OBJECT && this.#expected === FIRST_KEY) return this.#close(at);
        return this.#refuse(
          piece,
          at,
          this.#expected === KEY ? 'another key in double quotes behind the comma' : 'a key in double quotes or }',
        );
      case A_COLON:
        if (code !== COLON) return this.#refuse(piece, at, 'a colon behind the key');
        this.#expected = VALUE;
        return at + 1;
      case FIRST_ITEM:
        if (code === CLOSE_LIST) return this.#close(at);
        return this.#beginValue(piece, at, code);
      case COMMA_OR_END:
        return this.#readBetween(piece, at, code);
      default:
        return this.#beginValue(piece, at, code);
    }
  }

  /** A brace in a sentence is no object. The sign after it is looked at again, because it may be a brace too. */
  #beginObject(piece: string, at: number, code: number): number {
    if (code === QUOTE || code === CLOSE_OBJECT) return this.#open('object', at);
    this.#looseBrace ??= this.#problem(
      'missing',
      `${NO_OBJECT}: ${mismatch('a key in double quotes behind {', piece, at)}`,
      at,
    );
    this.#expected = AN_OBJECT;
    return at;
  }

  #beginValue(piece: string, at: number, code: number): number {
    if (code === QUOTE) return this.#beginString(piece, at, false);
    if (code === OPEN_OBJECT) return this.#open('object', at + 1);
    if (code === OPEN_LIST) return this.#open('list', at + 1);
    if (!isWordCode(code)) return this.#refuse(piece, at, 'a value');
    const end = this.#plainWord.read(piece, at, code);
    if (end !== -1) {
      this.#complete(this.#plainWord.value, end);
      return end;
    }
    this.#word = '';
    this.#wordStart = at + this.#before;
    this.#expected = REST_OF_WORD;
    return at;
  }

  #readBetween(piece: string, at: number, code: number): number {
    const isList = this.#built.isInList;
    if (code === COMMA) {
      this.#expected = isList ? VALUE : KEY;
      return !isList && piece.charCodeAt(at + 1) === QUOTE ? this.#beginKey(piece, at + 1) : at + 1;
    }
    if (code === (isList ? CLOSE_LIST : CLOSE_OBJECT)) return this.#close(at);
    return this.#refuse(piece, at, isList ? 'a comma or ]' : 'a comma or }');
  }

  /** With its colon and the value, where they follow at once: most often they do. */
  #beginKey(piece: string, at: number): number {
    const end = this.#built.keyAsExpected(piece, at + 1);
    if (end === -1) return this.#beginString(piece, at, true);
    if (piece.charCodeAt(end) !== COLON) {
      this.#expected = A_COLON;
      return end;
    }
    this.#expected = VALUE;
    const next = piece.charCodeAt(end + 1);
    return next > 0x20 ? this.#beginValue(piece, end + 1, next) : end + 1;
  }

  /** Most strings are short and lie in one piece without an escape: they are taken as they are. */
  #beginString(piece: string, at: number, isKey: boolean): number {
    this.#isKey = isKey;
    const end = endOfRun(piece, at + 1);
    if (piece.charCodeAt(end) === QUOTE) {
      const text = piece.slice(at + 1, end);
      if (!isKey && text !== '') this.#handlers.onText?.(this.#built.path(), text);
      return this.#completeString(text, end + 1);
    }
    this.#string.start();
    this.#expected = REST_OF_STRING;
    return at + 1;
  }

  #readString(piece: string, from: number): number {
    const at = this.#string.read(piece, from);
    const { problem, isComplete } = this.#string;
    if (problem !== undefined) this.#fail('invalid', problem, at);
    if (!isComplete) return at;
    this.#tellText();
    return this.#completeString(this.#string.taken, at);
  }

  #completeString(text: string, next: number): number {
    if (!this.#isKey) this.#complete(text, next);
    else if (this.#built.key(text)) this.#expected = A_COLON;
    else this.#fail('invalid', `the key ${quoted(text)} stands twice in one object`, next - 1);
    return next;
  }

  #tellText(): void {
    const delta = this.#string.takeDelta();
    if (delta !== '' && !this.#isKey) this.#handlers.onText?.(this.#built.path(), delta);
  }

  /** Numbers, true, false, null; and what is none of them, read whole so that it can be named. */
  #readWord(piece: string, from: number): number {
    let at = from;
    while (at < piece.length && isWordCode(piece.charCodeAt(at))) at += 1;
    const read = piece.slice(from, at);
    const word = this.#word === '' ? read : this.#word + read;
    this.#word = word;
    if (word.length > MAX_WORD || at < piece.length) this.#completeWord(word, at);
    return at;
  }

  #completeWord(word: string, next: number): void {
    if (NUMBER.test(word) && word.length <= MAX_WORD) this.#complete(Number(word), next);
    else if (LITERALS.has(word)) this.#complete(LITERALS.get(word), next);
    else {
      const what = word.length > MAX_WORD ? `a number or word of more than ${MAX_WORD} characters` : quoted(word);
      this.#fail('invalid', `expected a value, found ${what}`, this.#wordStart - this.#before);
    }
  }

  #open(type: 'object' | 'list', next: number): number {
    if (this.#built.depth >= this.#maxDepth) {
      this.#fail('too-large', `more than ${this.#maxDepth} brackets deep`, next - 1);
      return next;
    }
    this.#built.open(type);
    this.#expected = type === 'object' ? FIRST_KEY : FIRST_ITEM;
    return next;
  }

  #close(at: number): number {
    this.#complete(this.#built.close(), at + 1);
    return at + 1;
  }

  #complete(value: unknown, next: number): void {
    this.#handlers.onValue?.(this.#built.path(), value);
    this.#expected = COMMA_OR_END;
    if (this.#built.depth > 0) this.#built.add(value);
    else if (isObject(value)) this.#finish({ type: 'object', value, from: this.#start, to: this.#before + next });
  }

  #countLine(at: number): void {
    this.#line += 1;
    this.#lineStart = this.#before + at + 1;
  }

  #refuse(piece: string, at: number, expected: string): number {
    this.#fail('invalid', mismatch(expected, piece, at), at);
    return at;
  }

  #fail(kind: JsonProblem['kind'], message: string, at: number): void {
    this.#finish({ type: 'broken', problem: this.#problem(kind, message, at) });
  }

  #problem(kind: JsonProblem['kind'], message: string, at: number): JsonProblem {
    const offset = this.#before + at;
    return { kind, message, offset, line: this.#line, column: offset - this.#lineStart + 1 };
  }

  #finish(end: JsonStreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#expected = NOTHING;
    this.#handlers.onEnd?.(end);
  }
}

const NO_OBJECT = 'there is no JSON object';

function mismatch(expected: string, piece: string, at: number): string {
  return `expected ${expected}, found ${signText(piece.charAt(at))}`;
}

/** The other half of a symbol may be in the next piece, and a problem is the same however the text was cut. */
function signText(sign: string): string {
  if (sign === '"') return 'a double quote';
  return /[\ud800-\udfff]/.test(sign) ? 'a symbol' : quoted(sign);
}
