import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT, filesBelow } from '../../files-below.ts';
import { DOCUMENTS } from './documents.ts';

describe.each(DOCUMENTS)('the rows of $title', ({ page, rows }) => {
  test('each works row names a test that exists', () => {
    const tests = filesBelow('test', /\.test\.ts$/)
      .map((file) => readFileSync(file, 'utf8').replaceAll("\\'", "'"))
      .join('\n');
    const missing = rows.filter(({ result, test: title }) => result === 'works' && !tests.includes(title ?? '\0'));
    expect(missing.map(({ id, test: title }) => [id, title])).toEqual([]);
  });

  test('each deviation is on the page of the vocabulary, with its reason and its setting', () => {
    const text = readFileSync(path.join(PROJECT, 'docs', page), 'utf8').replaceAll(/\s+/g, ' ');
    const silent = rows.filter(
      ({ result, why = '', setting = '' }) =>
        result === 'deviates' && (why === '' || setting === '' || !text.includes(why) || !text.includes(setting)),
    );
    expect(silent).toEqual([]);
  });

  test('ids are unique, and at least 97 % of the rows work', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    const works = rows.filter(({ result }) => result === 'works').length;
    expect(works / rows.length).toBeGreaterThanOrEqual(0.97);
  });
});
