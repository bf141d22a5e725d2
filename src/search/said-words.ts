import type { Lexicon } from './lexicon.ts';
import { segmentRun } from './segment.ts';
import { STOP_CHARACTERS, STOP_PHRASES, STOP_WORDS } from './stop-words.ts';
import { scanRuns, termOf, wordsOf } from './tokenize.ts';

/** A word of a query. A `break` marks the end of a clause, so that words on both sides do not form a phrase. */
export interface SaidWord {
  readonly type: 'word' | 'spaceless' | 'break';
  /** The word in lower case, for prefix matches. */
  readonly text: string;
  /** The key in the lexicon. */
  readonly key: string;
  /** The term in the index. */
  readonly terms: readonly string[];
}

const CLAUSE_BREAK: SaidWord = { type: 'break', text: '', key: '', terms: [] };
const STOP_PHRASE_PATTERN = new RegExp(STOP_PHRASES.join('|'), 'gu');

/** The words of a query without stop words; if it has only stop words, those. */
export function readSaidWords(text: string, lexicon: Lexicon): readonly SaidWord[] {
  const telling = readWords(text, lexicon, { keepStopWords: false });
  return telling.some(({ type }) => type !== 'break') ? telling : readWords(text, lexicon, { keepStopWords: true });
}

interface ReadOptions {
  readonly keepStopWords: boolean;
}

function readWords(text: string, lexicon: Lexicon, options: ReadOptions): readonly SaidWord[] {
  return scanRuns(text).flatMap((run): readonly SaidWord[] => {
    if (run.type === 'break') return [CLAUSE_BREAK];
    if (run.type === 'spaceless') return readSpaceless(run.text, lexicon, options);
    return wordsOf(run.text)
      .filter((word) => options.keepStopWords || !STOP_WORDS.has(word))
      .map((word) => {
        const term = termOf(word);
        return { type: 'word', text: word, key: term, terms: [term] };
      });
  });
}

function readSpaceless(run: string, lexicon: Lexicon, { keepStopWords }: ReadOptions): readonly SaidWord[] {
  const pieces = keepStopWords ? [run] : run.split(STOP_PHRASE_PATTERN).filter((piece) => piece !== '');
  return pieces
    .flatMap((piece) => segmentRun(piece, lexicon))
    .filter(({ type, text }) => keepStopWords || type === 'known' || !hasStopCharacter(text))
    .map(({ text, terms }) => ({ type: 'spaceless', text, key: text, terms }));
}

function hasStopCharacter(text: string): boolean {
  return Array.from(text).some((character) => STOP_CHARACTERS.has(character));
}
