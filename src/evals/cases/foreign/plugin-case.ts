/** Reads cases with `execution.prompt`: `case.yaml`, and `prompt.md` and `graders/*.md` beside it. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { isObject, quoted, type JsonPath } from '#core';
import { isPresent, quietly } from '#platform';
import type { CaseFile } from '../draft.ts';
import { addProblem, isClean } from '../problem.ts';
import { isMarkdown } from './markdown-case.ts';
import {
  ForeignExpectations,
  namedEntry,
  toolName,
  toTexts,
  type ForeignCase,
  type ForeignFiles,
} from './foreign-case.ts';

type Fields = Readonly<Record<string, unknown>>;

export function isPluginCase(value: Fields): boolean {
  const { execution, graders } = value;
  return (
    (isObject(execution) && typeof execution['prompt'] === 'string') ||
    (typeof value['schema_version'] === 'string' && (Array.isArray(graders) || isObject(execution)))
  );
}

/** `prompt.md` is the prompt of `case.yaml`, or a case of its own. */
export function readPluginCase(file: CaseFile, value: Fields, files: ForeignFiles): readonly ForeignCase[] {
  const { dir } = file.suite;
  const beside =
    path.basename(file.report.file) === 'prompt.md' ? undefined : openBeside(path.join(dir, 'prompt.md'), files);
  const prose = beside ?? {};
  const execution: Fields = { ...(isObject(value['execution']) ? value['execution'] : {}), ...prose };
  const settings: Fields = { ...value, ...prose };
  const { name, tags, runs, context } = settings;
  const since = file.report.problems.length;
  reportContext(file, context);
  if (!isClean(file.report, since)) return [];
  const expected = new ForeignExpectations(file, []);
  expected.limit('max_turns', execution['max_turns']);
  expected.limit('timeout_s', execution['timeout_seconds']);
  for (const [place, grader] of [value['graders'] ?? []].flat().entries())
    readGrader(expected, grader, ['graders', place]);
  for (const grader of graderFiles(dir, files)) readGrader(expected, grader, []);
  const isNamed = typeof name === 'string' && name !== '';
  return [
    {
      file,
      at: [],
      id: isNamed ? name : path.basename(dir),
      written: {
        input: execution['prompt'],
        ...(Array.isArray(tags) ? { tags: toTexts(tags) } : {}),
        ...(typeof runs === 'number' && runs > 1 ? { repeat: runs } : {}),
        ...expected.write(),
      },
      ungraded: expected.ungraded,
    },
  ];
}

/** The front matter of a Markdown file, with its text as the prompt. */
function openBeside(file: string, files: ForeignFiles): Fields | undefined {
  const value = isPresent(file) ? files.open(file, [])?.value : undefined;
  return isMarkdown(value) ? { ...value.head, prompt: value.body.trim() } : undefined;
}

/** Each file has the grader in its front matter and its text below it. */
function graderFiles(dir: string, files: ForeignFiles): readonly Fields[] {
  const folder = path.join(dir, 'graders');
  return quietly(() => readdirSync(folder), [])
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => {
      const { prompt: text, ...head } = openBeside(path.join(folder, name), files) ?? {};
      return { name: path.parse(name).name, criteria: text, pattern: text, ...head };
    });
}

/** What a case needs before it runs, and nothing here prepares. */
function reportContext({ report }: CaseFile, context: unknown): void {
  if (!isObject(context)) return;
  const hint = 'list the files that it makes under files of a case in our own format';
  if (context['scaffold_script'] !== undefined)
    addProblem(report, ['context', 'scaffold_script'], 'context.scaffold_script is not run', hint);
  if (context['history_file'] !== undefined)
    addProblem(
      report,
      ['context', 'history_file'],
      'context.history_file is not read',
      'write a case for the first turn',
    );
}

function readGrader(expected: ForeignExpectations, grader: unknown, at: JsonPath): void {
  if (!isObject(grader)) return expected.unread('a grader must be an object', at);
  const kind = String(grader['type']);
  const read = Object.hasOwn(GRADERS, kind) ? GRADERS[kind] : undefined;
  const { added } = expected;
  const left = read === undefined ? `the grader ${namedEntry(grader)} is not read` : read(expected, grader);
  if (left !== undefined) expected.unread(left, at);
  else if (expected.added === added) expected.unread(`the grader ${namedEntry(grader)} has nothing that is read`, at);
}

/** Each returns what it could not read. */
const GRADERS: Readonly<Record<string, (expected: ForeignExpectations, grader: Fields) => string | undefined>> = {
  regex(expected, { name, target = 'last_message', pattern, flags = '', match = 'contains' }) {
    const called = `the grader ${quoted(String(name))}`;
    if (target !== 'last_message')
      return `${called} reads ${isObject(target) ? 'a file' : `the ${String(target)}`}, which is not read`;
    if (match !== 'contains' && match !== 'not_contains') return `${called} counts matches, which is not read`;
    expected.matches(pattern, { flags: String(flags), not: match === 'not_contains' });
    return undefined;
  },
  tool_used(expected, { name, tool, input_match: input, min = 1, max }) {
    if (typeof tool !== 'string') return `the grader ${quoted(String(name))} names no tool`;
    const isForbidden = max === 0;
    if (/^skill$/i.test(tool)) expected.trigger(!isForbidden);
    else expected.tools(isForbidden ? 'forbid' : 'unordered', tool);
    if (input !== undefined && !/^skill$/i.test(tool))
      return `input_match of the grader ${quoted(String(name))} is not read`;
    return Number(min) > 1 || Number(max ?? 0) > 0
      ? `the count of the grader ${quoted(String(name))} is not read`
      : undefined;
  },
  tool_order(expected, { name, before, after }) {
    const [first, second] = [before, after].map((one) => toTexts(isObject(one) ? one['tool'] : one)[0]);
    if (first === undefined || second === undefined) return `the grader ${quoted(String(name))} names no tools`;
    expected.sequence(`must_occur ${toolName(first)} before ${toolName(second)}`);
    return undefined;
  },
  file_exists(expected, { path: file, exists }) {
    for (const one of toTexts(file)) expected.outputFile(one, exists === false ? { exists } : {});
    return undefined;
  },
  llm(expected, { criteria }) {
    expected.rubric(criteria);
    return undefined;
  },
};
