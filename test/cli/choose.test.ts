import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';

import { chooseMany, type Choice, type ChooseOptions } from '../../src/cli/terminal/choose.ts';
import type { AskStreams } from '../../src/cli/terminal/ask.ts';
import { textWidth } from '../../src/platform/text-width.ts';

class FakeInput extends EventEmitter {
  isTTY = true;
  isRaw = false;
  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }
  resume(): void {}
  pause(): void {}
}

interface Desk {
  readonly input: FakeInput;
  readonly streams: AskStreams;
  /** What was drawn last. */
  readonly screen: () => readonly string[];
  readonly interrupts: () => number;
}

function desk({ isTTY = true, columns = 80, rows = 24 } = {}): Desk {
  const input = new FakeInput();
  let screen = '';
  let interrupts = 0;
  const write = (text: string): void => {
    screen = text.includes('\u001B[J') ? '' : text === '' ? screen : text;
  };
  const output = { isTTY, columns, rows, write };
  return {
    input,
    streams: { input, output, interrupt: () => (interrupts += 1) },
    screen: () => screen.split('\r\n'),
    interrupts: () => interrupts,
  };
}

const FRUITS: readonly Choice[] = [
  { label: 'apple', about: 'Round and red.' },
  { label: 'banana', about: 'Long and yellow.' },
  { label: 'cherry', unavailable: 'refused: poisoned' },
  { label: 'date', about: 'Sweet as an apple.', isSelected: true },
];
const [UP, DOWN, ENTER, ESCAPE, CTRL_A, CTRL_C, CTRL_D] = [
  '\u001B[A',
  '\u001B[B',
  '\r',
  '\u001B',
  '\u0001',
  '\u0003',
  '\u0004',
];

function choose(at: Desk, options: Partial<ChooseOptions> = {}): Promise<readonly number[] | undefined> {
  const signal = new AbortController().signal;
  return chooseMany(at.streams, { title: 'Fruits', choices: FRUITS, signal, ...options });
}

/** The answer to some keys; each is its own event, as from a keyboard. */
async function answer(keys: readonly string[], options: Partial<ChooseOptions> = {}): Promise<unknown> {
  const at = desk();
  const chosen = choose(at, options);
  for (const key of keys) at.input.emit('data', key);
  const result = await chosen;
  expect(at.input.isRaw).toBe(false);
  expect(at.input.listenerCount('data')).toBe(0);
  return result;
}

describe('a list to choose from', () => {
  test('shows rows, what is selected, and why a row cannot be', async () => {
    const at = desk();
    const chosen = choose(at);
    expect(at.input.isRaw).toBe(true);
    expect(at.screen()).toEqual([
      'Fruits',
      '> [ ] apple   Round and red.',
      '  [ ] banana  Long and yellow.',
      '   x  cherry  refused: poisoned',
      '  [x] date    Sweet as an apple.',
      '1 of 4 selected; row 1 of 4',
      'space select, enter continue, ctrl-a all, esc cancel',
      'type to filter: ',
    ]);
    at.input.emit('data', ENTER);
    expect(await chosen).toEqual([3]);
  });

  test.each([
    ['space selects the row, and again not', [' ', DOWN, ' ', ' ', ENTER], [0, 3]],
    ['the last row comes before the first', [UP, ' ', DOWN, ' ', ENTER], [0]],
    ['a refused row cannot be selected', [DOWN, DOWN, ' ', ENTER], [3]],
    ['ctrl-a selects all that can be', [CTRL_A, ENTER], [0, 1, 3]],
    ['typing filters, and names come before texts', ['a', 'p', 'p', ' ', ENTER], [0, 3]],
    ['backspace takes a letter back', ['d', 'a', 't', 'x', '\u007F', ' ', DOWN, 'y', ENTER], []],
    ['esc clears the filter first', ['b', 'a', 'n', ESCAPE, CTRL_A, ENTER], [0, 1, 3]],
    ['keys that arrive together count one by one', [`${DOWN} ${ENTER}`], [1, 3]],
    ['unknown keys do nothing', ['\u001B[15~', '\t', '\u001B[Z', ENTER], [3]],
  ])('%s', async (_what, keys, expected) => {
    expect(await answer(keys, { mayBeEmpty: true })).toEqual(expected);
  });

  test.each([
    ['esc', [ESCAPE]],
    ['ctrl-d', [CTRL_D]],
    ['ctrl-c', [CTRL_C]],
  ])('%s cancels', async (_what, keys) => {
    expect(await answer(keys)).toBeUndefined();
  });

  test('ctrl-c interrupts the command; the end of input and an abort restore the terminal', async () => {
    const interrupted = desk();
    const first = choose(interrupted);
    interrupted.input.emit('data', CTRL_C);
    expect([await first, interrupted.interrupts(), interrupted.input.isRaw]).toEqual([undefined, 1, false]);
    const ended = desk();
    const second = choose(ended);
    ended.input.emit('end');
    expect([await second, ended.input.isRaw]).toEqual([undefined, false]);
    const aborted = desk();
    const controller = new AbortController();
    const third = choose(aborted, { signal: controller.signal });
    controller.abort(new Error('stopped'));
    await expect(third).rejects.toThrow('stopped');
    expect([aborted.input.isRaw, aborted.input.listenerCount('data')]).toEqual([false, 0]);
  });

  test('enter with nothing selected explains itself', async () => {
    const at = desk();
    const chosen = choose(at, { choices: FRUITS.slice(0, 2) });
    at.input.emit('data', ENTER);
    expect(at.screen().at(-2)).toMatch(/^nothing is selected: press space/);
    at.input.emit('data', ` ${ENTER}`);
    expect(await chosen).toEqual([0]);
  });

  test.each([
    [80, 24],
    [40, 10],
    [20, 5],
  ])('hostile texts stay on one line of %d columns', async (columns, rows) => {
    const at = desk({ columns, rows });
    const evil = `\u001B[31m\u001B]0;title\u0007\u202Eevil\nline\t${'x'.repeat(5_000)}\u200B数据分析`;
    const choices = Array.from({ length: 50 }, (_, place) => ({ label: `${evil}${String(place)}`, about: evil }));
    const chosen = choose(at, { title: evil, choices });
    for (const key of [DOWN, DOWN, 'v', '\u202E', '\u001B[6~']) {
      at.input.emit('data', key);
      const lines = at.screen();
      expect(lines.length).toBeLessThanOrEqual(rows);
      for (const line of lines) {
        expect(textWidth(line)).toBeLessThan(columns);
        // oxlint-disable-next-line no-control-regex
        expect(line).not.toMatch(/[\u0000-\u001F\u007F\u202E\u200B]/);
      }
    }
    at.input.emit('data', CTRL_D);
    await chosen;
  });

  test('without a terminal nothing is chosen', async () => {
    expect(await choose(desk({ isTTY: false }))).toBeUndefined();
  });
});
