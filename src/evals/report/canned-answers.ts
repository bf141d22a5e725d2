/**
 * Answers that do not depend on the request, such as the overload text of a server with the number of the request: the same words for
 * different cases, of which none is in the requests or in an answer that passed, around numbers that are always others.
 */
import { printable } from '#core';
import { groupBy, hasVerdict, type CaseResult } from './result.ts';

/** In fewer cases, and with fewer words of its own, a text may be an answer. */
const FEWEST_CASES = 3;
const FEWEST_WORDS = 3;

const WORD = /\p{L}{2,}/gu;
const LATIN = /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]+$/u;
const SHORTEST = 4;

/** The failed results that no model answered. They are missing, as if the server had failed. */
export function findCanned(results: readonly CaseResult[]): ReadonlySet<CaseResult> {
  const known = new Set(
    results.flatMap((one) => [...listWords(one.input), ...(one.status === 'passed' ? listWords(one.answer) : [])]),
  );
  const failed = results.filter((one) => one.status === 'failed' && hasVerdict(one) && one.model.way !== 'rules');
  const groups = groupBy(failed, (one) => `${one.arm} ${toTemplate(one.answer)}`);
  return new Set([...groups.values()].filter((group) => isCanned(group, known)).flat());
}

function isCanned(group: readonly CaseResult[], known: ReadonlySet<string>): boolean {
  const [first] = group;
  const texts = new Set(group.map(({ answer }) => answer.trim()));
  if (first === undefined || new Set(group.map((one) => one.case)).size < FEWEST_CASES || texts.size < FEWEST_CASES)
    return false;
  const words = new Set(listWords(toTemplate(first.answer)));
  return [...words].filter((word) => !known.has(word)).length >= FEWEST_WORDS;
}

/** Words with a digit in them become one sign. */
function toTemplate(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .trim()
    .replaceAll(/[^\s"'(),;:=[\]{}，。；：（）]*\p{N}[^\s"'(),;=[\]{}，。；（）]*/gu, '#');
}

function listWords(text: string): readonly string[] {
  const words = text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
  return words.filter((word) => word.length >= SHORTEST || !LATIN.test(word));
}

export function describeCanned(results: readonly CaseResult[]): readonly string[] {
  const groups = groupBy([...findCanned(results)], ({ arm }) => arm);
  return [...groups].map(
    ([arm, own]) =>
      `${arm}: ${String(own.length)} answers are the same but for numbers, as of a server that does not read the request; they are missing: "${printable(own[0]?.answer ?? '').slice(0, 80)}"`,
  );
}
