/**
 * Answers that do not depend on the request, such as the overload text of a server: the same words for unlike requests, around numbers that
 * may differ, most of them neither in a request, nor expected, nor in an answer that passed.
 */
import { countText, printable, quoted } from '#core';
import { groupBy, hasEndedEarly, type CaseResult } from './result.ts';
import { groupCases } from './same-requests.ts';

/** Two unlike requests may get one answer by chance, but not several such pairs. */
const FEWEST_UNLIKE = 2;
/** In fewer cases, and with fewer words of its own, a text may be an answer. */
const FEWEST_CASES = 3;
const FEWEST_WORDS = 3;
/** So many results of one text are compared for unlike requests. */
const MOST_COMPARED = 100;

const WORD = /\p{L}{2,}/gu;
const LATIN = /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]+$/u;
const SHORTEST = 5;

function listKnownWords(results: readonly CaseResult[]): ReadonlySet<string> {
  return new Set(
    results.flatMap((one) => [
      ...listWords(one.input),
      ...one.checks.flatMap(({ asked }) => listWords(/"(.*)"/su.exec(asked)?.[1] ?? '')),
      ...(one.status === 'passed' ? listWords(one.answer) : []),
    ]),
  );
}

/** Of a result, with digits replaced: kept, since each comparison and warning asks for it again. */
const templates = new WeakMap<CaseResult, string>();

function readTemplate(one: CaseResult): string {
  const template = templates.get(one) ?? toTemplate(one.answer);
  templates.set(one, template);
  return template;
}

/** A run that a limit ended counts as that. One that called tools may end with the same words each time, if its files are graded. */
function isFailedAnswer(one: CaseResult): boolean {
  const isByText = one.checks.every(({ kind, asked }) => kind !== 'output' || asked.startsWith('the answer '));
  const isFailed = one.status === 'failed' && one.model.way !== 'rules' && !hasEndedEarly(one);
  return isFailed && (isByText || one.cost.toolCalls <= one.loaded.length);
}

/** The failed results that no model answered. They are missing, as if the server had failed. */
export function findCanned(results: readonly CaseResult[]): ReadonlySet<CaseResult> {
  const known = listKnownWords(results);
  const passed = listPassed(results);
  const arms = groupBy(results.filter(isFailedAnswer), ({ arm }) => arm);
  return new Set(
    [...arms.values()].flatMap((own) => {
      const long = findRepeated(own, (words) => countOwn(words, known) >= FEWEST_WORDS);
      // A server that gives such texts gives short ones as well.
      return long.length === 0 ? [] : [...long, ...findRepeated(own.filter((one) => !passed.has(readTemplate(one))))];
    }),
  );
}

const listPassed = (results: readonly CaseResult[]): ReadonlySet<string> =>
  new Set(results.flatMap((one) => (one.status === 'passed' ? [readTemplate(one)] : [])));

/** Texts that unlike requests got, and whose words are suspect. */
function findRepeated(
  own: readonly CaseResult[],
  isSuspect: (words: ReadonlySet<string>) => boolean = () => true,
): readonly CaseResult[] {
  const groups = [...groupBy(own, readTemplate)].filter(
    ([template, group]) => isSuspect(new Set(listWords(template))) && countUnlike(group) >= FEWEST_UNLIKE,
  );
  const repeated = groups.flatMap(([, group]) => group);
  return countCases(repeated) >= FEWEST_CASES ? repeated : [];
}

function countUnlike(group: readonly CaseResult[]): number {
  const cases = new Map(group.map((one) => [one.case, one]));
  return cases.size < FEWEST_UNLIKE ? 0 : groupCases([...cases.values()].slice(0, MOST_COMPARED)).length;
}

const countCases = (results: readonly CaseResult[]): number => new Set(results.map((one) => one.case)).size;

/** A word of a script without spaces is a whole phrase. */
function countOwn(words: ReadonlySet<string>, known: ReadonlySet<string>): number {
  const own = [...words].filter((word) => !known.has(word));
  return own.reduce((sum, word) => sum + (LATIN.test(word) ? 1 : Math.ceil(word.length / 2)), 0);
}

const SEPARATED = /[^\s"'(),;=[\]{}，。；（）]+/gu;

/** Words with a digit in them become one sign, from the last colon before the digit. Takes linear time, also for words of a megabyte. */
function toTemplate(text: string): string {
  const words = text.normalize('NFKC').toLowerCase().trim();
  return words.replaceAll(SEPARATED, (word) => {
    const digit = word.search(/\p{N}/u);
    if (digit === -1) return word;
    const colon = Math.max(word.lastIndexOf(':', digit), word.lastIndexOf('：', digit));
    return `${word.slice(0, colon + 1)}#`;
  });
}

function listWords(text: string): readonly string[] {
  const words = text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
  return words.filter((word) => word.length >= SHORTEST || !LATIN.test(word));
}

/** `canned` are those that `findCanned` found. */
export function describeCanned(results: readonly CaseResult[], canned: ReadonlySet<CaseResult>): readonly string[] {
  const groups = groupBy([...canned], ({ arm }) => arm);
  return [
    ...[...groups].map(
      ([arm, own]) =>
        `${arm}: ${String(own.length)} answers repeat ${countText(countTexts(own), 'text')} for unlike requests, as of a server that does not read them; they are missing: "${printable(own[0]?.answer ?? '').slice(0, 80)}"`,
    ),
    ...describeShort(results, canned),
    ...describeFramed(results, canned),
  ];
}

const countTexts = (results: readonly CaseResult[]): number => new Set(results.map(readTemplate)).size;

/** Fewer repetitions of a short text are ordinary. */
const FEWEST_SHORT = 6;

/** A few words, such as a label or "I do not know", may be the answer of a model, so that they count, and are named if they never pass. */
function describeShort(results: readonly CaseResult[], canned: ReadonlySet<CaseResult>): readonly string[] {
  const passed = listPassed(results);
  const failed = results.filter((one) => isFailedAnswer(one) && !canned.has(one));
  return [...groupBy(failed, ({ arm }) => arm)].flatMap(([arm, own]) => {
    const isNew = (one: CaseResult): boolean => !passed.has(readTemplate(one));
    const repeated = findRepeated(own.filter(isNew));
    const [first] = repeated;
    const all = results.filter((one) => one.arm === arm);
    // One answer to all cases is named for itself.
    if (
      first === undefined ||
      countCases(repeated) < FEWEST_SHORT ||
      new Set(all.map((one) => one.answer.trim())).size === 1
    )
      return [];
    return [
      `${arm}: ${String(repeated.length)} of ${countText(own.length, 'failed answer')} repeat ${countText(countTexts(repeated), 'short text')} for unlike requests: error texts, or a model that does not know; read them: ${quoted(first.answer, 80)}`,
    ];
  });
}

/** A word of this share of the failed answers belongs to their frame, and answers of which half the words do are alike. */
const FRAME_SHARE = 1 / 3;
const FRAMED_SHARE = 1 / 2;

/** The text of a server that repeats words of the request looks like the wrong answer of a model, so that it counts, and is named. */
function describeFramed(results: readonly CaseResult[], canned: ReadonlySet<CaseResult>): readonly string[] {
  const known = listKnownWords(results);
  const failed = results
    .filter((one) => isFailedAnswer(one) && !canned.has(one))
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
