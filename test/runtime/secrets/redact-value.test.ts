import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createRedactor } from '../../../src/journal/redact/redact.ts';
import { redactionProblem } from '../../../src/journal/redact/redact-variants.ts';
import { redacted } from '../../../src/runtime/secrets/redact-value.ts';

const secret = fc
  .stringMatching(/^[a-z0-9]{12,40}$/)
  .filter((value) => redactionProblem(value) === undefined && !/^(?:x|…)/.test(value));

test('wherever a text is cut, nothing is left of the secret that it was cut in', () => {
  fc.assert(
    fc.property(secret, fc.nat(39), fc.stringMatching(/^[x\n ]{0,30}$/), (value, at, before) => {
      const redactor = createRedactor([{ name: 'TOKEN', value }]);
      const start = value.slice(0, Math.max(3, Math.min(at, value.length - 1)));
      const cut = { text: `${before}${start}`, truncated: true };
      expect(redacted(cut, redactor).text).not.toContain(start);
      expect(redacted([`${before}${start}…\nmore`], redactor)[0]).not.toContain(start);
      // What is whole is left as it is: a name may well begin like a secret.
      expect(redacted({ ...cut, truncated: false, name: start }, redactor)).toEqual({
        ...cut,
        truncated: false,
        name: start,
      });
      expect(redacted({ ...cut, name: start }, redactor).name).toBe(start);
    }),
  );
});

test('the shape of a value stays what it was', () => {
  const redactor = createRedactor([{ name: 'TOKEN', value: 'tok-5f3a9c1e77' }]);
  const value = {
    a: ['tok-5f3a9c1e77', 1, null, true],
    'tok-5f3a9c1e77': { b: 'see tok-5f3a9c1e77…' },
    text: 'x',
    truncated: true,
  };
  expect(redacted(value, redactor)).toEqual({
    a: ['[secret TOKEN]', 1, null, true],
    '[secret TOKEN]': { b: 'see [secret TOKEN]…' },
    text: 'x',
    truncated: true,
  });
  expect(redacted(value, createRedactor([]))).toBe(value);
});

test('a value without secrets is the same value, and so is every part of one that has none', () => {
  const redactor = createRedactor([{ name: 'TOKEN', value: 'tok-5f3a9c1e77' }]);
  const free = { a: ['x', 1, null, { b: 'naïve' }], text: 'x', truncated: false };
  expect(redacted(free, redactor)).toBe(free);
  expect(redacted([free, 'tok-5f3a9c1e77'], redactor)[0]).toBe(free);
});
