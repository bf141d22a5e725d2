import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

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
