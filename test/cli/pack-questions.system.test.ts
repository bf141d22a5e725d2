import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { makeKey } from '../../src/packs/sign/minisign.ts';
import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, skillText, spawnCli, writeFiles } from './run-cli.ts';
import { needs } from '../needs.ts';
const COMMAND = [process.execPath, path.join(PROJECT, 'dist/command/skillwright.js')];
/** More than keys need to count. */
const PAUSE = { seconds: 0.6 };

function world(): {
  readonly folder: string;
  readonly at: (words: readonly string[], steps: readonly Step[]) => Promise<Screen>;
} {
  const folder = scratch();
  for (const made of ['.git', 'home']) mkdirSync(path.join(folder, made));
  writeFiles(folder, {
    'source/tables/SKILL.md': skillText('tables', 'Works on tables.', 'metadata:\n  version: "1.0.0"\n'),
    'source/tables/guide.md': 'one\n',
  });
  const env = { HOME: path.join(folder, 'home'), ...SHARED_CACHE };
  return { folder, at: (words, steps) => atTerminal([...COMMAND, ...words], steps, { cwd: folder, env }) };
}

describe('at a terminal', needs('python3 with pty'), () => {
  test('an update is shown first; the enter key alone is no, and y is yes', async () => {
    const { folder, at } = world();
    expect(await spawnCli(folder, ['install', './source', '--yes'])).toMatchObject({ status: 0 });
    writeFiles(folder, { 'source/tables/guide.md': 'two\n' });
    const guide = path.join(folder, '.agents/skills/tables/guide.md');
    const no = await at(['update'], [{ until: '[n] no >' }, PAUSE, { keys: '\r' }]);
    expect(no).toMatchObject({ status: 3, text: expect.stringMatching(/-one[^]*\+two[^]*update tables\?/) as string });
    expect(readFileSync(guide, 'utf8')).toBe('one\n');
    const yes = await at(['update'], [{ until: '[n] no >' }, PAUSE, { keys: 'y' }]);
    expect(yes).toMatchObject({ status: 0, text: expect.stringContaining('updated tables') as string });
    expect(readFileSync(guide, 'utf8')).toBe('two\n');
  });

  test.each(['--quiet', '--json'])('the question shows the plan, also with %s', async (flag) => {
    const { folder, at } = world();
    const no = [{ until: '[n] no >' }, PAUSE, { keys: 'n' }];
    const seen = (text: RegExp) => ({ status: 3, text: expect.stringMatching(text) as string });
    expect(await at(['install', './source', flag], no)).toMatchObject(seen(/\+ tables[^]*install 1 skill\?/));
    writeFiles(folder, {
      'skills-lock.json': JSON.stringify({
        version: 1,
        skills: { tables: { source: './source', sourceType: 'local', computedHash: '' } },
      }),
    });
    const imported = await at(['lock', '--import', 'skills-lock.json', flag], no);
    expect(imported.text).toMatch(/\+ tables[^]*install tables\?/);
    expect(await spawnCli(folder, ['install', './source', '--yes'])).toMatchObject({ status: 0 });
    writeFiles(folder, { 'source/tables/guide.md': 'two\n' });
    expect(await at(['update', flag], no)).toMatchObject(seen(/-one[^]*\+two[^]*update tables\?/));
    expect(await at(['trust', flag], no)).toMatchObject(seen(/tables {2}0 scripts[^]*trust this folder/));
  });

  test('several skills are selected from a list, then the plan is confirmed; ctrl-c leaves the terminal as it was', async () => {
    const { folder, at } = world();
    const evil = '\\e[31mred\\e[0m \\u202e bidi';
    writeFiles(folder, {
      'source/letters/SKILL.md': skillText('letters', 'Works on letters.'),
      'source/odd/SKILL.md': `---\nname: odd\ndescription: "${evil}"\n---\n\n# Odd\n`,
    });
    const list = { until: 'type to filter: ' };
    const some = await at(
      ['install', './source'],
      [list, { keys: 'lett' }, { seconds: 0.3 }, { keys: ' \r' }, { until: '[n] no >' }, PAUSE, { keys: 'y' }],
    );
    expect(some).toMatchObject({ status: 0, text: expect.stringContaining('installed letters') as string });
    expect(some.text).toMatch(/\[ \] odd {6}.* bidi/);
    expect(some.text).not.toContain('\u202E');
    expect(existsSync(path.join(folder, '.agents/skills/tables'))).toBe(false);
    const shell = ['sh', '-c', `${[...COMMAND, 'install', './source'].join(' ')}; echo "exit $?"; stty -a`];
    const env = { HOME: path.join(folder, 'home'), ...SHARED_CACHE };
    const left = await atTerminal(shell, [list, { keys: '\u0003' }], { cwd: folder, env });
    expect(left.text).toMatch(/exit 130[^]* icanon[^]* echo /);
  });

  test('the password of a key is asked for and never shown; a wrong one signs nothing', async () => {
    const { folder, at } = world();
    expect(await spawnCli(folder, ['pack', 'source/tables', '-o', 'tables.zip'])).toMatchObject({ status: 0 });
    // With what minisign asks for, one try takes seconds and 1 GiB.
    const { secretText } = await makeKey({ password: 'open sesame', cost: { opsLimit: 32_768, memLimit: 16_777_216 } });
    writeFileSync(path.join(folder, 'work.key'), secretText, { mode: 0o600 });
    const sign = (password: string): Promise<Screen> =>
      at(['sign', 'tables.zip', '--key', 'work.key'], [{ until: 'work.key": ' }, PAUSE, { keys: `${password}\r` }]);
    const wrong = await sign('closed sesame');
    expect(wrong).toMatchObject({ status: 1, text: expect.stringContaining('wrong password') as string });
    expect(existsSync(path.join(folder, 'tables.zip.minisig'))).toBe(false);
    const right = await sign('open sesame');
    expect(right.status).toBe(0);
    expect(`${wrong.text}${right.text}`).not.toContain('sesame');
    expect(existsSync(path.join(folder, 'tables.zip.minisig'))).toBe(true);
  });
});
