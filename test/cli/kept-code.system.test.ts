import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { needs } from '../needs.ts';

const COMMAND = path.join(PROJECT, 'dist/command/skillwright.js');

let home: string;
let cache: string;

beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'kept-code-'));
  cache = path.join(home, 'cache');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function sw(...words: readonly string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SKILLWRIGHT_CACHE_DIR: cache };
  return execFileSync(process.execPath, [COMMAND, ...words], { cwd: home, env, encoding: 'utf8' });
}

/** The files with compiled code of the packs; Node has folders of its own beside them. */
function keptFiles(): readonly string[] {
  const folder = path.join(cache, 'code');
  return readdirSync(folder)
    .toSorted()
    .filter((name) => name.endsWith('.bin'))
    .map((name) => path.join(folder, name));
}

const packName = (file: string): string => path.basename(file).split('-')[0] ?? '';
const LONG_AGO = 1_700_000_000;
const LIST = ['list', '--source', 'builtin'];

describe('the compiled code of the command', () => {
  test('is kept for the user alone, and is the same for later starts', () => {
    const first = sw(...LIST);
    expect(keptFiles().map(packName)).toEqual(['read', 'start']);
    for (const file of keptFiles()) {
      expect(path.basename(file)).toMatch(/^[a-z]+-v\d+\.\d+\.\d+-\w+\.bin$/);
      expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    const file = keptFiles().at(-1) ?? '';
    const known = [statSync(file).ino];
    for (let start = 0; start < 4; start += 1) {
      expect(sw(...LIST)).toBe(first);
      known.push(statSync(file).ino);
    }
    // The second and the third start add the functions that they called, and later ones write nothing.
    expect(known.map((inode, at) => inode !== known[at - 1])).toEqual([true, true, true, false, false]);
  });

  test('is compiled again if what is kept is damaged, cut or of another file', () => {
    const first = sw(...LIST);
    const file = keptFiles().at(-1) ?? '';
    const whole = readFileSync(file);
    const damaged = Buffer.from(whole);
    damaged.fill(0xa5, 4096, 8192);
    const renamed = Buffer.from(whole);
    renamed.write('9', 0);
    for (const content of [damaged, whole.subarray(0, -1), whole.subarray(0, 40), Buffer.alloc(0), renamed]) {
      writeFileSync(file, content);
      expect(sw(...LIST)).toBe(first);
      expect(readFileSync(file).length).toBeGreaterThan(whole.length / 2);
    }
  });

  test('is neither read nor written with --no-cache', () => {
    sw(...LIST, '--no-cache');
    expect(() => keptFiles()).toThrow('ENOENT');
  });

  test('does not change how a command ends that cannot keep it', () => {
    const first = sw(...LIST);
    rmSync(cache, { recursive: true });
    writeFileSync(cache, 'a file');
    expect(sw(...LIST)).toBe(first);
  });

  test('is kept apart for each pack: a run loads all of them', () => {
    writeFileSync(path.join(home, 'model.json'), JSON.stringify({ turns: [{ text: 'Done.' }] }));
    expect(sw('run', 'say done', '--model', 'scripted:model.json', '--executor', 'none')).toBe('Done.\n');
    expect(keptFiles().map(packName)).toEqual(['read', 'run', 'start']);
    expect(sw('run', 'say done', '--model', 'scripted:model.json', '--executor', 'none')).toBe('Done.\n');
  });

  test('is removed where no installation wrote it for long', () => {
    const folder = path.join(cache, 'code');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of ['start-v18.0.0-1.bin', 'start-v18.0.0-1.bin.77', 'other'])
      for (const [place, time] of [
        ['old', LONG_AGO],
        ['new', Date.now() / 1000],
      ] as const) {
        writeFileSync(path.join(folder, `${place}-${name}`), '');
        utimesSync(path.join(folder, `${place}-${name}`), time, time);
      }
    sw(...LIST);
    const left = readdirSync(folder).filter((name) => /^(?:old|new)-/.test(name));
    expect(left.toSorted()).toEqual([
      'new-other',
      'new-start-v18.0.0-1.bin',
      'new-start-v18.0.0-1.bin.77',
      'old-other',
    ]);
  });

  test('is not kept after a command that failed', () => {
    expect(() => sw('lst')).toThrow('unknown command');
    expect(keptFiles()).toEqual([]);
  });

  test('is not taken by root from the folder of another user', needs('root'), () => {
    const folder = path.join(cache, 'code');
    mkdirSync(folder, { recursive: true });
    chownSync(folder, 65_534, 65_534);
    chmodSync(folder, 0o777);
    sw(...LIST);
    expect(keptFiles()).toEqual([]);
  });
});
