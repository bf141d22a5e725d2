import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from './files-below.ts';

test('every row of the threat model names tests that exist', () => {
  const page = readFileSync(path.join(PROJECT, 'SECURITY.md'), 'utf8');
  const table = page.slice(page.indexOf('| what is defended'), page.indexOf('## Root and ordinary users'));
  const rows = table.trim().split('\n').slice(2);
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const files = [...row.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, file = '']) => file);
    expect([row.slice(0, 60), files.filter((file) => !existsSync(path.join(PROJECT, file))), files.length > 0]).toEqual(
      [row.slice(0, 60), [], true],
    );
  }
});

test('every finding of the review names a test that exists', () => {
  const page = readFileSync(path.join(PROJECT, 'SECURITY.md'), 'utf8');
  const table = page.slice(page.indexOf('| finding | test |'), page.indexOf('## Not defended'));
  const rows = [...table.matchAll(/^\| .* \| `([^`]+)`: (.+) \|$/gm)];
  expect(rows.length).toBeGreaterThan(20);
  const missing = rows.filter(
    ([, file = '', title = '']) => !readFileSync(path.join(PROJECT, file), 'utf8').includes(title),
  );
  expect(missing.map(([row]) => row)).toEqual([]);
});
