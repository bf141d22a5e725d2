import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { BUILT_IN_DIGESTS } from '../../../src/sandbox/execution/built-in-digests.ts';
import { PROJECT } from '../../files-below.ts';

const FILE = path.join(PROJECT, 'src/sandbox/execution/built-in-digests.ts');

async function shippedDigests(): Promise<readonly string[]> {
  const folder = path.join(PROJECT, 'skills');
  const names = readdirSync(folder).toSorted();
  const trees = await Promise.all(names.map((name) => readTreeDigest(path.join(folder, name))));
  return trees.map((tree, at) => {
    if (tree.type === 'refused') throw new Error(`${String(names[at])} cannot be read`);
    return tree.digest;
  });
}

test('the digests of the built-in skills are those of the shipped folders', async () => {
  const digests = await shippedDigests();
  if (process.env['UPDATE_DOCS'] === '1')
    writeFileSync(
      FILE,
      [
        '/** Tree digests of the skills in skills/. A test compares them; `npm run docs` writes them. */',
        'export const BUILT_IN_DIGESTS: ReadonlySet<string> = new Set([',
        ...digests.map((digest) => `  '${digest}',`),
        ']);',
        '',
      ].join('\n'),
    );
  else expect([...BUILT_IN_DIGESTS], 'a built-in skill changed: npm run docs').toEqual(digests);
});
