import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { atTerminal } from '../../cli/pseudo-terminal.ts';
import { SHARED_CACHE } from '../../cli/run-cli.ts';

const SKILL = `---
name: python-math
description: Small Python utilities for math and text files.
---

Command:
python3 scripts/fib.py 10 > out/fib.txt
`;

const TURNS = [
  { toolCalls: [{ name: 'skill_load', input: { skill: 'python-math' } }] },
  {
    toolCalls: [
      {
        name: 'skill_run',
        input: {
          skill: 'python-math',
          command: 'python3 scripts/fib.py 10 > out/fib.txt',
          output_files: ['out/fib.txt'],
        },
      },
    ],
  },
  { expect: { contains: ['0 1 1 2 3 5'] }, text: 'The numbers are in fib.txt.' },
];

/** The interactive example of document 002 in an empty folder: one message, one approval, and the file is saved. */
export async function chatAboutNumbers(
  folder: string,
  command: string,
): Promise<{ readonly text: string; readonly written: string }> {
  const skill = path.join(folder, 'skills/python_math');
  mkdirSync(path.join(skill, 'scripts'), { recursive: true });
  mkdirSync(path.join(folder, 'home'));
  writeFileSync(path.join(skill, 'SKILL.md'), SKILL);
  writeFileSync(path.join(skill, 'scripts/fib.py'), 'print("0 1 1 2 3 5")\n');
  writeFileSync(path.join(folder, 'turns.json'), JSON.stringify({ turns: TURNS }));
  const words = ['chat', '--vocabulary', 'trpc', '--executor', 'local', '--model', 'scripted:turns.json'];
  const { text } = await atTerminal(
    [process.execPath, command, ...words],
    [
      { until: '> ' },
      { keys: 'Print the first 10 Fibonacci numbers.\r' },
      { until: 'anything else is no > ' },
      { seconds: 0.6 },
      { keys: 'yes\r' },
      { until: 'The numbers are in fib.txt.' },
      { until: '> ' },
      { keys: '/quit\r' },
      { until: '[y] yes  [n] no > ' },
      { seconds: 0.6 },
      { keys: 'y' },
    ],
    { cwd: folder, env: { HOME: path.join(folder, 'home'), SKILLS_ROOT: './skills', ...SHARED_CACHE } },
  );
  return { text, written: readFileSync(path.join(folder, 'out/fib.txt'), 'utf8') };
}
