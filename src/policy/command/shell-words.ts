/** Reads words of a shell line as bash does. */
import { NUMBER, type CommandWord } from './command-words.ts';
import { readCommands, readDouble, readExpansion, readSingle } from './shell-expansions.ts';
import {
  addTaken,
  addText,
  addUnknown,
  builtValue,
  newWord,
  notUnderstood,
  take,
  type Source,
  type Unknown,
  type WordBuilder,
} from './shell-source.ts';

const PLAIN = /[^ \t\n;&|<>()\\'"`$*?[{~]+/y;
const NUMBERS = /\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}/y;
/** Braces that stay as they are: `{}`, `HEAD@{1}`, and one alone. */
const LITERAL_BRACES = /\{(?=[ \t\n;&|<>()}]|$)|(?<=[@%])\{/y;
const BRACKETS = /\[(?:\[:\w+:\]|[^\] \t\n;&|<>()\\'"`$])+\]/y;

/** Reads one word; undefined at the end. A `regex` may contain brackets and bars. */
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
    } else if (/[ \t\n;&|<>()]/.test(sign)) {
      if (open > 0) notUnderstood('a regular expression contains blanks');
      break;
    } else readSign(source, word, sign, start);
  }
  if (source.at === start) return undefined;
  if (source.pending.length > 0 && text.slice(start, source.at).includes('\n'))
    notUnderstood('a word goes on after the line of a here-document');
  const { kind, pieces, isSplit } = word;
  return { text: word.text, kind, pieces, isSplit, value: builtValue(word) };
}

/** A sign with a meaning of its own in a word without quotes. */
function readSign(source: Source, word: WordBuilder, sign: string, start: number): void {
  const { text, at } = source;
  switch (sign) {
    case '\\':
      if (at + 1 >= text.length) notUnderstood('it ends with a backslash');
      if (text[at + 1] !== '\n') addText(word, text[at + 1] ?? '');
      source.at += 2;
      return;
    case "'":
      readSingle(source, word);
      return;
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
      else if (word.isOpaque || take(source, /\[(?=[ \t\n;&|<>()]|$)/y) !== undefined) addTaken(source, word, at);
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

function addOpaque(source: Source, word: WordBuilder, kind: Unknown['kind']): void {
  addUnknown(word, source.text[source.at] ?? '', { kind, isSplit: true });
  word.isOpaque = true;
  source.at += 1;
}

/** The body of a here-document without quotes: its expansions. */
export function readDocument(source: Source): void {
  const word = newWord();
  while (source.at < source.text.length) {
    if (take(source, /[^\\$`]+|\\[^]?/y) === undefined) readExpansion(source, word, 'document');
  }
}
