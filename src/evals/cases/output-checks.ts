/** Reads `expect.output`. */
import type { WrittenOutput } from './case-schema.ts';
import type { OutputCheck } from './case.ts';
import { defined, quoted, type JsonPath } from '#core';
import { patternProblem } from './pattern-check.ts';
import { addProblem, type CaseProblem, type CaseReport } from './problem.ts';
import { fileOfSuite, type Suite } from './suite.ts';

/** Matches a heading, list item, table, code fence or quote at the start of a line. */
const MARKDOWN = '(?:^|\\n) {0,3}(?:#{1,6} |[-*+] |[0-9]{1,3}[.)] |\\||```|>)';

export function readOutput(
  report: CaseReport,
  suite: Suite,
  written: WrittenOutput,
  at: JsonPath,
): readonly OutputCheck[] {
  const { ignore_case: ignoreCase } = written;
  const contains = (key: 'contains' | 'not_contains'): readonly OutputCheck[] =>
    listed(written[key]).flatMap((text, place) => {
      if (text === '') addProblem(report, [...at, key, place], `${key} is empty`, 'write the expected text');
      return [{ type: 'contains', text, ...(ignoreCase === true ? { ignoreCase } : {}), ...not(key) }];
    });
  const matches = (key: 'regex' | 'not_regex'): readonly OutputCheck[] =>
    listed(written[key]).map((pattern, place) => {
      const problem = patternProblem(pattern);
      if (problem !== undefined) addProblem(report, [...at, key, place], problem.message, problem.hint);
      return { type: 'matches', pattern, ...not(key) };
    });
  return [
    ...contains('contains'),
    ...contains('not_contains'),
    ...matches('regex'),
    ...matches('not_regex'),
    ...formatChecks(report, written, at),
    ...fileChecks(report, written.files ?? [], [...at, 'files']),
    ...(written.checkers ?? []).flatMap(({ script, arguments: args = [] }, place): readonly OutputCheck[] => {
      const file = fileInSuite(report, suite, script, [...at, 'checkers', place, 'script']);
      return file === undefined ? [] : [{ type: 'checker', script: file, arguments: args }];
    }),
  ];
}

function not(key: string): { readonly not?: true } {
  return key.startsWith('not_') ? { not: true } : {};
}

function listed(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value;
}

function formatChecks(
  report: CaseReport,
  { format, json_schema: schema }: WrittenOutput,
  at: JsonPath,
): readonly OutputCheck[] {
  if (format === 'markdown' && schema !== undefined) {
    const message = 'format: markdown cannot be combined with json_schema';
    addProblem(report, [...at, 'format'], message, 'remove one of them');
  }
  if (schema !== undefined) return [{ type: 'json', schema }];
  if (format === 'json') return [{ type: 'json' }];
  return format === 'markdown' ? [{ type: 'matches', pattern: MARKDOWN }] : [];
}

type WrittenFile = NonNullable<WrittenOutput['files']>[number];

function fileChecks(report: CaseReport, files: readonly WrittenFile[], at: JsonPath): readonly OutputCheck[] {
  return files.map(({ path, exists, contains, sha256, media_type: mediaType }, place) => {
    const add = (key: string, message: string, hint: string): void =>
      addProblem(report, [...at, place, key], message, hint);
    if (path === '' || /^[/~\\]|(?:^|\/)\.\.(?:\/|$)/.test(path)) {
      const hint = 'write a path relative to the workspace, such as out/*.md';
      add('path', `${quoted(path)} is not a path inside the workspace`, hint);
    }
    if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256))
      add('sha256', 'sha256 must be 64 lowercase hexadecimal digits', 'run sha256sum on the file');
    if (exists === false && [contains, sha256, mediaType].some((value) => value !== undefined)) {
      const message = '`exists: false` cannot be combined with content checks';
      add('exists', message, 'remove exists: false, or the other keys');
    }
    return { type: 'file', path, ...defined({ exists, contains, sha256, mediaType }) };
  });
}

/** Resolves a file inside the suite and reports a missing file or an invalid path. */
export function fileInSuite(
  report: CaseReport,
  suite: Suite,
  written: string,
  at: JsonPath,
  {
    find = fileOfSuite,
    missing = 'error',
  }: { readonly find?: typeof fileOfSuite; readonly missing?: CaseProblem['severity'] } = {},
): string | undefined {
  const named = find(suite, written);
  if (named.type === 'found') return named.path;
  if (named.type === 'missing') {
    const hint = 'write its path relative to this file or to the skill';
    addProblem(report, at, `the file ${quoted(written, 120)} does not exist`, hint, missing);
  } else {
    const hint = 'move the file into the suite folder and use a relative path';
    addProblem(report, at, `the path ${quoted(written, 120)} ${named.reason}`, hint);
  }
  return undefined;
}
