import { isHigh } from '../../core/text/code-point.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** What the letter behind a backslash stands for. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** The inside of one JSON string after the other, in pieces that may end anywhere: in an escape, between the halves of a character. */
export class JsonStringReader {
  #delta = '';
  #told = '';
  /** What was read of an escape, without its backslash; none outside of one. */
  #escape: string | undefined;
  #isComplete = false;
  #problem: string | undefined;

  /** The closing quote was read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** What is wrong where `read` stopped. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Begins the next string, behind its opening quote. */
  start(): void {
    this.#delta = '';
    this.#told = '';
    this.#isComplete = false;
  }

  /** Reads on and gives the place behind what was read: the closing quote, the end of the piece, or what comes before a problem. */
  read(piece: string, from: number): number {
    let at = from;
    while (at < piece.length) {
      if (this.#escape !== undefined) {
        if (!this.#readEscape(piece.charAt(at), this.#escape)) return at;
        at += 1;
        continue;
      }
      const end = endOfRun(piece, at);
      if (end > at) this.#delta += piece.slice(at, end);
      if (end === piece.length) return end;
      const code = piece.charCodeAt(end);
      if (code === QUOTE) {
        this.#isComplete = true;
        return end + 1;
      }
      if (code !== BACKSLASH) {
        this.#problem = controlProblem(code);
        return end;
      }
      this.#escape = '';
      at = end + 1;
    }
    return at;
  }

  /** What came since the last time. Half of a character waits for the other half; it never comes where the string is complete. */
  takeDelta(): string {
    const delta = this.#delta;
    const waits = !this.#isComplete && endsInHalf(delta);
    const taken = waits ? delta.slice(0, -1) : delta;
    this.#delta = waits ? delta.slice(-1) : '';
    this.#told = this.#told === '' ? taken : this.#told + taken;
    return taken;
  }

  /** All that was taken: of a complete string, the string. */
  get taken(): string {
    return this.#told;
  }

  /** One more character of an escape; false where it cannot belong to one. */
  #readEscape(character: string, before: string): boolean {
    if (before === '') {
      const meaning = ESCAPES.get(character);
      if (meaning === undefined && character.charCodeAt(0) !== LETTER_U) {
        this.#problem = 'a backslash in a string that begins no escape of JSON: expected one of "\\/bfnrtu behind it';
        return false;
      }
      this.#delta += meaning ?? '';
      this.#escape = meaning === undefined ? character : undefined;
      return true;
    }
    if (!/^[0-9A-Fa-f]$/.test(character)) {
      this.#problem = 'an escape \\u without its four hexadecimal digits';
      return false;
    }
    const escape = before + character;
    const isWhole = escape.length === 5;
    if (isWhole) this.#delta += String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    this.#escape = isWhole ? undefined : escape;
    return true;
  }
}

/** Where ordinary characters end. Nearly all of a text is read here. */
export function endOfRun(piece: string, from: number): number {
  const { length } = piece;
  let at = from;
  while (at < length) {
    const code = piece.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH || code < 0x20) break;
    at += 1;
  }
  return at;
}

function controlProblem(code: number): string {
  if (code === 0x0a || code === 0x0d) return 'a line end inside a string: it must be written as \\n';
  return `a control character inside a string: it must be written as \\u${code.toString(16).padStart(4, '0')}`;
}

function endsInHalf(text: string): boolean {
  return isHigh(text.charCodeAt(text.length - 1));
}
