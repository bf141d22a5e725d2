import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseJson } from '../../../src/core/json/parse-json.ts';

test('what is JSON is read, and what is none is nothing', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
  expect(['', '{', "{'a': 1}", 'undefined', 'NaN', '\uFEFF{}', '[1,]'].map(parseJson)).toEqual(
    Array(7).fill(undefined),
  );
  expect(parseJson('null')).toBeNull();
});
