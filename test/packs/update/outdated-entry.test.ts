import { describe, expect, test } from 'vitest';

import type { LockedSkill } from '../../../src/packs/lock/lock-file.ts';
import { compareWithSource, type SourceNow } from '../../../src/packs/update/outdated.ts';
import type { PackSource } from '../../../src/packs/sources/source.ts';

const LOCKED: LockedSkill = {
  name: 'pdf',
  version: '1.2.0',
  source: 'git+https://git.example/o/r',
  revision: 'a'.repeat(40),
  digest: `sha256-tree:${'1'.repeat(64)}`,
  files: {},
  installedAt: '2026-01-01T00:00:00Z',
  tool: '0.1.0',
};
const GIT = { type: 'git', url: 'https://git.example/o/r' } as const satisfies PackSource;
const OTHER = `sha256-tree:${'2'.repeat(64)}`;
const found = (now: Omit<Extract<SourceNow, { type: 'found' }>, 'type'>, source: PackSource = GIT, locked = LOCKED) =>
  compareWithSource(locked, source, { type: 'found', ...now });

describe('compareWithSource', () => {
  test('reports the same files as current, whatever the revision', () => {
    expect(found({ digest: LOCKED.digest, revision: 'a'.repeat(40) })).toEqual({
      status: 'current',
      reason: 'the source has the same files',
    });
    expect(found({ digest: LOCKED.digest, revision: 'b'.repeat(40) })).toEqual({
      status: 'current',
      reason: 'the source has a new revision, but this skill did not change',
    });
    expect(found({ revision: 'a'.repeat(40) })).toEqual({
      status: 'current',
      reason: 'the source has the same revision',
    });
  });

  test('reports different files as outdated, with both versions', () => {
    expect(found({ digest: OTHER, revision: 'b'.repeat(40), version: '1.3.0' })).toEqual({
      status: 'outdated',
      reason: 'the source has version "1.3.0"',
      from: { version: '1.2.0', revision: 'a'.repeat(40), digest: LOCKED.digest },
      to: { version: '1.3.0', revision: 'b'.repeat(40), digest: OTHER },
      isOlder: false,
      isReplaced: false,
    });
  });

  test('reports an older version and replaced files of the same revision', () => {
    expect(found({ digest: OTHER, version: '1.2.0-rc.1' })).toMatchObject({
      isOlder: true,
      reason: 'the source has the older version "1.2.0-rc.1"',
    });
    expect(found({ digest: OTHER, revision: 'a'.repeat(40), version: '1.3.0' })).toMatchObject({
      isReplaced: true,
      reason: 'the source has different files under the same revision: they were replaced',
    });
  });

  test.each<[PackSource, string | undefined]>([
    [{ ...GIT, ref: 'a'.repeat(40) }, 'the source is pinned to one commit'],
    [{ ...GIT, ref: 'v1.2.0' }, undefined],
    [{ ...GIT, ref: 'abcdef1' }, undefined],
    [{ type: 'npm', name: 'x', range: '1.2.0' }, 'the source is pinned to one version'],
    [{ type: 'npm', name: 'x', range: '1.2.0-rc.1' }, 'the source is pinned to one version'],
    [{ type: 'npm', name: 'x', range: '^1.2.0' }, undefined],
    [{ type: 'npm', name: 'x' }, undefined],
  ])('%j is pinned: %s', (source, reason) => {
    const now = found({ digest: LOCKED.digest }, source);
    expect(now.status === 'pinned' ? now : undefined).toEqual(
      reason === undefined ? undefined : { status: 'pinned', reason },
    );
  });

  test('reports replaced files of a pinned source', () => {
    const pinned = { ...GIT, ref: 'a'.repeat(40) };
    expect(found({ digest: OTHER, revision: 'a'.repeat(40) }, pinned)).toMatchObject({
      status: 'outdated',
      isReplaced: true,
    });
  });

  test('compares the files of folders and archives, whatever the archive', () => {
    const { revision: _, ...rest } = LOCKED;
    const archive: PackSource = { type: 'url', url: 'https://x.example/pdf.zip' };
    const locked = { ...rest, archive: 'sha256:1' };
    expect(found({ archive: 'sha256:2', digest: LOCKED.digest }, archive, locked).status).toBe('current');
    expect(found({ archive: 'sha256:1', digest: OTHER }, archive, locked)).toMatchObject({ isReplaced: true });
    const folder: PackSource = { type: 'folder', path: './pdf' };
    expect(found({ digest: OTHER }, folder, rest)).toMatchObject({ status: 'outdated', isReplaced: false });
  });

  test('returns printable reasons for missing and unreadable sources', () => {
    expect(compareWithSource(LOCKED, GIT, { type: 'gone', reason: 'no folder pdf\u001b[2J' })).toEqual({
      status: 'gone',
      reason: 'no folder pdf\\x1b[2J',
    });
    expect(compareWithSource(LOCKED, GIT, { type: 'unknown', reason: 'offline' })).toEqual({
      status: 'unknown',
      reason: 'offline',
    });
    // An invalid version is not shown.
    expect(found({ digest: OTHER, version: '9\u202e1' })).toMatchObject({ reason: 'the source has different files' });
  });
});
