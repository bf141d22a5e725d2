import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { openFileArtifacts } from '../../../src/sandbox/artifacts/file-store.ts';
import { writeFileAtomically } from '../../../src/platform/fs/atomic-replace.ts';
import { linkNew } from '../../../src/platform/fs/link-new.ts';
import { withFileLock, withFileLockSync } from '../../../src/platform/fs/lock.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { scratch } from '../../skills/registry/support.ts';
import { refuseLinks } from './without-hard-links.ts';

const CODES = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

describe.each(['with hard links', ...CODES])('%s', (code) => {
  const begin = (): string => {
    if (CODES.includes(code)) onTestFinished(refuseLinks(code));
    return scratch();
  };

  test('a finished file gets a free name, and never one that is taken', () => {
    const folder = begin();
    const [written, other] = [path.join(folder, 'written'), path.join(folder, 'other')];
    const file = path.join(folder, 'n'.repeat(255));
    writeFileSync(written, 'one');
    linkNew(written, file);
    writeFileSync(other, 'two');
    expect(() => linkNew(other, file)).toThrow(expect.objectContaining({ code: 'EEXIST', syscall: 'link' }));
    expect(readFileSync(file, 'utf8')).toBe('one');
    expect(readdirSync(folder).filter((name) => name !== 'written')).toEqual(['n'.repeat(255), 'other']);
  });

  test('files are created once, locks are taken and given back, artifacts are stored', async () => {
    const folder = begin();
    const file = path.join(folder, 'a');
    writeFileAtomically(file, Buffer.from('first'), { isNew: true });
    expect(() => writeFileAtomically(file, Buffer.from('second'), { isNew: true })).toThrow(
      expect.objectContaining({ code: 'EEXIST' }),
    );
    const inside = (): boolean => existsSync(`${file}.lock`);
    expect([await withFileLock(file, inside), withFileLockSync(file, inside), inside()]).toEqual([true, true, false]);
    expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['first', ['a']]);
    const store = openFileArtifacts(path.join(folder, 'artifacts'));
    for (const name of ['x.txt', 'y.txt', 'x.txt'])
      await store.save(name, Buffer.from('same'), { mediaType: 'text/plain' });
    expect(Buffer.from((await store.load('x.txt')).content).toString()).toBe('same');
  });
});

describe('without hard links', () => {
  test('the reservation of a process that was killed does not last', () => {
    onTestFinished(refuseLinks());
    const folder = scratch();
    const [written, file] = [path.join(folder, 'written'), path.join(folder, 'a')];
    writeFileSync(written, 'one');
    writeFileSync(path.join(folder, `.${sha256('a').slice(0, 16)}.reserved`), '');
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000));
    onTestFinished(() => clock.mockRestore());
    linkNew(written, file);
    expect(readdirSync(folder)).toEqual(['a']);
  });
});
