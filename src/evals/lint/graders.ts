/** Runs the output checks of a case on answers that should fail: none, a wrong one, the opposite, the request and the skill itself. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { compileGlob, isObject, isProblem, normaliseGlob, quoted } from '#core';
import { quietly, sha256 } from '#platform';
import type { EvalCase, OutputCheck } from '../cases/case.ts';
import { splitFlags } from '../cases/pattern-check.ts';
import { gradeAnswer } from '../grade/grade-output.ts';
import type { CaseFinding, LintedCase } from './finding.ts';
import { fold, givenAwayFindings, neededText } from './given-away.ts';

const NOTHING = 'I do not know and nothing here says anything about it so that there is no more to tell';

/** Ordinary and wrong: they say nothing about any task. Some are long, in one line and in many, for checks that only count. */
const WRONG_ANSWERS = [
  'I do not know. Sorry, nothing here says anything about it, and I have not looked any further than this.',
  'I do not know, but in 1873 there were 94127 of them, about 61.7 %, and on 1873-11-29 it was 8,351.09.',
  '我不知道，这里没有相关的内容。',
  `${NOTHING} `.repeat(60),
  `${NOTHING}.\n`.repeat(60),
] as const;

export function graderFindings({ evalCase, skillFiles }: LintedCase): readonly CaseFinding[] {
  const { output = [], rubric = [] } = evalCase.expect;
  const checks = output.filter(({ type }) => type !== 'checker');
  if (
    output.length + rubric.length === 0 &&
    evalCase.expect.outcome?.includes('done') === true &&
    !hasOtherChecks(evalCase)
  )
    return [
      {
        rule: 'passes-on-wrong',
        severity: 'error',
        message: 'the only check, outcome: done, passes on any answer',
        hint: 'also check the answer, a file or an action',
      },
    ];
  if (checks.length === 0) return [];
  // A judge or a checker can still tell a wrong answer, so that the check alone is weak but the case is not.
  const severity =
    checks.length === output.length && rubric.length === 0 && !hasOtherChecks(evalCase) ? 'error' : 'warning';
  const passes = (answer: string): boolean => checks.every((check) => gradeAnswer(check, answer));
  const name = skillNameFinding(evalCase, checks);
  if (name !== undefined) return [name];
  if (passes(''))
    return [
      {
        rule: 'passes-on-empty',
        severity,
        message: 'the checks pass on an empty answer',
        hint: 'add a text or an expression that a right answer contains',
      },
    ];
  const wrong = [...WRONG_ANSWERS, ...fillChecks(checks, evalCase)].find(passes);
  if (wrong !== undefined) {
    const hint = 'check something that only a right answer contains';
    return [
      { rule: 'passes-on-wrong', severity, message: `the checks pass on any text, such as ${quoted(wrong, 60)}`, hint },
    ];
  }
  const kept = fixtureFindings(checks, evalCase.files, severity);
  if (kept.length > 0) return kept;
  if (checks.every(isFormat)) {
    const hint = 'also check the content: a text, a value in the JSON Schema, or the content of the file';
    return [
      { rule: 'format-only', severity: 'warning', message: 'the checks look at the form of the answer only', hint },
    ];
  }
  const opposite = oppositeAnswers(checks).find(passes);
  if (opposite !== undefined) {
    const hint = String.raw`use an expression with word edges, such as ^Yes\b, and exclude the opposite with not_regex`;
    return [
      {
        rule: 'passes-on-opposite',
        severity,
        message: `the checks pass on the opposite answer ${quoted(opposite)}`,
        hint,
      },
    ];
  }
  if (passes(evalCase.input)) {
    const hint = 'expect something that the request does not say';
    return [
      { rule: 'passes-on-request', severity, message: 'the checks pass if the answer repeats the request', hint },
    ];
  }
  return [...givenAwayFindings(checks, { evalCase, skillFiles }), ...numberFindings(checks)];
}

/** Whether the case also asks how the run went, which a wrong answer alone does not meet. */
function hasOtherChecks({ expect }: EvalCase): boolean {
  return (
    expect.trigger !== undefined ||
    expect.skills !== undefined ||
    expect.actions !== undefined ||
    expect.security !== undefined
  );
}

function skillNameFinding({ skills: { target } }: EvalCase, checks: readonly OutputCheck[]): CaseFinding | undefined {
  const needed = checks.find((check) => target !== undefined && fold(neededText(check) ?? '') === fold(target));
  if (needed === undefined) return undefined;
  const message = `the answer must contain the name of the skill, ${quoted(target ?? '')}, which only a run with the skill knows`;
  return {
    rule: 'expects-skill-name',
    severity: 'error',
    message,
    hint: 'expect the result of the task; use trigger: true for whether the skill loads',
  };
}

/** A file that the run is given must not be the one that it is to make. */
function fixtureFindings(
  checks: readonly OutputCheck[],
  files: readonly string[],
  severity: CaseFinding['severity'],
): readonly CaseFinding[] {
  const found = checks.flatMap((check) => {
    if (check.type !== 'file' || check.exists === false) return [];
    const glob = normaliseGlob(check.path);
    if (isProblem(glob)) return [];
    const expected = compileGlob(glob);
    return files.filter((file) => {
      const name = path.basename(file);
      if (!expected.matches(name) && !expected.matches(`inputs/${name}`)) return false;
      const bytes = quietly(() => readFileSync(file), undefined);
      if (bytes === undefined) return false;
      return (
        (check.contains === undefined || bytes.toString('utf8').includes(check.contains)) &&
        (check.sha256 === undefined || check.sha256.toLowerCase().replace(/^sha256:/, '') === sha256(bytes))
      );
    });
  });
  return found.slice(0, 1).map((file) => ({
    rule: 'expected-in-files',
    severity,
    message: `the input file ${quoted(path.basename(file))} is already what is expected`,
    hint: 'expect another file name, or content that the run has to make',
  }));
}

const OPPOSITES: Readonly<Record<string, string>> = {
  yes: 'The answer is no, not yes.',
  no: 'There is no doubt: yes.',
  true: 'It is not true.',
  false: 'It is not false.',
  pass: 'It does not pass.',
  passed: 'Nothing passed.',
  fail: 'It does not fail.',
  failed: 'Nothing failed.',
};
const PREFIXED =
  /^(?:valid|correct|complete|consistent|secure|possible|safe|known|successful|able|stable|available|supported|equal)$/i;
const PREFIXES = ['in', 'un', 'im', 'not '] as const;

/** Answers that say the opposite with the same word. */
function oppositeAnswers(checks: readonly OutputCheck[]): readonly string[] {
  return checks.flatMap((check) => {
    const word = neededText(check)?.trim() ?? '';
    const known = Object.hasOwn(OPPOSITES, word.toLowerCase()) ? OPPOSITES[word.toLowerCase()] : undefined;
    if (known !== undefined) return [known, known.replace(word.toLowerCase(), word)];
    return PREFIXED.test(word) ? PREFIXES.map((prefix) => `It is ${prefix}${word}.`) : [];
  });
}

function numberFindings(checks: readonly OutputCheck[]): readonly CaseFinding[] {
  const bare = checks.flatMap((check) =>
    check.type === 'contains' && check.not !== true && /^\d+$/.test(check.text.trim()) ? [check.text.trim()] : [],
  );
  return bare.slice(0, 1).map((number) => ({
    rule: 'number-without-edges',
    severity: 'warning',
    message: `the text ${quoted(number)} is also part of other numbers, such as 1${number}0`,
    hint: String.raw`use regex: '\b${number}\b'`,
  }));
}

/** Whether the check is about the form only. */
function isFormat(check: OutputCheck): boolean {
  switch (check.type) {
    case 'json':
      return check.schema === undefined || !hasValue(check.schema);
    case 'file':
      return check.exists !== false && check.contains === undefined && check.sha256 === undefined;
    case 'matches':
      return check.not === true || gradeAnswer(check, '# A title\n\n- an item\n');
    case 'contains':
      return check.not === true;
    case 'checker':
      return false;
  }
}

/** Whether a schema fixes a value somewhere. A choice of several values, one bound and an expression for any text fix none. */
function hasValue(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasValue);
  if (!isObject(schema)) return false;
  const { const: value, enum: choice, pattern, minimum, maximum, properties, ...rest } = schema;
  const isNarrow =
    typeof minimum === 'number' &&
    typeof maximum === 'number' &&
    maximum - minimum <= NARROW * Math.max(Math.abs(minimum), Math.abs(maximum));
  return (
    value !== undefined ||
    (Array.isArray(choice) && choice.length === 1) ||
    isNarrow ||
    (typeof pattern === 'string' &&
      !ANY_TEXTS.concat(fillPattern(pattern) ?? []).some((text) => matches(pattern, text))) ||
    (isObject(properties) && Object.values(properties).some(hasValue)) ||
    Object.values(rest).some(hasValue)
  );
}

const NARROW = 0.1;
const ANY_TEXTS: readonly string[] = ['zzzz', '94127', '1873-11-29', ...WRONG_ANSWERS];
const matches = (pattern: string, text: string): boolean => gradeAnswer({ type: 'matches', pattern }, text);

/**
 * A text with wrong numbers that an expression for any number, such as `[0-9]+ rows`, may match. Undefined if the expression is for no
 * number, or has a digit of the right one. Whether the text matches is for the caller to test.
 */
function fillPattern(pattern: string): string | undefined {
  const { source } = splitFlags(pattern);
  const digits = /(?:\\d|\[(?:0-9|\\d)[.,]*\])(?:\{(\d+)(?:,\d*)?\}|([+*])\??)?/g;
  const fixed = source.replaceAll(digits, '');
  if (fixed === source || /\d/.test(fixed)) return undefined;
  return source
    .replaceAll(/(?<!\\)\((?:\?:)?([^()|]*)\|[^()]*\)\??/g, '$1')
    .replaceAll(/^\^|\$$|\\b|\(\?:|(?<!\\)[()]\??/g, '')
    .replaceAll(digits, (_all, count: string | undefined, many: string | undefined) =>
      count === undefined ? (many === undefined ? '7' : '94127') : '9412735608'.repeat(9).slice(0, Number(count)),
    )
    .replaceAll(/\\s[+*?]*/g, ' ')
    .replaceAll(/(?:(?<!\\)\.|\\[wS]|\[[A-Za-z-]+\])[+*]\??/g, 'zz')
    .replaceAll(/(?<!\\)\?/g, '')
    .replaceAll(/\\(.)/g, '$1');
}

/** A wrong answer in the form that the checks ask for: other numbers, with the words of the request. */
function fillChecks(checks: readonly OutputCheck[], { input }: EvalCase): readonly string[] {
  const filled = checks.map((check) =>
    check.type === 'matches' && check.not !== true ? fillPattern(check.pattern) : undefined,
  );
  if (filled.every((text) => text === undefined)) return [];
  const told = checks.map(neededText).filter((text) => text !== undefined && fold(input).includes(fold(text)));
  return [[...filled, ...told].filter((text) => text !== undefined).join('\n')];
}
