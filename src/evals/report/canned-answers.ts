/**
 * Answers that do not depend on the request, such as the overload text of a server with the number of the request: the same words for
 * different cases, of which none is in the requests or in an answer that passed, around numbers that are always others.
 */
import { countText, printable, quoted } from '#core';
import { groupBy, hasEndedEarly, type CaseResult } from './result.ts';

/** In fewer cases, and with fewer words of its own, a text may be an answer. */
const FEWEST_CASES = 3;
const FEWEST_WORDS = 3;

const WORD = /\p{L}{2,}/gu;
const LATIN = /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]+$/u;
const SHORTEST = 4;

function listKnownWords(results: readonly CaseResult[]): ReadonlySet<string> {
  return new Set(
    results.flatMap((one) => [...listWords(one.input), ...(one.status === 'passed' ? listWords(one.answer) : [])]),
  );
}

const isFailedAnswer = (one: CaseResult): boolean => one.status === 'failed' && one.model.way !== 'rules';

/** The failed results that no model answered. They are missing, as if the server had failed. */
export function findCanned(results: readonly CaseResult[]): ReadonlySet<CaseResult> {
  const known = listKnownWords(results);
  const failed = results.filter(isFailedAnswer);
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
  const canned = findCanned(results);
  const groups = groupBy([...canned], ({ arm }) => arm);
  return [
    ...[...groups].map(
      ([arm, own]) =>
        `${arm}: ${String(own.length)} answers are the same but for numbers, as of a server that does not read the request; they are missing: "${printable(own[0]?.answer ?? '').slice(0, 80)}"`,
    ),
    ...describeFramed(results, canned),
  ];
}

/** A word of this share of the failed answers belongs to their frame, and answers of which half the words do are alike. */
const FRAME_SHARE = 1 / 3;
const FRAMED_SHARE = 1 / 2;

/** The text of a server that repeats words of the request looks like the wrong answer of a model, so that it counts, and is named. */
function describeFramed(results: readonly CaseResult[], canned: ReadonlySet<CaseResult>): readonly string[] {
  const known = listKnownWords(results);
  const failed = results
    .filter((one) => isFailedAnswer(one) && !hasEndedEarly(one) && !canned.has(one))
    .map((result) => {
      const words = new Set(listWords(result.answer).filter((word) => !known.has(word)));
      return { result, words };
    });
  return [...groupBy(failed, ({ result }) => result.arm)].flatMap(([arm, own]) => {
    const counts = new Map<string, number>();
    for (const { words } of own) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    const isFrame = (word: string): boolean => (counts.get(word) ?? 0) >= own.length * FRAME_SHARE;
    const framed = own.filter(({ words }) => {
      const { length } = [...words].filter(isFrame);
      return length >= FEWEST_WORDS && length >= words.size * FRAMED_SHARE;
    });
    const [first] = framed;
    const cases = new Set(framed.map(({ result }) => result.case)).size;
    const texts = new Set(framed.map(({ result }) => result.answer.trim())).size;
    if (first === undefined || cases < FEWEST_CASES || texts < FEWEST_CASES) return [];
    return [
      `${arm}: ${String(framed.length)} of ${countText(own.length, 'failed answer')} are one text around other words: the error text of a server, or a model that does not know; read them: ${quoted(first.result.answer, 80)}`,
    ];
  });
}
