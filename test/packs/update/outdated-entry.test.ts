import { describe, expect, test } from 'vitest';

import type { LockedSkill } from '../../../src/packs/lock/lock.ts';
import { compareWithSource } from '../../../src/packs/update/outdated-entry.ts';
import type { SourceNow } from '../../../src/packs/update/outdated-entry.ts';
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
  test('the same bytes are current, whatever the source did otherwise', () => {
    expect(found({ digest: LOCKED.digest, revision: 'a'.repeat(40) })).toEqual({
      status: 'current',
      reason: 'nothing changed',
    });
    expect(found({ digest: LOCKED.digest, revision: 'b'.repeat(40) })).toEqual({
      status: 'current',
      reason: 'the source moved on, and this skill did not change',
    });
    expect(found({ revision: 'a'.repeat(40) })).toEqual({
      status: 'current',
      reason: 'the source has the same revision',
    });
  });

  test('other bytes are outdated, with what there is and what there was', () => {
    expect(found({ digest: OTHER, revision: 'b'.repeat(40), version: '1.3.0' })).toEqual({
      status: 'outdated',
      reason: 'the source has the version "1.3.0"',
      from: { version: '1.2.0', revision: 'a'.repeat(40), digest: LOCKED.digest },
      to: { version: '1.3.0', revision: 'b'.repeat(40), digest: OTHER },
      isOlder: false,
      isReplaced: false,
    });
    expect(found({ revision: 'b'.repeat(40) })).toMatchObject({
      status: 'outdated',
      reason: 'the source has other files',
    });
  });

  test('an older version, and other bytes under the same revision, are told as what they are', () => {
    expect(found({ digest: OTHER, version: '1.2.0-rc.1' })).toMatchObject({
      isOlder: true,
      reason: 'the source has the older version "1.2.0-rc.1"',
    });
    expect(found({ digest: OTHER, revision: 'a'.repeat(40), version: '1.3.0' })).toMatchObject({
      isReplaced: true,
      reason: 'the source has other bytes under the same revision: somebody replaced them',
    });
  });

  test.each<[PackSource, string | undefined]>([
    [{ ...GIT, ref: 'a'.repeat(40) }, 'its source names one commit'],
    [{ ...GIT, ref: 'v1.2.0' }, undefined],
    [{ ...GIT, ref: 'abcdef1' }, undefined],
    [{ type: 'npm', name: 'x', range: '1.2.0' }, 'its source names one version'],
    [{ type: 'npm', name: 'x', range: '1.2.0-rc.1' }, 'its source names one version'],
    [{ type: 'npm', name: 'x', range: '^1.2.0' }, undefined],
    [{ type: 'npm', name: 'x' }, undefined],
  ])('%j is pinned: %s', (source, reason) => {
    const now = found({ digest: LOCKED.digest, latest: '2.0.0' }, source);
    expect(now.status === 'pinned' ? now : undefined).toEqual(
      reason === undefined ? undefined : { status: 'pinned', reason, latest: '2.0.0' },
    );
  });

  test('a pin does not hide replaced bytes', () => {
    const pinned = { ...GIT, ref: 'a'.repeat(40) };
    expect(found({ digest: OTHER, revision: 'a'.repeat(40) }, pinned)).toMatchObject({
      status: 'outdated',
      isReplaced: true,
    });
  });

  test('an archive is known by its bytes; another archive may still hold the same files', () => {
    const archive: PackSource = { type: 'url', url: 'https://x.example/pdf.zip' };
    const { revision: _, ...rest } = LOCKED;
    const locked = { ...rest, archive: 'sha256:1' };
    expect(found({ archive: 'sha256:1' }, archive, locked).status).toBe('current');
    expect(found({ archive: 'sha256:2' }, archive, locked).status).toBe('outdated');
    expect(found({ archive: 'sha256:2', digest: LOCKED.digest }, archive, locked).status).toBe('current');
  });

  test('a folder has nothing but its files to compare', () => {
    const { revision: _, ...locked } = LOCKED;
    const folder: PackSource = { type: 'folder', path: './pdf' };
    expect(found({}, folder, locked)).toEqual({ status: 'unknown', reason: 'the source has nothing to compare with' });
    expect(found({ digest: OTHER }, folder, locked)).toMatchObject({ status: 'outdated', isReplaced: false });
  });

  test('what is gone and what could not be asked say why, safe to print', () => {
    expect(compareWithSource(LOCKED, GIT, { type: 'gone', reason: 'no folder pdf\u001b[2J' })).toEqual({
      status: 'gone',
      reason: 'no folder pdf\\x1b[2J',
    });
    expect(compareWithSource(LOCKED, GIT, { type: 'unknown', reason: 'offline' })).toEqual({
      status: 'unknown',
      reason: 'offline',
    });
    // No version at all, so that nothing of it is shown.
    expect(found({ digest: OTHER, version: '9\u202e1' })).toMatchObject({ reason: 'the source has other files' });
  });
});
