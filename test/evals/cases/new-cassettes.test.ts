import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { inSkill } from './support.ts';

const written = (cassette: string) => [{ id: 'a', input: 'Do it', cassette, expect: { trigger: true } }];

function readWith(cassette: string, newCassettes: boolean) {
  const { root, file, dir } = inSkill(written(cassette), 'cases.json');
  mkdirSync(path.join(root, 'outside'));
  symlinkSync(path.join(root, 'outside'), path.join(dir, 'evals/link'));
  const { cases, problems } = readCases([file], { newCassettes });
  return { dir, answers: cases.map(({ answers }) => answers), problems: problems.map(({ message }) => message) };
}

test('recorded answers of a case are no file that was not read', () => {
  const { dir } = inSkill(written('a.jsonl'), 'cases.json');
  const line = JSON.stringify({ cassette: 1, model: 'm' });
  for (const name of ['a.jsonl', 'a.2.jsonl', 'a.without.jsonl', 'a.without.2.jsonl', 'ab.jsonl'])
    writeFileSync(path.join(dir, 'evals', name), `${line}\n`);
  const { cases, passedOver } = readCases([dir]);
  writeFileSync(path.join(dir, 'evals/a.old.jsonl'), '');
  expect(readCases([dir]).problems).toEqual([]);
  expect([cases.length, passedOver.map(({ file }) => path.basename(file))]).toEqual([1, ['ab.jsonl']]);
});

describe('a missing cassette', () => {
  test('is a problem unless it will be recorded', () => {
    expect(readWith('a.jsonl', false)).toMatchObject({ answers: [], problems: ['the file "a.jsonl" does not exist'] });
    const { dir, answers, problems } = readWith('a.jsonl', true);
    const file = path.join(dir, 'evals/a.jsonl');
    expect([answers, problems, existsSync(file)]).toEqual([[{ type: 'cassette', file }], [], false]);
    expect(readWith('not/yet/a.jsonl', true).problems).toEqual([]);
  });

  test.each([
    ['link/a.jsonl', 'the path "link/a.jsonl" is outside the suite folder'],
    ['../../../a.jsonl', 'the path "../../../a.jsonl" is outside the suite folder'],
    ['/a.jsonl', 'the path "/a.jsonl" is not relative'],
    ['link/deep/a.jsonl', 'the path "link/deep/a.jsonl" is outside the suite folder'],
  ])('is not recorded at %s', (cassette, message) => {
    expect(readWith(cassette, true)).toMatchObject({ answers: [], problems: [message] });
  });
});
