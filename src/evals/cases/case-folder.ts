/** Reads `<case>/case.json` of skills-agent, with `mock.json` and `files/` beside it, by converting it to our own format. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { defined, docsPage, isObject, parseJson, type JsonPath } from '#core';
import { quietly, readTextFile } from '#platform';
import type { CaseFile, DraftCase } from './draft.ts';
import { readOwnCase } from './own-case.ts';
import { addProblem, relocated } from './problem.ts';

const MAX_MOCK_BYTES = 16 * 1024 * 1024;

type WrittenFields = Readonly<Record<string, unknown>>;

export function readFolderCase(
  file: CaseFile,
  value: WrittenFields,
  at: JsonPath,
  madeId: string,
): DraftCase | undefined {
  const { expected, constraints, title, ...rest } = value;
  const since = file.report.problems.length;
  const beside = besideCase(file, at);
  if (file.report.problems.length > since) return undefined;
  const written: WrittenFields = {
    ...defined({ name: title }),
    ...beside,
    ...rest,
    ...defined({
      expect: isObject(expected) ? convertExpect(expected) : expected,
      constraints: isObject(constraints) ? convertConstraints(constraints) : constraints,
    }),
  };
  const report = relocated(file.report, (path) => (expected === undefined ? path : placeInExpected(path, at)));
  return readOwnCase({ ...file, report }, { path: at, value: written, defaults: {}, madeId });
}

function placeInExpected(path: JsonPath, at: JsonPath): JsonPath {
  const [first, key, ...rest] = path.slice(at.length);
  if (first !== 'expect') return path;
  if (key === undefined) return [...at, 'expected'];
  const written = String(key).startsWith('skills_') ? 'skills' : key === 'sequence' ? 'actions' : key;
  return [...at, 'expected', written, ...rest];
}

function convertExpect({ skills, actions, steps, output, ...rest }: WrittenFields): WrittenFields {
  return { ...rest, ...convertSkills(skills), ...convertActions(actions ?? steps), ...convertOutput(output) };
}

/** Accepts a name, a list of names that must all load, or an object of lists. An empty list means that no skill loads. */
function convertSkills(skills: unknown): WrittenFields {
  if (skills === undefined || skills === null) return {};
  if (typeof skills === 'string') return { skills_all_of: [skills] };
  if (Array.isArray(skills)) return skills.length === 0 ? { skills_only: [] } : { skills_all_of: skills };
  if (!isObject(skills)) return { skills_all_of: skills };
  return Object.fromEntries(Object.entries(skills).map(([key, names]) => [`skills_${snakeCase(key)}`, names]));
}

function convertActions(actions: unknown): WrittenFields {
  if (actions === undefined || actions === null) return {};
  if (!Array.isArray(actions)) return isObject(actions) ? splitActions(actions) : { sequence: actions };
  const isSentence = (item: unknown): boolean => typeof item === 'string' && /^\s*(?:must_occur|forbid)\s/.test(item);
  const sequence = actions.filter(isSentence);
  const ordered = actions.filter((item) => !isSentence(item)).map(convertAction);
  return {
    ...(sequence.length === 0 ? {} : { sequence }),
    ...(ordered.length === 0 ? {} : { actions: { ordered } }),
  };
}

function splitActions({ sequence, ...lists }: WrittenFields): WrittenFields {
  const actions = Object.fromEntries(
    Object.entries(lists).map(([key, list]) => [snakeCase(key), Array.isArray(list) ? list.map(convertAction) : list]),
  );
  return { ...defined({ sequence }), ...(Object.keys(actions).length === 0 ? {} : { actions }) };
}

/** Accepts the notation of actions, `{"type": "run_script", "payload": {...}}`. */
function convertAction(item: unknown): unknown {
  if (!isObject(item)) return item;
  const { tool, action, type, name, arguments: input, args, payload, ...rest } = item;
  const all = input ?? args ?? payload;
  return { ...rest, tool: tool ?? action ?? type ?? name, ...defined({ arguments: all }) };
}

function convertOutput(output: unknown): WrittenFields {
  if (output === undefined || output === null) return {};
  if (!isObject(output)) return { output: { contains: output } };
  const { keywords, ...rest } = output;
  const named = Object.fromEntries(Object.entries(rest).map(([key, value]) => [snakeCase(key), value]));
  return { output: { ...defined({ contains: keywords }), ...named } };
}

function convertConstraints(constraints: WrittenFields): WrittenFields {
  return Object.fromEntries(
    Object.entries(constraints).map(([written, value]) => {
      const key = snakeCase(written);
      return [FORBID_KEYS.has(key) ? 'forbid_tools' : key, value];
    }),
  );
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
