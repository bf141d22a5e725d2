import { expect, test } from 'vitest';

import { checkJsonSchema } from '../../../src/evals/grade/json-schema.ts';

/** Each level refers twice to the next. */
function doubling(levels: number): unknown {
  const level = (next: number): unknown => ({
    allOf: [{ $ref: `#/$defs/${String(next)}` }, { $ref: `#/$defs/${String(next)}` }],
  });
  return Object.fromEntries(Array.from({ length: levels }, (_, at) => [at, at + 1 < levels ? level(at + 1) : true]));
}

test('a JSON Schema of a case whose references double the work at every level ends at the deadline', () => {
  expect(checkJsonSchema(1, { $ref: '#/$defs/0', $defs: doubling(40) })).toEqual({
    type: 'unusable',
    message: 'checking the schema took longer than 2000 ms',
  });
});
