import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { parsePublicKey, openSecretKey } from '../../../src/packs/sign/minisign.ts';
import { openKeyFile, openPinnedKeys, writeNewKey } from '../../../src/packs/sign/keys.ts';
import { scratch } from '../../skills/registry/support.ts';
import { ENCRYPTED, PLAIN } from '../pack/minisign-answers.ts';

const NOW = new Date(0);
const key = parsePublicKey(PLAIN.publicText);
const pinned = { name: 'author', key, line: PLAIN.publicText.split('\n')[1], at: '1970-01-01T00:00:00.000Z' };

describe('pinned keys', () => {
  test('stay until they are removed by name or id', async () => {
    const home = scratch();
    expect(openPinnedKeys({ home }).list()).toEqual({ keys: [], problems: [] });
    expect(await openPinnedKeys({ home }).add('author', PLAIN.publicText, { now: NOW })).toEqual(pinned);
    await openPinnedKeys({ home }).add('other', ENCRYPTED.publicText.split('\n')[1] ?? '', { now: NOW });
    expect(
      openPinnedKeys({ home })
        .list()
        .keys.map(({ name, key: { id } }) => [name, id]),
    ).toEqual([
      ['author', PLAIN.id],
      ['other', ENCRYPTED.id],
    ]);
    expect(await openPinnedKeys({ home }).remove('author')).toEqual([pinned]);
    expect(await openPinnedKeys({ home }).remove(ENCRYPTED.id.toLowerCase())).toMatchObject([{ name: 'other' }]);
    expect(await openPinnedKeys({ home }).remove('author')).toEqual([]);
    expect(openPinnedKeys({ home }).list()).toEqual({ keys: [], problems: [] });
  });

  test('edited by hand are ignored', async () => {
    const home = scratch();
    await openPinnedKeys({ home }).add('author', PLAIN.publicText);
    const file = path.join(home, '.agent/keys.json');
    const [, line = ''] = ENCRYPTED.publicText.split('\n');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace(PLAIN.publicText.split('\n')[1] ?? '', line));
    expect(openPinnedKeys({ home }).list()).toEqual({
      keys: [],
      problems: [`entry 1 (author) of ${file} is ignored: it was edited after it was written`],
    });
    writeFileSync(file, before);
    expect(openPinnedKeys({ home }).list().keys).toHaveLength(1);
  });

  test('have unique names that do not shadow key ids', async () => {
    const keys = openPinnedKeys({ home: scratch() });
    await keys.add('author', PLAIN.publicText);
    await expect(keys.add('author', ENCRYPTED.publicText)).rejects.toThrow('another key is pinned as "author"');
    await expect(keys.add('again', PLAIN.publicText)).rejects.toThrow('this key is already pinned as "author"');
    for (const name of ['', 'a b', '../x', 'a\u001b[2J', 'x'.repeat(65), PLAIN.id, '-x', '.x'])
      await expect(keys.add(name, ENCRYPTED.publicText)).rejects.toMatchObject({ code: 'input/invalid' });
    for (const text of [
      '',
      'no key',
      PLAIN.secretText,
      `${PLAIN.publicText}x`,
      PLAIN.publicText.replace('minisign', '\u0000'),
    ])
      await expect(keys.add('more', text)).rejects.toMatchObject({ code: 'input/invalid' });
    expect(keys.list().keys).toHaveLength(1);
  });

  test('require a home folder', async () => {
    const keys = openPinnedKeys({ home: undefined });
    await expect(keys.add('author', PLAIN.publicText)).rejects.toMatchObject({ code: 'input/invalid' });
    expect([keys.list(), await keys.remove('author')]).toEqual([{ keys: [], problems: [] }, []]);
  });

  test('added concurrently are both stored', async () => {
    const home = scratch();
    await Promise.all([
      openPinnedKeys({ home }).add('author', PLAIN.publicText),
      openPinnedKeys({ home }).add('other', ENCRYPTED.publicText),
    ]);
    expect(
      openPinnedKeys({ home })
        .list()
        .keys.map(({ name }) => name)
        .toSorted(),
    ).toEqual(['author', 'other']);
  });
});

describe('a new key', () => {
  test('is two files, the secret one for its owner alone', async () => {
    const folder = scratch();
    const made = await writeNewKey({ folder, name: 'mine' });
    if (made.type === 'refused') throw new Error(made.message);
    const [publicFile, secretFile] = [path.join(folder, 'mine.pub'), path.join(folder, 'mine.key')];
    const publicText = readFileSync(publicFile, 'utf8');
    expect(made).toEqual({ type: 'made', id: made.id, publicFile, secretFile, publicText });
    expect(statSync(secretFile).mode & 0o777).toBe(0o600);
    expect(parsePublicKey(publicText)).toMatchObject({ type: 'public-key', id: made.id });
    expect(await openSecretKey(readFileSync(secretFile, 'utf8'))).toMatchObject({ type: 'signing-key', id: made.id });
    expect(await openKeyFile(secretFile)).toMatchObject({ type: 'signing-key', id: made.id });
    chmodSync(secretFile, 0o644);
    expect([await openKeyFile(secretFile), await openKeyFile(`${secretFile}.gone`), await openKeyFile(folder)]).toEqual(
      [
        { type: 'invalid', problem: 'file', reason: 'other users have access to it' },
        { type: 'invalid', problem: 'file', reason: 'the file does not exist' },
        { type: 'invalid', problem: 'file', reason: 'it is not a regular file' },
      ],
    );
  });

  test('does not replace existing files', async () => {
    const folder = scratch();
    writeFileSync(path.join(folder, 'mine.pub'), 'x');
    expect(await writeNewKey({ folder, name: 'mine' })).toMatchObject({ code: 'pack/exists' });
    expect(await writeNewKey({ folder: path.join(folder, 'mine.pub/no'), name: 'mine' })).toMatchObject({
      code: 'pack/unwritable',
    });
    mkdirSync(path.join(folder, 'other.key'));
    expect(await writeNewKey({ folder, name: 'other' })).toMatchObject({ code: 'pack/exists' });
    await expect(writeNewKey({ folder, name: '../mine' })).rejects.toMatchObject({ code: 'input/invalid' });
    expect(readdirSync(folder).toSorted()).toEqual(['mine.pub', 'other.key']);
  });
});
