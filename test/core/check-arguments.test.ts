import { describe, expect, test } from 'vitest';

import { checkedFunction, type ArgumentTypes } from '../../src/core/check-arguments.ts';
import { isSkillError } from '../../src/core/errors.ts';

const DESCRIBED: ArgumentTypes = {
  functions: {
    open: {
      parameters: [
        { name: 'folder', type: 'string' },
        { name: 'options', type: { anyOf: ['undefined', { type: 0 }] } },
      ],
      isAsync: false,
      result: 0,
    },
    fetch: { parameters: [{ name: 'source', type: { anyOf: ['string', { type: 1 }] } }], isAsync: true },
  },
  objects: [
    { methods: { find: { parameters: [{ name: 'name', type: 'string' }], isAsync: false } }, members: { inner: 0 } },
  ],
  types: [
    {
      isOptions: true,
      members: {
        mode: { anyOf: ['undefined', { literal: 'strict' }, { literal: 'lenient' }] },
        names: { anyOf: ['undefined', { list: 'string' }] },
        env: { anyOf: ['undefined', { map: 'string' }] },
        signal: { anyOf: ['undefined', { instance: 'AbortSignal' }] },
        limit: { anyOf: ['undefined', 'number'] },
      },
    },
    { isOptions: false, members: { url: 'string' } },
  ],
};

const open = checkedFunction('open', DESCRIBED, ((folder: string) => ({
  folder,
  find: (name: string) => name.trim(),
  inner: { find: (name: string) => name.trim() },
})) as never) as (...values: unknown[]) => {
  find: (name: unknown) => string;
  inner: { find: (name: unknown) => string };
};
const fetch = checkedFunction('fetch', DESCRIBED, ((source: unknown) => Promise.resolve(source)) as never) as (
  ...values: unknown[]
) => Promise<unknown>;

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isSkillError(error)) return `${error.code}: ${error.message} (${error.hint})`;
    throw error;
  }
  return 'accepted';
}

describe('checkedFunction', () => {
  test.each([
    [['x'], 'accepted'],
    [['x', undefined], 'accepted'],
    [
      ['x', { mode: 'strict', names: ['a'], env: { A: 'b' }, signal: new AbortController().signal, limit: 1 }],
      'accepted',
    ],
    [['x', { mode: undefined, unknown: undefined }], 'accepted'],
    [[], 'input/invalid: open: folder is missing; expected a string (pass a string as folder)'],
    [[5], 'input/invalid: open: folder is 5; expected a string (pass a string as folder)'],
    [['x', null], 'input/invalid: open: options is null; expected an object (pass an object as options)'],
    [['x', []], 'input/invalid: open: options is a list; expected an object (pass an object as options)'],
    [
      ['x', { mode: 'loose' }],
      'input/invalid: open: options.mode is "loose"; expected "strict" or "lenient" (pass "strict" or "lenient" as options.mode)',
    ],
    [
      ['x', { names: 'a' }],
      'input/invalid: open: options.names is a string; expected a list (pass a list as options.names)',
    ],
    [
      ['x', { names: ['a', 5] }],
      'input/invalid: open: options.names[1] is 5; expected a string (pass a string as options.names[1])',
    ],
    [
      ['x', { env: { TOKEN: 5 } }],
      'input/invalid: open: options.env.TOKEN is 5; expected a string (pass a string as options.env.TOKEN)',
    ],
    [
      ['x', { signal: {} }],
      'input/invalid: open: options.signal is an object; expected AbortSignal (pass AbortSignal as options.signal)',
    ],
    [
      ['x', { limit: Number.NaN }],
      'input/invalid: open: options.limit is NaN; expected a number (pass a number as options.limit)',
    ],
    [
      ['x', { limt: 5 }],
      'input/invalid: open: options.limt is not an option (remove it; did you mean limit? Known: mode, names, env, signal, limit)',
    ],
    [
      ['a\0b'],
      'input/invalid: open: folder is a string; expected a path without NUL characters (pass a path without NUL characters as folder)',
    ],
  ])('%j is %s', (values, expected) => {
    expect(messageOf(() => open(...values))).toBe(expected);
  });

  test('rejects where the function returns a promise', async () => {
    await expect(fetch(5)).rejects.toMatchObject({ message: 'fetch: source is 5; expected a string or an object' });
    await expect(fetch({ url: 5 })).rejects.toMatchObject({ message: 'fetch: source.url is 5; expected a string' });
    expect(await fetch({ url: 'x', more: 1 })).toEqual({ url: 'x', more: 1 });
  });

  test('checks the methods of what a function returns', () => {
    const opened = open('x');
    expect([opened.find(' a '), opened.inner.find(' b ')]).toEqual(['a', 'b']);
    expect(messageOf(() => opened.find(5))).toMatch(/^input\/invalid: find: name is 5;/);
    expect(messageOf(() => opened.inner.find(null))).toMatch(/^input\/invalid: find: name is null;/);
  });
});
