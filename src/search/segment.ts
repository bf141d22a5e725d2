import type { Lexicon } from './lexicon.ts';
import { pairsOf } from './tokenize.ts';

/**
 * A piece of a run without spaces. `known` is a word of the lexicon, `loose` a pair of characters that belong to no known
 * word, `seam` a pair that crosses the edge of one: worth finding, but no word of the text.
 */
export interface Segment {
  readonly type: 'known' | 'loose' | 'seam';
  readonly text: string;
  readonly terms: readonly string[];
}

/** Takes a run apart, the longest known words first. */
export function segmentRun(run: string, lexicon: Lexicon): readonly Segment[] {
  const pairs = pairsOf(run);
  // Characters outside the basic plane are two units long and in no known word; such a run is read pair by pair.
  if (pairs.length !== run.length - 1) return pairs.map((pair) => ({ type: 'loose', text: pair, terms: [pair] }));
  const segments: Segment[] = [];
  let at = 0;
  let known = lexicon.wordAt(run, 0);
  while (at < run.length) {
    if (known !== '') segments.push({ type: 'known', text: known, terms: pairsOf(known) });
    const isKnown = known !== '';
    at += isKnown ? known.length : 1;
    known = lexicon.wordAt(run, at);
    const pair = pairs[at - 1];
    if (pair !== undefined)
      segments.push({ type: isKnown || known !== '' ? 'seam' : 'loose', text: pair, terms: [pair] });
  }
  return segments;
}
