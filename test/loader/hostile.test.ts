import { execFileSync, spawn } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { FailureCode } from '../../src/core/failure-codes.ts';
import { readResourceFile } from '../../src/loader/read-resource.ts';
import type { SkillPlace } from '../../src/loader/skill-directory.ts';
import { verifies } from '../conformance/verifies.ts';
import { makeSkill } from './support.ts';

const SECRET = 'the secret';

interface Hostile {
  readonly ask: string;
  readonly code: FailureCode;
  /** Puts something bad at `place`, which is where `ask` leads if nothing is said. */
  readonly make?: (place: string, base: string) => void;
}

const at = (make: Hostile['make'], code: FailureCode, ask = 'references/x.md'): Hostile => ({
  ask,
  code,
  ...(make && { make }),
});
const named = (ask: string, code: FailureCode): Hostile => ({ ask, code });

const CASES: Readonly<Record<string, Hostile>> = {
  'a parent folder': named('../secret.md', 'path/parent'),
  'a parent folder on the way': named('references/../../secret.md', 'path/parent'),
  'an absolute path': named('/etc/passwd', 'path/absolute'),
  'a home folder': named('~/secret.md', 'path/absolute'),
  'a drive': named(String.raw`C:\secret.md`, 'path/absolute'),
  'a share': named(String.raw`\\host\secret.md`, 'path/absolute'),
  'a file URL': named('file:///etc/passwd', 'path/absolute'),
  'a NUL': named('references/x.md\0.png', 'path/control-character'),
  'a direction character': named('references/\u202Ex.md', 'path/control-character'),
  'encoded dots': named('%2e%2e/secret.md', 'path/encoded'),
  'dots encoded twice': named('%252e%252e%252fsecret.md', 'path/encoded'),
  'a backslash': named(String.raw`..\secret.md`, 'path/backslash'),
  'an endless name': named(`references/${'x'.repeat(5_000_000)}`, 'path/too-long'),
  nothing: named('', 'path/empty'),
  'the folder itself': named('./', 'path/empty'),
  'the process folder': named('/proc/self/root/etc/passwd', 'path/absolute'),
  'a name like the process folder': named('proc/self/root', 'file/missing'),
  'standard input': named('/dev/fd/0', 'path/absolute'),
  'a link to standard input': at((place) => symlinkSync('/dev/fd/0', place), 'path/link-outside'),
  'a link through the process folder': at(
    (place) => symlinkSync('/proc/self/root/etc/passwd', place),
    'path/link-outside',
  ),
  'a link to the working folder of the process': at(
    (place) => symlinkSync('/proc/self/cwd', path.join(path.dirname(place), 'cwd')),
    'path/link-outside',
    'references/cwd/package.json',
  ),
  'a folder': at((place) => mkdirSync(place), 'file/directory'),
  'a folder of the skill': named('references', 'file/directory'),
  'a pipe': at((place) => void execFileSync('mkfifo', [place]), 'file/not-regular'),
  'a link to a file outside': at(
    (place, base) => symlinkSync(path.join(base, 'secret.md'), place),
    'path/link-outside',
  ),
  'a relative link to a file outside': at((place) => symlinkSync('../../secret.md', place), 'path/link-outside'),
  'a link to a folder outside': at(
    (place) => symlinkSync('../..', path.join(path.dirname(place), 'out')),
    'path/link-outside',
    'references/out/secret.md',
  ),
  'a chain of links that ends outside': at((place) => {
    symlinkSync('one.md', place);
    symlinkSync('../assets/two.md', path.join(place, '../one.md'));
    symlinkSync('../../secret.md', path.join(place, '../../assets/two.md'));
  }, 'path/link-outside'),
  'a link to a skill whose name starts the same': at(
    (place, base) => symlinkSync(path.join(base, 'demo-2/secret.md'), place),
    'path/link-outside',
  ),
  'a link round in a circle': at((place) => symlinkSync('x.md', place), 'path/link-loop'),
  'a second name of a file elsewhere': at(
    (place, base) => linkSync(path.join(base, 'secret.md'), place),
    'path/hard-link',
  ),
  'a file over the limit': at((place) => writeFileSync(place, SECRET.repeat(300_000)), 'file/too-large'),
  'a terabyte of nothing': at((place) => {
    writeFileSync(place, SECRET);
    truncateSync(place, 2 ** 40);
  }, 'file/too-large'),
  'text in another encoding': at(
    (place) => writeFileSync(place, Buffer.from(`${SECRET} caf\xe9\n`, 'latin1')),
    'file/not-utf8',
  ),
  'a key beside the instructions': at(
    (place) => writeFileSync(path.join(place, '../../.env'), SECRET),
    'path/not-offered',
    '.env',
  ),
  'a skill that was removed': at((place) => rmSync(path.join(place, '../..'), { recursive: true }), 'skill/gone'),
};

/** A skill with a secret beside it, and another skill whose name starts the same. */
function besideSecret(): { readonly skill: SkillPlace; readonly base: string; readonly place: string } {
  const skill = makeSkill({ 'assets/a.txt': 'a', 'references/fine.md': 'fine' });
  const base = path.dirname(skill.dir);
  writeFileSync(path.join(base, 'secret.md'), SECRET);
  makeSkill({ 'secret.md': SECRET }, {}, path.join(base, 'demo-2'));
  return { skill, base, place: path.join(skill.dir, 'references/x.md') };
}

describe('what must not be read', () => {
  verifies('DISC-9', 'each bad path and each bad file gives its own code and none of its content', () => {
    const codes = Object.entries(CASES).map(([name, { ask, make }]) => {
      const { skill, base, place } = besideSecret();
      make?.(place, base);
      const read = readResourceFile(skill, ask);
      expect(JSON.stringify(read), name).not.toContain(SECRET);
      expect(JSON.stringify(read).length, name).toBeLessThan(1000);
      return [name, read.type === 'failed' ? read.failure.code : read.text];
    });
    expect(Object.fromEntries(codes)).toEqual(
      Object.fromEntries(Object.entries(CASES).map(([name, { code }]) => [name, code])),
    );
  });

  test('a socket is not read', async () => {
    const { skill, place } = besideSecret();
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(place, resolve);
    });
    onTestFinished(() => void server.close());
    expect(readResourceFile(skill, 'references/x.md')).toMatchObject({ failure: { code: 'file/not-regular' } });
  });

  test('a file that grows while it is read is never given in part', async () => {
    const { skill, place } = besideSecret();
    writeFileSync(place, 'x'.repeat(1_000_000));
    const grow = `
      import { appendFileSync } from 'node:fs';
      const end = Date.now() + 120_000;
      process.stdout.write('ready');
      while (Date.now() < end) appendFileSync(process.argv[1], 'x');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', grow, place], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(async () => {
      const isOver = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      child.kill('SIGKILL');
      await isOver;
    });
    await new Promise((resolve) => {
      child.stdout.once('data', resolve);
    });
    const codes = new Set<string>();
    while (child.exitCode === null && !codes.has('file/changed')) {
      const read = readResourceFile(skill, 'references/x.md');
      codes.add(read.type === 'failed' ? read.failure.code : 'whole');
      await setImmediate();
    }
    expect([...codes]).toContain('file/changed');
  });
});

describe('what is odd and fine', () => {
  test('links that stay inside, whole chains of them, and a skill that is itself a link', () => {
    const { skill, base, place } = besideSecret();
    symlinkSync('../assets/chain.md', place);
    symlinkSync('../references/../references/fine.md', path.join(skill.dir, 'assets/chain.md'));
    symlinkSync('references', path.join(skill.dir, 'reference'));
    symlinkSync('demo', path.join(base, 'entrance'));
    const entrance = { ...skill, dir: path.join(base, 'entrance') };
    for (const [from, ask] of [
      [skill, 'references/x.md'],
      [skill, 'reference/x.md'],
      [entrance, 'references/x.md'],
    ] as const)
      expect(readResourceFile(from, ask)).toMatchObject({ type: 'read', text: 'fine' });
  });

  test('a line of a megabyte is shown in part', () => {
    const { skill, place } = besideSecret();
    writeFileSync(place, 'x'.repeat(1_000_000));
    expect(readResourceFile(skill, 'references/x.md')).toMatchObject({
      text: 'x'.repeat(12_000),
      report: { bytes: 1_000_000, characters: 12_000, truncated: true },
    });
  });
});
