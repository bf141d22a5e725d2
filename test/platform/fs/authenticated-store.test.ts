import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openSealedFile, type SealedFile } from '../../../src/platform/fs/authenticated-store.ts';
import { scratch } from '../../skills/registry/support.ts';

interface Note {
  readonly text: string;
}

function notes(home: string, maxEntries = 100): SealedFile<Note> {
  return openSealedFile<Note>({
    file: path.join(home, 'notes/notes.json'),
    home,
    purpose: 'test note',
    read: (value) => ('text' in value && typeof value.text === 'string' ? { text: value.text } : undefined),
    text: ({ text }) => text,
    name: ({ text }) => text,
    maxEntries,
  });
}

const some = (count: number, length = 1): readonly Note[] =>
  Array.from({ length: count }, (_, at) => ({ text: String(at).padEnd(length, '.') }));

describe('an authenticated store', () => {
  test('without a file has no entries, and reading creates neither a file nor a key', () => {
    const home = scratch();
    expect(notes(home).load()).toEqual({ entries: [], problems: [] });
    expect(existsSync(path.join(home, '.agent'))).toBe(false);
  });

  test('returns what was written, also to another instance', async () => {
    const home = scratch();
    const reader = notes(home);
    expect(reader.load().entries).toEqual([]);
    expect(await notes(home).change(() => some(3))).toEqual({ entries: some(3), problems: [] });
    expect(reader.load()).toEqual({ entries: some(3), problems: [] });
    expect(statSync(path.join(home, 'notes')).mode & 0o777).toBe(0o700);
  });

  test('drops unknown fields', async () => {
    const home = scratch();
    await notes(home).change(() => some(1));
    const { entries } = JSON.parse(readFileSync(path.join(home, 'notes/notes.json'), 'utf8')) as {
      readonly entries: readonly object[];
    };
    expect(entries.map((entry) => Object.keys(entry))).toEqual([['text', 'mac']]);
  });

  test('keeps the newest entries', async () => {
    const store = notes(scratch(), 3);
    await store.change(() => some(5));
    expect(store.load().entries).toEqual(some(5).slice(2));
  });

  test('stays within the size that can be read', async () => {
    const store = notes(scratch());
    await store.change(() => some(60, 100_000));
    const { entries, problems } = store.load();
    expect([problems, entries.at(-1), entries.length > 30]).toEqual([[], some(60, 100_000).at(-1), true]);
    await expect(store.change(() => [{ text: 'x'.repeat(5_000_000) }])).rejects.toMatchObject({ code: 'io/failed' });
    expect(store.load().entries).toEqual(entries);
  });

  test('is unchanged if the change fails', async () => {
    const store = notes(scratch());
    await store.change(() => some(2));
    const failing = store.change(() => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(store.load().entries).toEqual(some(2));
  });
});
