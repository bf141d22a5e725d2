import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { cli, skillText, temporaryFolder, writeFiles } from './run-cli.ts';
import { needs } from '../needs.ts';

const folder = temporaryFolder();

beforeAll(() => {
  writeFiles(folder, { '.agent/skills/my-own/SKILL.md': skillText('my-own', 'Does my own thing.') });
  // The scripts ask the command for names: it must be on the PATH as users have it.
  writeFiles(folder, {
    'bin/skillwright': `#!/bin/sh\nexec ${process.execPath} ${path.join(PROJECT, 'dist/command/skillwright.js')} "$@"\n`,
  });
  chmodSync(path.join(folder, 'bin/skillwright'), 0o755);
});

const env = (): Record<string, string> => ({
  PATH: `${path.join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
  HOME: folder,
});

async function scriptFor(shell: string): Promise<string> {
  const { out, status } = await cli(folder, ['completion', shell]);
  expect(status).toBe(0);
  const file = path.join(folder, `completion.${shell}`);
  writeFileSync(file, out);
  return file;
}

describe('completion in bash', () => {
  const complete = async (...words: string[]): Promise<readonly string[]> => {
    const file = await scriptFor('bash');
    const script = `source ${file}; COMP_WORDS=(skillwright ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${String(words.length)}; _skillwright; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['--norc', '-c', script], { env: env(), cwd: folder, encoding: 'utf8' })
      .trim()
      .split('\n');
  };

  test('completes commands, flags, values and the names of skills', async () => {
    expect(await complete('ca')).toEqual(['call', 'catalog']);
    expect(await complete('list', '--ex')).toEqual(['--explain']);
    expect(await complete('catalog', '--format', '')).toEqual(['xml', 'markdown', 'lines', 'list', 'expertise']);
    expect(await complete('run', '--skill', 'my')).toEqual(['my-own']);
    expect(await complete('inspect', 'my')).toEqual(['my-own']);
    expect(await complete('--json', 'inspect', 'csv')).toEqual(['csv-report']);
    expect(await complete('completion', 'z')).toEqual(['zsh']);
    expect(await complete('exec', 'text')).toEqual(['text-diff']);
    expect(await complete('exec', 'text-diff', 'scr')).toEqual(['scripts/diff.mjs']);
    expect(await complete('install', '--agent', 'claude')).toEqual(['claude-code']);
    expect(await complete('run', '--model', 'anth')).toEqual(['anthropic/']);
    expect(await complete('list', '--source', 'bui')).toEqual(['builtin']);
    expect(await complete('runs', 'sh')).toEqual(['show']);
    expect(await complete('runs', 'show', 'la')).toEqual(['last']);
    expect(await complete('chat', '--resume', 'la')).toEqual(['last']);
    expect(await complete('keys', '')).toEqual(['list', 'new', 'add', 'remove']);
  });
});

test('the script for zsh is read by zsh', needs('zsh'), async () => {
  execFileSync('zsh', ['-n', await scriptFor('zsh')], { env: env() });
});

test('the script for fish is read by fish and completes', needs('fish'), async () => {
  const file = await scriptFor('fish');
  const out = execFileSync('fish', ['--no-config', '-c', `source ${file}; complete -C 'skillwright inspect my'`], {
    env: env(),
    cwd: folder,
    encoding: 'utf8',
  });
  expect(out).toContain('my-own');
});

test('an unknown shell is wrong usage', async () => {
  expect(await cli(folder, ['completion', 'tcsh'])).toEqual({
    status: 2,
    out: '',
    err: 'error: missing or unknown shell\nhint: usage: skillwright completion bash|zsh|fish\n',
  });
});
