/** A skill of any text makes prompts longer. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { evaluate } from '../../src/evals/evaluate.ts';
import { findVerdict } from '../../src/evals/report/verdict.ts';
import { answering, comparison, differenceVerdict, hasSkill, load } from './eval-world.ts';

const prompts = (words: number) => async () => {
  const model = answering((_asked, turn, { system }) =>
    hasSkill(system) ? (turn === 0 ? load('tables') : { text: 'right' }) : { text: 'wrong' },
  );
  const options = comparison({ model });
  const [skill = ''] = options.skills;
  const head = '---\nname: tables\ndescription: Works on tables. Use it for tables.\n---\n';
  writeFileSync(path.join(skill, 'SKILL.md'), `${head}${'Plain words about nothing. '.repeat(words)}\n`);
  const report = await evaluate(options);
  return [differenceVerdict(report), findVerdict(report).warnings];
};

test('a skill that makes prompts much longer is better with a warning', async () => {
  expect(await prompts(200)()).toEqual([
    'better',
    [expect.stringMatching(/^prompts are \d\.\d times as long with the skill, which alone can change answers: /)],
  ]);
  expect(await prompts(5)()).toEqual(['better', []]);
});
