import type { Lexicon } from './lexicon.ts';
import { pairCharacters } from './tokenize.ts';

/**
 * A piece of a run without spaces. `known` is a word of the lexicon, `loose` a pair of characters outside known words, `seam` a pair
 * across the edge of one: searchable, but not a word of the text.
 */
export interface Segment {
  readonly type: 'known' | 'loose' | 'seam';
  readonly text: string;
  readonly terms: readonly string[];
}

/** Segments a run, the longest known words first. */
export function segmentRun(run: string, lexicon: Lexicon): readonly Segment[] {
  const pairs = pairCharacters(run);
  // Characters outside the basic plane take two code units and are in no known word; such a run is split into pairs.
  if (pairs.length !== run.length - 1) return pairs.map((pair) => ({ type: 'loose', text: pair, terms: [pair] }));
  const segments: Segment[] = [];
  let at = 0;
  let known = lexicon.wordAt(run, 0);
  while (at < run.length) {
    if (known !== '') segments.push({ type: 'known', text: known, terms: pairCharacters(known) });
    const isKnown = known !== '';
    at += isKnown ? known.length : 1;
    known = lexicon.wordAt(run, at);
    const pair = pairs[at - 1];
    if (pair !== undefined)
      segments.push({ type: isKnown || known !== '' ? 'seam' : 'loose', text: pair, terms: [pair] });
  }
  return segments;
}
