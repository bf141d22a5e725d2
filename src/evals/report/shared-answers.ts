/**
 * Finds passing answers that also pass the checks of other cases: answers that list whatever the suite expects, and cases that expect one
 * answer in different words.
 */
import { countText, quoted } from '#core';
import { gradeAnswer } from '../grade/grade-output.ts';
import { groupBy, type CaseResult, type CheckResult } from './result.ts';

/** Fewer other expectations may be in an answer by chance. */
const FEWEST_OTHERS = 3;
/** Every answer is graded by the checks of so many cases, and so many answers are graded, so that a large report stays fast. */
const MOST_COMPARED = 40;

export function listSharedAnswers(results: readonly CaseResult[]): readonly string[] {
  const passed = results.flatMap((result) => {
    const isPassed = result.status === 'passed' && result.model.way !== 'rules';
    const passes = isPassed ? readChecks(result.checks) : undefined;
    const key = result.checks.map(({ asked }) => asked).join('\n');
    return passes === undefined ? [] : [{ ...result, key, passes }];
  });
  return [...groupBy(passed, ({ arm }) => arm)].flatMap(([arm, own]) => {
    const expected = [...new Map(own.map((one) => [one.key, one])).values()].slice(0, MOST_COMPARED);
    const answers = [...new Map(own.map((one) => [one.case, one])).values()].slice(0, MOST_COMPARED);
    const shared = answers.filter(
      ({ key, answer }) =>
        expected.filter((other) => other.key !== key && other.passes(answer)).length >= FEWEST_OTHERS,
    );
    const [first] = shared;
    if (first === undefined || shared.length <= FEWEST_OTHERS || shared.length * 2 < answers.length) return [];
    return [
      `${arm}: the answers to ${String(shared.length)} of ${countText(answers.length, 'compared case')} also pass the checks of at least ${String(FEWEST_OTHERS)} other cases: they list many answers, or the cases expect one answer in different words; read them: ${quoted(first.answer, 80)}`,
    ];
  });
}

/** Whether an answer passes the checks; undefined unless texts and expressions alone decide. A report has their wording only. */
function readChecks(checks: readonly CheckResult[]): ((answer: string) => boolean) | undefined {
  const texts = checks.filter(({ kind }) => kind === 'output' || kind === 'judge').map(({ asked }) => TEXT.exec(asked));
  if (!texts.some((one) => one?.groups?.['not'] === undefined && one !== null)) return undefined;
  const read = texts.flatMap((one) => (one?.groups === undefined ? [] : [one.groups]));
  if (read.length < texts.length) return undefined;
  return (answer) =>
    read.every(({ not, verb, text = '' }) => {
      const isNot = not === undefined ? {} : ({ not: true } as const);
      return gradeAnswer(
        verb?.startsWith('match') === true
          ? { type: 'matches', pattern: text, ...isNot }
          : { type: 'contains', text, ignoreCase: true, ...isNot },
        answer,
      );
    });
}

/** As `gradeOutput` words it. A text that was cut is not known. */
const TEXT = /^the answer (?<not>does not )?(?<verb>contains?|match(?:es)?) "(?<text>.*[^…])"$/su;
