/** Finds expected texts where the model can read them: in the request, the input files and the skill, as they are, in their names or encoded. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { isObject, quoted } from '#core';
import { quietly, sha256 } from '#platform';
import type { OutputCheck } from '../cases/case.ts';
import { splitFlags } from '../cases/pattern-check.ts';
import { gradeAnswer } from '../grade/grade-output.ts';
import type { CaseFinding, LintedCase, SkillText } from './finding.ts';
import { readHiddenText } from './hidden-text.ts';

/** The text that a check needs, where it needs a plain text. */
export function neededText(check: OutputCheck): string | undefined {
  if (check.type === 'contains') return check.not === true ? undefined : check.text;
  if (check.type === 'file') return check.contains;
  if (check.type === 'json') return findOnlyValue(check.schema);
  if (check.type !== 'matches' || check.not === true) return undefined;
  const { source } = splitFlags(check.pattern);
  const plain = source
    .replace(/^\^?(?:\\b)?/, '')
    .replace(/(?:\\b)?\$?$/, '')
    .replaceAll(/\\([\\^$.*+?()[\]{}|/])/g, '\u0000$1');
  return /[\\^$.*+?()[\]{}|]/.test(plain.replaceAll(/\u0000./g, '')) ? undefined : plain.replaceAll('\u0000', '');
}

/** The text or number that a JSON Schema asks for, if it is one. */
function findOnlyValue(schema: unknown): string | undefined {
  const values = new Set<string>();
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) collect(item);
    if (!isObject(value)) return;
    const { const: only, enum: choice, pattern, ...rest } = value;
    for (const one of Array.isArray(choice) && choice.length === 1 ? [only, choice[0]] : [only])
      if (typeof one === 'string' || typeof one === 'number') values.add(String(one));
    const text = typeof pattern === 'string' ? neededText({ type: 'matches', pattern }) : undefined;
    if (text !== undefined && text !== '') values.add(text);
    for (const item of Object.values(rest)) collect(item);
  };
  collect(schema);
  const [value] = values;
  return values.size === 1 ? value : undefined;
}

export const fold = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim();

export function givenAwayFindings(
  checks: readonly OutputCheck[],
  { evalCase: { input, files, place }, skillFiles }: LintedCase,
): readonly CaseFinding[] {
  const within = (text: string, check: OutputCheck): boolean => {
    const needed = neededText(check);
    return needed !== undefined && needed.trim().length > 1 && fold(text).includes(fold(needed));
  };
  // An expression may match what has no fixed text.
  const isTold = (text: string, check: OutputCheck): boolean =>
    within(text, check) ||
    (check.type === 'matches' && check.not !== true && gradeAnswer(check, text)) ||
    (check.type === 'file' && check.sha256?.toLowerCase().replace(/^sha256:/, '') === sha256(text));
  const inRequest = checks.filter((check) => within(input, check));
  const left = checks.filter((check) => !inRequest.includes(check));
  const find = (texts: readonly SkillText[]) =>
    texts.flatMap(({ file, text }) => {
      const told = left.filter((check) => isTold(text, check));
      return told.length === 0 ? [] : [{ file, told }];
    });
  const hidden = [...skillFiles, ...files.map(readInputFile)].flatMap(({ file, text }) => {
    const told = left.flatMap((check) => {
      const way = readHiddenText(neededText(check) ?? '', { file, text });
      return way === undefined ? [] : [{ check, way }];
    });
    return told.length === 0 ? [] : [{ file, told: told.map(({ check }) => check), way: told[0]?.way ?? '' }];
  });
  const [[inSkill], [inFile], [encoded]] = [find(skillFiles), find(files.map(readInputFile)), hidden];
  return [
    ...(inRequest.length === 0
      ? []
      : [
          {
            rule: 'expected-in-request',
            severity: 'warning',
            message: `the request contains the expected text ${shownTexts(inRequest)}`,
            hint: 'expect something that the request does not say',
          } as const,
        ]),
    ...(inSkill === undefined
      ? []
      : [
          {
            rule: 'expected-in-skill',
            severity: 'warning',
            message: `${inSkill.file} contains the expected text ${shownTexts(inSkill.told)}`,
            hint: place.file.endsWith(`/${inSkill.file}`)
              ? 'a run can read the cases: move them to evals/, which it cannot see'
              : 'the case shows that the skill was read, not that it helps: expect a result that has to be worked out',
          } as const,
        ]),
    ...(inFile === undefined
      ? []
      : [
          {
            rule: 'expected-in-files',
            severity: 'warning',
            message: `the input file ${quoted(inFile.file)} contains the expected text ${shownTexts(inFile.told)}`,
            hint: 'expect a result that has to be worked out, unless the task is to find it',
          } as const,
        ]),
    ...(encoded === undefined
      ? []
      : [
          {
            rule: 'expected-hidden',
            severity: 'warning',
            message: `${quoted(encoded.file)} gives away the expected text ${shownTexts(encoded.told)} ${encoded.way}`,
            hint: 'remove it: a run that finds it shows nothing about the task',
          } as const,
        ]),
  ];
}

function shownTexts(checks: readonly OutputCheck[]): string {
  const textOf = (check: OutputCheck): string =>
    check.type === 'matches' ? check.pattern : check.type === 'file' ? check.path : '';
  return checks.map((check) => quoted(neededText(check) ?? textOf(check), 60)).join(', ');
}

const MOST_BYTES = 512 * 1024;

/** A binary file has a name only. */
function readInputFile(file: string): SkillText {
  const text = quietly(() => (statSync(file).size > MOST_BYTES ? '' : readFileSync(file, 'utf8')), '');
  return { file: path.basename(file), text: text.includes('\0') ? '' : text };
}
