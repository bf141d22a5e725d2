import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { describe, expect, test } from 'vitest';

import { compareText } from '../../../src/core/diagnostic.ts';
import { PACK_PROBLEMS } from '../../../src/packs/problems.ts';
import { openArchive } from '../../../src/packs/archive/archive.ts';
import { verifies } from '../../conformance/verifies.ts';
import { BENIGN_ARCHIVES, HOSTILE_ARCHIVES, attackTable } from '../../corpus/archives.ts';
import { place, unpack } from './support.ts';

/** Those that take long to make; they are in `bombs.test.ts`. */
const isSmall = ({ attack }: { readonly attack?: number }): boolean => attack !== 59 && attack !== 62;

describe('hostile archives', () => {
  test.each(HOSTILE_ARCHIVES.filter(isSmall))('$attack $name: $code', async ({ bytes, code }) => {
    const outcome = await unpack(bytes());
    expect(outcome).toEqual({ code, message: expect.stringMatching(/^[\x20-\x7e\xa0-\uffff]+$/) });
  });

  test('none of them wrote to the places that they name', () => {
    expect(['/tmp/evil.txt', '/evil.txt', `${homedir()}/evil.txt`].filter((file) => existsSync(file))).toEqual([]);
  });

  verifies('PACK-5', 'there are at least 100 of them, for every attack on archives and with every code', () => {
    expect(HOSTILE_ARCHIVES.length).toBeGreaterThanOrEqual(100);
    expect(new Set(HOSTILE_ARCHIVES.map(({ name }) => name)).size).toBe(HOSTILE_ARCHIVES.length);
    const attacks = new Set(attackTable().map(({ attack }) => attack));
    expect(
      Array.from({ length: 82 - 45 + 1 }, (_, number) => 45 + number).filter((number) => !attacks.has(number)),
    ).toEqual([]);
    const codes = new Set(HOSTILE_ARCHIVES.map(({ code }) => code));
    const others = Object.keys(PACK_PROBLEMS).filter(
      (code) => code.startsWith('archive/') && ![...codes].some((one) => one === code),
    );
    // Tested with the limits, and with files that are no archives.
    expect(others).toEqual(['archive/format', 'archive/too-large']);
  });

  test('the target stays empty where it was there before', async () => {
    const late = HOSTILE_ARCHIVES.find(({ name }) => name === 'zip: wrong checksum');
    const { archive, to } = place(late?.bytes() ?? Buffer.alloc(0));
    mkdirSync(to);
    const opened = await openArchive(archive);
    const extracted = opened.type === 'archive' ? await opened.extract(to) : opened;
    expect([extracted.type, readdirSync(to)]).toEqual(['refused', []]);
  });
});

describe('archives of every usual shape', () => {
  test.each(BENIGN_ARCHIVES)('$name', async ({ bytes, tree, leftOut }) => {
    // As entries: one of them has names that objects treat in ways of their own.
    const outcome = await unpack(bytes());
    expect('tree' in outcome ? { ...outcome, tree: sorted(outcome.tree) } : outcome).toEqual({
      tree: sorted(tree),
      leftOut,
    });
  });
});

function sorted(tree: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(tree).toSorted(([one], [other]) => compareText(one, other));
}
