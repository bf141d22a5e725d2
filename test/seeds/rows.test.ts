import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { SEEDS } from './rows/rows.ts';

const rows = SEEDS.flatMap((document) => document.rows);

test('every row has an id of its own and names a test that exists', () => {
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  const texts = new Map<string, string>();
  const missing = rows.filter(({ test: shownBy = '' }) => {
    const [file = '', title = ''] = shownBy.split(/: (.*)/s);
    const text = texts.get(file) ?? readFileSync(path.join(PROJECT, file), 'utf8');
    texts.set(file, text);
    return title === '' || !text.includes(`'${title}'`);
  });
  expect(missing.map(({ id, test: shownBy }) => `${id} ${shownBy ?? ''}`)).toEqual([]);
});

test('every deviation says why and names a setting, and at least 97 % of the rows of all documents work', () => {
  const deviations = rows.filter(({ result }) => result === 'deviates');
  expect(deviations.filter(({ why = '', setting = '' }) => why === '' || setting === '')).toEqual([]);
  expect(deviations.length / rows.length).toBeLessThanOrEqual(0.03);
});
