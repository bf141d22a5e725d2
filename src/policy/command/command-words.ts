/**
 * Reads one word of a shell line as bash does: removes quotes and backslashes, substitutes known variables, and marks words that expand to
 * file names. Anything that bash would compute makes the word unclear.
 */
import type { CommandWord, Unclear } from '../../core/command.ts';
import { codePointAt } from '../../core/text/code-point.ts';

export type Variables = Readonly<Record<string, string>>;

export interface ReadWord {
  readonly type: 'word';
  readonly word: CommandWord;
  /** The word as written in the line. */
  readonly source: string;
  readonly hasVariable: boolean;
  readonly end: number;
}

export function unclear(reason: string): Unclear {
  return { type: 'unclear', reason };
}

const BLANKS_AND_OPERATORS: ReadonlySet<string> = new Set(' \t;&|<>()');

/** Whether no word continues here. */
export function isWordEnd(text: string, at: number): boolean {
  return at >= text.length || BLANKS_AND_OPERATORS.has(text.charAt(at));
}

interface Part {
  readonly type: 'part';
  readonly text: string;
  readonly end: number;
  readonly glob?: boolean;
  readonly hasVariable?: boolean;
  /** Whether it contains a dollar that the shell interprets. */
  readonly hasDollar?: boolean;
}

/** Reads the word at `from`, which is not a blank, an operator or the end. */
export function readWord(line: string, from: number, variables: Variables): ReadWord | Unclear {
  const texts: string[] = [];
  let isEmpty = true;
  let glob: CommandWord['glob'] = 'none';
  let hasVariable = false;
  let hasDollar = false;
  let hasBrace = false;
  let at = from;
  while (!isWordEnd(line, at)) {
    const part = readPart(line, at, from, variables);
    if (part.type === 'unclear') return part;
    if (part.glob === true && glob !== 'start') glob = isEmpty && line.charAt(at) !== '~' ? 'start' : 'inside';
    hasVariable ||= part.hasVariable === true;
    hasDollar ||= part.hasDollar === true;
    hasBrace ||= part.glob === true && line.charAt(at) === '{';
    isEmpty &&= part.text === '';
    texts.push(part.text);
    at = part.end;
  }
  // Braces expand first: `$HOME{a,b}` is `$HOMEa $HOMEb`, and `{a$,b}X` creates a variable name.
  if (hasBrace && hasDollar) return unclear('braces and a $ in one word form other variables; write the words out');
  const source = line.slice(from, at);
  // A lone bracket is a program, and a lone pair of braces is the placeholder of find and xargs.
  if (source === '[' || source === '{}') glob = 'none';
  return { type: 'word', word: { text: texts.join(''), glob }, source, hasVariable, end: at };
}

function readPart(line: string, at: number, wordStart: number, variables: Variables): Part | Unclear {
  const character = line.charAt(at);
  switch (character) {
    case "'":
      return readSingleQuoted(line, at);
    case '"':
      return readDoubleQuoted(line, at, variables);
    case '\\':
      return readEscaped(line, at);
    case '`':
      return SUBSTITUTION;
    case '$':
      return readDollar(line, at, variables, false);
    case '!':
      return isWordEnd(line, at + 1) || line.charAt(at + 1) === '=' ? plain('!', at + 1) : HISTORY;
    case '*':
    case '?':
    case '[':
    case '{':
      return { type: 'part', text: character, end: at + 1, glob: true };
    case '~':
      return { type: 'part', text: '~', end: at + 1, glob: at === wordStart || ':='.includes(line.charAt(at - 1)) };
    default:
      return readPlain(line, at);
  }
}

const ORDINARY = /[^ \t;&|<>()'"\\`$!*?[{~]+/y;
/** Unicode blanks are ordinary characters to bash and blanks to people. */
const OTHER_BLANK = /(?! )\p{Zs}/u;

function readPlain(line: string, at: number): Part | Unclear {
  ORDINARY.lastIndex = at;
  const text = ORDINARY.exec(line)?.[0] ?? line.charAt(at);
  return OTHER_BLANK.test(text) ? unclear(FOREIGN_BLANK) : plain(text, at + text.length);
}

function readSingleQuoted(line: string, at: number): Part | Unclear {
  const close = line.indexOf("'", at + 1);
  return close === -1 ? unclear("a ' is never closed; close the quote") : plain(line.slice(at + 1, close), close + 1);
}

function readEscaped(line: string, at: number): Part | Unclear {
  if (followsForeign(line, at)) return unclear(BACKSLASH_AFTER_FOREIGN);
  if (at + 1 >= line.length) return unclear('the line ends with a backslash; remove it');
  const text = String.fromCodePoint(codePointAt(line, at + 1));
  return plain(text, at + 1 + text.length);
}

const QUOTED_ORDINARY = /[^"\\`$]+/y;

function readDoubleQuoted(line: string, from: number, variables: Variables): Part | Unclear {
  const texts: string[] = [];
  let hasVariable = false;
  let hasDollar = false;
  let at = from + 1;
  while (at < line.length) {
    const character = line.charAt(at);
    if (character === '"') return { type: 'part', text: texts.join(''), end: at + 1, hasVariable, hasDollar };
    const part = readQuotedPart(line, at, character, variables);
    if (part.type === 'unclear') return part;
    hasVariable ||= part.hasVariable === true;
    hasDollar ||= part.hasDollar === true;
    texts.push(part.text);
    at = part.end;
  }
  return unclear('a " is never closed; close the quote');
}

function readQuotedPart(line: string, at: number, character: string, variables: Variables): Part | Unclear {
  if (character === '`') return SUBSTITUTION;
  if (character === '$') return readDollar(line, at, variables, true);
  if (character === '\\') {
    if (followsForeign(line, at)) return unclear(BACKSLASH_AFTER_FOREIGN);
    const next = line.charAt(at + 1);
    return next !== '' && '$`"\\'.includes(next) ? plain(next, at + 2) : plain('\\', at + 1);
  }
  QUOTED_ORDINARY.lastIndex = at;
  const text = QUOTED_ORDINARY.exec(line)?.[0] ?? character;
  return plain(text, at + text.length);
}

const VARIABLE = /\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})/y;
/** Before these characters a dollar is literal. */
const PLAIN_AFTER_DOLLAR = /[ \t;&|<>)"'\\%.,:/=+^~\]}]/;
/** Unquoted values are split at blanks and expanded as patterns. */
const STAYS_ONE_WORD = /^[^\s*?[\]\\]+$/;

function readDollar(line: string, at: number, variables: Variables, isQuoted: boolean): Part | Unclear {
  VARIABLE.lastIndex = at;
  const match = VARIABLE.exec(line);
  if (match !== null) {
    const name = match[1] ?? match[2] ?? '';
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) return unclear(`$${name} is unknown before the command runs; write its value`);
    if (!isQuoted && !STAYS_ONE_WORD.test(value)) {
      return unclear(`$${name} would be split or expanded as a pattern; put it in double quotes`);
    }
    return { type: 'part', text: value, end: at + match[0].length, hasVariable: true, hasDollar: true };
  }
  const next = line.charAt(at + 1);
  if (next === '(') return SUBSTITUTION;
  if (!isQuoted && (next === "'" || next === '"')) {
    return unclear(`$${next} uses its own encoding; write the characters themselves`);
  }
  if (next !== '' && !PLAIN_AFTER_DOLLAR.test(next)) {
    return unclear('the shell evaluates this $; write the value, or put a literal $ in single quotes');
  }
  return { type: 'part', text: '$', end: at + 1, hasDollar: true };
}

const SUBSTITUTION = unclear(
  'a command inside $( ) or backticks runs first; run it separately and write its result into the line',
);
const HISTORY = unclear('! before other characters can recall an earlier command; put it in single quotes');
const FOREIGN_BLANK = 'it contains a Unicode blank, which is not a separator to the shell; write a plain space';
/** In some East Asian encodings a backslash can be the second byte of a character and escapes nothing. */
const BACKSLASH_AFTER_FOREIGN = 'a backslash follows a non-ASCII letter; use single quotes instead';

function followsForeign(line: string, at: number): boolean {
  return at > 0 && line.charCodeAt(at - 1) > 0x7f;
}

function plain(text: string, end: number): Part {
  return { type: 'part', text, end };
}
