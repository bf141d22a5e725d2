/** Reads `<case>/case.json` of skills-agent, with `mock.json` and `files/` beside it, by converting it to our own format. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { defined, docsPage, isObject, nearest, parseJson, quoted, type JsonPath } from '#core';
import { quietly, readTextFile } from '#platform';
import { EXPECT } from './case-schema.ts';
import type { CaseFile, DraftCase } from './draft.ts';
import { readOwnCase, type OwnItem } from './own-case.ts';
import { addProblem, isClean, relocated, type CaseReport } from './problem.ts';

const MAX_MOCK_BYTES = 16 * 1024 * 1024;

type WrittenFields = Readonly<Record<string, unknown>>;

/** Where the converted keys were written, so that messages name what the author wrote. */
interface Conversion {
  readonly report: CaseReport;
  readonly at: JsonPath;
  readonly moved: { readonly from: JsonPath; readonly to: JsonPath }[];
}

export function readFolderCase(
  file: CaseFile,
  { path: at, value, defaults, madeId }: OwnItem & { readonly value: WrittenFields },
): DraftCase | undefined {
  const { title, ...rest } = value;
  const since = file.report.problems.length;
  const beside = besideCase(file, at);
  const conversion: Conversion = { report: file.report, at, moved: [] };
  reportBoth(file.report, value, at, beside);
  const converted = gather(conversion, [], toEntries(rest, [], convertTopKey));
  const { expect, constraints } = converted;
  const written: WrittenFields = {
    ...defined({ name: title }),
    ...beside,
    ...converted,
    ...defined({
      expect: isObject(expect) && !Object.hasOwn(value, 'expect') ? convertExpect(conversion, expect) : expect,
      constraints: isObject(constraints)
        ? gather(conversion, ['constraints'], toEntries(constraints, ['constraints'], convertConstraint))
        : constraints,
    }),
  };
  if (!isClean(file.report, since)) return undefined;
  const writtenPath = (path: JsonPath): JsonPath => findWritten(conversion, path);
  const located = relocated(file.report, (path) =>
    at.every((key, place) => key === path[place]) ? [...at, ...writtenPath(path.slice(at.length))] : path,
  );
  const report: CaseReport = { ...located, writtenPath };
  return readOwnCase({ ...file, report }, { path: at, value: written, defaults, madeId });
}

function convertTopKey(key: string): string {
  return key === 'expected' ? 'expect' : key;
}

/** The folder has one script: a second one would be ignored. */
function reportBoth(report: CaseReport, value: WrittenFields, at: JsonPath, beside: WrittenFields): void {
  const besideMock = Object.hasOwn(beside, 'mock');
  for (const key of ['mock', 'cassette'].filter((one) => besideMock && Object.hasOwn(value, one)))
    addProblem(
      report,
      [...at, key],
      `the case has both ${quoted(key)} and a mock.json beside it`,
      'remove one of them',
    );
}

/** The longest converted path decides; keys below it are as they were written. */
function findWritten({ moved }: Conversion, path: JsonPath): JsonPath {
  const [longest] = moved
    .filter(({ from }) => from.every((key, place) => key === path[place]))
    .toSorted((a, b) => b.from.length - a.from.length);
  return longest === undefined ? path : [...longest.to, ...path.slice(longest.from.length)];
}

interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly to: JsonPath;
}

function toEntries(fields: WrittenFields, at: JsonPath, rename: (key: string) => string): readonly Entry[] {
  return Object.entries(fields).map(([key, value]) => ({ key: rename(key), value, to: [...at, key] }));
}

/** Two written keys that become one are an error, since only one of them would count. */
function gather({ report, at, moved }: Conversion, prefix: JsonPath, entries: readonly Entry[]): WrittenFields {
  const first = new Map<string, JsonPath>();
  for (const { key, to } of entries) {
    const other = first.get(key);
    if (other !== undefined) {
      const message = `the case has both ${quoted(other.join('.'), 120)} and ${quoted(to.join('.'), 120)}`;
      addProblem(report, [...at, ...to], message, 'they mean the same: remove one of them');
    }
    first.set(key, other ?? to);
    moved.push({ from: [...prefix, key], to });
  }
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
}

function convertExpect(conversion: Conversion, expected: WrittenFields): WrittenFields {
  reportUnknownKeys(conversion, expected);
  const entries = toEntries(expected, ['expected'], (key) => key).flatMap((entry): readonly Entry[] => {
    if (entry.value === null) return [];
    if (entry.key === 'skills') return convertSkills(conversion, entry);
    if (entry.key === 'actions' || entry.key === 'steps') return convertActions(conversion, entry);
    return entry.key === 'output' ? [{ ...entry, value: convertOutput(conversion, entry) }] : [entry];
  });
  return gather(conversion, ['expect'], entries);
}

const EXPECTED_KEYS: readonly string[] = ['skills', 'actions', 'steps', ...Object.keys(EXPECT.properties)];

function reportUnknownKeys({ report, at }: Conversion, expected: WrittenFields): void {
  for (const key of Object.keys(expected).filter((one) => !EXPECTED_KEYS.includes(one) && one !== '__proto__')) {
    const [near] = nearest(key, EXPECTED_KEYS, 1);
    const hint = near === undefined ? 'use skills, actions and output' : `did you mean ${near}?`;
    addProblem(report, [...at, 'expected', key], `unknown key ${quoted(`expected.${key}`, 120)}`, hint);
  }
}

/** Accepts a name, a list of names that must all load, or an object of lists. An empty list means that no skill loads. */
function convertSkills(conversion: Conversion, { value, to }: Entry): readonly Entry[] {
  if (!isObject(value)) {
    const names = typeof value === 'string' ? [value] : toNames(conversion, value, to);
    return [{ key: Array.isArray(names) && names.length === 0 ? 'skills_only' : 'skills_all_of', value: names, to }];
  }
  return Object.entries(value).map(([key, names]) => {
    const here = [...to, key];
    return { key: `skills_${snakeCase(key)}`, value: toNames(conversion, names, here), to: here };
  });
}

/** A skill may be written as in actions, `{"name": …, "source": …}`. */
function toNames({ report, at }: Conversion, list: unknown, to: JsonPath): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((item: unknown, place) => {
    if (!isObject(item) || typeof item['name'] !== 'string') return item;
    const { name, source, ...rest } = item;
    if (Object.keys(rest).length > 0) return item;
    if (source !== undefined) {
      const hint = 'remove it: the suite names the folders of its skills';
      addProblem(report, [...at, ...to, place, 'source'], 'the source of a skill is not checked', hint, 'warning');
    }
    return name;
  });
}

function convertActions(conversion: Conversion, { value, to }: Entry): readonly Entry[] {
  if (isObject(value)) return splitActions(conversion, value, to);
  if (!Array.isArray(value)) return [{ key: 'sequence', value, to }];
  const items = value.map((item: unknown, place) => ({ item, to: [...to, place] }));
  const isSentence = ({ item }: { readonly item: unknown }): boolean =>
    typeof item === 'string' && /^\s*(?:must_occur|forbid)\s/.test(item);
  const sentences = items.filter(isSentence);
  const ordered = items.filter((one) => !isSentence(one));
  const locate = (kept: typeof items, from: JsonPath): void =>
    kept.forEach((one, place) => conversion.moved.push({ from: [...from, place], to: one.to }));
  locate(sentences, ['expect', 'sequence']);
  locate(ordered, ['expect', 'actions', 'ordered']);
  return [
    ...(sentences.length === 0 ? [] : [{ key: 'sequence', value: sentences.map(({ item }) => item), to }]),
    ...(ordered.length === 0
      ? []
      : [{ key: 'actions', value: { ordered: ordered.map(({ item }) => convertAction(item)) }, to }]),
  ];
}

function splitActions(conversion: Conversion, { sequence, ...lists }: WrittenFields, to: JsonPath): readonly Entry[] {
  const entries = toEntries(lists, to, snakeCase).map((entry) => ({
    ...entry,
    value: Array.isArray(entry.value) ? entry.value.map(convertAction) : entry.value,
  }));
  return [
    ...(sequence === undefined ? [] : [{ key: 'sequence', value: sequence, to: [...to, 'sequence'] }]),
    ...(entries.length === 0
      ? []
      : [{ key: 'actions', value: gather(conversion, ['expect', 'actions'], entries), to }]),
  ];
}

/** Accepts the notation of actions, `{"type": "run_script", "payload": {...}}`. A second name or input stays, and is an unknown key. */
function convertAction(item: unknown): unknown {
  if (!isObject(item)) return item;
  const renamed = Object.fromEntries(
    [TOOL_KEYS, INPUT_KEYS].flatMap(([own = '', ...others]) => {
      const key = [own, ...others].find((one) => Object.hasOwn(item, one));
      return key === undefined ? [] : [[key, own] as const];
    }),
  );
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [renamed[key] ?? key, value]));
}

const TOOL_KEYS = ['tool', 'action', 'type', 'name'] as const;
const INPUT_KEYS = ['arguments', 'args', 'payload'] as const;

function convertOutput(conversion: Conversion, { value, to }: Entry): unknown {
  if (!isObject(value)) return { contains: value };
  const entries = toEntries(value, to, (key) => (key === 'keywords' ? 'contains' : snakeCase(key)));
  return gather(conversion, ['expect', 'output'], entries);
}

function convertConstraint(written: string): string {
  const key = snakeCase(written);
  return FORBID_KEYS.has(key) ? 'forbid_tools' : key;
}

const FORBID_KEYS: ReadonlySet<string> = new Set(['forbidden_tools', 'disallowed_tools', 'deny_tools']);

function snakeCase(key: string): string {
  return key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

function besideCase({ report, suite: { dir } }: CaseFile, at: JsonPath): WrittenFields {
  const mock = readTextFile(path.join(dir, 'mock.json'), MAX_MOCK_BYTES);
  const folder = path.join(dir, 'files');
  const files = quietly(() => readdirSync(folder, { withFileTypes: true, recursive: true }), [])
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) =>
      path.posix.join('files', path.relative(folder, parentPath).split(path.sep).join('/'), name),
    )
    .sort();
  const value = mock.type === 'read' ? parseJson(mock.text) : undefined;
  const listed = isObject(value) ? value['turns'] : value;
  const turns = Array.isArray(listed) ? listed : undefined;
  if (mock.type === 'failed' || (mock.type === 'read' && turns === undefined)) {
    const reason = mock.type === 'failed' ? mock.reason : 'not JSON with a turns array';
    const hint = `write {"turns": [...]}, see ${docsPage('rule-model')}`;
    addProblem(report, at, `cannot use mock.json beside the case: ${reason}`, hint);
  }
  return defined({ mock: turns && { turns }, files: files.length === 0 ? undefined : files });
}
