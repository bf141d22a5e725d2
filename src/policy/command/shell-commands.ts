/** Reads simple commands of a shell line: their words, assignments, redirections and here-documents. */
import { NUMBER, computedWord, joinValues, type CommandWord, type WordValue } from './command-words.ts';
import { readArithmetic } from './shell-expansions.ts';
import { nest, notUnderstood, take, type Source } from './shell-source.ts';
import { readDocument, readWord } from './shell-words.ts';

const NO_FILE = /^(?:\/dev\/(?:null|stdout|stderr|tty)|\d+-?|-)$/;
const DECLARING: ReadonlySet<string> = new Set(['declare', 'typeset', 'local', 'export', 'readonly']);
const REDIRECTION = /(\d+|\{[A-Za-z_]\w*\})?(<<<|<<-?|<>|<&|<|&>>?|>>|>&|>\||>)/y;
const BLANKS = /(?:[ \t]|\\\n)*/y;
const COMMENT = /#[^\n]*/y;
const FUNCTION = /[ \t]*\([ \t]*\)/y;
const ASSIGNMENT = /([A-Za-z_]\w*)(\+?=|\[)/y;
const DELIMITER = /(?:'([\w.!@%+: -]+)'|"([\w.!@%+: -]+)"|(\\?)([\w.!@%+:-]+))(?=[ \t\n;&|<>()]|$)/y;

export function skipBlanks(source: Source): void {
  take(source, BLANKS);
  if (source.text[source.at] === '#') take(source, COMMENT);
}

export function skipLines(source: Source): void {
  skipBlanks(source);
  while (source.text[source.at] === '\n') {
    endLine(source);
    skipBlanks(source);
  }
}

/** Reads the here-documents behind a line end. */
export function endLine(source: Source): void {
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
  const ready = source.waiting;
  source.waiting = [];
  for (const finish of ready) finish();
}

/** The words of a command, or the name of the function whose body follows. */
export function readSimple(source: Source): readonly CommandWord[] | string {
  const finish = source.handler.startCommand();
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
      if (words.length === 1 && before === start && take(source, FUNCTION) !== undefined) {
        if (!/^[\w:-]+$/.test(source.text.slice(start, start + word.text.length)))
          notUnderstood('a function is not read');
        return word.text;
      }
    }
  }
  if (source.at === start) notUnderstood('a command is missing');
  const end = (): void => finish(words, stdin?.());
  if (source.pending.length > documents) source.waiting.push(end);
  else end();
  return words;
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
  const [, name, sign] = take(source, ASSIGNMENT) ?? [];
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
  if (!/^[ \t\n;&|<>)]?$/.test(source.text[source.at] ?? '')) notUnderstood('an array is not read');
  return joinValues(values);
}

/** False without one; a function if it feeds stdin with text of the line, or with something unknown. */
export function readRedirection(source: Source): boolean | (() => string | undefined) {
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
  take(source, BLANKS);
  const isInput = operator.startsWith('<') && (descriptor === '' || Number(descriptor) === 0);
  if (operator === '<<' || operator === '<<-') return readDelimiter(source, operator, isInput);
  const target = readWord(source) ?? notUnderstood('a redirection has no target');
  if (operator === '<<<') return isInput ? () => (target.kind === 'fixed' ? target.text : undefined) : true;
  if (!NO_FILE.test(target.text)) {
    if (operator.startsWith('<')) source.facts.noteInput();
    if (operator !== '<' && operator !== '<&') {
      source.handler.onWrite(target.text);
      source.facts.noteWrite(target);
    }
  }
  return isInput ? () => undefined : true;
}

function readDelimiter(source: Source, operator: string, isInput: boolean): true | (() => string | undefined) {
  const [, single, double, backslash, plain] = take(source, DELIMITER) ?? notUnderstood('a here-document is not read');
  const isQuoted = plain === undefined || backslash !== '';
  let text: string | undefined;
  source.pending.push({
    end: single ?? double ?? plain ?? '',
    isQuoted,
    isIndented: operator === '<<-',
    onBody(body) {
      if (isQuoted || !/[\\$`]/.test(body)) text = body;
      else nest(source, () => readDocument({ ...source, text: body, at: 0, pending: [], waiting: [] }));
    },
  });
  return isInput ? () => text : true;
}
