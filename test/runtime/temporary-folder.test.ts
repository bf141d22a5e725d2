import { chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { temporaryFolder } from '../../src/runtime/temporary-folder.ts';
import { openBase } from '../../src/sandbox/workspace/layout.ts';
import { scratch } from '../skills/registry/support.ts';
import { needs, skipUnless } from '../needs.ts';

const uid = process.getuid?.() ?? 0;

describe('the temporary folder', skipUnless(process.platform !== 'win32', 'a system with POSIX files'), () => {
  test('has the usual name if that is free or ours', async () => {
    const tmp = scratch();
    const usual = path.join(tmp, `skillwright-${String(uid)}`);
    expect(await temporaryFolder({ TMPDIR: tmp }, undefined)).toBe(usual);
    mkdirSync(usual, { mode: 0o700 });
    expect(await temporaryFolder({ TMPDIR: tmp }, undefined)).toBe(usual);
  });

  test('that somebody else occupies is neither used nor in the way', async () => {
    const tmp = scratch();
    const home = scratch();
    const usual = path.join(tmp, `skillwright-${String(uid)}`);
    // A link or a file stands for what another user can put there; a folder of another user needs root to make.
    symlinkSync('/tmp', usual);
    const found = await temporaryFolder({ TMPDIR: tmp }, home);
    expect(found).toMatch(new RegExp(`^${usual}-[0-9a-f]{24}$`));
    expect(await temporaryFolder({ TMPDIR: tmp }, home)).toBe(found);
    expect(await temporaryFolder({ TMPDIR: tmp }, scratch())).not.toBe(found);
    expect(openBase(found).root).toBe(found);
    const other = await temporaryFolder({ TMPDIR: tmp }, undefined);
    expect([other.startsWith(`${usual}-`), statSync(other).mode & 0o777]).toEqual([true, 0o700]);
  });

  test('a folder of another user counts as occupied', needs('root'), async () => {
    const tmp = scratch();
    const usual = path.join(tmp, `skillwright-${String(uid)}`);
    mkdirSync(usual);
    chownSync(usual, 65534, 65534);
    writeFileSync(path.join(usual, 'digests.json'), '{}');
    expect(await temporaryFolder({ TMPDIR: tmp }, scratch())).not.toBe(usual);
  });
});
