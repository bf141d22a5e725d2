import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { scriptCommand, shellCommand } from '../programs/interpreter.ts';
import { assertExit, type CaseDefinition, conform, type Fixture, type ProgramResult } from './fixture.ts';
import { SKILL } from './skill.ts';

const WHERE = 'scripts/where.sh';

function spellingCase(about: string, line: (root: string) => string, script = WHERE, program = 'sh'): CaseDefinition {
  return conform(
    'EXEC-6',
    `a script is found when it is written ${about}`,
    { needs: { programs: ['bash', program] } },
    async (fixture) => {
      const ran = await fixture.run(shellCommand(`${line(fixture.root)} 'a b'`));
      assertExit(ran, 0);
      assert.equal(ran.text, `${fixture.root}/skills/${SKILL}/${script}|a b`);
    },
  );
}

function wordCase(about: string, words: readonly string[]): CaseDefinition {
  return conform('EXEC-6', `arguments with ${about} reach the program as they are`, async (fixture) => {
    const ran = await fixture.shell(`printf '%s\\0' "$@"`, {}, words);
    assertExit(ran, 0);
    assert.deepEqual(ran.text.split('\0').slice(0, -1), words);
  });
}

/** Builds the command like `run_script`. */
async function runScript(fixture: Fixture, script: string, args: readonly string[]): Promise<ProgramResult> {
  const bytes = readFileSync(path.join(fixture.staged.snapshot, script));
  const file = `${fixture.root}/skills/${SKILL}/${script}`;
  const command = scriptCommand({ path: file, bytes, isExecutable: false }, args);
  assert(command.type === 'command', script);
  const ran = await fixture.run(command.argv);
  assertExit(ran, 0);
  return ran;
}

function scriptCase(about: string, script: string, program: string, expected: string): CaseDefinition {
  return conform('EXEC-6', `${about} runs`, { needs: { programs: [program] } }, async (fixture) => {
    assert.equal((await runScript(fixture, script, ['a b'])).stdout.toString('utf8').trimEnd(), expected);
  });
}

export const SCRIPT_CASES: readonly CaseDefinition[] = [
  spellingCase('scripts/x', () => WHERE),
  spellingCase('./scripts/x', () => `./${WHERE}`),
  spellingCase('python3 scripts/x', () => 'python3 scripts/where.py', 'scripts/where.py', 'python3'),
  spellingCase('cd . && scripts/x', () => `cd . && ${WHERE}`),
  spellingCase('with its whole path inside', (root) => `${root}/skills/${SKILL}/${WHERE}`),
  scriptCase('a .sh without the permission to be executed', 'scripts/plain.sh', 'bash', 'plain a b'),
  scriptCase('a .py without the permission to be executed', 'scripts/plain.py', 'python3', "python ['a b']"),
  scriptCase('a .mjs without the permission to be executed', 'scripts/plain.mjs', 'node', 'node ["a b"]'),
  scriptCase('a shell script with Windows line ends', 'scripts/windows.sh', 'sh', '<a b>'),
  scriptCase('a Python script with Windows line ends', 'scripts/windows.py', 'python3', "['a b']"),
  wordCase('spaces', ['a b', ' c ', '   ']),
  wordCase('quotes of both kinds', [`it's`, `"so"`, `'"'"'`, '`']),
  wordCase('newlines and tabs', ['a\nb', '\n', '\t\r\n']),
  wordCase('what a shell would run', [
    '$(echo no)',
    '`echo no`',
    '$HOME',
    '; echo no',
    '&& echo no',
    '| cat',
    '> file',
    '*',
    '~',
  ]),
  wordCase('leading dashes', ['-n', '--', '--help', '-']),
  wordCase('nothing in them', ['', 'a', '', '']),
  wordCase('letters of many scripts', ['größe', '大小', '🎉', 'e\u0301', '\u202Eabc']),
  wordCase('backslashes and percent signs', ['\\', 'a\\nb', '%s', '%%', '\\0']),
  wordCase('a hundred thousand letters', ['x'.repeat(100_000)]),
  wordCase(
    'ten thousand words',
    Array.from({ length: 10_000 }, (_, at) => `word ${String(at)}`),
  ),
];
