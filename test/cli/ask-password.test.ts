import { EventEmitter } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { askPassword, passwordOfFile } from '../../src/cli/terminal/ask-password.ts';
import type { KeyInput } from '../../src/cli/terminal/ask.ts';
import { scratch } from '../skills/registry/support.ts';

/** A terminal whose keys the test sends. */
function terminal(): {
  readonly keys: EventEmitter;
  readonly streams: Parameters<typeof askPassword>[0];
  shown: string;
} {
  const keys = new EventEmitter();
  const input: KeyInput = Object.assign(keys, {
    isTTY: true,
    setRawMode: () => undefined,
    resume: () => undefined,
    pause: () => undefined,
  });
  const made = {
    keys,
    shown: '',
    streams: {
      input,
      output: { isTTY: true, write: (text: string) => (made.shown += text) },
      interrupt: () => (made.shown += 'INTERRUPTED'),
    },
  };
  return made;
}

const { signal } = new AbortController();

describe('a password', () => {
  test('is typed unseen, with backspace and Ctrl-U, up to the enter key', async () => {
    const made = terminal();
    const asked = askPassword(made.streams, 'password', { signal });
    for (const typed of ['wrong', '\u0015', 'pa', 'x', '\u007F', '\u001B[A', 'ß1', '\r', 'later'])
      made.keys.emit('data', Buffer.from(typed));
    expect(await asked).toBe('paß1');
    expect(made.shown).toBe('password: \n');
    expect(made.keys.listenerCount('data')).toBe(0);
  });

  test.each([
    ['\u0003', 'password: \nINTERRUPTED'],
    ['\u0004', 'password: \n'],
  ])('is none after %j', async (key, shown) => {
    const made = terminal();
    const asked = askPassword(made.streams, 'password', { signal });
    made.keys.emit('data', Buffer.from(`abc${key}`));
    expect(await asked).toBeUndefined();
    expect(made.shown).toBe(shown);
  });

  test('is not asked for without a terminal', async () => {
    const made = terminal();
    const streams = { ...made.streams, output: { write: () => undefined } };
    expect(await askPassword(streams, 'password', { signal })).toBeUndefined();
    expect(made.shown).toBe('');
  });

  test('comes from a file only if other users cannot read it', () => {
    const folder = scratch();
    writeFileSync(path.join(folder, 'pass'), 'pa ss\n', { mode: 0o600 });
    expect(passwordOfFile('pass', folder)).toBe('pa ss');
    chmodSync(path.join(folder, 'pass'), 0o644);
    expect(() => passwordOfFile('pass', folder)).toThrow(
      expect.objectContaining({ raised: expect.objectContaining({ code: 'source/failed' }) }),
    );
    expect(() => passwordOfFile('none', folder)).toThrow(
      expect.objectContaining({ raised: expect.objectContaining({ code: 'source/failed' }) }),
    );
  });
});
