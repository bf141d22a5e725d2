import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { CHINESE } from '../../console/chinese.ts';
import { readBlocks } from '../../console/parts/markdown-blocks.ts';
import { PROJECT, filesBelow } from '../files-below.ts';

const sources = filesBelow('console', /\.tsx?$/).filter((file) => !file.includes('/chinese'));
const texts = sources.map((file) => readFileSync(path.join(PROJECT, file), 'utf8'));

describe('the texts of the page', () => {
  const used = new Set(
    texts.flatMap((text) => [...text.matchAll(/\b(?:t|counted)\(\s*'((?:[^'\\]|\\.)*)'/g)].map(([, key = '']) => key)),
  );

  test('are all in Chinese too, with the same values', () => {
    expect(used.size).toBeGreaterThan(200);
    expect([...used].filter((key) => CHINESE[key] === undefined)).toEqual([]);
    const values = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();
    expect(Object.entries(CHINESE).filter(([key, text]) => values(key).join() !== values(text).join())).toEqual([]);
  });
});

describe('Markdown', () => {
  test('is read into blocks; markup of strangers stays text', () => {
    expect(readBlocks('# A\n\n<script>x</script>\n\n- one\n  - two\n\n```sh\ncode\n```\n> q\n')).toEqual([
      { type: 'heading', level: 1, text: 'A' },
      { type: 'paragraph', text: '<script>x</script>' },
      {
        type: 'list',
        isOrdered: false,
        items: [
          [
            { type: 'paragraph', text: 'one' },
            { type: 'list', isOrdered: false, items: [[{ type: 'paragraph', text: 'two' }]] },
          ],
        ],
      },
      { type: 'code', language: 'sh', text: 'code' },
      { type: 'quote', blocks: [{ type: 'paragraph', text: 'q' }] },
    ]);
  });

  test.each([
    '>'.repeat(50_000),
    '- '.repeat(50_000),
    '#'.repeat(100_000),
    '|'.repeat(100_000),
    `${'  '.repeat(20_000)}- x`,
    '`'.repeat(100_000),
  ])('of any shape is read (%#)', (text) => {
    expect(readBlocks(text).length).toBeGreaterThan(0);
  });
});

test('no source of the page inserts markup or runs text', () => {
  const forbidden =
    /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function/;
  expect(sources.filter((_, at) => forbidden.test(texts[at] ?? ''))).toEqual([]);
});

test('the built page has at most 150 KB, compressed', () => {
  const files = ['index.html', 'console.js', 'console.css', 'icon.svg'].map((name) =>
    path.join(PROJECT, 'dist/console', name),
  );
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  expect(bytes).toBeLessThan(150_000);
  expect(statSync(files[1] ?? '').size).toBeGreaterThan(20_000);
  const html = readFileSync(files[0] ?? '', 'utf8');
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|https?:\/\//);
});
