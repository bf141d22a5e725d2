/** Reads what the shell expands in a word: quotes, variables, substitutions and arithmetic. */
import { ANY, NUMBER, weaker, type CommandWord, type WordValue } from './command-words.ts';
import {
  MAX_DEPTH,
  addText,
  addTaken,
  addUnknown,
  builtValue,
  nest,
  newWord,
  notUnderstood,
  take,
  type Source,
  type WordBuilder,
} from './shell-source.ts';

/** `double` and `document`: between double quotes, and in a here-document, where quotes mean themselves. */
export type Quote = 'none' | 'double' | 'document';

export function readSingle(source: Source, word: WordBuilder): void {
  const end = source.text.indexOf("'", source.at + 1);
  if (end === -1) notUnderstood('a quote is not closed');
  addText(word, source.text.slice(source.at + 1, end));
  source.at = end + 1;
}

export function readDouble(source: Source, word: WordBuilder): void {
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
export function readCommands(source: Source): readonly CommandWord[] | undefined {
  const { pending } = source;
  source.pending = [];
  const only = nest(source, () => source.readList(source));
  if (source.pending.length > 0) notUnderstood('a here-document has no end');
  source.pending = pending;
  return only;
}

/** What starts with `$` or a backtick. */
export function readExpansion(source: Source, word: WordBuilder, quote: Quote): void {
  const { text, at: start } = source;
  const isSplit = quote === 'none';
  const add = (value: WordValue, isSeveral = isSplit): void =>
    addUnknown(word, text.slice(start, source.at), { kind: 'computed', isSplit: isSeveral, value });
  // Bash joins lines before it reads an expansion.
  if (take(source, /\$(?:\(|[A-Za-z_]\w*)?\\\n/y) !== undefined) notUnderstood('an expansion goes on in the next line');
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
function addKnown({ facts }: Source, word: WordBuilder, name: string, isSplit: boolean): boolean {
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
  if (take(source, /\$'\\0'(?=[ \t\n;]|$)/y) !== undefined) return '';
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
    } else if (sign === "'" && quote === 'none') readSingle(source, word);
    else if (sign === '"' && quote !== 'document') readDouble(source, word);
    else if (sign === '$' || sign === '`') readExpansion(source, word, quote);
    else notUnderstood('an expansion is not read');
  }
  source.at += 1;
  return builtValue(word);
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
        // `P${x}ATH` may be a name.
        if (/[$`]/.test(text[source.at] ?? '')) notUnderstood('arithmetic computes the name of a variable');
      } else if (take(source, /\d[\w#]*|[ \t\n+\-*/%<>=!&|^~?:,;]+/y) !== undefined) continue;
      else if (sign === '$' || sign === '`') {
        const word = newWord();
        readExpansion(source, word, 'double');
        facts.need('number', builtValue(word));
        if (/[A-Za-z_]/.test(text[source.at] ?? '')) notUnderstood('arithmetic computes the name of a variable');
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
