import fc from 'fast-check';
import { expect, test } from 'vitest';

import { hideSecrets, modelError, modelProblem, shownWords } from '../../src/model/problem.ts';

test('a key is taken out in every spelling', () => {
  const key = fc.string({ minLength: 8, maxLength: 60 }).filter((text) => text.trim().length >= 8);
  fc.assert(
    fc.property(key, fc.string(), fc.string(), (secret, before, after) => {
      const hide = hideSecrets([secret]);
      for (const spelling of [secret, JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString('base64')])
        expect(hide(`${before} ${spelling} ${after}`)).not.toContain(spelling);
    }),
  );
});

test('a key inside a header is taken out without its scheme too', () => {
  expect(hideSecrets(['Bearer abcdefghijkl'])('got abcdefghijkl, Bearer abcdefghijkl')).toBe('got [key], [key]');
});

test('short values are no keys: they would be found by chance', () => {
  expect(hideSecrets(['', 'none', 'x'])('none of this is a key, x')).toBe('none of this is a key, x');
});

test('words of a server are one short line', () => {
  expect(shownWords(' too\n\tmany\u0007 \u202Etokens ')).toBe('too many\\x07 \\u{202e}tokens');
  expect(shownWords('x'.repeat(1_000)).length).toBe(300);
});

test('the error names the number of attempts', () => {
  const problem = modelProblem('the server answered 503', { status: 503, isRetryable: true, hint: 'wait' });
  expect(modelError('ollama/qwen3', problem, { retries: 3, hide: (text) => text })).toMatchObject({
    code: 'model/failed',
    message: 'ollama/qwen3: the server answered 503 (tried 4 times)',
    hint: 'wait',
    data: { model: 'ollama/qwen3', status: 503, isRetryable: true },
  });
});
