/**
 * Scores how well a skill fits a request by the words that they share. The engine in `search/` ranks better, and its order is kept for
 * equal scores; but a rank does not say whether the best skill is good enough.
 */
import type { SeenSkill } from './seen-skills.ts';

export interface ScoredSkill {
  readonly name: string;
  /** From 0 to 1: the share of the request that the skill covers. */
  readonly score: number;
  readonly isConvincing: boolean;
}

export interface ScoreInput {
  readonly request: string;
  readonly files: readonly string[];
  /** In the order of the search, if there was one; a duplicate skill counts once. */
  readonly skills: readonly SeenSkill[];
}

const MAX_TEXT = 20_000;
const CONVINCING = 0.4;
/** Further words of a long request are details that no description contains. */
const LONG_REQUEST = 10;
/** One shared word may be a coincidence, except in the name. */
const FEWEST_WORDS = 2;

/** Returns the skills, best first, without those that share no word with the request. */
export function scoreSkills({ request, files, skills }: ScoreInput): readonly ScoredSkill[] {
  const asked = toTerms(request);
  const endings = new Set(files.map((file) => /\.([a-z0-9]{1,8})$/i.exec(file)?.[1]?.toLowerCase() ?? ''));
  const seen = new Set<string>();
  return (
    skills
      .filter(({ name }) => !seen.has(name) && seen.add(name))
      .map((skill) => scoreOne(asked, endings, skill))
      .filter(({ score }) => score > 0)
      // Equal scores keep the order of the search.
      .toSorted((a, b) => b.score - a.score)
  );
}

function scoreOne(asked: ReadonlySet<string>, endings: ReadonlySet<string>, skill: SeenSkill): ScoredSkill {
  const { offered, excluded } = splitExclusions(skill.description);
  const name = toTerms(skill.name);
  const about = toTerms(offered);
  const not = toTerms(excluded);
  let hits = 0;
  let weight = 0;
  let nameHits = 0;
  for (const term of asked) {
    const isInName = name.has(term);
    if (isInName) nameHits += 1;
    if (isInName || about.has(term)) hits += 1;
    // A word in an exclusion weighs more than the same word elsewhere in the description.
    weight += isInName ? 1.5 : not.has(term) ? -1.5 : about.has(term) ? 1 : 0;
  }
  const hasKind = [...endings].some((ending) => ending !== '' && (about.has(ending) || name.has(ending)));
  const share = weight / Math.min(Math.max(asked.size, 3), LONG_REQUEST);
  const score = Math.max(0, Math.min(1, share + (hasKind ? 0.25 : 0)));
  const isConvincing = score >= CONVINCING && (hits >= FEWEST_WORDS || nameHits > 0);
  return { name: skill.name, score: Math.round(score * 100) / 100, isConvincing };
}

/** The start of a sentence that says what a skill is not for. */
const EXCLUSION = /^(?:not (?:for|meant)|do not use|don't use|never use|不适用|不用于|不要用)/i;

function splitExclusions(description: string): { readonly offered: string; readonly excluded: string } {
  const sentences = description
    .slice(0, MAX_TEXT)
    .split(/[.!?;。！？；]/)
    .map((sentence) => sentence.trim());
  return {
    offered: sentences.filter((sentence) => !EXCLUSION.test(sentence)).join('\n'),
    excluded: sentences.filter((sentence) => EXCLUSION.test(sentence)).join('\n'),
  };
}

const HAN = /\p{Script=Han}/u;
/** ASCII, common Chinese characters and punctuation. */
const PLAIN =
  /^[\0-\x7f\u4e00-\u9fff\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u3001\u3002\u300a-\u3011！（），：；？]*$/;
const PLAIN_RUN = /[a-z0-9]+|[\u4e00-\u9fff]+/g;

/** Returns words in a common form; Chinese has no spaces and is split into pairs of characters. */
function toTerms(text: string): ReadonlySet<string> {
  const lower = text.slice(0, MAX_TEXT).toLowerCase();
  // The first use of Unicode property escapes takes milliseconds.
  const parts = PLAIN.test(lower) ? (lower.match(PLAIN_RUN) ?? []).flatMap(plainParts) : splitParts(lower);
  return new Set(parts.filter((part) => !COMMON.has(part)));
}

function splitParts(text: string): readonly string[] {
  const runs = text.match(/\p{Script=Han}+|[\p{L}\p{N}]+/gu) ?? [];
  return runs.flatMap((run) => (HAN.test(run) ? hanParts(run) : [stem(run)]));
}

function plainParts(run: string): readonly string[] {
  return run.charCodeAt(0) > 0x7f ? pairCharacters(run) : [stem(run)];
}

function hanParts(run: string): readonly string[] {
  // `\p{L}+` matches Han together with adjacent Latin letters.
  return (run.match(/\p{Script=Han}+|[^\p{Script=Han}]+/gu) ?? []).flatMap((part) => {
    return HAN.test(part) ? pairCharacters(part) : [stem(part)];
  });
}

function pairCharacters(part: string): readonly string[] {
  const characters = [...part];
  return characters.slice(1).map((character, place) => (characters[place] ?? '') + character);
}

/** Crude on purpose: both sides are stemmed alike, and a wrong stem only costs a match. */
function stem(word: string): string {
  if (word.length < 4) return word;
  const cut = word.replace(/(?:ies)$/, 'y').replace(/(?:ing|ed|es|s)$/, '');
  return (cut.length < 3 ? word : cut).replace(/e$/, '');
}

/** Stop words, stemmed by `stem`. */
const COMMON: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been but by can could did do does for from give get had has have help how i if in into is it its just let ' +
    'like make me my need of on one or our out please show so some tell than that the their them then there these they thi this those ' +
    'to two up us use user using want wa was we were what when which who whose will with would write you your ' +
    'file files text 这个 一个 什么 怎么 如何 帮我 给我 告诉 诉我 一下 请把 有没 没有 这份'
  )
    .split(' ')
    .flatMap((word) => [word, stem(word)]),
);
