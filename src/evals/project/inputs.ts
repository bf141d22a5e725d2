/** The cases and skills that `eval` works on, from paths or the current project. */
import path from 'node:path';

import { printable, quoted } from '#core';
import { isDirectory, isPresent } from '#platform';
import type { Runtime } from '#runtime';
import type { EvalCase } from '../cases/case.ts';
import type { CaseProblem } from '../cases/problem.ts';
import { readCases } from '../cases/read-cases.ts';
import type { WrittenThresholds } from '../report/thresholds.ts';
import { groupBy, type EvalReport } from '../report/result.ts';
import { lintSuite, type LintOptions } from '../lint/lint-suite.ts';
import { skillFoldersAt, skillNameAt } from '../cases/suite.ts';
import { raiseUsage } from './raise-usage.ts';

export interface InputOptions {
  readonly cwd: string;
  /** Case files, skills and folders of skills (default: those of the project). */
  readonly paths: readonly string[];
  /** Only cases with this tag, or from the file or folder of this name. */
  readonly suite?: string;
  /** Leaves out cases that need a model or a judge. */
  readonly offline?: boolean;
  readonly updateCassettes: boolean;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  /** What the cases are for (default: cases). */
  readonly kind?: LintOptions['kind'];
}

export interface EvalInputs {
  readonly cases: readonly EvalCase[];
  /** Cases that no person has confirmed: listed, but not run. */
  readonly drafts: readonly EvalCase[];
  readonly skills: readonly string[];
  /** Cases of the project about the same skills that were not asked for, by file. */
  readonly leftOut: NonNullable<EvalReport['leftOut']>;
  /** Of the files and of the suite as a whole; a file that was not read is a warning. */
  readonly problems: readonly CaseProblem[];
  readonly thresholds: WrittenThresholds;
}

/** Folders of a project with cases outside of its skills. */
const PROJECT_CASES = ['.agent/evals', 'evals'] as const;

export function readInputs(options: InputOptions): EvalInputs {
  const { cwd, paths, suite, runtime, updateCassettes: newCassettes, signal } = options;
  const own = paths.length > 0 ? paths.map((word) => path.resolve(cwd, word)) : pathsHere(cwd, runtime);
  const brought = unique(own.flatMap(skillFoldersAt));
  // A case file without skills next to it is about the skills of the project.
  const skills = brought.length > 0 ? brought : unique(runtime.index.skills.map(({ dir }) => dir));
  const knownSkills = skills.map((folder) => skillNameAt(folder) ?? path.basename(folder));
  const {
    cases,
    drafts: unconfirmed,
    problems: found,
    passedOver,
    thresholds,
  } = readCases(own, { knownSkills, newCassettes, signal });
  const { vocabulary } = runtime.config;
  const asked = chooseCases([...cases, ...unconfirmed], suite);
  const all = options.offline === true ? asked.filter(isOffline) : asked;
  const [chosen, drafts] = [
    all.filter(({ isDraft }) => isDraft !== true),
    all.filter(({ isDraft }) => isDraft === true),
  ];
  // A file outside of a skill names the folder of the skill, whose own cases it may leave out.
  const named = asked.flatMap(({ skills: { folders } }) => folders);
  const everywhere = unique([...own, ...brought, ...named, ...findPlaces(cwd, runtime)]);
  const known = everywhere.length === own.length ? cases : readCases(everywhere, { knownSkills, signal }).cases;
  const leftOut = findLeftOut(chosen, asked, [...cases, ...known]);
  const problems = [
    ...found,
    ...listNotRead(passedOver),
    ...lintSuite(chosen, { kind: options.kind ?? 'cases', skills }),
    ...draftProblems(drafts, chosen.length === 0 ? 'error' : 'warning'),
  ];
  if (vocabulary === undefined) return { cases: chosen, drafts, skills, leftOut, problems, thresholds };
  // Cases run without the configuration of the project; a case may name another vocabulary.
  return {
    cases: chosen.map((one) => ({ ...one, config: { vocabulary, ...one.config } })),
    drafts,
    skills,
    leftOut,
    problems,
    thresholds,
  };
}

const MOST_NAMES = 20;

/** One warning per folder and reason. */
export function listNotRead(passedOver: ReturnType<typeof readCases>['passedOver']): readonly CaseProblem[] {
  const groups = groupBy(passedOver, ({ file, reason }) => JSON.stringify([path.dirname(file), reason]));
  return [...groups.values()].flatMap((same): readonly CaseProblem[] => {
    const [first, ...others] = same;
    if (first === undefined) return [];
    const names = same.slice(0, MOST_NAMES).map(({ file }) => path.basename(file));
    const more = same.length > MOST_NAMES ? ` and ${String(same.length - MOST_NAMES)} more` : '';
    const isOne = others.length === 0;
    return [
      {
        code: 'input/invalid',
        file: isOne ? first.file : path.dirname(first.file),
        line: 1,
        column: 1,
        severity: 'warning',
        message: `not read: ${isOne ? '' : `${names.join(', ')}${more}: `}${first.reason}`,
        hint: `move ${isOne ? 'it' : 'them'} out of the folder of the cases if ${isOne ? 'it holds' : 'they hold'} none`,
      },
    ];
  });
}

/** One problem per file. A suite of drafts alone evaluates nothing. */
function draftProblems(drafts: readonly EvalCase[], severity: CaseProblem['severity']): readonly CaseProblem[] {
  return [...groupBy(drafts, ({ place }) => place.file).values()].flatMap((inFile): readonly CaseProblem[] => {
    const [first] = inFile;
    if (first === undefined) return [];
    const left = inFile.length - MOST_NAMES;
    const names = [...inFile.slice(0, MOST_NAMES).map(({ id }) => id), ...(left > 0 ? [`${String(left)} more`] : [])];
    const what = inFile.length === 1 ? 'draft is not run and counts' : 'drafts are not run and count';
    const message = `${String(inFile.length)} ${what} in no verdict: ${names.join(', ')}`;
    const hint = 'read each one, and remove its line "draft: true" to confirm it';
    return [{ code: 'input/invalid', ...first.place, severity, message, hint }];
  });
}

function isOffline({ answers, expect: { rubric = [] } }: EvalCase): boolean {
  return answers !== undefined && rubric.length === 0;
}

/** A part of the cases about a skill may leave out those that it makes worse. */
function findLeftOut(
  chosen: readonly EvalCase[],
  asked: readonly EvalCase[],
  known: readonly EvalCase[],
): EvalInputs['leftOut'] {
  // A skill may be found twice, as where a copy of it is installed.
  const nameOf = ({ id, input, skills: { target = '' } }: EvalCase): string => JSON.stringify([id, input, target]);
  const targets = new Set(asked.map(({ skills: { target } }) => target));
  const names = new Set(chosen.map(nameOf));
  const left = known.filter((one) => {
    const isNew = targets.has(one.skills.target) && !names.has(nameOf(one)) && one.isDraft !== true;
    names.add(nameOf(one));
    return isNew;
  });
  return [...groupBy(left, ({ place }) => place.file)].map(([file, cases]) => ({
    file,
    cases: cases.map(({ id }) => id),
  }));
}

function findPlaces(cwd: string, { index }: Runtime): readonly string[] {
  if (isPresent(path.join(cwd, 'SKILL.md'))) return [cwd];
  const skills = index.skills.filter(({ source }) => source === 'project').map(({ dir }) => dir);
  return [...skills, ...PROJECT_CASES.map((name) => path.join(cwd, name)).filter(isDirectory)];
}

function pathsHere(cwd: string, runtime: Runtime): readonly string[] {
  const found = findPlaces(cwd, runtime);
  if (found.length > 0) return found;
  raiseUsage('nothing to evaluate in this folder', 'name a skill, a folder of skills or a case file');
}

function chooseCases(cases: readonly EvalCase[], suite: string | undefined): readonly EvalCase[] {
  if (suite === undefined) return cases;
  const found = cases.filter((one) => listCaseNames(one).includes(suite));
  if (found.length > 0 || cases.length === 0) return found;
  const known = unique(cases.flatMap(listCaseNames)).slice(0, 20).map(printable).join(', ');
  raiseUsage(`unknown suite ${quoted(suite, 200)}`, `known suites: ${known}`);
}

/** The suites of a case: its tags, its file, and the folder of the file. */
function listCaseNames({ tags, place: { file } }: EvalCase): readonly string[] {
  return [...tags, path.parse(file).name, path.basename(path.dirname(file))];
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
