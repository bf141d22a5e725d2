/** What an answer and the files of a run must be like, as people write it. */
import type { WrittenOutput } from './case-schema.ts';
import type { OutputCheck } from './case.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { patternProblem } from './pattern-check.ts';
import type { CaseReport } from './problem.ts';
import { tell } from './problem.ts';
import { fileOfSuite } from './suite.ts';
import type { Suite } from './suite.ts';

/** A heading, a list, a table or a fence at the start of a line: what plain prose has not. */
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
      if (text === '')
        tell(report, {
          at: [...at, key, place],
          message: `${key} is an empty text`,
          hint: 'write what must stand there',
        });
      return [{ type: 'contains', text, ...(ignoreCase === true ? { ignoreCase } : {}), ...not(key) }];
    });
  const matches = (key: 'regex' | 'not_regex'): readonly OutputCheck[] =>
    listed(written[key]).map((pattern, place) => {
      const problem = patternProblem(pattern);
      if (problem !== undefined) tell(report, { at: [...at, key, place], ...problem });
      return { type: 'matches', pattern, ...not(key) };
    });
  return [
    ...contains('contains'),
    ...contains('not_contains'),
    ...matches('regex'),
    ...matches('not_regex'),
    ...formatChecks(report, written, at),
    ...fileChecks(report, written.files ?? [], [...at, 'files']),
    ...checkers(report, suite, written.checkers ?? [], [...at, 'checkers']),
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
    const message = 'the answer cannot be markdown and keep a JSON Schema';
    tell(report, { at: [...at, 'format'], message, hint: 'take one of them out' });
  }
  if (schema !== undefined) return [{ type: 'json', schema }];
  if (format === 'json') return [{ type: 'json' }];
  return format === 'markdown' ? [{ type: 'matches', pattern: MARKDOWN }] : [];
}

type WrittenFile = NonNullable<WrittenOutput['files']>[number];

function fileChecks(report: CaseReport, files: readonly WrittenFile[], at: JsonPath): readonly OutputCheck[] {
  return files.map(({ path = '', exists, contains, sha256, media_type: mediaType }, place) => {
    const here = [...at, place];
    if (path === '' || /^[/~\\]|(?:^|\/)\.\.(?:\/|$)/.test(path))
      tell(report, {
        at: [...here, 'path'],
        message: `${quoted(path)} is no pattern below the workspace`,
        hint: 'write it from the workspace, such as out/*.md',
      });
    if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256))
      tell(report, { at: [...here, 'sha256'], message: 'sha256 must be 64 hexadecimal digits', hint: 'in lower case' });
    if (exists === false && [contains, sha256, mediaType].some((value) => value !== undefined))
      tell(report, {
        at: [...here, 'exists'],
        message: 'a file that must not be there cannot be like something',
        hint: 'take out exists: false, or the other keys',
      });
    return {
      type: 'file',
      path,
      ...(exists === undefined ? {} : { exists }),
      ...(contains === undefined ? {} : { contains }),
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(mediaType === undefined ? {} : { mediaType }),
    };
  });
}

type WrittenChecker = NonNullable<WrittenOutput['checkers']>[number];

function checkers(
  report: CaseReport,
  suite: Suite,
  written: readonly WrittenChecker[],
  at: JsonPath,
): readonly OutputCheck[] {
  return written.flatMap(({ script = '', arguments: given = [] }, place) => {
    const here = [...at, place, 'script'];
    const file = fileInSuite(report, suite, script, here);
    return file === undefined ? [] : [{ type: 'checker', script: file, arguments: given }];
  });
}

/** A file that a case names and that must be inside the suite; what is wrong with it is told. */
export function fileInSuite(
  report: CaseReport,
  suite: Suite,
  written: string,
  at: JsonPath,
  find = fileOfSuite,
): string | undefined {
  const named = find(suite, written);
  if (named.type === 'found') return named.path;
  const message =
    named.type === 'missing'
      ? `the file ${quoted(written, 120)} is not there`
      : `the path ${quoted(written, 120)} ${named.reason}`;
  const hint =
    named.type === 'missing'
      ? 'write its path from this file, or from the skill in which it lies'
      : 'keep what cases need inside the folder of the suite, and name it by a relative path';
  tell(report, { at, message, hint });
  return undefined;
}
