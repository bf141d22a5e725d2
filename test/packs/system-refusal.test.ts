import { problemError } from '../../src/core/errors.ts';
import { existsSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { isRefusal, orSystemRefusal, packRefusal } from '../../src/packs/problems.ts';
import { skipUnless } from '../needs.ts';

async function codeOf(act: () => void): Promise<string> {
  const result = await orSystemRefusal(
    async () => {
      act();
      return {};
    },
    'it cannot be staged',
    'source/failed',
  );
  return isRefusal(result) ? result.code : 'done';
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: no`), { code, syscall: 'open' });
}

test('a full disk is a refusal that says so', skipUnless(existsSync('/dev/full'), '/dev/full'), async () => {
  expect(await codeOf(() => writeFileSync('/dev/full', 'x'))).toBe('install/no-space');
});

test('what the system says of the staging folder is a refusal; bugs fly', async () => {
  const codes = ['EROFS', 'EACCES', 'EDQUOT', 'EIO'].map((code) =>
    codeOf(() => {
      throw systemError(code);
    }),
  );
  expect(await Promise.all(codes)).toEqual([
    'install/unwritable',
    'install/unwritable',
    'install/no-space',
    'source/failed',
  ]);
  const refused = codeOf(() => {
    throw problemError(packRefusal('archive/link', 'x'));
  });
  expect(await refused).toBe('archive/link');
  const bug = codeOf(() => {
    throw new TypeError('bug');
  });
  await expect(bug).rejects.toThrow(TypeError);
});
