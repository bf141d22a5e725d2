/** Reads configurations of promptfoo: each test with each prompt is a case. Nothing of it is run: programs in it are named and not read. */
import path from 'node:path';

import { isObject, quoted, stableJson, type JsonPath } from '#core';
import type { CaseFile } from '../draft.ts';
import { addProblem } from '../problem.ts';
import {
  escapeRegex,
  filesNamed,
  ForeignExpectations,
  localName,
  toolName,
  toTexts,
  type ForeignCase,
  type ForeignFiles,
} from './foreign-case.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One test with the file that contains it, which is not always the configuration. */
interface LocatedTest {
  readonly file: CaseFile;
  readonly at: JsonPath;
  readonly test: Fields;
}

const DATA = /\.(?:ya?ml|json|jsonl)$/i;
const MAX_CASES_PER_TEST = 100;

export function isPromptfooConfig(value: Fields): boolean {
  const has = (...keys: readonly string[]): boolean => keys.some((key) => Object.hasOwn(value, key));
  return has('tests', 'scenarios') && has('prompts', 'providers', 'targets', 'defaultTest', 'assertionTemplates');
}

export function isPromptfooTest(value: unknown): value is Fields {
  return isObject(value) && Array.isArray(value['assert']) && (isObject(value['vars']) || !('input' in value));
}

export function readPromptfooConfig(file: CaseFile, config: Fields, files: ForeignFiles): readonly ForeignCase[] {
  const { prompts, tests, scenarios, defaultTest, assertionTemplates } = config;
  if (scenarios !== undefined)
    addProblem(file.report, ['scenarios'], 'scenarios is not read', 'write each combination as a test');
  if (typeof defaultTest === 'string')
    addProblem(file.report, ['defaultTest'], 'a defaultTest in another file is not read', 'write it in this file');
  const usual = isObject(defaultTest) ? defaultTest : {};
  const templates = isObject(assertionTemplates) ? assertionTemplates : {};
  const inputs = prompts === undefined ? [] : readPrompts(file, prompts, files);
  return readTests(file, tests, ['tests'], files).flatMap((located) =>
    // Prompts that could not be read are reported; the test cannot be asked without them.
    prompts !== undefined && inputs.length === 0 ? [] : toCases(located, { inputs, usual, templates, files }),
  );
}

/** A list of tests without a configuration: the request is in its variables. */
export function readPromptfooTests(
  file: CaseFile,
  tests: readonly unknown[],
  files: ForeignFiles,
): readonly ForeignCase[] {
  return readTests(file, tests, [], files).flatMap((located) =>
    toCases(located, { inputs: [], usual: {}, templates: {}, files }),
  );
}

function readPrompts(file: CaseFile, prompts: unknown, files: ForeignFiles): readonly string[] {
  return [prompts].flat().flatMap((prompt: unknown, place): readonly string[] => {
    const at: JsonPath = ['prompts', ...(Array.isArray(prompts) ? [place] : [])];
    const written = isObject(prompt) ? (prompt['raw'] ?? prompt['id'] ?? prompt['path']) : prompt;
    if (typeof written !== 'string') return [];
    const isFile =
      written.startsWith('file://') ||
      (!/[\s{]/.test(written) && /\.(?:txt|md|j2|json|ya?ml|js|mjs|py)$/.test(written));
    if (!isFile) return [written];
    const name = written.replace(/^file:\/\//, '');
    const other = /\.(?:txt|md|j2)$/i.test(name) ? openNamed(file, name, at, files) : undefined;
    if (other !== undefined)
      return other.text
        .split(/^---$/m)
        .map((text) => text.trim())
        .filter((text) => text !== '');
    if (!/\.(?:txt|md|j2)$/i.test(name)) {
      const hint = 'write the prompt as text, or in a .txt file';
      addProblem(file.report, at, `the prompt ${quoted(written, 120)} is not read`, hint);
    }
    return [];
  });
}

/** The first file of that name. */
function openNamed(file: CaseFile, name: string, at: JsonPath, files: ForeignFiles) {
  const [found] = filesNamed(file, name, at, 'file');
  return found === undefined ? undefined : files.open(found, at);
}

function readTests(file: CaseFile, tests: unknown, at: JsonPath, files: ForeignFiles): readonly LocatedTest[] {
  return [tests ?? []].flat().flatMap((test: unknown, place): readonly LocatedTest[] => {
    const here = Array.isArray(tests) ? [...at, place] : at;
    if (isObject(test) && typeof test['path'] !== 'string') return [{ file, at: here, test }];
    const written = isObject(test) ? test['path'] : test;
    const name = String(written).replace(/^file:\/\//, '');
    if (!DATA.test(name)) {
      const hint = 'write the tests as YAML or JSON: programs, tables and addresses are not read';
      addProblem(file.report, here, `the tests in ${quoted(String(written), 120)} are not read`, hint);
      return [];
    }
    return filesNamed(file, name, here, 'file').flatMap((found) => {
      const other = files.open(found, here);
      if (other === undefined) return [];
      const { value } = other;
      const list = isObject(value) && Array.isArray(value['tests']) ? value['tests'] : value;
      return readTests(other.file, list, list === value ? [] : ['tests'], files);
    });
  });
}

interface TestSettings {
  readonly inputs: readonly string[];
  readonly usual: Fields;
  readonly templates: Fields;
  readonly files: ForeignFiles;
}

function toCases(
  { file, at, test }: LocatedTest,
  { inputs, usual, templates, files }: TestSettings,
): readonly ForeignCase[] {
  const own = { ...(isObject(usual['vars']) ? usual['vars'] : {}), ...(isObject(test['vars']) ? test['vars'] : {}) };
  const asserts = [
    ...[test['assert'] ?? []].flat().map((assertion: unknown, place) => ({ assertion, at: [...at, 'assert', place] })),
    ...[usual['assert'] ?? []].flat().map((assertion: unknown) => ({ assertion, at })),
  ];
  const combinations = spread(own);
  if (combinations === undefined) {
    const message = `the lists in vars make more than ${String(MAX_CASES_PER_TEST)} tests`;
    addProblem(file.report, [...at, 'vars'], message, 'write shorter lists, or several tests');
    return [];
  }
  return combinations.flatMap((vars) => {
    const filled = Object.fromEntries(
      Object.entries(vars).map(([key, value]) => [key, readVariable(file, value, [...at, 'vars', key], files)]),
    );
    const asked = inputs.length > 0 ? inputs : [requestIn(filled)].flatMap((one) => one ?? []);
    if (asked.length === 0) {
      addProblem(file.report, at, 'the test has no prompt', 'add prompts, or a variable named prompt');
      return [];
    }
    return asked.flatMap((prompt): readonly ForeignCase[] => {
      const input = fillIn(prompt, filled);
      if (typeof input !== 'string') {
        addProblem(file.report, at, input.problem, 'set the variable in vars, or write the text out');
        return [];
      }
      const expected = new ForeignExpectations(file, at);
      for (const { assertion, at: place } of asserts)
        readAssertion(expected, assertion, place, { vars: filled, templates });
      readOptions(expected, { usual, test }, at);
      const { description, metadata } = test;
      return [
        {
          file,
          at,
          written: {
            input,
            ...(typeof description === 'string' && description.trim() !== '' ? { name: description } : {}),
            ...(isObject(metadata) ? { tags: toTexts(metadata['tags']) } : {}),
            ...expected.write(),
          },
          ungraded: expected.ungraded,
        },
      ];
    });
  });
}

/** A list as the value of a variable means one test for each entry. Returns undefined if they are too many. */
function spread(vars: Fields): readonly Fields[] | undefined {
  let all: readonly Fields[] = [{}];
  for (const [key, value] of Object.entries(vars)) {
    const values: readonly unknown[] =
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : [value];
    all = all.flatMap((one) => values.map((item) => ({ ...one, [key]: item })));
    if (all.length > MAX_CASES_PER_TEST) return undefined;
  }
  return all;
}

function readVariable(file: CaseFile, value: unknown, at: JsonPath, files: ForeignFiles): unknown {
  if (typeof value !== 'string' || !value.startsWith('file://')) return value;
  const name = value.slice('file://'.length);
  if (/\.(?:js|mjs|cjs|ts|py)$/i.test(path.extname(name))) return undefined;
  return openNamed(file, name, at, files)?.text;
}

const REQUEST_KEYS = ['prompt', 'request', 'query', 'question', 'task', 'input', 'message', 'user_message'] as const;

function requestIn(vars: Fields): string | undefined {
  const key = REQUEST_KEYS.find((name) => typeof vars[name] === 'string');
  const texts = Object.values(vars).filter((value) => typeof value === 'string');
  return key === undefined ? (texts.length === 1 ? texts[0] : undefined) : String(vars[key]);
}

/** Replaces `{{ name }}`. Other templates are not read. */
function fillIn(text: string, vars: Fields): string | { readonly problem: string } {
  let problem = '';
  const filled = text.replaceAll(/\{\{-?\s*([^{}]*?)\s*-?\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(vars, name) ? vars[name] : undefined;
    if (value === undefined)
      problem = problem === '' ? `the prompt uses {{${name}}}, which the test does not set` : problem;
    return typeof value === 'string' ? value : (stableJson(value) ?? '');
  });
  if (problem === '' && filled === text && /\{%/.test(text))
    problem = 'the prompt uses a template with {% %}, which is not read';
  return problem === '' ? filled : { problem };
}

interface AssertionContext {
  readonly vars: Fields;
  readonly templates: Fields;
}

function readAssertion(expected: ForeignExpectations, written: unknown, at: JsonPath, context: AssertionContext): void {
  const assertion = resolveTemplate(written, context.templates);
  if (!isObject(assertion)) return expected.unread('an assertion is not read', at);
  const { type, value } = assertion;
  const kind = String(type);
  if (kind === 'assert-set') {
    for (const one of [assertion['assert'] ?? []].flat()) readAssertion(expected, one, at, context);
    if (assertion['threshold'] !== undefined)
      expected.note('the threshold of an assert-set is not read: all must hold', ALL_HOLD, at);
    return;
  }
  const not = kind.startsWith('not-');
  const name = not ? kind.slice('not-'.length) : kind;
  const read = Object.hasOwn(ASSERTIONS, name) ? ASSERTIONS[name] : undefined;
  const isFile = typeof value === 'string' && /^(?:file|package):\/\//.test(value);
  const filled = fillValue(value, context.vars);
  const reason = isFile
    ? 'its value is in another file'
    : PROGRAMS.has(name)
      ? 'programs of other tools do not run'
      : read === undefined
        ? 'it has no equivalent'
        : assertion['transform'] !== undefined
          ? 'transform is a program'
          : filled === undefined
            ? 'its value uses a variable that is not set, or a template'
            : read(expected, filled, not) === false
              ? 'its value cannot be read'
              : undefined;
  if (reason !== undefined) expected.unread(`the assertion ${quoted(kind)} is not read: ${reason}`, at);
}

const PROGRAMS: ReadonlySet<string> = new Set(['javascript', 'python', 'ruby', 'webhook']);
const ALL_HOLD = 'remove it, or write a case for each assertion';

/** What changes the answer before it is graded, or how the grades add up. */
function readOptions(
  expected: ForeignExpectations,
  { usual, test }: Record<'usual' | 'test', Fields>,
  at: JsonPath,
): void {
  for (const settings of [usual, test]) {
    const options = isObject(settings['options']) ? settings['options'] : {};
    for (const key of ['transform', 'postprocess'])
      if (options[key] !== undefined) expected.unread(`options.${key} is not read: it is a program`, at);
    if (settings['assertScoringFunction'] !== undefined)
      expected.unread('assertScoringFunction is not read: it is a program', at);
    if (settings['threshold'] !== undefined)
      expected.note('the threshold of a test is not read: all must hold', ALL_HOLD, at);
  }
}

function resolveTemplate(written: unknown, templates: Fields): unknown {
  const reference = isObject(written) ? written['$ref'] : undefined;
  const [, name] = typeof reference === 'string' ? (/^#\/assertionTemplates\/(.+)$/.exec(reference) ?? []) : [];
  return name === undefined ? written : Object.hasOwn(templates, name) ? templates[name] : undefined;
}

/** An assertion without a value has an empty text. Undefined if a template in it cannot be filled in. */
function fillValue(value: unknown = '', vars: Fields): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => fillValue(item, vars));
    return items.includes(undefined) ? undefined : items;
  }
  if (typeof value !== 'string') return value;
  const filled = fillIn(value, vars);
  return typeof filled === 'string' ? filled : undefined;
}

/** Each returns false if it cannot say the same. */
type ReadAssertion = (expected: ForeignExpectations, value: unknown, not: boolean) => boolean | void;

/** A list with something else in it would lose that, and an empty text is in every answer. */
function texts(read: ReadAssertion): ReadAssertion {
  const isText = (one: unknown): boolean => toTexts(one).some((text) => text.trim() !== '');
  return (expected, value, not) => {
    const items = [value].flat();
    return items.length > 0 && items.every(isText) ? read(expected, value, not) : false;
  };
}

const judged: ReadAssertion = (expected, value, not) => {
  if (typeof value !== 'string' || value.trim() === '' || not) return false;
  expected.rubric(value);
  return true;
};

const ASSERTIONS: Readonly<Record<string, ReadAssertion>> = {
  contains: texts((expected, value, not) => expected.contains(value, { not })),
  icontains: texts((expected, value, not) => expected.contains(value, { ignoreCase: true, not })),
  'contains-all': texts((expected, value, not) => (not ? false : expected.contains(splitList(value)))),
  'icontains-all': texts((expected, value, not) =>
    not ? false : expected.contains(splitList(value), { ignoreCase: true }),
  ),
  'contains-any': texts((expected, value, not) => expected.containsAny(splitList(value), { not })),
  'icontains-any': texts((expected, value, not) => expected.containsAny(splitList(value), { ignoreCase: true, not })),
  regex: texts((expected, value, not) => expected.matches(value, { not })),
  'starts-with': texts((expected, value, not) =>
    expected.matches(
      toTexts(value).map((text) => String.raw`^\s*${escapeRegex(text)}`),
      { not },
    ),
  ),
  equals: (expected, value, not) =>
    typeof value === 'string' ? expected.matches([String.raw`^\s*${escapeRegex(value.trim())}\s*$`], { not }) : false,
  'is-json': (expected, value, not) => (not || !(value === '' || isObject(value)) ? false : expected.json(value)),
  'llm-rubric': judged,
  'g-eval': texts((expected, value, not) => toTexts(value).every((line) => judged(expected, line, not) === true)),
  'model-graded-closedqa': judged,
  'model-graded-factuality': judged,
  factuality: judged,
  similar: (expected, value, not) =>
    not || typeof value !== 'string' || value.trim() === ''
      ? false
      : expected.rubric(`The answer means the same as: ${value}`),
  'skill-used': readSkillUsed,
  'trajectory:tool-used': (expected, value, not) => {
    const names = namesIn(value);
    if (names.length === 0 || names.includes('') || hasCounts(value)) return false;
    expected.tools(not ? 'forbid' : 'unordered', names);
    return true;
  },
  'trajectory:tool-sequence': (expected, value, not) => {
    const names = namesIn(isObject(value) ? value['steps'] : value);
    if (not || names.length === 0 || names.includes('') || (isObject(value) && value['mode'] === 'exact')) return false;
    expected.tools('ordered', names);
    return true;
  },
};

function readSkillUsed(expected: ForeignExpectations, value: unknown, not: boolean): boolean {
  const names = namesIn(value).map(localName);
  if (names.length === 0 || names.some((name) => name === '' || name.includes('*'))) return false;
  if (hasCounts(value)) return false;
  expected.skills(not ? 'skills_none_of' : 'skills_all_of', names);
  return true;
}

function namesIn(value: unknown): readonly string[] {
  return [value]
    .flat()
    .map((one) => toTexts(isObject(one) ? one['name'] : one)[0] ?? '')
    .map((name) => (name === '' ? name : toolName(name)));
}

/** Whether `min` and `max` say how often. */
function hasCounts(value: unknown): boolean {
  return [value].flat().some((one) => isObject(one) && (Number(one['min'] ?? 1) !== 1 || one['max'] !== undefined));
}

function splitList(value: unknown): readonly string[] {
  return typeof value === 'string' ? value.split(',').map((text) => text.trim()) : toTexts(value);
}
