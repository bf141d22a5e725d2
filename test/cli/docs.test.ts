import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT, filesBelow } from '../files-below.ts';
import { cli } from './run-cli.ts';

describe('skillwright docs', () => {
  test('lists every page, tutorials first, without the translations', async () => {
    const { status, out } = await cli(PROJECT, ['docs', '--json']);
    const { schema, topics } = JSON.parse(out) as { schema: number; topics: { topic: string; title: string }[] };
    expect([status, schema]).toEqual([0, 1]);
    const pages = filesBelow('docs', /\.md$/).map((file) => file.slice('docs/'.length, -'.md'.length));
    expect(topics.map(({ topic }) => topic).sort()).toEqual(pages.filter((page) => !page.startsWith('zh/')).sort());
    expect(topics[0]?.topic).toMatch(/^tutorials\//);
    expect(topics.find(({ topic }) => topic === 'cli')?.title).not.toBe('');
    const plain = await cli(PROJECT, ['docs']);
    expect(plain.out.split('\n')).toHaveLength(topics.length + 1);
    expect(plain.err).toBe('read one: skillwright docs TOPIC\n');
  });

  test.each(['tutorials/first-skill', 'first-skill', 'First-Skill', 'docs/tutorials/first-skill.md'])(
    'prints the page for %s, as it is in a pipe and formatted on a terminal',
    async (topic) => {
      const text = readFileSync(path.join(PROJECT, 'docs/tutorials/first-skill.md'), 'utf8');
      expect(await cli(PROJECT, ['docs', topic])).toEqual({ status: 0, out: text, err: '' });
      const shown = await cli(PROJECT, ['docs', topic], { isTTY: true, columns: 80 });
      expect(shown.out).toContain('\u001B[');
      expect(shown.out).not.toContain('```console');
      expect(JSON.parse((await cli(PROJECT, ['docs', topic, '--json'])).out)).toMatchObject({
        schema: 1,
        topic: 'tutorials/first-skill',
        text,
      });
    },
  );

  test.each([
    ['first-skil', /did you mean tutorials\/first-skill\?/],
    ['tutorial', /did you mean tutorials\//],
    ['zzzzzzzzzz', /list the topics: skillwright docs/],
    ['../package', /list the topics/],
    ['\u001B[31m', /unknown topic "\\u\{1b\}|unknown topic/],
  ])('an unknown topic is a usage error with near names: %j', async (topic, hint) => {
    const { status, out, err } = await cli(PROJECT, ['docs', topic]);
    expect([status, out, err]).toEqual([2, '', expect.stringMatching(hint)]);
    expect(err).not.toContain('\u001B[31m');
  });
});

test('messages cite pages only as `skillwright docs TOPIC`, and each topic exists', () => {
  const topics = new Set(filesBelow('docs', /\.md$/).map((file) => file.slice('docs/'.length, -'.md'.length)));
  const sources = filesBelow('src', /\.tsx?$/).map((file) => ({
    file,
    text: readFileSync(path.join(PROJECT, file), 'utf8'),
  }));
  const cited = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/docsPage\('([^']+)'\)/g)].map(([, topic = '']) => ({ file, topic })),
  );
  expect(cited.length).toBeGreaterThan(10);
  expect(cited.filter(({ topic }) => !topics.has(topic))).toEqual([]);
  const paths = sources.flatMap(({ file, text }) =>
    text
      .replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
      .split('\n')
      .filter((line) => /docs\/[a-z-]+\.md/.test(line) && !line.includes('policy write_file'))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(paths).toEqual([]);
});
