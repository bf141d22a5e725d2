/** The cases and skills that `eval` works on, from the given paths or the current project. */
import path from 'node:path';

import { readCases, skillFoldersAt, skillNameAt, type CaseProblem, type EvalCase, type SuiteModel } from '#evals';
import { printable, quoted, SkillError } from '#core';
import { isDirectory, isPresent } from '#platform';
import type { Runtime } from '#runtime';
import { UsageError } from '../exit.ts';
import type { EvalInvocation } from './flags.ts';

export interface EvalInputs {
  readonly cases: readonly EvalCase[];
  /** Skill folders for cases that name no skill. */
  readonly skills: readonly string[];
  readonly problems: readonly CaseProblem[];
  /** Number of case files. */
  readonly files: number;
}

/** Folders of a project with cases outside of its skills. */
const PROJECT_CASES = ['.agent/evals', 'evals'] as const;

export function readInputs(invocation: EvalInvocation, words: readonly string[], runtime: Runtime): EvalInputs {
  const cwd = resolveCwd(invocation);
  const named = words.map((word) => path.resolve(cwd, word));
  const own = named.length > 0 ? named : pathsHere(cwd, runtime);
  const brought = unique(own.flatMap(skillFoldersAt));
  // A case file without skills next to it is about the skills of the project.
  const skills = brought.length > 0 ? brought : unique(runtime.index.skills.map(({ dir }) => dir));
  const knownSkills = skills.map((folder) => skillNameAt(folder) ?? path.basename(folder));
  const newCassettes = invocation.flags['update-cassettes'] === true;
  const { cases, problems, suites } = readCases(own, { knownSkills, newCassettes, signal: invocation.signal });
  return { cases: chosen(cases, invocation.flags.suite), skills, problems, files: suites.length };
}

export function resolveCwd({ flags }: Pick<EvalInvocation, 'flags'>): string {
  return path.resolve(flags.cwd ?? '.');
}

function pathsHere(cwd: string, { index }: Runtime): readonly string[] {
  if (isPresent(path.join(cwd, 'SKILL.md'))) return [cwd];
  const skills = index.skills.filter(({ source }) => source === 'project').map(({ dir }) => dir);
  const folders = PROJECT_CASES.map((name) => path.join(cwd, name)).filter(isDirectory);
  const found = [...skills, ...folders];
  if (found.length === 0)
    throw new UsageError('nothing to evaluate in this folder', 'name a skill, a folder of skills or a case file');
  return found;
}

function chosen(cases: readonly EvalCase[], suite: string | undefined): readonly EvalCase[] {
  if (suite === undefined) return cases;
  const found = cases.filter((one) => listCaseNames(one).includes(suite));
  if (found.length > 0 || cases.length === 0) return found;
  const known = unique(cases.flatMap(listCaseNames)).slice(0, 20).map(printable).join(', ');
  throw new UsageError(`unknown suite ${quoted(suite, 200)}`, `known suites: ${known}`);
}

/** The suites of a case: its tags, its file, and the folder of the file. */
function listCaseNames({ tags, place: { file } }: EvalCase): readonly string[] {
  return [...tags, path.parse(file).name, path.basename(path.dirname(file))];
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

/** Reports problems of case files, one per line. Returns true if one is an error, which makes the evaluation invalid. */
export function reportProblems(problems: readonly CaseProblem[], invocation: EvalInvocation): boolean {
  const { terminal } = invocation;
  const { err, style } = terminal;
  const cwd = resolveCwd(invocation);
  for (const { file, line, column, message, hint, severity } of problems) {
    const place = `${printable(path.relative(cwd, file) || file)}:${String(line)}:${String(column)}`;
    err(`${place}: ${style(severity === 'error' ? 'red' : 'yellow', severity)}: ${printable(message)}`);
    if (hint !== '') err(style('dim', `  hint: ${printable(hint)}`));
  }
  const [first, ...others] = problems.filter(({ severity }) => severity === 'error');
  if (first === undefined) return false;
  terminal.printJson({ error: problemsError(first, others.length, problems) });
  return true;
}

function problemsError(first: CaseProblem, others: number, problems: readonly CaseProblem[]): object {
  const more = others === 0 ? '' : `, and ${String(others)} more`;
  return {
    code: 'input/invalid',
    message: printable(`${first.file}:${String(first.line)}:${String(first.column)}: ${first.message}${more}`),
    hint: printable(first.hint) || 'fix the case files',
    data: { problems },
  };
}

/** Opens a model (default: that of --model). Without one, only cases with recorded answers run. */
export async function suiteModel(
  invocation: EvalInvocation,
  runtime: Runtime,
  name = invocation.flags.model,
): Promise<SuiteModel | undefined> {
  const { flags, signal } = invocation;
  if (name === undefined) {
    if (flags['update-cassettes'] === true)
      throw new UsageError('--update-cassettes needs a model', 'pass --model NAME');
    return undefined;
  }
  const { chooseModel } = await import('../agent/agent-model.ts');
  const { openRules } = await import('#model/rules');
  const { model } = await chooseModel({ name, runtime, signal });
  const isRules = model.id === openRules().id;
  return { way: isRules ? 'rules' : 'live', id: model.id, open: () => (isRules ? openRules() : model) };
}

export function noModel(): SkillError {
  return new SkillError({
    code: 'model/unavailable',
    message: 'the cases have no recorded answers, and no model is given',
    hint: 'pass --model NAME; --model rules needs no key and no network',
    data: { model: '', reasons: [] },
  });
}
