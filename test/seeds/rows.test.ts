import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { SEEDS } from './rows/rows.ts';

const rows = SEEDS.flatMap((document) => document.rows);
const deviations = rows.flatMap(({ id, deviation }) => (deviation === undefined ? [] : [{ id, ...deviation }]));

const texts = new Map<string, string>();

/** The code of a test, given `file: title`; undefined if there is none. */
function readTest(test: string): string | undefined {
  const [file = '', title = ''] = test.split(/: (.*)/s);
  const text = texts.get(file) ?? readFileSync(path.join(PROJECT, file), 'utf8');
  texts.set(file, text);
  const start = title === '' ? -1 : text.indexOf(`'${title}'`);
  return start === -1 ? undefined : text.slice(start).split(/\n *(?:test|verifies)\(/, 1)[0];
}

/** Whether code uses a setting: every word of it occurs, in this order. `format.mode: 'strict'` is used by `{ format: { mode: 'strict' } }`. */
function uses(code: string, setting: string): boolean {
  const words = setting.match(/\w+/g) ?? [];
  return words.length > 0 && new RegExp(words.map((word) => String.raw`\b${word}\b`).join('[^]*?')).test(code);
}

test('every row has an id of its own, and every row and choice names a test that exists', () => {
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  const named = [...rows, ...SEEDS.flatMap(({ choices }) => choices)].map((row) => row.test);
  expect(named.filter((shownBy) => readTest(shownBy) === undefined)).toEqual([]);
});

verifies(
  'VOC-1',
  'every deviation has a sentence, what happens here and why, and its settings are used by the tests that they name',
  () => {
    expect(
      deviations
        .filter(({ sentence, ours, why }) => [sentence, ours, why].some((text) => text === ''))
        .map(({ id }) => id),
    ).toEqual([]);
    const unused = deviations.flatMap(({ id, restoredBy }) =>
      restoredBy
        .filter(({ setting, test: shownBy }) => !uses(readTest(shownBy) ?? '', setting))
        .map(({ setting, test: shownBy }) => `${id}: ${setting} is not used by ${shownBy}`),
    );
    expect(unused).toEqual([]);
  },
);

test('there are at least 456 rows of all documents, and at most 20 deviate', () => {
  expect(rows.length).toBeGreaterThanOrEqual(456);
  expect(deviations.length, deviations.map(({ id }) => id).join(' ')).toBeLessThanOrEqual(20);
});
