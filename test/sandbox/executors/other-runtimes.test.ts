import { expect, test } from 'vitest';

import { refuseOtherRuntimes } from '../../../src/sandbox/executors/find-executor.ts';

test('programs run under Node only; Bun and Deno are named with what to do', () => {
  expect(() => refuseOtherRuntimes('auto', process.versions)).not.toThrow();
  for (const [versions, name] of [
    [{ node: '24.3.0', bun: '1.4.4' }, 'Bun 1.4.4'],
    [{ node: '24.3.0', deno: '2.9.6', v8: '14' }, 'Deno 2.9.6'],
  ] as const)
    expect(() => refuseOtherRuntimes('auto', versions)).toThrow(
      expect.objectContaining({
        code: 'executor/unavailable',
        message: `programs of skills cannot run under ${name}`,
        hint: expect.stringContaining('start this program with Node.js'),
      }),
    );
});
