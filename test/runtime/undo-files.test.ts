import { chmodSync, existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Observation } from '../../src/core/observation.ts';
import { deleteFile } from '../../src/project/trash.ts';
import { writeFile } from '../../src/project/write-file.ts';
import { fileChanges } from '../../src/runtime/file-changes.ts';
import { undoFiles } from '../../src/runtime/undo-files.ts';
import { placed, world } from '../project/support.ts';
import type { World } from '../project/support.ts';

function write(here: World, file: string, content: string): Observation {
  return writeFile({ type: 'write_file', path: file, content }, placed(here, file, 'write'));
}

function remove(here: World, file: string): Observation {
  return deleteFile({ type: 'delete_file', path: file }, placed(here, file, 'write'));
}

function undo(here: World, observations: readonly Observation[]) {
  return undoFiles(here.places.project, fileChanges(observations));
}

function read(here: World, file: string): string | undefined {
  const place = path.join(here.places.project, file);
  return existsSync(place) ? readFileSync(place, 'utf8') : undefined;
}

describe('undo', () => {
  test('restores what several writes and deletions did to each file, and can be repeated', () => {
    const here = world({ 'project/b.sh': 'b', 'project/c.txt': 'c' });
    chmodSync(path.join(here.places.project, 'b.sh'), 0o755);
    const done = [
      write(here, 'a.txt', 'one'),
      write(here, 'a.txt', 'two'),
      remove(here, 'b.sh'),
      remove(here, 'c.txt'),
      write(here, 'c.txt', 'again'),
      write(here, 'new/d.txt', 'd'),
      write(here, 'new/e.txt', 'e'),
      remove(here, 'new/e.txt'),
      write(here, 'workspace://out/x.txt', 'x'),
    ];
    expect(undo(here, done)).toEqual([
      { path: 'a.txt', result: 'restored' },
      { path: 'b.sh', result: 'restored' },
      { path: 'c.txt', result: 'restored' },
      { path: 'new/d.txt', result: 'removed' },
      { path: 'new/e.txt', result: 'unchanged' },
    ]);
    expect(['a.txt', 'b.sh', 'c.txt', 'new/d.txt'].map((file) => read(here, file))).toEqual([
      'project a\n',
      'b',
      'c',
      undefined,
    ]);
    expect(lstatSync(path.join(here.places.project, 'b.sh')).mode & 0o777).toBe(0o755);
    expect(undo(here, done).every(({ result }) => result === 'unchanged')).toBe(true);
  });

  test('leaves a file alone that changed after the run, and names the kept copy', () => {
    const here = world();
    const done = [write(here, 'a.txt', 'by the run')];
    writeFileSync(path.join(here.places.project, 'a.txt'), 'by a person');
    expect(undo(here, done)).toMatchObject([
      {
        result: 'conflict',
        reason: 'it changed after the run',
        yours: 'a.txt',
        earlier: expect.stringMatching(/^\.agent\/trash\/.*\/a\.txt$/),
      },
    ]);
    expect(read(here, 'a.txt')).toBe('by a person');
  });

  test('a forged record writes neither outside nor into files that tools never write', () => {
    const here = world({ 'project/kept': 'evil', 'project/.git/config': 'mine' });
    symlinkSync('../secret', path.join(here.places.project, 'out'));
    const forged = (file: string, kept: string) => ({
      path: file,
      before: { digest: 'sha256:4e0ba08014a3e53ac9eb1fdcb9a2e9d40dc7a1e7bc8b4ec2fd0d8a3b5a8f0b0f', kept },
    });
    const changes = [
      forged('../secret/key.txt', 'kept'),
      forged('out/key.txt', 'kept'),
      forged('.git/hooks/pre-commit', 'kept'),
      forged('new.txt', '../secret/key.txt'),
      forged('new.txt', 'kept'),
    ].map(({ path: file, before }) => ({ path: file, before }));
    expect(undoFiles(here.places.project, changes).map(({ result }) => result)).toEqual(Array(5).fill('conflict'));
    expect([read(here, 'new.txt'), existsSync(path.join(here.places.project, '.git/hooks'))]).toEqual([
      undefined,
      false,
    ]);
  });
});
