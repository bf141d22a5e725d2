import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { MAX_MERGED_BYTES } from '../../../src/packs/root/originals.ts';
import { baseFileReader } from '../../../src/packs/update/update-skill.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { scratch } from '../../skills/registry/support.ts';

const locked = (text: string) => ({ sha256: sha256(text), bytes: Buffer.byteLength(text) });

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = scratch();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

test('returns the bytes that match the lock from the first folder that has them', () => {
  const [edited, kept] = [folderWith({ 'a/b.md': 'edited' }), folderWith({ 'a/b.md': 'base' })];
  const base = baseFileReader([path.join(edited, 'gone'), edited, kept], { maxBytes: MAX_MERGED_BYTES });
  expect(base('a/b.md', locked('base'))).toEqual(Buffer.from('base'));
  expect(base('a/b.md', locked('other'))).toBeUndefined();
  expect(base('none.md', locked('base'))).toBeUndefined();
});

test('reads nothing outside the folder, no links and no large files', () => {
  const outside = folderWith({ secret: 'base' });
  const folder = folderWith({ large: 'x'.repeat(100) });
  symlinkSync(path.join(outside, 'secret'), path.join(folder, 'link'));
  linkSync(path.join(outside, 'secret'), path.join(folder, 'hard'));
  const base = baseFileReader([folder], { maxBytes: 50 });
  for (const name of ['../secret', path.join(outside, 'secret'), 'link', 'hard', '', 'large'])
    expect(base(name, locked(name === 'large' ? 'x'.repeat(100) : 'base')), name).toBeUndefined();
});
