import { chmodSync, mkdirSync, writeFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { listSkillFiles } from '../../../src/skills/loader/files.ts';
import { verifies } from '../../conformance/verifies.ts';
import { makeSkill } from './support.ts';

verifies(
  'DISC-2',
  'the files of a skill are listed by name, size and kind, sorted, without links that lead nowhere',
  () => {
    const { dir } = makeSkill({
      'scripts/run.py': 'xyz',
      'references/a.json': '{}',
      'assets/logo.png': '',
      'notes.txt': 'a',
      LICENSE: 'MIT',
      '.git/config': 'no',
      'node_modules/a/index.js': 'no',
    });
    chmodSync(path.join(dir, 'scripts/run.py'), 0o755);
    symlinkSync('../notes.txt', path.join(dir, 'references/link.md'));
    symlinkSync('notes.txt', path.join(dir, 'references/nowhere.md'));
    const skillBytes = listSkillFiles(dir).files.find(({ path: name }) => name === 'SKILL.md')?.bytes ?? 0;
    const listed = (name: string, bytes: number, kind: string, more = {}): unknown => ({
      path: name,
      bytes,
      kind,
      isExecutable: false,
      isLink: false,
      ...more,
    });
    expect(listSkillFiles(dir)).toEqual({
      files: [
        listed('LICENSE', 3, 'other'),
        listed('SKILL.md', skillBytes, 'document'),
        listed('assets/logo.png', 0, 'asset'),
        listed('notes.txt', 1, 'document'),
        listed('references/a.json', 2, 'reference'),
        listed('references/link.md', 12, 'reference', { isLink: true }),
        listed('scripts/run.py', 3, 'script', { isExecutable: true }),
      ],
      unusable: [{ path: 'references/nowhere.md', reason: 'it is a link to a file that does not exist' }],
      isCut: false,
    });
    rmSync(dir, { recursive: true });
    expect(listSkillFiles(dir)).toEqual({ files: [], unusable: [], isCut: false });
  },
);

test('every file is listed up to 20,000 files and 64 levels; what is beyond, or in a folder that cannot be read, is named', () => {
  const deepest = 'references/' + 'd/'.repeat(63) + 'x.md';
  const { dir } = makeSkill({
    [deepest]: 'x',
    ['scripts/' + 'd/'.repeat(65) + 'x.py']: 'x',
    'scripts/run.py': 'x',
  });
  const many = path.join(dir, 'assets');
  mkdirSync(many);
  for (let number = 0; number < 2_500; number += 1) writeFileSync(path.join(many, `${String(number)}.txt`), '');
  const { files, unusable, isCut } = listSkillFiles(dir);
  expect([files.length, files.some(({ path: name }) => name === deepest)]).toEqual([2_503, true]);
  expect([unusable, isCut]).toEqual([
    [
      {
        path: 'scripts/' + 'd/'.repeat(64).slice(0, -1),
        reason: 'the folder is more than 64 levels deep; its files are not listed',
      },
    ],
    true,
  ]);
});
