import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

import { checkSeal, readSealKey, sealKey, sealOf } from '../../src/audit/seal.ts';
import { built, scratch } from '../registry/support.ts';

const RUN = { run: 'a', events: { count: 3, head: 'ff' } };

test('the key is made once, for its owner alone, and stays', () => {
  const home = scratch();
  expect(readSealKey(home)).toBeUndefined();
  const key = sealKey(home);
  expect(key).toHaveLength(32);
  expect(sealKey(home)).toEqual(key);
  expect(readSealKey(home)).toEqual(key);
  expect(statSync(path.join(home, '.agent/seal.key')).mode & 0o777).toBe(0o600);
});

test('processes that make the key at once get the same one', async () => {
  const home = scratch();
  const script = `const { sealKey } = await import(process.argv[1]);
    console.log(Buffer.from(sealKey(process.argv[2])).toString('hex'));`;
  const words = ['--input-type=module', '-e', script, built('audit/seal.js'), home];
  const keys = await Promise.all(
    Array.from({ length: 6 }, async () => (await promisify(execFile)(process.execPath, words)).stdout.trim()),
  );
  expect(new Set(keys)).toEqual(new Set([readFileSync(path.join(home, '.agent/seal.key')).toString('hex')]));
});

test('a key that others can read, of another length, or behind a link is none', () => {
  const open = scratch();
  sealKey(open);
  chmodSync(path.join(open, '.agent/seal.key'), 0o644);
  expect(sealKey(open)).toBeUndefined();

  const short = scratch();
  mkdirSync(path.join(short, '.agent'));
  writeFileSync(path.join(short, '.agent/seal.key'), 'short', { mode: 0o600 });
  expect(sealKey(short)).toBeUndefined();

  const linked = scratch();
  sealKey(linked);
  const other = scratch();
  mkdirSync(path.join(other, '.agent'));
  symlinkSync(path.join(linked, '.agent/seal.key'), path.join(other, '.agent/seal.key'));
  expect(sealKey(other)).toBeUndefined();
});

test('a home that cannot be written has no key', () => {
  const home = scratch();
  writeFileSync(path.join(home, '.agent'), 'a file');
  expect(sealKey(home)).toBeUndefined();
});

test('a seal is good for one run, one text and one key', () => {
  const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const seal = sealOf(key, RUN, 'text');
  const [id = '', code = ''] = seal.split(':');
  expect(checkSeal(seal, key, RUN, 'text')).toBe('good');
  expect(checkSeal(seal, key, RUN, 'texT')).toBe('bad');
  expect(checkSeal(seal, key, { ...RUN, run: 'b' }, 'text')).toBe('bad');
  expect(checkSeal(seal, key, { ...RUN, events: { count: 4, head: 'ff' } }, 'text')).toBe('bad');
  expect(checkSeal(seal, key, { ...RUN, events: { count: 3, head: 'fe' } }, 'text')).toBe('bad');
  expect(checkSeal(`${'0'.repeat(16)}:${code}`, key, RUN, 'text')).toBe('bad');
  expect(checkSeal(`${id}:${'0'.repeat(64)}`, key, RUN, 'text')).toBe('bad');
  expect(checkSeal(`${seal}:`, key, RUN, 'text')).toBe('bad');
  expect(checkSeal(seal, other, RUN, 'text')).toBe('no-key');
  expect(checkSeal(seal, undefined, RUN, 'text')).toBe('no-key');
  expect(checkSeal(undefined, key, RUN, 'text')).toBe('absent');
});
