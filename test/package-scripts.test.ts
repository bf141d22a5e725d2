import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from './files-below.ts';

test('the package has no script that npm runs, or asks about, where it is installed', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const onInstall = /^(?:pre|post)?(?:install|prepare)$/;
  expect(Object.keys(scripts).filter((name) => onInstall.test(name))).toEqual([]);
  // npm ci and npm install run it in a clone, and nothing runs it elsewhere.
  expect(scripts['prepublish']).toBe('npm run build');
  // A tarball is never made of an older build. On stderr, because `npm pack` prints names or JSON.
  expect(scripts['prepack']).toBe('node scripts/build.js 1>&2');
});
