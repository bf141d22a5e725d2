/**
 * Reads the commands of a shell line as bash does: lists, pipelines, loops, functions, redirections and here-documents. A construct that is
 * not understood makes the whole line unclear; nothing is skipped or guessed.
 */
import { ANY, NUMBER, computedWord, joinValues, type CommandWord, type WordValue } from './command-words.ts';
import {
  nest,
  notUnderstood,
  readArithmetic,
  readDocument,
  readWord,
  take,
  type LineFacts,
  type Source,
} from './shell-words.ts';

/** Gets what is read, in the order of the text. */
export interface LineHandler {
  /** A command starts here; the result takes its words, once they are known. */
  startCommand(): (words: readonly CommandWord[], stdin: string | undefined) => void;
  /** A redirection writes a file. */
  onWrite(target: string): void;
  /** A function is defined for everything after it. */
  onFunction(name: string): void;
  /** Commands before this place may run again after it. */
  onRepeat(): void;
}

/** Reads a whole text. */
export function readShell(text: string, facts: LineFacts, handler: LineHandler): void {
  readNested(text, { depth: 0, facts }, handler);
}

function readNested(
  text: string,
  { depth, facts }: Pick<Source, 'depth' | 'facts'>,
  handler: LineHandler,
): readonly CommandWord[] | undefined {
  const grammar = openGrammar(handler);
  const source: Source = {
    text,
    facts,
    at: 0,
    depth,
    pending: [],
    readList: (own, end) => grammar.readList(own, end),
    readText: (inner) => nest(source, () => readNested(inner, source, handler)),
  };
  const only = grammar.readList(source, '', depth === 0);
  if (source.at < text.length || source.pending.length > 0) notUnderstood('it is not complete');
  return only;
}

const NO_FILE = /^(?:\/dev\/(?:null|stdout|stderr|tty)|\d+-?|-)$/;
const RESERVED =
  /(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|time|coproc|\{|\}|!|\[\[|\]\])(?=[\s;&|<>()]|$)/y;
const IS_RESERVED = new RegExp(`^${RESERVED.source}`);
const DECLARING: ReadonlySet<string> = new Set(['declare', 'typeset', 'local', 'export', 'readonly']);
const REDIRECTION = /(\d+|\{[A-Za-z_]\w*\})?(<<<|<<-?|<>|<&|<|&>>?|>>|>&|>\||>)/y;
const DELIMITER = /(?:'([\w.!@%+: -]+)'|"([\w.!@%+: -]+)"|(\\?)([\w.!@%+:-]+))(?=[\s;&|<>()]|$)/y;
const EVALUATING = /^-(?:eq|ne|lt|le|gt|ge)$/;

/** What one statement was, for those who care. */
interface Statement {
  /** The words of its last command, if that is a simple one. */
  readonly words?: readonly CommandWord[];
  /** It defines this function. */
  readonly defines?: string;
}

const COMPOUND: Statement = {};

interface Grammar {
  readList(source: Source, end: ')' | '', isTop?: boolean): readonly CommandWord[] | undefined;
}

// oxlint-disable-next-line max-lines-per-function -- the rules of the grammar call each other.
function openGrammar(handler: LineHandler): Grammar {
  /** Commands whose here-documents have not been read. */
  let waiting: (() => void)[] = [];

  function skipBlanks(source: Source): void {
    take(source, /(?:[ \t]|\\\n)+/y);
    if (source.text[source.at] === '#') take(source, /#[^\n]*/y);
  }

  function skipLines(source: Source): void {
    skipBlanks(source);
    while (source.text[source.at] === '\n') {
      endLine(source);
      skipBlanks(source);
    }
  }

  /** Reads the here-documents behind a line end. */
  function endLine(source: Source): void {
    source.at += 1;
    const { pending } = source;
    source.pending = [];
    for (const { end, isQuoted, isIndented, onBody } of pending) {
      const start = source.at;
      let last = start;
      for (let isJoined = false; ;) {
        if (source.at >= source.text.length) notUnderstood('a here-document has no end');
        last = source.at;
        const [line = ''] = take(source, /[^\n]*/y) ?? [];
        source.at += 1;
        if ((isIndented ? line.replace(/^\t+/, '') : line) === end && !isJoined) break;
        // Bash compares joined lines with the end.
        isJoined = !isQuoted && /(?<!\\)(?:\\\\)*\\$/.test(line);
        if (isJoined && line.length <= end.length + 1) notUnderstood('a here-document joins lines');
      }
      onBody(source.text.slice(start, last));
    }
    const ready = waiting;
    waiting = [];
    for (const finish of ready) finish();
  }

  function takeReserved(source: Source, ...words: readonly string[]): string | undefined {
    const start = source.at;
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
      const [separator] = take(source, /;(?!;|&)|&(?![&>])/y) ?? [];
      if (isTop && separator !== '&' && statement.defines !== undefined) handler.onFunction(statement.defines);
      statements.push(statement);
      skipBlanks(source);
      if (separator === undefined && source.text[source.at] !== '\n') break;
      skipLines(source);
    }
    return statements;
  }

  function readList(source: Source, end: ')' | '', isTop = false): readonly CommandWord[] | undefined {
    const statements = readStatements(source, () => source.text[source.at] === end, isTop);
    if (end !== '') {
      if (source.text[source.at] !== end) notUnderstood('a bracket is not closed');
      source.at += 1;
    }
    return statements.length === 1 ? statements[0]?.words : undefined;
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
    for (skipBlanks(source); take(source, /&&|\|\|/y) !== undefined; skipBlanks(source)) {
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
      if (prefix === 'time' && take(source, /-p(?=\s)/y) === undefined && source.text[source.at] === '-')
        notUnderstood('an option of time is not read');
      skipBlanks(source);
    }
    let statement = readCommand(source);
    for (skipBlanks(source); take(source, /\|&?(?!\|)/y) !== undefined; skipBlanks(source)) {
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
        const [name] = take(source, /[\w:-]+(?=[\s(])/y) ?? notUnderstood('the name of a function is not read');
        take(source, /[ \t]*\([ \t]*\)/y);
        return readFunction(source, name);
      }
      if (!readCompound(source)) return readSimple(source);
      while (readRedirection(source)) continue;
      return COMPOUND;
    });
  }

  function readFunction(source: Source, defines: string): Statement {
    if (IS_RESERVED.test(defines)) notUnderstood('a function has the name of a reserved word');
    handler.onRepeat();
    source.facts.define(defines);
    skipLines(source);
    if (!readCompound(source)) notUnderstood('the body of a function is not read');
    while (readRedirection(source)) continue;
    return { defines };
  }

  /** `{ }`, `( )`, conditions and loops. */
  function readCompound(source: Source): boolean {
    if (take(source, /\(\(/y) !== undefined) {
      readArithmetic(source, '))');
      return true;
    }
    if (take(source, /\(/y) !== undefined) {
      readList(source, ')');
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
        handler.onRepeat();
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
    handler.onRepeat();
    skipBlanks(source);
    if (take(source, /\(\(/y) !== undefined) readArithmetic(source, '))');
    else {
      const [name] = take(source, /[A-Za-z_]\w*(?=[\s;])/y) ?? notUnderstood('the variable of a loop is not read');
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
          /^(?:;;|;&|esac(?:[\s;&|<>()]|$))/.test(source.text.slice(source.at, source.at + 5)),
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
    for (skipTest(source); take(source, /\]\](?=[\s;&|<>()]|$)/y) === undefined; skipTest(source)) {
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

  function readSimple(source: Source): Statement {
    const finish = handler.startCommand();
    const words: CommandWord[] = [];
    const start = source.at;
    let stdin: (() => string | undefined) | undefined;
    const documents = source.pending.length;
    for (; ; skipBlanks(source)) {
      const before = source.at;
      const input = readRedirection(source);
      if (input !== false) stdin = input === true ? stdin : input;
      else if (words.length > 0 || !readAssignment(source)) {
        const word = readArgument(source, words[0]);
        if (word === undefined) break;
        words.push(word);
        if (words.length === 1 && before === start && take(source, /[ \t]*\([ \t]*\)/y) !== undefined) {
          if (!/^[\w:-]+$/.test(source.text.slice(start, start + word.text.length)))
            notUnderstood('a function is not read');
          return readFunction(source, word.text);
        }
      }
    }
    if (source.at === start) notUnderstood('a command is missing');
    const [first] = words;
    if (first !== undefined && IS_RESERVED.test(first.text)) notUnderstood(`${first.text} was not expected`);
    const end = (): void => finish(words, stdin?.());
    if (source.pending.length > documents) waiting.push(end);
    else end();
    return { words };
  }

  /** `x=value` stays one word behind `export` and similar builtins. */
  function readArgument(source: Source, program: CommandWord | undefined): CommandWord | undefined {
    if (program === undefined || !DECLARING.has(program.text)) return readWord(source);
    const [start] = take(source, /[A-Za-z_]\w*\+?=/y) ?? [];
    if (start === undefined) return readWord(source);
    if (source.text[source.at] === '(') return { ...computedWord(start, [start, '']), value: readArray(source) };
    const { text, kind, pieces, value } = readWord(source) ?? { text: '', kind: 'fixed', pieces: [''], value: NUMBER };
    const [first = '', ...rest] = pieces;
    return { text: start + text, kind, pieces: [start + first, ...rest], isSplit: false, value };
  }

  function readAssignment(source: Source): boolean {
    const [, name, sign] = take(source, /([A-Za-z_]\w*)(\+?=|\[)/y) ?? [];
    if (name === undefined) return false;
    if (sign === '[') {
      readArithmetic(source, ']');
      if (take(source, /\+?=/y) === undefined) notUnderstood('brackets in the name of a program are not read');
    }
    const value =
      source.text[source.at] === '(' && sign !== '[' ? readArray(source) : (readWord(source)?.value ?? NUMBER);
    source.facts.set(name, value);
    return true;
  }

  function readArray(source: Source): WordValue {
    source.at += 1;
    const values: WordValue[] = [];
    for (skipLines(source); take(source, /\)/y) === undefined; skipLines(source)) {
      if (take(source, /\[/y) !== undefined) {
        readArithmetic(source, ']');
        if (take(source, /=/y) === undefined) notUnderstood('an array is not read');
      }
      values.push((readWord(source) ?? notUnderstood('an array is not read')).value);
    }
    if (!/^[\s;&|<>)]?$/.test(source.text[source.at] ?? '')) notUnderstood('an array is not read');
    return joinValues(values);
  }

  /** False if there is none; a function if it feeds stdin with text of the line, or with something unknown. */
  function readRedirection(source: Source): boolean | (() => string | undefined) {
    skipBlanks(source);
    const start = source.at;
    const [, descriptor = '', operator = ''] = take(source, REDIRECTION) ?? [];
    if (operator === '') return false;
    if (source.text[source.at] === '(' && /^[<>]$/.test(operator)) {
      if (descriptor !== '') notUnderstood('a redirection is not read');
      source.at = start;
      return false;
    }
    if (descriptor.startsWith('{')) source.facts.set(descriptor.slice(1, -1), NUMBER);
    take(source, /(?:[ \t]|\\\n)+/y);
    const isInput = operator.startsWith('<') && (descriptor === '' || Number(descriptor) === 0);
    if (operator === '<<' || operator === '<<-') return readDelimiter(source, operator, isInput);
    const target = readWord(source) ?? notUnderstood('a redirection has no target');
    if (operator === '<<<') return isInput ? () => (target.kind === 'fixed' ? target.text : undefined) : true;
    if (operator !== '<' && operator !== '<&' && !NO_FILE.test(target.text)) handler.onWrite(target.text);
    return isInput ? () => undefined : true;
  }

  function readDelimiter(source: Source, operator: string, isInput: boolean): true | (() => string | undefined) {
    const [, single, double, backslash, plain] =
      take(source, DELIMITER) ?? notUnderstood('a here-document is not read');
    const isQuoted = plain === undefined || backslash !== '';
    let text: string | undefined;
    source.pending.push({
      end: single ?? double ?? plain ?? '',
      isQuoted,
      isIndented: operator === '<<-',
      onBody(body) {
        if (isQuoted || !/[\\$`]/.test(body)) text = body;
        else nest(source, () => readDocument({ ...source, text: body, at: 0, pending: [] }));
      },
    });
    return isInput ? () => text : true;
  }

  return { readList };
}
