import type { SearchIndex } from '#skills';
import { withoutEverydayWords } from './everyday-words.ts';

interface HintRequest {
  readonly request: string;
  /** Of trusted skills only. With bodies the right skill is found more often. */
  readonly index: SearchIndex;
  /** False for skills that the model has seen: they take part in the ranking, but are no hints. */
  readonly isHintable?: (position: number) => boolean;
}

const MAX_HINTS = 5;
/** Longer requests are mostly pasted text. */
const MAX_REQUEST_LENGTH = 4096;
/**
 * How much evidence a hint needs, in words that only one skill has: such a word scores about the logarithm of the number of skills, so
 * that the same gate fits 100 and 2,000 skills. Without bodies more words are rare and score higher.
 */
const GATE = { withBodies: 1.25, withoutBodies: 1.45 };

/**
 * The skills that a request may need: at most five, best first. None if no skill is clearly meant; one alone if it is so far ahead of
 * the second that a list would only cost tokens.
 */
export function chooseHints({
  request,
  index,
  isHintable = () => true,
}: HintRequest): ReturnType<SearchIndex['search']> {
  const text = request.slice(0, MAX_REQUEST_LENGTH);
  const hits = index.search(text, MAX_HINTS);
  const [first, second] = hits;
  if (first === undefined) return [];
  const [plain] = index.search(withoutEverydayWords(text), 1);
  const gate = Math.log(1 + index.size) * (index.deep ? GATE.withBodies : GATE.withoutBodies);
  if ((first.score + (plain?.score ?? 0)) / 2 < gate) return [];
  const isAlone = first.score - (second?.score ?? 0) >= gate;
  return (isAlone ? [first] : hits).filter(({ position }) => isHintable(position));
}
