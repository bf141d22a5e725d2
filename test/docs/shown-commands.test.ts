import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT, filesBelow } from '../files-below.ts';
import { fencesOf, readSteps, rewritten, withFences, wrongOutputs } from './shown-commands.ts';

const page = (...output: readonly string[]): string => ['```console', '$ run it', ...output, '```'].join('\n');
const wrong = (shown: readonly string[], came: readonly string[], status = 0): number =>
  wrongOutputs(readSteps(page(...shown)), [{ status, output: came }]).length;

test('files, commands, continued commands and their output are read in order', () => {
  const text = [
    '```js file=a/b.mjs',
    'x',
    '```',
    '```sh',
    'not run',
    '```',
    '```console status=3',
    '$ a \\',
    '  b',
    'out',
    '$ c',
    '```',
  ];
  expect(readSteps(text.join('\n'))).toEqual([
    { type: 'file', path: 'a/b.mjs', text: 'x\n' },
    { type: 'command', command: 'a \\\n  b', output: ['out'], at: { from: 9, to: 10 }, status: 3 },
    { type: 'command', command: 'c', output: [], at: { from: 11, to: 11 }, status: 3 },
  ]);
});

describe('output', () => {
  test.each([
    ['another word', ['3 files'], ['4 files']],
    ['a line too much', ['one'], ['one', 'two']],
    ['a line too few', ['one', 'two'], ['one']],
    ['nothing shown', [], ['one']],
    ['another order around ...', ['b', '...', 'a'], ['a', 'x', 'b']],
    ['an end that is missing after ...', ['a', '...', 'c'], ['a', 'b']],
    ['one line for both sides of ...', ['a', '...', 'a'], ['a']],
  ])('is wrong: %s', (_, shown, came) => expect(wrong(shown, came)).toBe(1));

  test.each([
    ['the same', ['one', 'two'], ['one', 'two']],
    ['wrapped elsewhere', ['one two', 'three'], ['one', 'two three']],
    ['left out by ...', ['a', '...', 'z'], ['a', 'b', 'c', 'z']],
    ['other times', ['done in 3.1 s (12 ms)'], ['done in 2 min 5 s (9 ms)']],
    ['another run', ['run 20261116T170606Z-1e27fe1d'], ['run 20270101T000000Z-00000000']],
    [
      'another folder in the same second',
      ['results: .agent/evals/20261116T172613'],
      ['results: .agent/evals/20261117T055745-2'],
    ],
    ['another sandbox', ['isolated by bubblewrap'], ['isolated by namespaces']],
    [
      'a line of the first start',
      ['a'],
      ['testing the isolation of bubblewrap; this takes some seconds once a day', 'a'],
    ],
  ])('is right: %s', (_, shown, came) => expect(wrong(shown, came)).toBe(0));

  test('of a command that fails is wrong, unless the page tells the exit code', () => {
    const told = readSteps('```console\n$ a\n$ echo $?\n3\n```');
    expect(wrong(['x'], ['x'], 3)).toBe(1);
    expect(
      wrongOutputs(told, [
        { status: 3, output: [] },
        { status: 0, output: ['3'] },
      ]),
    ).toEqual([]);
    expect(wrongOutputs(readSteps('```console status=3\n$ a\n```'), [{ status: 0, output: [] }])).toHaveLength(1);
    expect(wrongOutputs(told, [{ status: 0, output: [] }])).toHaveLength(1);
  });

  test('is written where it differs, and left where it does not', () => {
    const text = '```console\n$ a\nold\n$ b\n1 ms\n```\nrest';
    const results = [['new', 'er'], ['2 ms']].map((output) => ({ status: 0, output }));
    expect(rewritten(text, readSteps(text), results)).toBe('```console\n$ a\nnew\ner\n$ b\n1 ms\n```\nrest');
  });
});

test('a translation takes the code of the page', () => {
  const page = (language: string, comment: string, file: string): string =>
    `# ${language}\n\`\`\`sh\na # ${comment}\n\`\`\`\n\`\`\`js file=a.js\n${file}\n\`\`\`\nrest`;
  expect(withFences(page('零', '一', 'old'), page('zero', 'one', 'new'))).toBe(page('零', '一', 'new'));
});

const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');

const TRANSLATED = [...filesBelow('docs/tutorials', /\.md$/), ...filesBelow('docs/how-to', /\.md$/)];

test.each(TRANSLATED)('%s has a Chinese page with the same code and headings', (file) => {
  const headings = (text: string): number => text.replaceAll(/^(`{3,})[^]*?^\1$/gm, '').match(/^#+ /gm)?.length ?? 0;
  const translation = file.replace('docs/', 'docs/zh/');
  expect(fencesOf(read(translation))).toEqual(fencesOf(read(file)));
  expect(headings(read(translation))).toBe(headings(read(file)));
});

test('a file that a tutorial creates is named in the text before it', () => {
  const unnamed = filesBelow('docs/tutorials', /\.md$/).flatMap((file) => {
    const text = read(file);
    return [...text.matchAll(/^.*\n\n`{3,}\w+ file=(\S+)$/gm)]
      .filter(([before, name = '']) => !before.startsWith('`') && !before.split('\n')[0]?.includes(`\`${name}\``))
      .map(([, name]) => `${file}: ${String(name)}`);
  });
  expect(unnamed).toEqual([]);
});
