/** Reads cases and trigger queries of community formats. Key names are lenient, meanings are exact. */
import type { Expectations } from './case.ts';
import { defined, readField, isObject, quoted, type JsonPath } from '#core';
import { joined, readAssertions, formatValue, type Assertions } from './assertions.ts';
import { contradictions } from './contradictions.ts';
import {
  namedFiles,
  reportHazards,
  reportMissingSkills,
  shortName,
  type CaseFile,
  type DraftCase,
  type DraftId,
} from './draft.ts';
import { addProblem, isClean, relocated, type CaseReport } from './problem.ts';
import {
  ASSERTION_KEYS,
  FILE_KEYS,
  FLAG_KEYS,
  ID_KEYS,
  NAME_KEYS,
  TAG_KEYS,
  flagAt,
  readInput,
  describeExpectation,
  isAsking,
  textAt,
} from './community-keys.ts';

type Item = Readonly<Record<string, unknown>>;

interface CommunityItem {
  readonly path: JsonPath;
  /** An object, or the query as a string. */
  readonly value: unknown;
  /** Set for entries of a list of positive or negative queries. */
  readonly polarity?: boolean;
}

/** Returns undefined after adding errors to the report. `target` is the skill of the file; `place` counts from 1. */
export function readCommunityCase(
  file: CaseFile,
  { path, value, polarity }: CommunityItem,
  { target, place }: { readonly target: string | undefined; readonly place: number },
): DraftCase | undefined {
  const since = file.report.problems.length;
  const item = typeof value === 'string' ? { query: value } : value;
  if (!isObject(item)) {
    addProblem(file.report, path, 'an entry must be a query or a case', 'write a string or an object');
    return undefined;
  }
  reportHazards(file.report, item, path);
  const input = readInput(item);
  if (input === undefined) {
    addProblem(file.report, path, 'the case has no prompt', 'add prompt with the request of the user');
    return undefined;
  }
  const expected = readExpectedSkill(file.report, item, { path, target, polarity });
  const { checks, rubric } = collectAssertions(file, item, path);
  const expect: Expectations = defined({
    skills: expected.skills,
    trigger: expected.trigger,
    output: checks.length === 0 ? undefined : checks,
    rubric: rubric.length === 0 ? undefined : rubric,
  });
  if (Object.keys(expect).length === 0)
    addProblem(file.report, path, 'the case has no expectations', 'add assertions or should_trigger');
  const read: DraftCase['case'] = {
    name: textAt(item, NAME_KEYS) ?? shortName(input),
    place: { file: file.report.file, ...file.report.locate(path) },
    input,
    files: readFiles(file, item, path),
    skills: { target: expected.target, folders: file.suite.skill === undefined ? [] : [file.suite.skill.dir] },
    expect,
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: readTags(item),
  };
  const whole = { ...file, report: relocated(file.report, () => path) };
  for (const { message } of isClean(file.report, since) ? contradictions(read) : [])
    addProblem(whole.report, path, message, 'no run can pass this case: remove one of the two expectations');
  reportMissingSkills(whole, read);
  return isClean(file.report, since) ? { case: read, ...chooseId(item, path, read, { place, file }) } : undefined;
}

interface ExpectedSkill extends Pick<Expectations, 'trigger' | 'skills'> {
  readonly target: string | undefined;
}

/** With a trigger flag, `expected_skill` names the target; without one it names the skill that must load, and none if it is empty. */
function readExpectedSkill(
  report: CaseReport,
  item: Item,
  { path, target, polarity }: Pick<CommunityItem, 'path' | 'polarity'> & { readonly target: string | undefined },
): ExpectedSkill {
  const own = textAt(item, ['skill', 'skill_name', 'target_skill']) ?? target;
  const expected = textAt(item, ['expected_skill']);
  // In `[{trigger, expected_behavior}]` the text under `trigger` is a query that loads the skill.
  const isQuery =
    typeof item['trigger'] === 'string' && textAt(item, ['prompt', 'query', 'task', 'input']) === undefined;
  const trigger = readFlag(report, item, path) ?? polarity ?? (isQuery ? true : undefined);
  const skills = listedSkills(item);
  if (trigger !== undefined) {
    const skill = isNone(expected) ? own : expected;
    if (skill === undefined) {
      const hint = 'add skill_name, or move the file into the evals folder of the skill';
      addProblem(report, path, 'the case names no target skill', hint);
    }
    return { target: skill, trigger, skills };
  }
  if (!Object.hasOwn(item, 'expected_skill')) return { target: own, skills };
  return readAnswer(item, expected, own);
}

function readAnswer(item: Item, expected: string | undefined, own: string | undefined): ExpectedSkill {
  const acceptable = namesAt(item, 'acceptable_skills') ?? [];
  if (expected === undefined || isNone(expected)) {
    const trigger = own === undefined || acceptable.includes(own) ? undefined : false;
    return { target: own, skills: { only: acceptable }, trigger };
  }
  const others = acceptable.filter((name) => name !== expected);
  return others.length === 0
    ? { target: expected, trigger: true }
    : { target: expected, skills: { anyOf: [expected, ...others] } };
}

function listedSkills(item: Item): Expectations['skills'] {
  const allOf = namesAt(item, 'expected_skills');
  if (allOf === undefined) return undefined;
  return allOf.length === 0 ? { only: [] } : { allOf };
}

function namesAt(item: Item, key: string): readonly string[] | undefined {
  const value = readField(item, key);
  if (typeof value === 'string')
    return value
      .split(/[,;|]/)
      .map((name) => name.trim())
      .filter((name) => name !== '');
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined;
}

function isNone(name: string | undefined): boolean {
  return name === undefined || /^(?:none|null|n\/a|-)$/i.test(name.trim());
}

/** Reports an unreadable value only for keys that are always trigger flags. */
function readFlag(report: CaseReport, item: Item, path: JsonPath): boolean | undefined {
  for (const key of FLAG_KEYS) {
    const value = readField(item, key);
    const read = flagAt(key, value);
    if (read !== undefined) return read;
    if (value !== undefined && /trigger|activate/i.test(key)) {
      const written = quoted(typeof value === 'string' ? value : JSON.stringify(value));
      addProblem(report, [...path, key], `${key} is ${written}`, 'write true or false');
    }
  }
  return undefined;
}

/** Reads the known keys in order, then other keys that look like expectations. */
function collectAssertions({ report }: CaseFile, item: Item, path: JsonPath): Assertions {
  const known = ASSERTION_KEYS.map((key) => {
    const isTrigger = key === 'expected' && flagAt(key, item[key]) !== undefined;
    const value = isTrigger ? undefined : readField(item, key);
    const line = key === 'trap' && typeof value === 'string' ? `Does not fall into this trap: ${value}` : value;
    return readAssertions(report, line, [...path, key], key);
  });
  const others = Object.entries(item)
    .filter(([key, value]) => isAsking(key, value))
    .map(([key, value]) => ({
      checks: [],
      rubric: [{ id: key, text: describeExpectation(key, formatValue(value)) }],
    }));
  return joined([...known, ...others]);
}

function readFiles(file: CaseFile, item: Item, path: JsonPath): readonly string[] {
  const key = FILE_KEYS.find((name) => item[name] !== undefined && item[name] !== null);
  if (key === undefined) return [];
  const listed = [item[key]].flat();
  const names = listed.map((entry) => (isObject(entry) ? textAt(entry, ['path', 'file', 'name']) : entry));
  return names.flatMap((name, place) => {
    const at = [...path, key, place];
    if (typeof name === 'string') return namedFiles(file, [name], at);
    addProblem(file.report, at, 'a file must be a path', 'write a string such as evals/files/a.csv');
    return [];
  });
}

function readTags(item: Item): readonly string[] {
  const tags = TAG_KEYS.flatMap((key) => {
    const values = [item[key]].flat().filter((value) => typeof value === 'string' || typeof value === 'number');
    return values.map((value) => (key === 'confidence' ? `confidence-${String(value)}` : String(value)));
  });
  const scripts = Array.isArray(item['script_checks']) && item['script_checks'].length > 0 ? ['script-checks'] : [];
  return [...new Set([...tags, ...scripts].map((tag) => tag.trim()).filter((tag) => tag !== ''))];
}

/** Numeric ids repeat in every file, so they get the skill as a prefix. */
function chooseId(
  item: Item,
  path: JsonPath,
  read: DraftCase['case'],
  { place, file }: { readonly place: number; readonly file: CaseFile },
): { readonly id: DraftId; readonly at: JsonPath } {
  const key = ID_KEYS.find((name) => typeof item[name] === 'string' || typeof item[name] === 'number');
  const about = read.skills.target ?? file.suite.guess ?? 'case';
  const written = key === undefined ? '' : String(item[key]).trim();
  if (key === undefined || written === '') {
    const kind = read.expect.trigger === undefined ? 'eval' : 'trigger';
    return { id: { origin: 'made', text: `${about}-${kind}-${String(place)}` }, at: path };
  }
  const text = /^\d+(?:\.\d+)?$/.test(written) ? `${about}-${written}` : written;
  return { id: { origin: 'foreign', text }, at: [...path, key] };
}

/** The skill of a file: the skill that contains it, else the name in the file, else the folder name. */
export function targetOfFile({ report, suite }: CaseFile, head: Readonly<Record<string, unknown>>): string | undefined {
  const key = ['skill_name', 'skillName', 'skill', 'capability'].find((name) => typeof head[name] === 'string');
  const label = key === undefined ? '' : String(head[key]).trim();
  const { skill, guess } = suite;
  if (skill === undefined) return label === '' ? guess : label;
  if (label !== '' && label !== skill.name)
    addProblem(
      report,
      [key ?? ''],
      `the file names the skill ${quoted(label)}, but the skill here is ${quoted(skill.name)}`,
      `write ${skill.name}, which is used meanwhile`,
      'warning',
    );
  return skill.name;
}
