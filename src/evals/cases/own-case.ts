/** Reads cases of our own format. It is strict, since a misspelled expectation would never fail. */
import { EVAL_CASE_SCHEMA } from './case-schema.ts';
import type { WrittenCase } from './case-schema.ts';
import type { CaseAnswers, CaseSkills, EvalCase } from './case.ts';
import { checkJson, isObject } from '../../core/json/json-schema.ts';
import type { JsonPath, SchemaProblem } from '../../core/json/json-schema.ts';
import { nearest } from '../../core/nearest.ts';
import { quoted } from '../../core/text/text.ts';
import { contradictions } from './contradictions.ts';
import { defined } from '../../core/defined.ts';
import { namedFiles, namedFolders, reportHazards, reportMissingSkills, shortName } from './draft.ts';
import type { CaseFile, DraftCase, DraftId } from './draft.ts';
import { fileInSuite } from './output-checks.ts';
import { readExpect } from './own-expect.ts';
import { addProblem, isClean, relocated } from './problem.ts';
import type { CaseReport } from './problem.ts';
import { fileOfSuite, newFileOfSuite } from './suite.ts';

export interface OwnItem {
  readonly path: JsonPath;
  readonly value: unknown;
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Used for a case without an id. */
  readonly madeId: string;
}

/** Returns undefined after adding errors to the report. */
export function readOwnCase(file: CaseFile, { path, value, defaults, madeId }: OwnItem): DraftCase | undefined {
  const since = file.report.problems.length;
  if (!isObject(value)) {
    addProblem(file.report, { at: path, message: 'a case must be an object', hint: 'write the keys input and expect' });
    return undefined;
  }
  const merged = withDefaults(value, defaults);
  const report = relocated(file.report, (wanted) => locateKey(wanted, { value, path, defaults }));
  reportHazards(report, merged, []);
  if (!isClean(report, since) || !isWritten(report, merged)) return undefined;
  const here: CaseFile = { ...file, report };
  const read = caseOf(here, withSetup(report, merged), file.report.locate(path));
  for (const { at, message } of contradictions(read))
    addProblem(report, { at, message, hint: 'no run can pass this case: remove one of the two expectations' });
  reportMissingSkills(here, read);
  if (!isClean(report, since)) return undefined;
  return { case: read, id: idOf(merged.id, madeId), at: merged.id === undefined ? path : [...path, 'id'] };
}

/** Keys of the case override the defaults; `skills`, `constraints`, `setup` and `expect` are merged key by key. */
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

/** A key that only the defaults have is located there; a missing key is located in the case. */
function locateKey(
  wanted: JsonPath,
  { value, path, defaults }: { readonly value: object; readonly path: JsonPath; readonly defaults: object },
): JsonPath {
  const [first] = wanted;
  const isDefault = first !== undefined && !Object.hasOwn(value, first) && Object.hasOwn(defaults, first);
  return isDefault ? ['defaults', ...wanted] : [...path, ...wanted];
}

/** Adds the problems that the schema finds. */
function isWritten(report: CaseReport, value: unknown): value is WrittenCase {
  const problems = checkJson(value, EVAL_CASE_SCHEMA);
  for (const problem of problems) addProblem(report, { at: problem.path, ...schemaText(problem) });
  return problems.length === 0;
}

export function schemaText({ type, path, expected }: SchemaProblem): {
  readonly message: string;
  readonly hint: string;
} {
  const name = quoted(path.join('.'), 120);
  if (type === 'invalid') return { message: `${name} must be ${expected}`, hint: 'see schemas/eval-case.schema.json' };
  const [near] = nearest(String(path.at(-1)), expected.split(', '), 1);
  const hint = near === undefined ? `use one of ${expected}` : `did you mean ${near}?`;
  return { message: `unknown key ${name}`, hint };
}

/** Moves the keys of `setup` beside the other keys. A key in both places is an error. */
function withSetup(report: CaseReport, { setup = {}, ...written }: WrittenCase): WrittenCase {
  for (const key of Object.keys(setup))
    if (Object.hasOwn(written, key)) {
      const hint = 'remove one of them';
      addProblem(report, { at: ['setup', key], message: `${quoted(key)} is set in the case and in its setup`, hint });
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
    addProblem(report, { at: ['input'], message: 'input is empty', hint: 'write the request of the user' });
  const answers = answersOf(file, written);
  const since = report.problems.length;
  const expect = readExpect(file, written.expect ?? {}, ['expect']);
  const limits = limitsOf(constraints);
  const forbidTools = constraints.forbid_tools ?? [];
  const isAsked = Object.keys({ ...expect, ...limits }).length + forbidTools.length > 0;
  // An expectation that could not be read has its own problem.
  if (!isAsked && report.problems.length === since)
    addProblem(report, {
      at: [],
      message: 'the case has no expectations',
      hint: 'add expect: without it the case always passes',
    });
  return {
    name: name ?? shortName(input),
    place: { file: report.file, ...position },
    input,
    files: namedFiles(file, written.files ?? [], ['files']),
    skills: skillsOf(file, written),
    expect,
    limits,
    forbidTools,
    ...defined({ answers, protocol, config }),
    approve: approve === true || approve === 'yes' ? 'yes' : 'no',
    repeat,
    ...(constraints.timeout_s === undefined ? {} : { timeoutMs: constraints.timeout_s * 1000 }),
    tags: [...new Set(tags)],
  };
}

function answersOf({ report, suite, settings }: CaseFile, { mock, cassette }: WrittenCase): CaseAnswers | undefined {
  if (mock !== undefined && cassette !== undefined)
    addProblem(report, {
      at: ['cassette'],
      message: 'the case has both a mock and a cassette',
      hint: 'remove one of them',
    });
  if (mock !== undefined) {
    const { turns = [], harness_check: isHarnessCheck = false } = mock;
    if (turns.length === 0)
      addProblem(report, { at: ['mock', 'turns'], message: 'mock.turns is empty', hint: 'add a turn' });
    return { type: 'script', turns, ...(isHarnessCheck ? { isHarnessCheck } : {}) };
  }
  if (cassette === undefined) return undefined;
  const find = settings.newCassettes ? newFileOfSuite : fileOfSuite;
  const found = fileInSuite(report, suite, cassette, ['cassette'], { find });
  return found === undefined ? undefined : { type: 'cassette', file: found };
}

function limitsOf(constraints: NonNullable<WrittenCase['constraints']>): EvalCase['limits'] {
  return defined({
    turns: constraints.max_turns,
    toolCalls: constraints.max_tool_calls,
    scriptRuns: constraints.max_script_runs,
    tokens: constraints.max_tokens,
    contextTokens: constraints.max_context_tokens,
  });
}

function skillsOf(file: CaseFile, { skills = {} }: WrittenCase): CaseSkills {
  const { skill } = file.suite;
  const target = skills.target ?? skill?.name;
  const named = [
    ...namedFolders(file, skills.folders ?? [], ['skills', 'folders']),
    ...namedFolders(file, skills.distractors ?? [], ['skills', 'distractors']),
  ];
  // Distractors are added to the skill that contains the case.
  const own = skill !== undefined && skills.folders === undefined ? [skill.dir] : [];
  return { ...(target === undefined ? {} : { target }), folders: [...new Set([...own, ...named])] };
}

function idOf(written: string | number | undefined, madeId: string): DraftId {
  return written === undefined ? { origin: 'made', text: madeId } : { origin: 'own', text: String(written) };
}
