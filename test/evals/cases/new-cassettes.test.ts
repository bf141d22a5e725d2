import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
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

describe('a cassette that is not there yet', () => {
  test('is a problem, unless it is going to be recorded', () => {
    expect(readWith('a.jsonl', false)).toMatchObject({ answers: [], problems: ['the file "a.jsonl" is not there'] });
    const { dir, answers, problems } = readWith('a.jsonl', true);
    const file = path.join(dir, 'evals/a.jsonl');
    expect([answers, problems, existsSync(file)]).toEqual([[{ type: 'cassette', file }], [], false]);
  });

  test.each([
    ['link/a.jsonl', 'the path "link/a.jsonl" lies outside the folder of the suite'],
    ['../../../a.jsonl', 'the path "../../../a.jsonl" lies outside the folder of the suite'],
    ['/a.jsonl', 'the path "/a.jsonl" is not relative'],
    ['nowhere/a.jsonl', 'the file "nowhere/a.jsonl" is not there'],
  ])('is not made at %s', (cassette, message) => {
    expect(readWith(cassette, true)).toMatchObject({ answers: [], problems: [message] });
  });
});
