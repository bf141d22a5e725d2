/** Cases and trigger queries as the community writes them, in every shape that was found: lenient in words, exact in meaning. */
import type { CaseSkills, Expectations } from './case.ts';
import { isObject } from '../../core/json/json-schema.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { joined, readAssertions, wordsOf } from './assertions.ts';
import type { Assertions } from './assertions.ts';
import { contradictions } from './contradictions.ts';
import { namedFiles, shortName, tellHazards } from './draft.ts';
import type { CaseFile, DraftCase, DraftId } from './draft.ts';
import { isClean, relocated, tell } from './problem.ts';
import {
  ASSERTION_KEYS,
  FILE_KEYS,
  ID_KEYS,
  NAME_KEYS,
  TAG_KEYS,
  fieldOf,
  flagAt,
  inputOf,
  isExpectation,
  textAt,
} from './community-keys.ts';
import { tellMissingSkills } from './skill-names.ts';
import { readSkillWish } from './expected-skill.ts';

export interface CommunityItem {
  readonly path: JsonPath;
  /** An object, or the query alone. */
  readonly value: unknown;
  /** It stands in a list of queries that should, or should not, load the skill. */
  readonly polarity?: boolean;
}

/** The case, or problems that say why it is none. `target` is the skill that the file is about; `place` counts from 1. */
export function readCommunityCase(
  file: CaseFile,
  { path, value, polarity }: CommunityItem,
  { target, place }: { readonly target: string | undefined; readonly place: number },
): DraftCase | undefined {
  const since = file.report.problems.length;
  const item = typeof value === 'string' ? { query: value } : value;
  if (!isObject(item)) {
    tell(file.report, { at: path, message: 'this is neither a query nor a case', hint: 'write a text or an object' });
    return undefined;
  }
  tellHazards(file.report, item, path);
  const input = inputOf(item);
  if (input === undefined) {
    tell(file.report, { at: path, message: 'there is no prompt', hint: 'write what the person asks as prompt' });
    return undefined;
  }
  const wish = readSkillWish(file.report, item, { path, target, ...(polarity === undefined ? {} : { polarity }) });
  const expect = expectationsOf(wish, assertionsOf(file, item, path));
  if (Object.keys(expect).length === 0)
    tell(file.report, { at: path, message: 'nothing is asked of the run', hint: 'write assertions or should_trigger' });
  const read: DraftCase['case'] = {
    name: textAt(item, NAME_KEYS) ?? shortName(input),
    place: { file: file.report.file, ...file.report.locate(path) },
    input,
    files: filesOf(file, item, path),
    skills: skillsOf(file, wish.target),
    expect,
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: tagsOf(item),
  };
  const whole = { ...file, report: relocated(file.report, () => path) };
  for (const { message } of isClean(file.report, since) ? contradictions(read) : [])
    tell(whole.report, { at: path, message, hint: 'no run can pass it: take one of the two out' });
  tellMissingSkills(whole, read);
  return isClean(file.report, since) ? { case: read, ...idOf(item, path, read, { place, file }) } : undefined;
}

function expectationsOf(
  { trigger, skills }: Pick<Expectations, 'trigger' | 'skills'>,
  assertions: Assertions,
): Expectations {
  const { checks, rubric } = assertions;
  return {
    ...(skills === undefined ? {} : { skills }),
    ...(trigger === undefined ? {} : { trigger }),
    ...(checks.length === 0 ? {} : { output: checks }),
    ...(rubric.length === 0 ? {} : { rubric }),
  };
}

/** The known keys in their order, then whatever else says what is expected, with its name. */
function assertionsOf({ report }: CaseFile, item: Readonly<Record<string, unknown>>, path: JsonPath): Assertions {
  const known = ASSERTION_KEYS.map((key) => {
    const isTrigger = key === 'expected' && flagAt(key, item[key]) !== undefined;
    const value = isTrigger ? undefined : fieldOf(item, [key]);
    const said = key === 'trap' && typeof value === 'string' ? `Does not fall into this trap: ${value}` : value;
    return readAssertions(report, said, [...path, key], key);
  });
  const others = Object.entries(item)
    .filter(([key, value]) => isExpectation(key, value))
    .map(([key, value]) => ({
      checks: [],
      rubric: [{ id: key, text: `${key.replaceAll('_', ' ')}: ${wordsOf(value)}` }],
    }));
  return joined([...known, ...others]);
}

function skillsOf({ suite }: CaseFile, target: string | undefined): CaseSkills {
  return { ...(target === undefined ? {} : { target }), folders: suite.skill === undefined ? [] : [suite.skill.dir] };
}

function filesOf(file: CaseFile, item: Readonly<Record<string, unknown>>, path: JsonPath): readonly string[] {
  const key = FILE_KEYS.find((wanted) => item[wanted] !== undefined && item[wanted] !== null);
  if (key === undefined) return [];
  const listed = [item[key]].flat();
  const names = listed.map((entry) => (isObject(entry) ? textAt(entry, ['path', 'file', 'name']) : entry));
  return names.flatMap((name, place) => {
    const at = [...path, key, place];
    if (typeof name === 'string') return namedFiles(file, [name], at);
    tell(file.report, { at, message: 'this is no path of a file', hint: 'write a text, such as evals/files/a.csv' });
    return [];
  });
}

function tagsOf(item: Readonly<Record<string, unknown>>): readonly string[] {
  const tags = TAG_KEYS.flatMap((key) => {
    const values = [item[key]].flat().filter((value) => typeof value === 'string' || typeof value === 'number');
    return values.map((value) => (key === 'confidence' ? `confidence-${String(value)}` : String(value)));
  });
  const scripts = Array.isArray(item['script_checks']) && item['script_checks'].length > 0 ? ['script-checks'] : [];
  return [...new Set([...tags, ...scripts].map((tag) => tag.trim()).filter((tag) => tag !== ''))];
}

/** Numbers are the same in every file: the skill goes before them. */
function idOf(
  item: Readonly<Record<string, unknown>>,
  path: JsonPath,
  read: DraftCase['case'],
  { place, file }: { readonly place: number; readonly file: CaseFile },
): { readonly id: DraftId; readonly at: JsonPath } {
  const key = ID_KEYS.find((wanted) => typeof item[wanted] === 'string' || typeof item[wanted] === 'number');
  const about = read.skills.target ?? file.suite.guess ?? 'case';
  const written = key === undefined ? '' : String(item[key]).trim();
  if (key === undefined || written === '') {
    const kind = read.expect.trigger === undefined ? 'eval' : 'trigger';
    return { id: { origin: 'made', text: `${about}-${kind}-${String(place)}` }, at: path };
  }
  const text = /^\d+(?:\.\d+)?$/.test(written) ? `${about}-${written}` : written;
  return { id: { origin: 'foreign', text }, at: [...path, key] };
}

/** The skill that a file is about: the one in whose folder it lies, else as it says, else as the folder is called. */
export function targetOfFile({ report, suite }: CaseFile, head: Readonly<Record<string, unknown>>): string | undefined {
  const key = ['skill_name', 'skillName', 'skill', 'capability'].find((wanted) => typeof head[wanted] === 'string');
  const said = key === undefined ? '' : String(head[key]).trim();
  const { skill, guess } = suite;
  if (skill === undefined) return said === '' ? guess : said;
  if (said !== '' && said !== skill.name)
    tell(report, {
      at: [key ?? ''],
      message: `the file is about ${quoted(said)}, but the skill here is called ${quoted(skill.name)}`,
      hint: `write ${skill.name}; it is used until then`,
      severity: 'warning',
    });
  return skill.name;
}
