import { buildSearchIndex, type SearchIndex } from '#skills';
import { withoutEverydayWords } from './everyday-words.ts';

/** What a request is compared with. With bodies the right skill is found more often: describe all skills with one, or none. */
export interface HintSkill {
  readonly name: string;
  readonly description: string;
  readonly body?: string;
}

export interface Hint<Skill extends HintSkill> {
  readonly skill: Skill;
  readonly score: number;
}

interface HintRequest<Skill extends HintSkill> {
  readonly request: string;
  /** Trusted skills only. Without `index` the same array in each call: its index is kept as long as the array is. */
  readonly skills: readonly Skill[];
  /** Of the same skills in the same order. */
  readonly index?: SearchIndex;
  /** False for skills that the model has seen: they take part in the ranking, but are no hints. */
  readonly isHintable?: (skill: Skill) => boolean;
}

const MAX_HINTS = 5;
/** Longer requests are mostly pasted text. */
const MAX_REQUEST_LENGTH = 4096;
/**
 * How much evidence a hint needs, in words that only one skill has: such a word scores about the logarithm of the number of skills, so
 * that the same gate fits 100 and 2,000 skills. Without bodies more words are rare and score higher.
 */
const GATE = { withBodies: 1.25, withoutBodies: 1.45 };

const indexes = new WeakMap<readonly HintSkill[], SearchIndex>();

/**
 * The skills that a request may need: at most five, best first. None if no skill is clearly meant; one alone if it is so far ahead of
 * the second that a list would only cost tokens.
 */
export function chooseHints<Skill extends HintSkill>({
  request,
  skills,
  index = indexOf(skills),
  isHintable = () => true,
}: HintRequest<Skill>): readonly Hint<Skill>[] {
  const text = request.slice(0, MAX_REQUEST_LENGTH);
  const hits = index.search(text, MAX_HINTS);
  const [first, second] = hits;
  if (first === undefined) return [];
  const [plain] = index.search(withoutEverydayWords(text), 1);
  const gate = Math.log(1 + index.size) * (index.deep ? GATE.withBodies : GATE.withoutBodies);
  if ((first.score + (plain?.score ?? 0)) / 2 < gate) return [];
  const isAlone = first.score - (second?.score ?? 0) >= gate;
  return (isAlone ? [first] : hits).flatMap(({ position, score }) => {
    const skill = skills[position];
    return skill !== undefined && isHintable(skill) ? [{ skill, score }] : [];
  });
}

function indexOf(skills: readonly HintSkill[]): SearchIndex {
  const index = indexes.get(skills) ?? buildSearchIndex(skills);
  indexes.set(skills, index);
  return index;
}
