/**
 * Reads the commands of a shell line as bash does: lists, pipelines, conditions, loops and functions. A construct that is not understood makes
 * the whole line unclear; nothing is skipped or guessed. Each character is read once, and nesting is bounded.
 */
import { ANY, joinValues, type CommandWord, type WordValue } from './command-words.ts';
import { endLine, readRedirection, readSimple, skipBlanks, skipLines } from './shell-commands.ts';
import { readArithmetic } from './shell-expansions.ts';
import type { LineFacts } from './line-facts.ts';
import { nest, notUnderstood, take, type LineHandler, type Source } from './shell-source.ts';
import { readWord } from './shell-words.ts';

/** Reads a whole text. */
export function readShell(text: string, facts: LineFacts, handler: LineHandler): void {
  readNested(text, { depth: 0, facts, handler });
}

type Shared = Pick<Source, 'depth' | 'facts' | 'handler'>;

function readNested(text: string, { depth, facts, handler }: Shared): readonly CommandWord[] | undefined {
  const source: Source = {
    text,
    facts,
    handler,
    at: 0,
    depth,
    pending: [],
    waiting: [],
    readList,
    readText: (inner) => nest(source, () => readNested(inner, source)),
  };
  const statements = readStatements(source, () => false, depth === 0);
  if (source.at < text.length || source.pending.length > 0) notUnderstood('it is not complete');
  return onlyWords(statements);
}

const RESERVED =
  /(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|time|coproc|\{|\}|!|\[\[|\]\])(?=[ \t\n;&|<>()]|$)/y;
const RESERVED_STARTS: ReadonlySet<string> = new Set('itefwudcs{}![]');
const IS_RESERVED = new RegExp(`^${RESERVED.source}`);
const SEPARATOR = /;(?!;|&)|&(?![&>])/y;
const AND_OR = /&&|\|\|/y;
const PIPE = /\|&?(?!\|)/y;
const EVALUATING = /^-(?:eq|ne|lt|le|gt|ge)$/;

/** What one statement was, for those who care. */
interface Statement {
  /** The words of its last command, if that is a simple one. */
  readonly words?: readonly CommandWord[];
  /** It defines this function. */
  readonly defines?: string;
}

const COMPOUND: Statement = {};

function onlyWords(statements: readonly Statement[]): readonly CommandWord[] | undefined {
  return statements.length === 1 ? statements[0]?.words : undefined;
}

function takeReserved(source: Source, ...words: readonly string[]): string | undefined {
  const start = source.at;
  if (!RESERVED_STARTS.has(source.text[start] ?? '')) return undefined;
  const [word] = take(source, RESERVED) ?? [];
  if (word !== undefined && words.includes(word)) return word;
  source.at = start;
  return undefined;
}

function expectReserved(source: Source, ...words: readonly string[]): string {
  return takeReserved(source, ...words) ?? notUnderstood(`${words.join(' or ')} was expected`);
}

/** Statements up to a sign or a reserved word, which is not read. */
function readStatements(source: Source, isEnd: () => boolean, isTop = false): readonly Statement[] {
  const statements: Statement[] = [];
  skipLines(source);
  while (source.at < source.text.length && !isEnd()) {
    const statement = readAndOr(source);
    skipBlanks(source);
    const [separator] = take(source, SEPARATOR) ?? [];
    if (isTop && separator !== '&' && statement.defines !== undefined) source.handler.onFunction(statement.defines);
    statements.push(statement);
    skipBlanks(source);
    if (separator === undefined && source.text[source.at] !== '\n') break;
    skipLines(source);
  }
  return statements;
}

function readList(source: Source): readonly CommandWord[] | undefined {
  const statements = readStatements(source, () => source.text[source.at] === ')');
  if (source.text[source.at] !== ')') notUnderstood('a bracket is not closed');
  source.at += 1;
  return onlyWords(statements);
}

function readUntil(source: Source, ...words: readonly string[]): string {
  const isEnd = (): boolean => {
    const start = source.at;
    const isFound = takeReserved(source, ...words) !== undefined;
    source.at = start;
    return isFound;
  };
  nest(source, () => {
    if (readStatements(source, isEnd).length === 0) notUnderstood('a command is missing');
  });
  return expectReserved(source, ...words);
}

function readAndOr(source: Source): Statement {
  let statement = readPipeline(source);
  for (skipBlanks(source); take(source, AND_OR) !== undefined; skipBlanks(source)) {
    skipLines(source);
    readPipeline(source);
    statement = COMPOUND;
  }
  return statement;
}

function readPipeline(source: Source): Statement {
  while (true) {
    const prefix = takeReserved(source, '!', 'time');
    if (prefix === undefined) break;
    skipBlanks(source);
    if (prefix === 'time' && take(source, /-p(?=[ \t\n])/y) === undefined && source.text[source.at] === '-')
      notUnderstood('an option of time is not read');
    skipBlanks(source);
  }
  let statement = readCommand(source);
  for (skipBlanks(source); take(source, PIPE) !== undefined; skipBlanks(source)) {
    skipLines(source);
    const { words } = readCommand(source);
    statement = { words };
  }
  return statement;
}

function readCommand(source: Source): Statement {
  return nest(source, () => {
    if (takeReserved(source, 'function') !== undefined) {
      skipBlanks(source);
      const [name] = take(source, /[\w:-]+(?=[ \t\n(])/y) ?? notUnderstood('the name of a function is not read');
      take(source, /[ \t]*\([ \t]*\)/y);
      return readFunction(source, name);
    }
    if (!readCompound(source)) {
      const words = readSimple(source);
      if (typeof words === 'string') return readFunction(source, words);
      const [first] = words;
      if (first !== undefined && IS_RESERVED.test(first.text)) notUnderstood(`${first.text} was not expected`);
      return { words };
    }
    while (readRedirection(source)) continue;
    return COMPOUND;
  });
}

function readFunction(source: Source, defines: string): Statement {
  if (IS_RESERVED.test(defines)) notUnderstood('a function has the name of a reserved word');
  source.handler.onRepeat();
  source.facts.define(defines);
  skipLines(source);
  if (!readCompound(source)) notUnderstood('the body of a function is not read');
  while (readRedirection(source)) continue;
  return { defines };
}

/** `{ }`, `( )`, conditions and loops. */
function readCompound(source: Source): boolean {
  if (source.text[source.at] === '(') {
    if (take(source, /\(\(/y) !== undefined) readArithmetic(source, '))');
    else {
      source.at += 1;
      readList(source);
    }
    return true;
  }
  switch (takeReserved(source, '{', '[[', 'if', 'while', 'until', 'for', 'case')) {
    case '{':
      readUntil(source, '}');
      return true;
    case '[[':
      readTest(source);
      return true;
    case 'if':
      readUntil(source, 'then');
      for (let next = readUntil(source, 'elif', 'else', 'fi'); next !== 'fi';) {
        if (next === 'elif') readUntil(source, 'then');
        next = next === 'elif' ? readUntil(source, 'elif', 'else', 'fi') : readUntil(source, 'fi');
      }
      return true;
    case 'while':
    case 'until':
      source.handler.onRepeat();
      readUntil(source, 'do');
      readUntil(source, 'done');
      return true;
    case 'for':
      readFor(source);
      return true;
    case 'case':
      readCase(source);
      return true;
    default:
      return false;
  }
}

function readFor(source: Source): void {
  source.handler.onRepeat();
  skipBlanks(source);
  if (take(source, /\(\(/y) !== undefined) readArithmetic(source, '))');
  else {
    const [name] = take(source, /[A-Za-z_]\w*(?=[ \t\n;])/y) ?? notUnderstood('the variable of a loop is not read');
    skipLines(source);
    source.facts.set(name, takeReserved(source, 'in') === undefined ? ANY : readValues(source), true);
  }
  skipBlanks(source);
  take(source, /;/y);
  skipLines(source);
  expectReserved(source, 'do');
  readUntil(source, 'done');
}

/** Words up to the end of a statement. */
function readValues(source: Source): WordValue {
  const values: WordValue[] = [];
  for (skipBlanks(source); ; skipBlanks(source)) {
    const word = readWord(source);
    if (word === undefined) return joinValues(values);
    values.push(word.value);
  }
}

function readCase(source: Source): void {
  skipBlanks(source);
  if (readWord(source) === undefined) notUnderstood('a word is missing');
  skipLines(source);
  expectReserved(source, 'in');
  for (skipLines(source); takeReserved(source, 'esac') === undefined; skipLines(source)) {
    take(source, /\([ \t]*/y);
    do {
      skipBlanks(source);
      if (readWord(source) === undefined) notUnderstood('a pattern is not read');
      skipBlanks(source);
    } while (take(source, /\|(?!\|)/y) !== undefined);
    if (take(source, /\)/y) === undefined) notUnderstood('a pattern is not read');
    nest(source, () =>
      readStatements(source, () =>
        /^(?:;;|;&|esac(?:[ \t\n;&|<>()]|$))/.test(source.text.slice(source.at, source.at + 5)),
      ),
    );
    skipBlanks(source);
    if (take(source, /;;&?|;&/y) === undefined) {
      skipLines(source);
      expectReserved(source, 'esac');
      return;
    }
  }
}

/** `[[ … ]]`: numeric comparisons evaluate their words. */
function readTest(source: Source): void {
  let previous: CommandWord | undefined;
  let operator = '';
  for (skipTest(source); take(source, /\]\](?=[ \t\n;&|<>()]|$)/y) === undefined; skipTest(source)) {
    const start = source.at;
    if (operator !== '=~' && take(source, /&&|\|\||[()]|[<>](?!\()/y) !== undefined) operator = '';
    else {
      const word = readWord(source, operator === '=~' ? 'regex' : 'word') ?? notUnderstood('a condition is not read');
      const raw = source.text.slice(start, source.at);
      if (raw.includes('\\\n')) notUnderstood('a condition is not read');
      if (/^(?:[=!]?=|=~|-[a-zA-Z]{1,2})$/.test(raw)) {
        if (EVALUATING.test(raw)) source.facts.need('number', previous?.value ?? ANY);
        operator = raw;
      } else {
        if (EVALUATING.test(operator)) source.facts.need('number', word.value);
        if (/^-[vR]$/.test(operator)) source.facts.need('plain', word.value);
        operator = '';
        previous = word;
      }
    }
  }
}

function skipTest(source: Source): void {
  take(source, /(?:[ \t]|\\\n)+/y);
  if (source.text[source.at] === '#' || source.at >= source.text.length) notUnderstood('a condition is not read');
  if (source.text[source.at] !== '\n') return;
  endLine(source);
  skipTest(source);
}
