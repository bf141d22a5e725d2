import { expect, test } from 'vitest';

import { citations } from './cited.ts';
import { REQUIREMENTS } from './requirements.ts';

test('every claimed requirement has a test', () => {
  const cited = new Set(citations().map(({ id }) => id));
  const missing = Object.entries(REQUIREMENTS).filter(([id, { claimed }]) => claimed && !cited.has(id));
  expect(missing.map(([id]) => id)).toEqual([]);
});

test('tests cite only requirements that exist and are claimed', () => {
  const claimed = new Set(
    Object.entries(REQUIREMENTS)
      .filter(([, requirement]) => requirement.claimed)
      .map(([id]) => id),
  );
  expect(citations().filter(({ id }) => !claimed.has(id))).toEqual([]);
});
