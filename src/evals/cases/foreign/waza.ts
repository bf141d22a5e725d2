/** Reads suites of waza: `eval.yaml` with shared graders, and tasks in it or in files of their own. */
import path from 'node:path';

import { defined, isObject, quoted, type JsonPath } from '#core';
import { isPresent } from '#platform';
import type { CaseFile } from '../draft.ts';
import { addProblem, isClean } from '../problem.ts';
import {
  filesNamed,
  ForeignExpectations,
  namedEntry,
  toTexts,
  type ForeignCase,
  type ForeignFiles,
} from './foreign-case.ts';

type Fields = Readonly<Record<string, unknown>>;

export function isWazaSuite(value: Fields): boolean {
  const tasks = value['tasks'];
  if (typeof value['tasks_from'] === 'string') return true;
  if (!Array.isArray(tasks) || tasks.length === 0) return false;
  return tasks.every((task) => typeof task === 'string') || tasks.some((task) => isObject(task) && isGraded(task));
}

export function isWazaTask(value: unknown): value is Fields {
  return isObject(value) && isObject(value['inputs']) && typeof value['inputs']['prompt'] === 'string';
}

function isGraded(task: Fields): boolean {
  return (
    isWazaTask(task) || (typeof task['prompt'] === 'string' && ['validators', 'graders'].some((key) => key in task))
  );
}

/** What the tasks of a suite share. */
interface SharedSettings {
  /** The folder of the suite; fixtures are below it. */
  readonly dir: string;
  readonly graders: readonly unknown[];
  readonly config: Fields;
  /** The skill of a suite that is outside of it. */
  readonly target?: string;
}

export function readWazaSuite(file: CaseFile, suite: Fields, files: ForeignFiles): readonly ForeignCase[] {
  const { tasks = [], graders, config } = suite;
  const shared: SharedSettings = {
    dir: file.suite.dir,
    graders: Array.isArray(graders) ? graders : [],
    config: isObject(config) ? config : {},
    target: typeof suite['skill'] === 'string' && file.suite.skill === undefined ? suite['skill'] : undefined,
  };
  if (suite['tasks_from'] !== undefined)
    addProblem(file.report, ['tasks_from'], 'tasks_from is not read', 'write its rows as tasks');
  return [tasks].flat().flatMap((task: unknown, place): readonly ForeignCase[] => {
    const at: JsonPath = ['tasks', place];
    if (isObject(task)) return readWazaTask(file, task, at, files, shared);
    if (typeof task !== 'string') {
      addProblem(file.report, at, 'a task must be an object or a path', 'write a path such as tasks/*.yaml');
      return [];
    }
    return filesNamed(file, task, at, 'task file').flatMap((name) => {
      const other = files.open(name, at);
      if (other === undefined) return [];
      const found = [other.value].flat();
      const isList = Array.isArray(other.value);
      return found.flatMap((one: unknown, index) =>
        readWazaTask(other.file, one, isList ? [index] : [], files, shared),
      );
    });
  });
}

export function readWazaTask(
  file: CaseFile,
  task: unknown,
  at: JsonPath,
  files: ForeignFiles,
  shared: SharedSettings = { dir: path.dirname(file.suite.dir), graders: [], config: {} },
): readonly ForeignCase[] {
  if (!isObject(task)) {
    addProblem(file.report, at, 'a task must be an object', 'write the keys id and inputs');
    return [];
  }
  if (task['enabled'] === false) {
    files.passOver(file.report.file, 'the task is disabled');
    return [];
  }
  const since = file.report.problems.length;
  const inputs: Fields = isObject(task['inputs']) ? task['inputs'] : task;
  const expected = new ForeignExpectations(file, at);
  readExpected(expected, task['expected'], [...at, 'expected']);
  for (const key of ['graders', 'validators'])
    for (const [place, grader] of [task[key] ?? []].flat().entries()) readGrader(expected, grader, [...at, key, place]);
  for (const grader of shared.graders) readGrader(expected, grader, at);
  expected.limit('timeout_s', task['timeout_seconds'] ?? shared.config['timeout_seconds']);
  if (isObject(inputs['environment']))
    expected.note('inputs.environment is not read', 'write what the request needs into files', [
      ...at,
      'inputs',
      'environment',
    ]);
  const { id, name, tags } = task;
  const { trials_per_task: repeat } = shared.config;
  const written = defined({
    input: inputs['prompt'],
    skills: shared.target === undefined ? undefined : { target: shared.target },
    name: typeof name === 'string' ? name : undefined,
    tags: Array.isArray(tags) ? toTexts(tags) : undefined,
    repeat: typeof repeat === 'number' && repeat > 1 ? repeat : undefined,
    files: readFixtures(file, inputs['files'], [...at, 'inputs', 'files'], fixtureFolders(task, shared)),
    ...expected.write(),
  });
  const { ungraded } = expected;
  return isClean(file.report, since) ? [{ file, at, id: toTexts(id)[0], written, ungraded }] : [];
}

function fixtureFolders({ context_dir: own }: Fields, { dir }: SharedSettings): readonly string[] {
  return [...toTexts(own).map((name) => path.resolve(dir, name)), path.join(dir, 'fixtures'), dir];
}

/** Files are named below the fixtures of the suite. A path that is not found there is reported as it is written. */
function readFixtures(
  { report, suite }: CaseFile,
  listed: unknown,
  at: JsonPath,
  folders: readonly string[],
): readonly string[] {
  return [listed ?? []].flat().flatMap((entry: unknown, place): readonly string[] => {
    const name = isObject(entry) ? entry['path'] : entry;
    if (typeof name !== 'string') return [];
    if (isObject(entry) && entry['content'] !== undefined) {
      const hint = 'save it as a file in fixtures, and remove content';
      addProblem(report, [...at, place], `inline content of ${quoted(name, 120)} is not read`, hint);
      return [];
    }
    const folder = folders.find((one) => isPresent(path.join(one, name)));
    return [folder === undefined ? name : path.relative(suite.dir, path.join(folder, name)).split(path.sep).join('/')];
  });
}

function readExpected(expected: ForeignExpectations, value: unknown, at: JsonPath): void {
  if (!isObject(value)) return expected.rubric(value);
  const {
    outcomes,
    behavior,
    should_trigger: trigger,
    output_contains: texts,
    output_contains_any: someTexts,
    output_not_contains: noTexts,
    ...others
  } = value;
  expected.contains(texts, { ignoreCase: true });
  expected.containsAny(someTexts, { ignoreCase: true });
  expected.contains(noTexts, { ignoreCase: true, not: true });
  if (typeof trigger === 'boolean') expected.trigger(trigger);
  for (const outcome of [outcomes ?? []].flat())
    if (isObject(outcome) && outcome['type'] === 'task_completed') expected.outcome('done');
    else expected.unread('an outcome other than task_completed is not read', [...at, 'outcomes']);
  if (isObject(behavior)) readBehavior(expected, behavior);
  for (const key of Object.keys(others)) expected.unread(`${key} is not read`, [...at, key]);
}

function readBehavior(expected: ForeignExpectations, behavior: Fields): void {
  expected.limit('max_tool_calls', behavior['max_tool_calls']);
  expected.limit('max_turns', behavior['max_iterations']);
  expected.limit('max_tokens', behavior['max_tokens']);
  const ms = behavior['max_duration_ms'] ?? behavior['max_response_time_ms'];
  if (typeof ms === 'number') expected.limit('timeout_s', ms / 1000);
  expected.tools('unordered', behavior['required_tools']);
  expected.tools('forbid', behavior['forbidden_tools']);
}

function readGrader(expected: ForeignExpectations, grader: unknown, at: JsonPath): void {
  if (!isObject(grader)) return expected.unread('a grader must be an object', at);
  const config: Fields = isObject(grader['config']) ? { ...grader, ...grader['config'] } : grader;
  const kind = String(grader['type']);
  const read = Object.hasOwn(GRADERS, kind) ? GRADERS[kind] : undefined;
  const { added } = expected;
  const left = read === undefined ? [`the grader ${namedEntry(grader)} is not read`] : read(expected, config);
  for (const message of left) expected.unread(message, at);
  if (left.length === 0 && expected.added === added)
    expected.unread(`the grader ${namedEntry(grader)} has nothing that is read`, at);
}

/** Each returns what it could not read. */
const GRADERS: Readonly<Record<string, (expected: ForeignExpectations, config: Fields) => readonly string[]>> = {
  text: readTextGrader,
  regex: readTextGrader,
  code: readAssertions,
  inline_script: readAssertions,
  file(expected, config) {
    for (const name of toTexts(config['must_exist'])) expected.outputFile(name);
    for (const name of toTexts(config['must_not_exist'])) expected.outputFile(name, { exists: false });
    return config['content_patterns'] === undefined ? [] : ['content_patterns of a file grader is not read'];
  },
  behavior(expected, config) {
    readBehavior(expected, config);
    return [];
  },
  action_sequence(expected, config) {
    const mode = String(config['matching_mode'] ?? config['mode']);
    expected.tools(mode.startsWith('any_order') ? 'unordered' : 'ordered', config['expected_actions']);
    return mode === 'exact_match' ? ['exact_match is read as in_order_match: other actions may occur'] : [];
  },
  skill_invocation(expected, config) {
    expected.skills('skills_all_of', config['required_skills']);
    if (config['allow_extra'] === false) expected.skills('skills_only', config['required_skills']);
    return [];
  },
  tool_constraint(expected, config) {
    const names = (key: string): readonly string[] =>
      [config[key] ?? []].flat().flatMap((one) => toTexts(isObject(one) ? one['tool'] : one));
    expected.tools('unordered', names('expect_tools'));
    expected.tools('forbid', names('reject_tools'));
    return [];
  },
  trigger(expected, config) {
    expected.trigger(config['mode'] !== 'negative');
    return [];
  },
  prompt: readRubric,
  llm: readRubric,
  json_schema(expected, config) {
    if (!isObject(config['schema'])) return ['a json_schema grader without a schema in it is not read'];
    expected.json(config['schema']);
    return [];
  },
};

function readTextGrader(
  expected: ForeignExpectations,
  { type: _type, name: _name, config: _config, weight: _weight, description: _description, ...config }: Fields,
): readonly string[] {
  expected.contains(config['contains'], { ignoreCase: true });
  expected.contains(config['not_contains'], { ignoreCase: true, not: true });
  expected.contains(config['contains_cs']);
  expected.contains(config['not_contains_cs'], { not: true });
  for (const key of ['regex_match', 'must_match']) expected.matches(config[key]);
  for (const key of ['regex_not_match', 'must_not_match']) expected.matches(config[key], { not: true });
  return Object.keys(config).flatMap((key) => (TEXT_KEYS.has(key) ? [] : [`${key} of a text grader is not read`]));
}

const TEXT_KEYS: ReadonlySet<string> = new Set(
  'contains not_contains contains_cs not_contains_cs regex_match must_match regex_not_match must_not_match'.split(' '),
);

function readRubric(expected: ForeignExpectations, config: Fields): readonly string[] {
  const lines = toTexts(config['prompt'] ?? config['rubric'] ?? config['criteria']);
  for (const line of lines) expected.rubric(line);
  return lines.length === 0 ? ['a prompt grader without a prompt is not read'] : [];
}

/** Python expressions, of which the common ones have an equivalent. */
function readAssertions(expected: ForeignExpectations, config: Fields): readonly string[] {
  return toTexts(config['assertions']).flatMap((assertion) => {
    const [, , text, not, lower] =
      /^(['"])([^'"]+)\1\s+(not\s+)?in\s+output(\.lower\(\))?$/.exec(assertion.trim()) ?? [];
    const [, least] = /^len\(output(?:\.strip\(\))?\)\s*>\s*(\d+)$/.exec(assertion.trim()) ?? [];
    if (text !== undefined) expected.contains(text, { ignoreCase: lower !== undefined, not: not !== undefined });
    else if (least !== undefined && Number(least) < 1000)
      expected.matches(String.raw`^[\s\S]{${String(Number(least) + 1)}}`);
    else return [`the Python assertion ${quoted(assertion, 120)} is not read`];
    return [];
  });
}
