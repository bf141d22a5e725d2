import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { openProgress } from '../../src/cli/terminal/progress.ts';
import { openTerminal } from '../../src/cli/terminal/terminal.ts';

/** Progress on a stderr of this kind, and what was written to it. */
function progressOn({ isTTY = false, quiet = false, json = false, isLogged = true, env = {} }) {
  let written = '';
  const stderr = { isTTY, write: (text: string) => void (written += text) };
  const stdout = { write: (text: string) => expect.unreachable(text) };
  const terminal = openTerminal({ streams: { stdout, stderr }, env, color: 'never', quiet, json });
  return { progress: openProgress(terminal, { isLogged }), written: () => written };
}

/** Two minutes of work that reports a number every second. */
function work({ progress }: ReturnType<typeof progressOn>): void {
  for (let second = 1; second <= 120; second += 1) {
    progress.show(`${String(second)} of 200`);
    vi.advanceTimersByTime(1000);
  }
  progress.end();
  vi.advanceTimersByTime(120_000);
}

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('of an evaluation is a line from time to time where there is no terminal, also with --json', () => {
    const lines = '10 of 200\n40 of 200\n70 of 200\n100 of 200\n';
    for (const kind of [
      {},
      { json: true },
      { isTTY: true, env: { CI: '1' } },
      { isTTY: true, env: { TERM: 'dumb' } },
    ]) {
      const open = progressOn(kind);
      work(open);
      expect(open.written(), JSON.stringify(kind)).toBe(lines);
    }
  });

  test('is silent with --quiet, without a terminal in other commands, and for work that ends soon', () => {
    for (const kind of [{ quiet: true }, { quiet: true, isTTY: true }, { isLogged: false }]) {
      const open = progressOn(kind);
      work(open);
      expect(open.written()).toBe('');
    }
    const short = progressOn({});
    short.progress.show('1 of 2');
    vi.advanceTimersByTime(9000);
    short.progress.end();
    vi.advanceTimersByTime(60_000);
    expect(short.written()).toBe('');
  });

  test('prints no line twice while nothing happens', () => {
    const open = progressOn({});
    open.progress.show('downloading');
    vi.advanceTimersByTime(300_000);
    expect(open.written()).toBe('downloading\n');
    open.progress.end();
  });

  test('is one line that is redrawn and cleared on a terminal', () => {
    const open = progressOn({ isTTY: true });
    work(open);
    expect(open.written()).not.toContain('\n');
    expect(open.written()).toContain('120 of 200');
    expect(open.written().endsWith('\r\u001B[K')).toBe(true);
  });
});
