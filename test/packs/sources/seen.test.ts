import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { isRefusal } from '../../../src/packs/problems.ts';
import { fingerprintFolder } from '../../../src/packs/root/present-files.ts';
import { readScanFiles } from '../../../src/packs/inspect/scan-files.ts';
import { scratch } from '../../skills/registry/support.ts';
import { mustBring } from './bring-support.ts';

const HEAD = '---\nname: sample\ndescription: Shows a sample. Use it in tests.\n---\n';

async function broughtSkill(files: Readonly<Record<string, string | Buffer>>) {
  const from = path.join(scratch(), 'sample');
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(from, file)), { recursive: true });
    writeFileSync(path.join(from, file), content, { mode: String(content).startsWith('#!') ? 0o755 : 0o644 });
  }
  const {
    skills: [skill],
  } = await mustBring({ type: 'folder', path: from });
  if (skill === undefined) throw new Error('no skill');
  return skill;
}

describe('what a source has seen of a skill', () => {
  test('is what reading the staged folder gives', async () => {
    const skill = await broughtSkill({
      'SKILL.md': `${HEAD}Ünïcödé\n`,
      'scripts/run.sh': '#!/bin/sh\necho\n',
      'data/utf16.txt': Buffer.from('\ufeffhello', 'utf16le'),
      'data/latin1.txt': Buffer.from('caf\xe9', 'latin1'),
      'data/program': Buffer.from('\x7fELF\0\0', 'latin1'),
      'a/empty': '',
    });
    const read = readScanFiles(skill.path);
    if (isRefusal(read)) throw new Error(read.message);
    expect(skill.seen?.files.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      read.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    );
    expect(skill.seen?.skillText).toBe(`${HEAD}Ünïcödé\n`);
  });

  test('has no text of a SKILL.md that is not UTF-8: the check has to say so', async () => {
    const skill = await broughtSkill({ 'SKILL.md': Buffer.from(`${HEAD}caf\xe9\n`, 'latin1') });
    expect(skill.seen?.skillText).toBeUndefined();
    expect(skill.seen?.files.map((file) => file.path)).toEqual(['SKILL.md']);
  });

  test('is nothing where that would be too much to keep', async () => {
    const skill = await broughtSkill({ 'SKILL.md': HEAD, 'large.txt': 'x'.repeat(5 * 1024 * 1024) });
    expect(skill.seen === undefined).toBe(true);
    const texts = Array.from({ length: 30 }, (_, number) => [`text-${String(number)}.txt`, 'x'.repeat(200_000)]);
    const many = await broughtSkill({ 'SKILL.md': HEAD, ...Object.fromEntries(texts) });
    expect(many.seen === undefined).toBe(true);
  });

  test('has no limit for what is no text, of which nothing is kept but the kind', async () => {
    const fonts = Array.from({ length: 30 }, (_, number) => [`font-${String(number)}.ttf`, Buffer.alloc(200_000)]);
    const skill = await broughtSkill({ 'SKILL.md': HEAD, ...Object.fromEntries(fonts) });
    const read = readScanFiles(skill.path);
    if (isRefusal(read)) throw new Error(read.message);
    expect(skill.seen).toEqual({ files: read, skillText: HEAD });
  });
});

describe('what a copied skill looked like', () => {
  test('is what a look at the staged folder gives, as long as nobody changes it', async () => {
    const skill = await broughtSkill({
      'SKILL.md': HEAD,
      'a.txt': 'a',
      'a/b.txt': 'b',
      'a/c/d.sh': '#!/bin/sh\n',
      'a-b': 'ab',
      'z/large': 'x'.repeat(300_000),
      'é.txt': 'é',
      '.gitignore': '*\n',
    });
    expect(fingerprintFolder(skill.path)).toEqual({ looks: skill.looks?.digest(), leftOut: [] });
    expect(skill.looks?.isCurrent(skill.path)).toBe(true);
    writeFileSync(path.join(skill.path, 'a/b.txt'), 'other');
    expect(fingerprintFolder(skill.path)).not.toEqual({ looks: skill.looks?.digest(), leftOut: [] });
    expect(skill.looks?.isCurrent(skill.path)).toBe(false);
  });

  test('is not told where a name is written otherwise than it came: its place is then another', async () => {
    const skill = await broughtSkill({ 'SKILL.md': HEAD, 'e\u0301.txt': 'decomposed', 'ez.txt': 'after it' });
    expect([skill.looks, Object.keys(skill.files ?? {})]).toEqual([undefined, ['SKILL.md', 'ez.txt', 'é.txt']]);
  });
});
