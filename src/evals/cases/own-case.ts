/** Reads cases of our own format. It is strict, since a misspelled expectation would never fail. */
import { EVAL_CASE_SCHEMA, type WrittenCase, type WrittenExpect, type WrittenPattern } from './case-schema.ts';
import { checkJson, defined, isObject, nearest, parseJson, quoted, type JsonPath } from '#core';
import { contradictions } from './contradictions.ts';
import {
  namedFiles,
  namedFolders,
  reportHazards,
  reportMissingSkills,
  shortName,
  type CaseFile,
  type DraftCase,
} from './draft.ts';
import { fileInSuite, readOutput } from './output-checks.ts';
import { addProblem, isClean, relocated, type CaseReport } from './problem.ts';
import { fileOfSuite, newFileOfSuite } from './suite.ts';
import { patternProblem } from './pattern-check.ts';
import { readQuarantine } from './quarantine.ts';
import type {
  ActionExpectations,
  ActionPattern,
  CaseAnswers,
  CaseSkills,
  EvalCase,
  Expectations,
  RubricLine,
} from './case.ts';

export interface OwnItem {
  readonly path: JsonPath;
  readonly value: unknown;
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Used for a case without an id. */
  readonly madeId: string;
  /** The id of a case of another tool, which is made unique. */
  readonly foreignId?: string;
}

/** Returns undefined after adding errors to the report. */
export function readOwnCase(
  file: CaseFile,
  { path, value, defaults, madeId, foreignId }: OwnItem,
): DraftCase | undefined {
  const since = file.report.problems.length;
  if (!isObject(value)) {
    addProblem(file.report, path, 'a case must be an object', 'write the keys input and expect');
    return undefined;
  }
  const merged = withDefaults(value, defaults);
  const report = relocated(file.report, (keyPath) => locateKey(keyPath, { value, path, defaults }));
  reportHazards(report, merged, []);
  if (!isClean(report, since) || !isWritten(report, merged)) return undefined;
  const here: CaseFile = { ...file, report };
  const read = buildCase(here, withSetup(report, merged), file.report.locate(path));
  for (const { at, message } of contradictions(read))
    addProblem(report, at, message, 'no run can pass this case: remove one of the two expectations');
  reportMissingSkills(here, read);
  if (!isClean(report, since)) return undefined;
  if (foreignId !== undefined) return { case: read, id: { origin: 'foreign', text: foreignId }, at: path };
  if (merged.id === undefined) return { case: read, id: { origin: 'made', text: madeId }, at: path };
  return { case: read, id: { origin: 'own', text: String(merged.id) }, at: [...path, 'id'] };
}

/** Keys of the case override the defaults; `skills`, `constraints`, `setup` and `expect` are merged key by key. */
function withDefaults(
  value: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const pairs = Object.entries({ ...defaults, ...value }).map(([key, item]) => {
    const usual = MERGED.has(key) && Object.hasOwn(defaults, key) ? defaults[key] : undefined;
    return [key, isObject(usual) && isObject(item) ? { ...usual, ...item } : item] as const;
  });
  return Object.fromEntries(pairs);
}

const MERGED: ReadonlySet<string> = new Set(['skills', 'constraints', 'setup', 'expect']);

/** A key that only the defaults have is located there; a missing key is located in the case. */
function locateKey(
  keyPath: JsonPath,
  { value, path, defaults }: { readonly value: object; readonly path: JsonPath; readonly defaults: object },
): JsonPath {
  const [first] = keyPath;
  const isDefault = first !== undefined && !Object.hasOwn(value, first) && Object.hasOwn(defaults, first);
  return isDefault ? ['defaults', ...keyPath] : [...path, ...keyPath];
}

function isWritten(report: CaseReport, value: unknown): value is WrittenCase {
  const problems = checkJson(value, EVAL_CASE_SCHEMA);
  for (const problem of problems) addSchemaProblem(report, problem);
  return problems.length === 0;
}

export function addSchemaProblem(
  report: CaseReport,
  { type, path, expected }: ReturnType<typeof checkJson>[number],
): void {
  const name = quoted((report.writtenPath?.(path) ?? path).join('.'), 120);
  if (type === 'invalid')
    return addProblem(report, path, `${name} must be ${expected}`, 'see schemas/eval-case.schema.json');
  const [near] = nearest(String(path.at(-1)), expected.split(', '), 1);
  const hint = near === undefined ? `use one of ${expected}` : `did you mean ${near}?`;
  addProblem(report, path, `unknown key ${name}`, hint);
}

/** Moves the keys of `setup` beside the other keys. A key in both places is an error. */
function withSetup(report: CaseReport, { setup = {}, ...written }: WrittenCase): WrittenCase {
  for (const key of Object.keys(setup))
    if (Object.hasOwn(written, key)) {
      const hint = 'remove one of them';
      addProblem(report, ['setup', key], `${quoted(key)} is set in the case and in its setup`, hint);
    }
  return { ...setup, ...written };
}

function buildCase(
  file: CaseFile,
  written: WrittenCase,
  position: Pick<EvalCase['place'], 'line' | 'column'>,
): DraftCase['case'] {
  const { report } = file;
  const { input, name, constraints = {}, repeat = 1, tags = [], approve, protocol, config } = written;
  if (input.trim() === '') addProblem(report, ['input'], 'input is empty', 'write the request of the user');
  const answers = readAnswers(file, written);
  const since = report.problems.length;
  const expect = readExpect(file, written.expect ?? {}, ['expect']);
  const limits = toLimits(constraints);
  const forbidTools = constraints.forbid_tools ?? [];
  const isAsked = Object.keys({ ...expect, ...limits }).length + forbidTools.length > 0;
  // An expectation that could not be read has its own problem.
  if (!isAsked && report.problems.length === since)
    addProblem(report, [], 'the case has no expectations', 'add expect: without it the case always passes');
  return {
    name: name ?? shortName(input),
    place: { file: report.file, ...position },
    input,
    files: namedFiles(file, written.files ?? [], ['files']),
    skills: resolveSkills(file, written),
    expect,
    limits,
    forbidTools,
    ...defined({ answers, protocol, config }),
    approve: approve === true || approve === 'yes' ? 'yes' : 'no',
    repeat,
    timeoutMs: constraints.timeout_s === undefined ? undefined : constraints.timeout_s * 1000,
    tags: [...new Set(tags)],
    ...defined({ quarantine: readQuarantine(report, written.quarantine) }),
    ...(written.draft === true ? { isDraft: true } : {}),
  };
}

function readAnswers({ report, suite, settings }: CaseFile, { mock, cassette }: WrittenCase): CaseAnswers | undefined {
  if (mock !== undefined && cassette !== undefined)
    addProblem(report, ['cassette'], 'the case has both a mock and a cassette', 'remove one of them');
  if (mock !== undefined) {
    const { turns, harness_check: isHarnessCheck = false } = mock;
    if (turns.length === 0) addProblem(report, ['mock', 'turns'], 'mock.turns is empty', 'add a turn');
    return { type: 'script', turns, ...(isHarnessCheck ? { isHarnessCheck } : {}) };
  }
  if (cassette === undefined) return undefined;
  const find = settings.newCassettes ? newFileOfSuite : fileOfSuite;
  const found = fileInSuite(report, suite, cassette, ['cassette'], { find });
  return found === undefined ? undefined : { type: 'cassette', file: found };
}

function toLimits(constraints: NonNullable<WrittenCase['constraints']>): EvalCase['limits'] {
  return defined({
    turns: constraints.max_turns,
    toolCalls: constraints.max_tool_calls,
    scriptRuns: constraints.max_script_runs,
    tokens: constraints.max_tokens,
    contextTokens: constraints.max_context_tokens,
  });
}

function resolveSkills(file: CaseFile, { skills = {} }: WrittenCase): CaseSkills {
  const { skill } = file.suite;
  const target = skills.target ?? skill?.name;
  const named = [
    ...namedFolders(file, skills.folders ?? [], ['skills', 'folders']),
    ...namedFolders(file, skills.distractors ?? [], ['skills', 'distractors']),
  ];
  // Distractors are added to the skill that contains the case.
  const own = skill !== undefined && skills.folders === undefined ? [skill.dir] : [];
  return { target, folders: [...new Set([...own, ...named])] };
}

/** Converts `expect` of our own format, which the schema has already checked. */
function readExpect(file: CaseFile, written: WrittenExpect, at: JsonPath): Expectations {
  const { trigger, streaming, output, outcome, disclosure = {} } = written;
  const { skills_all_of: allOf, skills_any_of: anyOf, skills_none_of: noneOf, skills_only: only } = written;
  const { resources_only: resourcesOnly, unloaded_bytes: unloadedBytes } = disclosure;
  const outcomes = outcome === undefined ? undefined : [outcome].flat();
  if (outcomes?.length === 0)
    addProblem(file.report, [...at, 'outcome'], 'outcome is empty', 'name an outcome, or remove the key');
  return defined({
    skills: present({ allOf, anyOf, noneOf, only }),
    trigger,
    actions: readActions(file, written, at),
    disclosure: present({ resourcesOnly, unloadedBytes: unloadedBytes === undefined ? undefined : (0 as const) }),
    security: readSecurity(file, written, at),
    outcome: outcomes,
    output: orNothing(output === undefined ? [] : readOutput(file.report, file.suite, output, [...at, 'output'])),
    streaming: streaming === true ? streaming : undefined,
    rubric: orNothing(readRubric(file, written, at)),
  });
}

/** Drops undefined properties, and the whole object if nothing is left. */
function present<T extends object>(value: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } | undefined {
  const rest = defined(value);
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function orNothing<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function readActions(
  { report }: CaseFile,
  { actions = {}, sequence = [] }: WrittenExpect,
  at: JsonPath,
): ActionExpectations | undefined {
  const sentences = readSequence(report, sequence, [...at, 'sequence']);
  const read = (key: 'ordered' | 'unordered' | 'forbid') =>
    readPatterns(report, actions[key] ?? [], [...at, 'actions', key]);
  return present({
    ordered: orNothing(read('ordered')),
    unordered: orNothing([...read('unordered'), ...sentences.unordered]),
    forbid: orNothing([...read('forbid'), ...sentences.forbid]),
    before: orNothing(sentences.before),
  });
}

function readSecurity({ report }: CaseFile, { security = {} }: WrittenExpect, at: JsonPath): Expectations['security'] {
  const read = (key: 'denied' | 'asked') =>
    orNothing(readPatterns(report, security[key] ?? [], [...at, 'security', key]));
  return present({
    denied: read('denied'),
    asked: read('asked'),
    noEscape: security.no_escape === true ? security.no_escape : undefined,
  });
}

function readRubric({ report }: CaseFile, { rubric = [] }: WrittenExpect, at: JsonPath): readonly RubricLine[] {
  const seen = new Set<string>();
  return rubric.map((line, place) => {
    const {
      id = '',
      text = '',
      examples,
    } = typeof line === 'string' ? { id: `rubric-${String(place + 1)}`, text: line, examples: undefined } : line;
    const here = [...at, 'rubric', place];
    if (text.trim() === '') addProblem(report, here, 'a rubric line is empty', 'remove it');
    if (seen.has(id)) addProblem(report, here, `duplicate rubric id ${quoted(id)}`, 'use another id');
    seen.add(id);
    return { id, text, ...defined({ examples }) };
  });
}

const TOOL = /^[\p{L}\p{N}_.:/*-]{1,128}$/u;
const SEQUENCE_HINT = 'write must_occur TOOL, must_occur TOOL before TOOL, or forbid TOOL';

function readPatterns(report: CaseReport, written: readonly WrittenPattern[], at: JsonPath): readonly ActionPattern[] {
  return written.flatMap((pattern, place) => readPattern(report, pattern, [...at, place]) ?? []);
}

function readPattern(report: CaseReport, written: WrittenPattern, at: JsonPath): ActionPattern | undefined {
  const pattern: Exclude<WrittenPattern, string> = typeof written === 'string' ? { tool: written } : written;
  const { tool, arguments: args, exact, any_outcome: anyOutcome } = pattern;
  if (!TOOL.test(tool)) {
    const hint = 'write a tool name such as load_skill; * matches any characters';
    addProblem(report, at, `invalid tool name ${quoted(tool)}`, hint);
    return undefined;
  }
  if (args !== undefined && !hasValidExpressions(report, args, at)) return undefined;
  const flags = { exact: exact === true ? exact : undefined, anyOutcome: anyOutcome === true ? anyOutcome : undefined };
  return { tool, arguments: args, ...defined(flags) };
}

function hasValidExpressions(report: CaseReport, fields: Readonly<Record<string, unknown>>, at: JsonPath): boolean {
  return Object.entries(fields).every(([key, value]) => {
    if (typeof value !== 'string' || value.length < 3 || !value.startsWith('/') || !value.endsWith('/')) return true;
    const problem = patternProblem(value.slice(1, -1));
    if (problem !== undefined) addProblem(report, [...at, 'arguments', key], problem.message, problem.hint);
    return problem === undefined;
  });
}

type Sequence = Required<Pick<ActionExpectations, 'unordered' | 'forbid' | 'before'>>;

/** Reads sentences such as `must_occur load_skill before run_script`. A tool name may be followed by its arguments as JSON. */
function readSequence(report: CaseReport, lines: readonly string[], at: JsonPath): Sequence {
  const unordered: ActionPattern[] = [];
  const forbid: ActionPattern[] = [];
  const before: { readonly first: ActionPattern; readonly then: ActionPattern }[] = [];
  for (const [place, line] of lines.entries()) {
    const here = [...at, place];
    const [, verb, rest = ''] = /^\s*(must_occur|forbid)\s+(\S[\s\S]*)$/.exec(line) ?? [];
    const parts = verb === 'must_occur' ? rest.split(/\s+before\s+/) : [rest];
    const patterns = parts.map((part) => wordPattern(report, part.trim(), here));
    const [first, then] = patterns;
    if (verb === undefined || parts.length > 2) {
      addProblem(report, here, `invalid sequence ${quoted(line)}`, SEQUENCE_HINT);
    } else if (first !== undefined && parts.length === 1) {
      (verb === 'forbid' ? forbid : unordered).push(first);
    } else if (first !== undefined && then !== undefined) {
      // The key of the format; the object is never awaited.
      // oxlint-disable-next-line unicorn/no-thenable
      before.push({ first, then });
    }
  }
  return { unordered, forbid, before };
}

function wordPattern(report: CaseReport, written: string, at: JsonPath): ActionPattern | undefined {
  const [, tool = '', json] = /^([^\s{]*)\s*(\{[\s\S]*\})?$/.exec(written) ?? [];
  if (json === undefined) return readPattern(report, tool === '' ? written : tool, at);
  const parsed = parseJson(json);
  if (isObject(parsed)) return readPattern(report, { tool, arguments: parsed }, at);
  addProblem(report, at, `${quoted(json)} is not a JSON object`, 'write TOOL {"name": "value"}');
  return undefined;
}
