import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openSeals, readSealKey, sealKey } from '../../../src/platform/fs/seal-key.ts';
import { built, scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';

const keyFile = (home: string): string => path.join(home, '.agent/seal.key');

describe('the key', () => {
  test('is created once, with access for this user only', () => {
    const home = scratch();
    const key = sealKey(home);
    expect(key.length).toBe(32);
    expect(sealKey(home)).toEqual(key);
    expect([statSync(keyFile(home)).mode & 0o777, statSync(path.dirname(keyFile(home))).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect(readdirSync(path.join(home, '.agent'))).toEqual(['seal.key']);
  });

  test('is read if it exists, and not created by reading', () => {
    const home = scratch();
    expect([readSealKey(home), existsSync(path.join(home, '.agent'))]).toEqual([undefined, false]);
    const key = sealKey(home);
    expect(readSealKey(home)).toEqual(key);
  });

  test('is the same for eight processes that create it at once', async () => {
    const home = scratch();
    const program = `const { sealKey } = await import(process.argv[1]);
      process.stdout.write(Buffer.from(sealKey(process.argv[2])).toString('hex'));`;
    const keys = await Promise.all(
      Array.from({ length: 8 }, () =>
        outputOf(['--input-type=module', '-e', program, built('platform/fs/seal-key.js'), home]),
      ),
    );
    expect(new Set(keys)).toEqual(new Set([Buffer.from(sealKey(home)).toString('hex')]));
  });

  test.each([
    ['it has 5 bytes', (file: string) => writeFileSync(file, 'short', { mode: 0o600 })],
    ['it is too large', (file: string) => writeFileSync(file, 'x'.repeat(33), { mode: 0o600 })],
    ['other users have access', (file: string) => writeFileSync(file, 'x'.repeat(32), { mode: 0o644 })],
    ['it is a link', (file: string) => symlinkSync('/etc/hostname', file)],
    ['it is not a regular file', (file: string) => mkdirSync(file)],
  ])('is refused if %s, and left unchanged', (reason, spoil) => {
    const home = scratch();
    mkdirSync(path.join(home, '.agent'));
    spoil(keyFile(home));
    expect(() => sealKey(home)).toThrow(reason);
    expect(() => sealKey(home)).toThrow(expect.objectContaining({ code: 'io/failed' }));
    expect(readSealKey(home)).toBeUndefined();
    expect(existsSync(keyFile(home))).toBe(true);
  });

  test('cannot be created if the home folder is a file', () => {
    const home = path.join(scratch(), 'home');
    writeFileSync(home, '');
    expect(() => sealKey(home)).toThrow(expect.objectContaining({ code: 'io/failed' }));
  });

  test('cannot be created in a read-only home folder', needs('an ordinary user'), () => {
    const home = scratch();
    chmodSync(home, 0o500);
    expect(() => sealKey(home)).toThrow(expect.objectContaining({ code: 'io/failed' }));
  });
});

describe('a seal', () => {
  const key = new Uint8Array(32).fill(7);

  test('is valid for one text, one purpose and one key', () => {
    const seal = openSeals(key, 'approval').compute('text');
    expect(openSeals(key, 'approval').isValid(seal, 'text')).toBe(true);
    expect([
      openSeals(key, 'trust').isValid(seal, 'text'),
      openSeals(key, 'approval').isValid(seal, 'text '),
      openSeals(new Uint8Array(32), 'approval').isValid(seal, 'text'),
      openSeals(key, 'approval').isValid(seal.toUpperCase(), 'text'),
      openSeals(key, 'approval').isValid('', 'text'),
    ]).toEqual([false, false, false, false, false]);
  });

  test('separates the purpose from the text', () => {
    expect(openSeals(key, 'a').compute('bc')).not.toBe(openSeals(key, 'ab').compute('c'));
  });
});

function outputOf(words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 170_000 });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      resolve(output);
    });
  });
}
