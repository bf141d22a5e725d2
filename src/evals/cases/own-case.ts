/** Cases of our own format: strict, since a misspelled key may be the one that fails. */
import { EVAL_CASE_SCHEMA } from './case-schema.ts';
import type { WrittenCase } from './case-schema.ts';
import type { CaseAnswers, CaseSkills, EvalCase } from './case.ts';
import { checkJson, isObject } from '../../core/json/json-schema.ts';
import type { JsonPath, SchemaProblem } from '../../core/json/json-schema.ts';
import { nearest } from '../../core/nearest.ts';
import { quoted } from '../../core/text/text.ts';
import { contradictions } from './contradictions.ts';
import { namedFiles, namedFolders, shortName, tellHazards } from './draft.ts';
import type { CaseFile, DraftCase, DraftId } from './draft.ts';
import { fileInSuite } from './output-checks.ts';
import { readExpect } from './own-expect.ts';
import { isClean, relocated, tell } from './problem.ts';
import type { CaseReport } from './problem.ts';
import { tellMissingSkills } from './skill-names.ts';
import { fileOfSuite, newFileOfSuite } from './suite.ts';

export interface OwnItem {
  readonly path: JsonPath;
  readonly value: unknown;
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Where one is made for a case without an id. */
  readonly madeId: string;
}

/** The case, or problems that say why it is none. */
export function readOwnCase(file: CaseFile, { path, value, defaults, madeId }: OwnItem): DraftCase | undefined {
  const since = file.report.problems.length;
  if (!isObject(value)) {
    tell(file.report, { at: path, message: 'a case must be an object', hint: 'write input and expect' });
    return undefined;
  }
  const merged = withDefaults(value, defaults);
  const report = relocated(file.report, (wanted) => placeOf(wanted, { value, path, defaults }));
  tellHazards(report, merged, []);
  if (!isClean(report, since) || !isWritten(report, merged)) return undefined;
  const here: CaseFile = { ...file, report };
  const read = caseOf(here, gathered(report, merged), file.report.locate(path));
  for (const { at, message } of contradictions(read))
    tell(report, { at, message, hint: 'no run can pass it: take one of the two out' });
  tellMissingSkills(here, read);
  if (!isClean(report, since)) return undefined;
  return { case: read, id: idOf(merged.id, madeId), at: merged.id === undefined ? path : [...path, 'id'] };
}

/** Keys of the case win; what is gathered below `skills`, `constraints`, `setup` and `expect` is put together. */
function withDefaults(
  value: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const merged = { ...defaults, ...value };
  const pairs = Object.entries(merged).map(([key, item]) => {
    const given = Object.hasOwn(defaults, key) ? defaults[key] : undefined;
    return [key, isObject(given) && isObject(item) && MERGED.has(key) ? { ...given, ...item } : item] as const;
  });
  return Object.fromEntries(pairs);
}

const MERGED: ReadonlySet<string> = new Set(['skills', 'constraints', 'setup', 'expect']);

/** What the case does not have itself stands in the defaults; what neither has is missing in the case. */
function placeOf(
  wanted: JsonPath,
  { value, path, defaults }: { readonly value: object; readonly path: JsonPath; readonly defaults: object },
): JsonPath {
  const [first] = wanted;
  const isDefault = first !== undefined && !Object.hasOwn(value, first) && Object.hasOwn(defaults, first);
  return isDefault ? ['defaults', ...wanted] : [...path, ...wanted];
}

/** What the schema finds is told. */
function isWritten(report: CaseReport, value: unknown): value is WrittenCase {
  const problems = checkJson(value, EVAL_CASE_SCHEMA);
  for (const problem of problems) tell(report, { at: problem.path, ...schemaText(problem) });
  return problems.length === 0;
}

export function schemaText({ type, path, expected }: SchemaProblem): {
  readonly message: string;
  readonly hint: string;
} {
  const name = quoted(path.join('.'), 120);
  if (type === 'invalid') return { message: `${name} must be ${expected}`, hint: 'see schemas/eval-case.schema.json' };
  const [near] = nearest(String(path.at(-1)), expected.split(', '), 1);
  const hint = near === undefined ? `known are ${expected}` : `did you mean ${near}?`;
  return { message: `${name} means nothing here`, hint };
}

/** What stands below `setup` stands beside the other keys; in both places nobody can say which counts. */
function gathered(report: CaseReport, { setup = {}, ...written }: WrittenCase): WrittenCase {
  for (const key of Object.keys(setup))
    if (Object.hasOwn(written, key)) {
      const hint = 'keep one of them';
      tell(report, { at: ['setup', key], message: `${quoted(key)} stands beside setup and in it`, hint });
    }
  return { ...setup, ...written };
}

function caseOf(
  file: CaseFile,
  written: WrittenCase,
  position: Pick<EvalCase['place'], 'line' | 'column'>,
): DraftCase['case'] {
  const { report } = file;
  const { input = '', name, constraints = {}, repeat = 1, tags = [], approve, protocol, config } = written;
  if (input.trim() === '')
    tell(report, { at: ['input'], message: 'input is empty', hint: 'write what the person asks' });
  const answers = answersOf(file, written);
  const since = report.problems.length;
  const expect = readExpect(file, written.expect ?? {}, ['expect']);
  const limits = limitsOf(constraints);
  const forbidTools = constraints.forbid_tools ?? [];
  const isAsked = Object.keys({ ...expect, ...limits }).length + forbidTools.length > 0;
  // What could not be read was asked.
  if (!isAsked && report.problems.length === since) tellNothingAsked(report);
  return {
    name: name ?? shortName(input),
    place: { file: report.file, ...position },
    input,
    files: namedFiles(file, written.files ?? [], ['files']),
    skills: skillsOf(file, written),
    expect,
    limits,
    forbidTools,
    ...(answers === undefined ? {} : { answers }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(config === undefined ? {} : { config }),
    approve: approve === true || approve === 'yes' ? 'yes' : 'no',
    repeat,
    ...(constraints.timeout_s === undefined ? {} : { timeoutMs: constraints.timeout_s * 1000 }),
    tags: [...new Set(tags)],
  };
}

/** A case that asks for nothing passes whatever happens. */
function tellNothingAsked(report: CaseReport): void {
  tell(report, {
    at: [],
    message: 'nothing is asked of the run',
    hint: 'write expect: a case without it always passes',
  });
}

function answersOf({ report, suite, settings }: CaseFile, { mock, cassette }: WrittenCase): CaseAnswers | undefined {
  if (mock !== undefined && cassette !== undefined)
    tell(report, { at: ['cassette'], message: 'the case has a mock and a cassette', hint: 'keep one of them' });
  if (mock !== undefined) {
    const { turns = [] } = mock;
    if (turns.length === 0) tell(report, { at: ['mock', 'turns'], message: 'mock.turns is empty', hint: 'write one' });
    return { type: 'script', turns };
  }
  if (cassette === undefined) return undefined;
  const find = settings.newCassettes ? newFileOfSuite : fileOfSuite;
  const found = fileInSuite(report, suite, cassette, ['cassette'], find);
  return found === undefined ? undefined : { type: 'cassette', file: found };
}

function limitsOf(constraints: NonNullable<WrittenCase['constraints']>): EvalCase['limits'] {
  const { max_turns: turns, max_tool_calls: toolCalls, max_script_runs: scriptRuns } = constraints;
  const { max_tokens: tokens, max_context_tokens: contextTokens } = constraints;
  return {
    ...(turns === undefined ? {} : { turns }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
    ...(scriptRuns === undefined ? {} : { scriptRuns }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
  };
}

function skillsOf(file: CaseFile, { skills = {} }: WrittenCase): CaseSkills {
  const { skill } = file.suite;
  const target = skills.target ?? skill?.name;
  const named = [
    ...namedFolders(file, skills.folders ?? [], ['skills', 'folders']),
    ...namedFolders(file, skills.distractors ?? [], ['skills', 'distractors']),
  ];
  // Distractors alone are beside the skill in whose folder the case lies.
  const own = skill !== undefined && skills.folders === undefined ? [skill.dir] : [];
  return { ...(target === undefined ? {} : { target }), folders: [...new Set([...own, ...named])] };
}

function idOf(written: string | number | undefined, madeId: string): DraftId {
  return written === undefined ? { origin: 'made', text: madeId } : { origin: 'own', text: String(written) };
}
