/**
 * Reads words of a shell line as bash does: quotes, expansions, substitutions and arithmetic. Whatever is not understood here makes the
 * whole line unclear, so that a person is asked. Each character is read once, and nesting is bounded.
 */
import { problemError } from '#core';
import { ANY, NUMBER, textLevel, weaker, type CommandWord, type Level, type WordValue } from './command-words.ts';

/** What the lines that belong together set and evaluate, in whatever order they run. */
export interface LineFacts {
  /** Variables that only the runtime sets, with their values. */
  readonly known: ReadonlyMap<string, string>;
  /** `isQuiet`: programs do not see the variable. */
  set(name: string, value: WordValue, isQuiet?: boolean): void;
  /** A function may take the place of a program, somewhere in the line. */
  define(name: string): void;
  /** The shell evaluates a value, which is harmless only from this level on. */
  need(level: Level, value: WordValue): void;
}

export interface Source {
  readonly text: string;
  readonly facts: LineFacts;
  at: number;
  depth: number;
  /** Here-documents whose bodies follow the next line end. */
  pending: HereDocument[];
  /** Reads commands up to this sign, or to the end; returns the words of the only command, if there is one. */
  readList(source: Source, end: ')' | ''): readonly CommandWord[] | undefined;
  /** Reads commands from another text, such as that between backticks. */
  readText(text: string): readonly CommandWord[] | undefined;
}

export interface HereDocument {
  readonly end: string;
  readonly isQuoted: boolean;
  readonly isIndented: boolean;
  readonly onBody: (body: string) => void;
}

/** Constructs in constructs: quotes, brackets, commands. */
const MAX_DEPTH = 64;

/** Leaves the reading of the line. */
export function notUnderstood(what: string): never {
  throw problemError({ code: UNCLEAR, message: what, hint: 'put it into a script' });
}

export const UNCLEAR = 'command/unclear';

/** `double` and `document`: between double quotes, and in a here-document, where quotes mean themselves. */
type Quote = 'none' | 'double' | 'document';

interface Builder {
  text: string;
  kind: CommandWord['kind'];
  readonly pieces: string[];
  isSplit: boolean;
  /** What follows an expansion that is not read: the pieces stay as they are. */
  isOpaque: boolean;
  level: Level;
  readonly from: Set<string>;
}

function newWord(): Builder {
  return { text: '', kind: 'fixed', pieces: [''], isSplit: false, isOpaque: false, level: 'number', from: new Set() };
}

function addText(word: Builder, text: string): void {
  word.text += text;
  if (!word.isOpaque) word.pieces.push((word.pieces.pop() ?? '') + text);
  word.level = weaker(word.level, textLevel(text));
}

interface Unknown {
  readonly kind: 'pattern' | 'computed';
  readonly isSplit: boolean;
  readonly value?: WordValue;
}

function addUnknown(word: Builder, text: string, { kind, isSplit, value = ANY }: Unknown): void {
  word.text += text;
  if (!word.isOpaque) word.pieces.push('');
  word.isSplit ||= isSplit;
  if (word.kind !== 'computed') word.kind = kind;
  word.level = weaker(word.level, value.level);
  for (const name of value.from) word.from.add(name);
}

function valueOf({ level, from }: Builder): WordValue {
  return { level, from: [...from] };
}

/** Runs a reader one level deeper. */
export function nest<T>(source: Source, read: () => T): T {
  source.depth += 1;
  if (source.depth > MAX_DEPTH) notUnderstood('it nests too deeply');
  const result = read();
  source.depth -= 1;
  return result;
}

/** The text that a pattern with the flag `y` matches here. */
export function take(source: Source, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = source.at;
  const found = pattern.exec(source.text) ?? undefined;
  if (found !== undefined) source.at += found[0].length;
  return found;
}

const PLAIN = /[^\s;&|<>()\\'"`$*?[{~]+/y;
const NUMBERS = /\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}/y;
/** Braces that stay as they are: `{}`, `HEAD@{1}`, and one alone. */
const LITERAL_BRACES = /\{(?=[\s;&|<>()}]|$)|(?<=[@%])\{/y;
const BRACKETS = /\[(?:\[:\w+:\]|[^\]\s;&|<>()\\'"`$])+\]/y;

/** Reads one word; undefined if there is none. A `regex` may contain brackets and bars. */
export function readWord(source: Source, mode: 'word' | 'regex' = 'word'): CommandWord | undefined {
  const { text } = source;
  const word = newWord();
  const start = source.at;
  let open = 0;
  for (let sign = text[source.at]; sign !== undefined; sign = text[source.at]) {
    const plain = take(source, PLAIN);
    if (plain !== undefined) addText(word, plain[0]);
    else if (/[<>]/.test(sign) && text[source.at + 1] === '(' && mode === 'word') {
      const from = source.at;
      source.at += 2;
      readCommands(source);
      addUnknown(word, text.slice(from, source.at), { kind: 'computed', isSplit: false });
    } else if (mode === 'regex' && /[()|]/.test(sign) && !(sign === ')' && open === 0)) {
      open += sign === '(' ? 1 : sign === ')' ? -1 : 0;
      addUnknown(word, sign, { kind: 'pattern', isSplit: false });
      source.at += 1;
    } else if (/[\s;&|<>()]/.test(sign)) {
      if (open > 0 || !/[ \t\n;&|<>()]/.test(sign)) addOther(source, word, sign, open);
      else break;
    } else readSign(source, word, sign, start);
  }
  if (source.at === start) return undefined;
  if (source.pending.length > 0 && text.slice(start, source.at).includes('\n'))
    notUnderstood('a word goes on after the line of a here-document');
  const { kind, pieces, isSplit } = word;
  return { text: word.text, kind, pieces, isSplit, value: valueOf(word) };
}

/** White space other than blanks and line ends is part of a word. */
function addOther(source: Source, word: Builder, sign: string, open: number): void {
  if (open > 0) notUnderstood('a regular expression contains blanks');
  addText(word, sign);
  source.at += 1;
}

/** A sign with a meaning of its own in a word without quotes. */
function readSign(source: Source, word: Builder, sign: string, start: number): void {
  const { text, at } = source;
  switch (sign) {
    case '\\':
      if (at + 1 >= text.length) notUnderstood('it ends with a backslash');
      if (text[at + 1] !== '\n') addText(word, text[at + 1] ?? '');
      source.at += 2;
      return;
    case "'": {
      const end = text.indexOf("'", at + 1);
      if (end === -1) notUnderstood('a quote is not closed');
      addText(word, text.slice(at + 1, end));
      source.at = end + 1;
      return;
    }
    case '"':
      readDouble(source, word);
      return;
    case '`':
    case '$':
      readExpansion(source, word, 'none');
      return;
    case '{':
      if (take(source, NUMBERS) !== undefined)
        addUnknown(word, text.slice(at, source.at), { kind: 'pattern', isSplit: true, value: NUMBER });
      else if (word.isOpaque || take(source, LITERAL_BRACES) !== undefined) addTaken(source, word, at);
      else addOpaque(source, word, 'pattern');
      return;
    case '[': {
      const brackets = word.isOpaque ? undefined : take(source, BRACKETS);
      if (brackets !== undefined) addUnknown(word, brackets[0], { kind: 'pattern', isSplit: true });
      else if (word.isOpaque || take(source, /\[(?=[\s;&|<>()]|$)/y) !== undefined) addTaken(source, word, at);
      else addOpaque(source, word, 'computed');
      return;
    }
    case '~':
      if (at === start) addUnknown(word, '~', { kind: 'pattern', isSplit: false });
      else addText(word, '~');
      source.at += 1;
      return;
    default:
      addUnknown(word, sign, { kind: 'pattern', isSplit: true });
      source.at += 1;
  }
}

/** The sign at `start`, which was read or is read now. */
function addTaken(source: Source, word: Builder, start: number): void {
  source.at = start + 1;
  addText(word, source.text[start] ?? '');
}

function addOpaque(source: Source, word: Builder, kind: Unknown['kind']): void {
  addUnknown(word, source.text[source.at] ?? '', { kind, isSplit: true });
  word.isOpaque = true;
  source.at += 1;
}

function readDouble(source: Source, word: Builder): void {
  const { text } = source;
  source.at += 1;
  nest(source, () => {
    for (let sign = text[source.at]; sign !== '"'; sign = text[source.at]) {
      const plain = take(source, /[^"\\$`]+/y);
      if (plain !== undefined) addText(word, plain[0]);
      else if (sign === '\\') {
        const next = text[source.at + 1] ?? '';
        addText(word, next === '\n' ? '' : /[$`"\\]/.test(next) ? next : `\\${next}`);
        source.at += 2;
      } else if (sign === undefined) notUnderstood('a quote is not closed');
      else readExpansion(source, word, 'double');
    }
  });
  source.at += 1;
}

/** The commands of a substitution, up to its bracket. */
function readCommands(source: Source): readonly CommandWord[] | undefined {
  const { pending } = source;
  source.pending = [];
  const only = nest(source, () => source.readList(source, ')'));
  if (source.pending.length > 0) notUnderstood('a here-document has no end');
  source.pending = pending;
  return only;
}

/** What starts with `$` or a backtick. */
function readExpansion(source: Source, word: Builder, quote: Quote): void {
  const { text, at: start } = source;
  const isSplit = quote === 'none';
  const add = (value: WordValue, isSeveral = isSplit): void =>
    addUnknown(word, text.slice(start, source.at), { kind: 'computed', isSplit: isSeveral, value });
  if (text[start] === '`') return add(outputValue(source.readText(readBackticks(source, quote))));
  if (take(source, /\$\(\(/y) !== undefined) {
    readArithmetic(source, '))');
    return add(NUMBER);
  }
  if (take(source, /\$\(/y) !== undefined) return add(outputValue(readCommands(source)));
  if (take(source, /\$\{/y) !== undefined) {
    const { value, isSeveral, plainName } = nest(source, () => readParameter(source, quote));
    if (plainName === undefined || !addKnown(source, word, plainName, isSplit)) add(value, isSplit || isSeveral);
    return;
  }
  const [, name] = take(source, /\$([A-Za-z_]\w*|[\d@*#?$!-])/y) ?? [];
  if (name !== undefined) {
    if (!addKnown(source, word, name, isSplit)) add(variableValue(name), isSplit || name === '@');
    return;
  }
  if (quote === 'none' && text[start + 1] === "'") return addText(word, readEscapes(source));
  if (text[start + 1] === '[' || (quote === 'none' && text[start + 1] === '"'))
    notUnderstood(`$${text[start + 1] ?? ''} is not read`);
  addTaken(source, word, start);
}

/** A value without quotes is split at blanks and expanded as a pattern. */
function addKnown({ facts }: Source, word: Builder, name: string, isSplit: boolean): boolean {
  const value = facts.known.get(name);
  if (value === undefined || (isSplit && !/^[^\s*?[\]\\]+$/.test(value))) return false;
  addText(word, value);
  return true;
}

/** Variables that the shell fills with text of the line, of its input or of the file system. */
const FILLED = /^(?:BASH.*|PWD|OLDPWD|DIRSTACK|FUNCNAME|REPLY|OPTARG|MAPFILE|_|[\d@*]+)$/;

export function variableValue(name: string): WordValue {
  if (FILLED.test(name)) return ANY;
  return /\w/.test(name) ? { level: 'number', from: [name] } : name === '-' ? ANY : NUMBER;
}

/** Programs that print only numbers, with the arguments for which that holds; `*` is a computed one. */
const COUNTING: ReadonlyMap<string, RegExp> = new Map([
  ['wc', /^(?: -[lwcm])+$/],
  ['grep', /^ -[ivwExF]*c[ivwExF]*(?: [^\s*-]\S*){0,2}$/],
  ['date', /^ \+%[sYmdHMSj]$/],
  ['stat', /^ -c %s [^\s-]\S*$/],
  ['nproc', /^$/],
  ['seq', /^(?: -?\d+)*$/],
]);

function outputValue(words: readonly CommandWord[] | undefined): WordValue {
  const [program, ...rest] = words ?? [];
  if (program?.kind !== 'fixed' || rest.some(({ isSplit }) => isSplit)) return ANY;
  const args = rest.map(({ kind, text }) => ` ${kind === 'fixed' ? text.replaceAll(/\s/g, '_') : '*'}`).join('');
  const isNumber = COUNTING.get(program.text)?.test(args) === true;
  return isNumber ? { level: 'number', from: [`${program.text}()`] } : ANY;
}

function readBackticks(source: Source, quote: Quote): string {
  const [, inner] = take(source, /`((?:[^`\\]|\\[^])*)`/y) ?? notUnderstood('a backtick is not closed');
  if (inner === undefined || (quote !== 'none' && inner.includes('\\"')))
    notUnderstood('backticks contain quotes with backslashes');
  return inner.replaceAll(/\\([\\`$])/g, '$1');
}

/** Escapes that every version reads alike: not `\x{3b}`, `\cA` and NUL, where the text ends for bash. */
const ESCAPES =
  /\$'((?:[^\\']|\\(?:[abeEfnrtv\\'"?]|x(?!00)[0-7][\da-fA-F]|(?!000)[01][0-7]{2}|u(?!0000|[dD][89a-fA-F])[\da-fA-F]{4}))*)'/y;
const NAMED: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function readEscapes(source: Source): string {
  // Bash ends the text at NUL: this is the empty word for `read -d`.
  if (take(source, /\$'\\0'(?=[\s;]|$)/y) !== undefined) return '';
  const [, inner] = take(source, ESCAPES) ?? notUnderstood("an escape in $'…' cannot be read");
  return (inner ?? '').replaceAll(/\\(?:x(..)|u(....)|(\d{3})|(.))/g, (...found: readonly string[]) => {
    const [, hex, code, octal, letter] = found;
    if (letter !== undefined) return NAMED[letter] ?? letter;
    return String.fromCharCode(Number.parseInt(hex ?? code ?? octal ?? '', octal === undefined ? 16 : 8));
  });
}

const LENGTH = /#(?:[A-Za-z_]\w*(?:\[[@*]\])?|[@*\d]*)\}/y;
const KEYS = /!([A-Za-z_]\w*)\[[@*]\]\}/y;
const NAME = /[A-Za-z_]\w*|\d+|[@*#?$!-]/y;

interface Parameter {
  readonly value: WordValue;
  readonly isSeveral: boolean;
  /** The whole of it is a name. */
  readonly plainName?: string;
}

/** Behind `${`. */
function readParameter(source: Source, quote: Quote): Parameter {
  if (take(source, LENGTH) !== undefined) return { value: NUMBER, isSeveral: false };
  if (take(source, KEYS) !== undefined) return { value: NUMBER, isSeveral: true };
  const [name] = take(source, NAME) ?? notUnderstood('an expansion is not read');
  const isAll = take(source, /\[[@*]\]/y) !== undefined;
  if (!isAll && take(source, /\[/y) !== undefined) readArithmetic(source, ']');
  const own = variableValue(name);
  const isSeveral = isAll || name === '@';
  const isPlain = !isAll && source.text[source.at - 1] !== ']';
  if (take(source, /\}/y) !== undefined) return { value: own, isSeveral, ...(isPlain ? { plainName: name } : {}) };
  if (take(source, /@[QEAaUuLKk]\}/y) !== undefined) return { value: ANY, isSeveral };
  const [operator] =
    take(source, /:?[-=?+]|:|##?|%%?|\/[/#%]?|\^\^?|,,?/y) ?? notUnderstood('an expansion is not read');
  if (operator === ':') {
    readArithmetic(source, '}');
    return { value: own, isSeveral };
  }
  const operand = readOperand(source, quote);
  if (operator.endsWith('=')) source.facts.set(name, operand);
  const isCut = /^[#%^,]/.test(operator);
  return {
    value: isCut ? own : { level: weaker(own.level, operand.level), from: [...own.from, ...operand.from] },
    isSeveral,
  };
}

/** The word behind an operator of an expansion, with its bracket. */
function readOperand(source: Source, quote: Quote): WordValue {
  const { text } = source;
  const word = newWord();
  for (let sign = text[source.at]; sign !== '}'; sign = text[source.at]) {
    const plain = take(source, /[^\\'"`${}<>]+/y);
    if (plain !== undefined) addText(word, plain[0]);
    else if (sign === '\\') {
      addText(word, text.slice(source.at, source.at + 2));
      source.at += 2;
    } else if (sign === "'" && quote === 'none') readSign(source, word, sign, -1);
    else if (sign === '"' && quote !== 'document') readDouble(source, word);
    else if (sign === '$' || sign === '`') readExpansion(source, word, quote);
    else notUnderstood('an expansion is not read');
  }
  source.at += 1;
  return valueOf(word);
}

/** Arithmetic evaluates the values of its variables again, so they have to be numbers. */
export function readArithmetic(source: Source, end: '))' | ']' | '}'): void {
  const { text, facts } = source;
  let open = '';
  nest(source, () => {
    for (let sign = text[source.at]; open !== '' || !text.startsWith(end, source.at); sign = text[source.at]) {
      const [name] = take(source, /[A-Za-z_]\w*/y) ?? [];
      if (name !== undefined) {
        facts.set(name, NUMBER, true);
        facts.need('number', variableValue(name));
      } else if (take(source, /\d[\w#]*|[\s+\-*/%<>=!&|^~?:,;]+/y) !== undefined) continue;
      else if (sign === '$' || sign === '`') {
        const word = newWord();
        readExpansion(source, word, 'double');
        facts.need('number', valueOf(word));
      } else if (sign === '(' || sign === '[') {
        open += sign;
        source.at += 1;
      } else if ((sign === ')' && open.endsWith('(')) || (sign === ']' && open.endsWith('['))) {
        open = open.slice(0, -1);
        source.at += 1;
      } else notUnderstood('arithmetic is not read');
      if (open.length > MAX_DEPTH) notUnderstood('it nests too deeply');
    }
  });
  source.at += end.length;
}

/** The body of a here-document without quotes: its expansions. */
export function readDocument(source: Source): void {
  const word = newWord();
  while (source.at < source.text.length) {
    if (take(source, /[^\\$`]+|\\[^]?/y) === undefined) readExpansion(source, word, 'document');
  }
}
