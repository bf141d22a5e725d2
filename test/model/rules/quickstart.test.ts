import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import {
  fillQuickstart,
  findQuickstart,
  parseQuickstart,
  type Quickstart,
  type QuickstartFilling,
  type QuickstartInput,
} from '../../../src/model/rules/quickstart.ts';

const found = (line: string): Quickstart => {
  const reading = parseQuickstart(line);
  if (reading.type !== 'found') throw new Error(JSON.stringify(reading));
  return reading.quickstart;
};
const fill = (line: string, given: Partial<QuickstartInput> = {}): QuickstartFilling =>
  fillQuickstart(found(line), { request: '', files: [], ...given });
const body = (code: string, fence = '```'): string => `# Skill\n\n${fence}quickstart\n${code}\n${fence}\n\nMore.\n`;

describe('the block', () => {
  test('is fenced code called quickstart, with tildes, indented or longer as well', () => {
    const expected = { type: 'found', quickstart: found('scripts/a.mjs x') };
    expect(findQuickstart(body('scripts/a.mjs x'))).toEqual(expected);
    expect(findQuickstart(body('scripts/a.mjs x', '~~~~'))).toEqual(expected);
    expect(findQuickstart('1. Run\n\n   ```quickstart\n   scripts/a.mjs x\n   ```\n')).toEqual(expected);
    expect(findQuickstart(body('# a comment\n\nscripts/a.mjs x').replaceAll('\n', '\r\n'))).toEqual(expected);
  });

  test('is the first of several; one inside other code is an example', () => {
    expect(findQuickstart(body('scripts/a.mjs') + body('scripts/b.mjs'))).toMatchObject({
      quickstart: { script: 'scripts/a.mjs' },
    });
    expect(findQuickstart(`~~~~md\n${body('scripts/example.mjs')}~~~~\n`)).toEqual({ type: 'absent' });
    expect(findQuickstart('```sh\nscripts/a.mjs\n```\n')).toEqual({ type: 'absent' });
    expect(findQuickstart('```quickstarter\nscripts/a.mjs\n```\n')).toEqual({ type: 'absent' });
  });

  test('without an end is a problem', () => {
    expect(findQuickstart('```quickstart\nscripts/a.mjs\n')).toEqual({
      type: 'invalid',
      problem: 'the quickstart block has no closing fence',
    });
  });

  test('may stand in the metadata of a whole SKILL.md, where the body has none', () => {
    const whole = (text: string): string =>
      `---\nname: a\ndescription: Does it.\nmetadata:\n  quickstart: scripts/meta.mjs {file}\n---\n\n${text}`;
    expect(findQuickstart(whole('# Body\n'))).toMatchObject({ quickstart: { script: 'scripts/meta.mjs' } });
    expect(findQuickstart(whole(body('scripts/body.mjs')))).toMatchObject({
      quickstart: { script: 'scripts/body.mjs' },
    });
  });

  test('of the built-in skills can be followed', () => {
    const of = (skill: string): unknown =>
      findQuickstart(readFileSync(new URL(`../../../skills/${skill}/SKILL.md`, import.meta.url), 'utf8'));
    expect(of('csv-report')).toMatchObject({ type: 'found', quickstart: { script: 'scripts/report.mjs' } });
    expect(of('text-diff')).toMatchObject({ type: 'found', quickstart: { script: 'scripts/diff.mjs' } });
    expect(of('skill-author')).toEqual({ type: 'absent' });
  });
});

describe('a line', () => {
  test('is split at white space; quotes keep words together and are taken as they are', () => {
    expect(found(`scripts/a.mjs --title "a  b" '{file}' --in={file:.CSV, tsv?}`)).toEqual({
      script: 'scripts/a.mjs',
      words: [
        { type: 'literal', text: '--title' },
        { type: 'literal', text: 'a  b' },
        { type: 'literal', text: '{file}' },
        { type: 'placeholder', kind: 'file', endings: ['csv', 'tsv'], isOptional: true, before: '--in=', after: '' },
      ],
    });
  });

  test('means nothing to a shell', () => {
    expect(fill('scripts/a.mjs $(id) ; rm -rf / && `x` | cat > $HOME')).toEqual({
      type: 'filled',
      script: 'scripts/a.mjs',
      args: ['$(id)', ';', 'rm', '-rf', '/', '&&', '`x`', '|', 'cat', '>', '$HOME'],
      files: [],
    });
  });

  test.each([
    ['', 'the quickstart is empty, expected a script and its arguments'],
    ['scripts/a.mjs\nscripts/b.mjs', 'the quickstart has several lines, expected one script and its arguments'],
    ['node scripts/a.mjs', 'the quickstart starts with "node", expected a path below scripts/'],
    ['../../bin/sh', 'the path "../../bin/sh" contains ".."'],
    ['scripts/../../x', 'the path "scripts/../../x" contains ".."'],
    ['/bin/sh -c id', 'the path "/bin/sh" is absolute, expected a relative one'],
    ['scripts/a.mjs "open', 'the quickstart has a quote inside a word or without an end, at ""open"'],
    ['scripts/a.mjs a"b"', 'the quickstart has a quote inside a word or without an end, at "a"b""'],
    ['scripts/a.mjs {secret}', '"{secret}" is not a placeholder; expected one of {file}, {files}, {request}, {quoted}'],
    [
      'scripts/a.mjs {file}{file}',
      '"{file}{file}" is not a placeholder; expected one of {file}, {files}, {request}, {quoted}',
    ],
    ['scripts/a.mjs {file', '"{file" is not a placeholder; expected one of {file}, {files}, {request}, {quoted}'],
    ['scripts/a.mjs {request:csv}', '"{request:csv}" has file endings, which only file placeholders can have'],
    ['scripts/a\u202e.mjs', 'the quickstart contains an invisible character'],
    [`scripts/a.mjs ${'x '.repeat(64)}`, 'the quickstart has 65 words, expected 1 to 64'],
    [`scripts/a.mjs ${'x'.repeat(2000)}`, 'the quickstart has more than 2000 characters'],
  ])('%j is refused', (line, problem) => {
    expect(parseQuickstart(line)).toEqual({ type: 'invalid', problem });
  });
});

describe('filling', () => {
  test('gives each file once, in order, and by its ending', () => {
    expect(
      fill('scripts/a.mjs {file} {file:csv} {files}', { files: ['inputs/1', 'inputs/2', 'inputs/A.CSV', 'inputs/3'] }),
    ).toEqual({
      type: 'filled',
      script: 'scripts/a.mjs',
      args: ['inputs/1', 'inputs/A.CSV', 'inputs/2', 'inputs/3'],
      files: ['inputs/1', 'inputs/A.CSV', 'inputs/2', 'inputs/3'],
    });
  });

  test('says what is missing, and leaves out what may be missing', () => {
    expect(fill('scripts/a.mjs {file:csv,tsv} {files} {quoted} {file?}', { request: 'no quotes' })).toEqual({
      type: 'missing',
      placeholders: ['a file (.csv, .tsv)', 'files', 'a text in quotes'],
    });
    expect(fill('scripts/a.mjs --top=5 {file?} {quoted?}')).toMatchObject({ args: ['--top=5'] });
  });

  test('keeps a text in one word, whatever is in it', () => {
    const request = 'say "$(id); --out /etc" \'now\'\n&& more';
    expect(fill('scripts/a.mjs {request} {quoted}', { request })).toMatchObject({
      args: [request, '$(id); --out /etc'],
    });
    expect(fill('scripts/a.mjs {quoted}', { request: '找「订单」' })).toMatchObject({ args: ['订单'] });
  });

  test('never lets a text or a name become an option', () => {
    expect(fill('scripts/a.mjs {request}', { request: ' --out=/etc/passwd' })).toEqual({
      type: 'missing',
      placeholders: ['a request that does not start with -'],
    });
    expect(fill('scripts/a.mjs {file}', { files: ['-rf', 'inputs/-rf'] })).toMatchObject({ args: ['inputs/-rf'] });
    expect(fill('scripts/a.mjs --text={request}', { request: '--x' })).toMatchObject({ args: ['--text=--x'] });
    expect(fill('scripts/a.mjs {request}', { request: 'a\0b' })).toMatchObject({ args: ['ab'] });
  });

  test('is never more words than the line and the files have', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200, unit: fc.constantFrom(...'{}file s:?"\'-=,.request/\n`') }),
        fc.string(),
        fc.array(fc.string()),
        (line, request, files) => {
          const reading = parseQuickstart(`scripts/a.mjs ${line}`);
          if (reading.type !== 'found') return;
          const filled = fillQuickstart(reading.quickstart, { request, files });
          if (filled.type === 'missing') return;
          expect(filled.args.length).toBeLessThanOrEqual(reading.quickstart.words.length + files.length);
          expect(filled.files.every((file) => files.includes(file))).toBe(true);
          expect(filled.args.some((arg) => arg.includes('\0'))).toBe(false);
        },
      ),
    );
  });

  test('braces without end and a million fences take no time worth speaking of', () => {
    expect(parseQuickstart(`scripts/a.mjs ${'{a}'.repeat(600)}"`).type).toBe('invalid');
    expect(parseQuickstart(`scripts/a.mjs ${'{'.repeat(1900)}"`).type).toBe('invalid');
    expect(findQuickstart('```\n'.repeat(300_000)).type).toBe('absent');
  });
});
