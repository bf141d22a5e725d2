import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openArchive } from '../../../src/packs/archive/archive.ts';
import { makeTarGz } from '../../corpus/archives-make-tar.ts';
import { makeZip } from '../../corpus/archives-make-zip.ts';
import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';

const NOISE = Buffer.from(Array.from({ length: 100_000 }, (_, at) => Math.imul(at + 1, 2654435761) >>> 24));
const PARTS = Array.from({ length: 8 }, (_, at) => ({ name: `sample/${String(at)}.bin`, content: NOISE }));

/** A file system of its own; nothing, with a reason, where none can be mounted. */
function mounted(options: string): string | undefined {
  const folder = path.join(scratch(), 'mounted');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.log('skipped: no file system can be mounted here');
    return undefined;
  }
  onTestFinished(() => {
    execFileSync('umount', [folder]);
  });
  return folder;
}

describe('a disk', needs('linux'), () => {
  test('that is full in the middle is a refusal, and has all its space again', async () => {
    const disk = mounted('size=300k');
    if (disk === undefined) return;
    for (const bytes of [makeZip(PARTS), makeTarGz(PARTS)]) {
      const archive = path.join(scratch(), 'archive');
      writeFileSync(archive, bytes);
      const opened = await openArchive(archive);
      const result = opened.type === 'archive' ? await opened.extract(path.join(disk, 'to')) : opened;
      expect(result).toMatchObject({ type: 'refused', code: 'install/no-space' });
      expect(readdirSync(disk)).toEqual([]);
    }
  });

  test('that cannot be written is a refusal', async () => {
    const disk = mounted('ro');
    if (disk === undefined) return;
    const archive = path.join(scratch(), 'archive');
    writeFileSync(archive, makeZip(PARTS));
    const opened = await openArchive(archive);
    const result = opened.type === 'archive' ? await opened.extract(path.join(disk, 'to')) : opened;
    expect(result).toMatchObject({ type: 'refused', code: 'install/unwritable' });
  });
});
