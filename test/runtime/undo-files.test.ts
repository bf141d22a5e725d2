import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Observation } from '../../src/core/observation.ts';
import { deleteFile } from '../../src/project/trash.ts';
import { writeFile } from '../../src/project/write-file.ts';
import { fileChanges } from '../../src/runtime/recorded-changes.ts';
import { undoFiles } from '../../src/runtime/undo-files.ts';
import { verifies } from '../conformance/verifies.ts';
import { placed, world, type World } from '../project/support.ts';

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

  verifies(
    'UNDO-1',
    'an edit of a person between two edits of the run is left alone and shown beside what undo would write',
    () => {
      const here = world();
      const done = [write(here, 'a.txt', 'by the run\n')];
      writeFileSync(path.join(here.places.project, 'a.txt'), 'by the run\nby a person\n');
      done.push(write(here, 'a.txt', 'by the run again\n'));
      const [undone] = undo(here, done);
      expect(undone).toMatchObject({
        result: 'conflict',
        reason: 'it was changed between two changes of the run, not by its file tools',
      });
      expect(read(here, 'a.txt')).toBe('by the run again\n');
      expect([undone?.yours, undone?.earlier].map((file) => read(here, file ?? ''))).toEqual([
        'by the run\nby a person\n',
        'project a\n',
      ]);
    },
  );

  verifies('UNDO-1', 'a deleted file of any size comes back from the trash, or is reported as gone', () => {
    const here = world();
    const file = path.join(here.places.project, 'big.bin');
    writeFileSync(file, 'start');
    truncateSync(file, 65 * 1024 * 1024);
    chmodSync(file, 0o640);
    const done = [remove(here, 'big.bin')];
    expect(undo(here, done)).toEqual([{ path: 'big.bin', result: 'restored' }]);
    const { size, mode } = lstatSync(file);
    expect([size, mode & 0o777]).toEqual([65 * 1024 * 1024, 0o640]);
    expect(undo(here, done)).toEqual([{ path: 'big.bin', result: 'unchanged' }]);
    // Written anew by the run after the deletion.
    const twice = [remove(here, 'big.bin'), write(here, 'big.bin', 'small')];
    expect(undo(here, twice)).toEqual([{ path: 'big.bin', result: 'restored' }]);
    expect(lstatSync(file).size).toBe(65 * 1024 * 1024);
    const gone = remove(here, 'big.bin');
    rmSync(path.join(here.places.project, '.agent/trash'), { recursive: true });
    expect(undo(here, [gone])).toMatchObject([
      { result: 'conflict', reason: expect.stringMatching(/is no longer in the trash$/) },
    ]);
  });

  verifies('UNDO-1', 'an executable that the run deleted, rewrote or edited is executable again', () => {
    const here = world({ 'project/run.sh': '#!/bin/sh\n' });
    const file = path.join(here.places.project, 'run.sh');
    for (const act of [
      () => [remove(here, 'run.sh'), write(here, 'run.sh', 'new')],
      () => [write(here, 'run.sh', 'new'), remove(here, 'run.sh')],
      () => [write(here, 'run.sh', 'new'), remove(here, 'run.sh'), write(here, 'run.sh', 'newer')],
      // The same content with other permissions.
      () => [remove(here, 'run.sh'), write(here, 'run.sh', '#!/bin/sh\n')],
    ]) {
      chmodSync(file, 0o755);
      expect(undo(here, act())).toEqual([{ path: 'run.sh', result: 'restored' }]);
      expect([read(here, 'run.sh'), lstatSync(file).mode & 0o777]).toEqual(['#!/bin/sh\n', 0o755]);
    }
    // Permissions that a person changed afterwards stay.
    const done = [write(here, 'run.sh', 'new')];
    chmodSync(file, 0o700);
    expect(undo(here, done)).toEqual([{ path: 'run.sh', result: 'restored' }]);
    expect(lstatSync(file).mode & 0o777).toBe(0o700);
  });

  test('a link that took the place of a file or folder is left alone, with the file that it leads to', () => {
    const here = world({ 'project/mine.txt': 'made\n', 'project/d/x': 'x\n', 'project/other/new.txt': 'made\n' });
    const at = (file: string): string => path.join(here.places.project, file);
    const done = [
      write(here, 'made.txt', 'made\n'),
      write(here, 'a.txt', 'made\n'),
      write(here, 'd/new.txt', 'made\n'),
      write(here, 'gone.txt', 'gone'),
    ];
    for (const [file, target] of [
      ['made.txt', 'mine.txt'],
      ['a.txt', 'mine.txt'],
      ['d', 'other'],
      ['gone.txt', 'nowhere'],
    ] as const) {
      rmSync(at(file), { recursive: true });
      symlinkSync(target, at(file));
    }
    const reason = 'it is now a link, or in a linked folder';
    expect(undo(here, done)).toMatchObject(done.map(() => ({ result: 'conflict', reason })));
    expect(['mine.txt', 'made.txt', 'a.txt', 'd/new.txt'].map((file) => read(here, file))).toEqual(
      Array(4).fill('made\n'),
    );
    expect(lstatSync(at('gone.txt')).isSymbolicLink()).toBe(true);
  });

  test('a link that took the place of a kept copy is not followed', () => {
    const here = world({ 'project/mine.txt': 'project a\n' });
    const done = remove(here, 'a.txt');
    const kept = path.join(here.places.project, 'trash' in done ? done.trash : '');
    rmSync(kept);
    symlinkSync(path.join(here.places.project, 'mine.txt'), kept);
    expect(undo(here, [done])).toMatchObject([
      { result: 'conflict', reason: expect.stringMatching(/ is now a link$/) },
    ]);
    expect(read(here, 'mine.txt')).toBe('project a\n');
  });

  test('a hard link keeps its other name', () => {
    const here = world({ 'project/mine.txt': 'made\n' });
    const done = [write(here, 'made.txt', 'made\n'), write(here, 'a.txt', 'made\n')];
    for (const file of ['made.txt', 'a.txt']) {
      rmSync(path.join(here.places.project, file));
      linkSync(path.join(here.places.project, 'mine.txt'), path.join(here.places.project, file));
    }
    expect(undo(here, done).map(({ result }) => result)).toEqual(['removed', 'restored']);
    expect([read(here, 'mine.txt'), read(here, 'a.txt')]).toEqual(['made\n', 'project a\n']);
  });

  test('says which special permissions are not restored, and moves a deleted file back with them', () => {
    const here = world({ 'project/tool': 'old' });
    const file = path.join(here.places.project, 'tool');
    const full = (): number => lstatSync(file).mode & 0o7777;
    const reason = 'without its setuid bit; to set it: chmod 4755 tool';
    chmodSync(file, 0o4755);
    const done = [write(here, 'tool', 'new')];
    const changes = fileChanges(done);
    expect(undoFiles(here.places.project, changes, true)).toEqual([{ path: 'tool', result: 'restored', reason }]);
    expect(undo(here, done)).toEqual([{ path: 'tool', result: 'restored', reason }]);
    expect([read(here, 'tool'), full()]).toEqual(['old', 0o755]);
    expect(undo(here, done)).toEqual([{ path: 'tool', result: 'unchanged', reason }]);
    chmodSync(file, 0o4755);
    expect(undo(here, done)).toEqual([{ path: 'tool', result: 'unchanged' }]);
    for (const act of [() => [remove(here, 'tool')], () => [remove(here, 'tool'), write(here, 'tool', 'new')]]) {
      expect(undo(here, act())).toEqual([{ path: 'tool', result: 'restored' }]);
      expect([read(here, 'tool'), full()]).toEqual(['old', 0o4755]);
    }
  });

  test('a replaced file whose copy the record does not name is not removed', () => {
    const here = world();
    const [done] = [write(here, 'a.txt', 'new')];
    const { kept: _, ...old } = { kept: '', ...done };
    expect(undo(here, [old as Observation])).toMatchObject([{ result: 'conflict' }]);
    expect(read(here, 'a.txt')).toBe('new');
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
