import { expect, test } from 'vitest';

import { citations } from './cited.ts';
import { REQUIREMENTS, unknownOpen } from './requirements.ts';

test('every claimed requirement has a test', () => {
  const cited = new Set(citations().map(({ id }) => id));
  const missing = [...REQUIREMENTS].filter(([id, { claimed }]) => claimed && !cited.has(id));
  expect(missing.map(([id]) => id)).toEqual([]);
});

test('tests and the list of open requirements name only requirements that exist', () => {
  expect(citations().filter(({ id }) => !REQUIREMENTS.has(id))).toEqual([]);
  expect(unknownOpen()).toEqual([]);
});

test('open requirements are printed', () => {
  const open = [...REQUIREMENTS].filter(([, { claimed }]) => !claimed);
  console.log(
    [
      `${String(REQUIREMENTS.size - open.length)} of ${String(REQUIREMENTS.size)} requirements are claimed; open:`,
      ...open.map(([id, requirement]) => `  ${id}: ${requirement.open ?? ''}`),
    ].join('\n'),
  );
  // EVAL-3 of the first list, ACC-1 to ACC-6 and the additions are all there: a page that lost a section would show here.
  expect(REQUIREMENTS.size).toBeGreaterThanOrEqual(128);
});
