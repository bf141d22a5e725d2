import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { SETTLE_MS, confirm, openTerminalAsker, type AskStreams } from '../../src/cli/terminal/ask.ts';
import type { ApprovalRequest } from '../../src/core/approval.ts';
import { verifies } from '../conformance/verifies.ts';
import { commandRequest, requestOf } from '../policy/approval-request.ts';

/** A terminal whose keys are hit by the test and whose screen is remembered. */
class FakeInput extends EventEmitter {
  isTTY = true;
  isRaw = false;
  isPaused = true;
  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }
  resume(): void {
    this.isPaused = false;
  }
  pause(): void {
    this.isPaused = true;
  }
}

interface Desk {
  readonly streams: AskStreams;
  readonly input: FakeInput;
  readonly screen: () => string;
  readonly marksPastes: () => boolean;
  readonly interrupts: () => number;
}

function desk({ isTTY = true } = {}): Desk {
  const input = new FakeInput();
  let screen = '';
  let interrupts = 0;
  let marksPastes = false;
  const write = (text: string): void => {
    const mode = /^\u001B\[\?2004([hl])$/.exec(text)?.[1];
    if (mode === undefined) screen += text;
    else marksPastes = mode === 'h';
  };
  return {
    input,
    screen: () => screen,
    marksPastes: () => marksPastes,
    interrupts: () => interrupts,
    streams: {
      input,
      output: { isTTY, columns: 80, write },
      interrupt: () => (interrupts += 1),
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const wait = (milliseconds = SETTLE_MS): void => {
  vi.advanceTimersByTime(milliseconds);
};

function ask(
  at: Desk,
  request: ApprovalRequest = requestOf(),
  signal = new AbortController().signal,
): Promise<unknown> {
  const asker = openTerminalAsker(at.streams);
  if (asker === undefined) throw new Error('no terminal');
  return asker.ask(request, { signal });
}

const yes = (scope: string): unknown => ({ verdict: 'yes', scope });
const NO = { verdict: 'no', scope: 'once' };

describe('a question on the terminal', () => {
  test.each([
    ['y', yes('once')],
    ['Y', yes('once')],
    ['r', yes('run')],
    ['a', yes('skill')],
    ['y\r', yes('once')],
    ['r\r\n', yes('run')],
    ['n', NO],
    ['\r', NO],
    ['\n', NO],
    ['\u0004', NO],
  ])('%j is an answer, and the terminal is as it was', async (key, expected) => {
    const at = desk();
    const asking = ask(at);
    expect([at.input.isRaw, at.input.isPaused]).toEqual([true, false]);
    wait();
    at.input.emit('data', Buffer.from(key));
    expect(await asking).toEqual(expected);
    expect([at.input.isRaw, at.input.isPaused, at.input.eventNames(), at.interrupts()]).toEqual([false, true, [], 0]);
  });

  test('shows what is asked and the choices that there are', async () => {
    const at = desk();
    const asking = ask(at, requestOf({ scopes: ['once', 'run'] }));
    expect(at.screen()).toBe(
      '◆ medium risk, bubblewrap: run command for release: git status\n  [y]es  [r]est of run  [n]o  [d]etails > ',
    );
    wait();
    at.input.emit('data', 'a');
    at.input.emit('data', 'y');
    expect(await asking).toEqual(yes('once'));
    expect(at.screen().endsWith('> yes, once\n')).toBe(true);
  });

  test('what was typed before it could be read is no answer', async () => {
    const at = desk();
    const asking = ask(at);
    at.input.emit('data', 'y');
    wait(SETTLE_MS - 1);
    at.input.emit('data', 'y');
    wait(SETTLE_MS - 1);
    at.input.emit('data', 'yyyy\r');
    wait(SETTLE_MS - 1);
    at.input.emit('data', 'r');
    wait();
    at.input.emit('data', 'n');
    expect([await asking, at.screen().split('answer again > ').length]).toEqual([NO, 2]);
  });

  test('neither something pasted nor an arrow key is an answer', async () => {
    const at = desk();
    const asking = ask(at);
    for (const keys of ['yes', 'y\ry', '\u001B[A', '\u001By']) {
      wait();
      at.input.emit('data', keys);
    }
    at.input.emit('data', 'y');
    wait();
    at.input.emit('data', 'x');
    at.input.emit('data', 'a');
    expect(await asking).toEqual(yes('skill'));
  });

  test.each([
    [['\u001B[200~yes\n\u001B[201~']],
    [['\u001B[200~', 'yes', '\r', '\u001B[201~', 'yes\r']],
    [['\u001B[20', '0~y', 'es\n', '\u001B', '[201~']],
    [['\u001B[200~x\u001B[201~yes\r']],
    [['yes\u001B[200~\n\u001B[201~']],
    [['\u001B[200~yes\u0003yes\n']],
  ])('text that the terminal marks as pasted is no answer to a high-risk question: %j', async (chunks) => {
    const at = desk();
    const asking = ask(at, requestOf({ risk: 'high' }));
    expect(at.marksPastes()).toBe(true);
    for (const chunk of chunks) {
      // A slow line: only the marks tell that it is one paste.
      if (chunk !== 'yes\r') wait();
      at.input.emit('data', chunk);
    }
    at.input.emit('data', '\u001B[201~');
    wait();
    at.input.emit('data', 'yes run');
    at.input.emit('data', '\r');
    expect([await asking, at.interrupts(), at.marksPastes()]).toEqual([yes('run'), 0, false]);
  });

  test('Ctrl-C ends a question in a paste whose end never comes', async () => {
    const at = desk();
    const asking = ask(at, requestOf({ risk: 'high' }));
    wait();
    for (const keys of ['\u001B[200~yes', '\u0003']) at.input.emit('data', keys);
    expect([await asking, at.interrupts(), at.marksPastes()]).toEqual([NO, 1, false]);
  });

  test('Ctrl-C is a no and an interrupt, at any time', async () => {
    const early = desk();
    const asking = ask(early);
    early.input.emit('data', '\u0003');
    expect([await asking, early.interrupts(), early.input.isRaw]).toEqual([NO, 1, false]);
    const late = desk();
    const again = ask(late);
    wait();
    late.input.emit('data', '\u0003');
    expect([await again, late.interrupts()]).toEqual([NO, 1]);
  });

  test('an input that ends or breaks is a no', async () => {
    for (const event of ['end', 'error']) {
      const at = desk();
      const asking = ask(at);
      at.input.emit(event, new Error('gone'));
      expect([await asking, at.interrupts()]).toEqual([NO, 0]);
    }
  });

  test('an aborted question leaves the terminal as it was', async () => {
    const at = desk();
    const stop = new AbortController();
    const asking = ask(at, requestOf(), stop.signal);
    stop.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
    expect([at.input.isRaw, at.input.isPaused, at.input.eventNames()]).toEqual([false, true, []]);
    expect(at.marksPastes()).toBe(false);
  });

  test('details show all of a long command, and keys count again only later', async () => {
    const at = desk();
    const command = `start ${'x'.repeat(9_000)} middle ${'y'.repeat(9_000)} end`;
    const asking = ask(at, commandRequest(command));
    expect(at.screen()).not.toContain('middle');
    wait();
    at.input.emit('data', 'd');
    expect(at.screen()).toContain('middle');
    at.input.emit('data', 'y');
    wait();
    at.input.emit('data', 'n');
    expect(await asking).toEqual(NO);
  });

  test('the first yes to what the question cannot show is answered with the details and the reason', async () => {
    const at = desk();
    const asking = ask(at, commandRequest(`echo ${'x'.repeat(400)}; rm -r .`));
    expect(at.screen()).not.toContain('rm -r');
    wait();
    at.input.emit('data', 'a');
    expect(at.screen()).toContain('rm -r .');
    expect(at.screen()).toContain('not approved yet: the question did not show all of this; answer again\n');
    wait();
    at.input.emit('data', 'a');
    expect(await asking).toEqual(yes('skill'));
  });

  test('a short change is shown with the question, and a long one before a yes counts', async () => {
    const write = (after: string): ApprovalRequest =>
      requestOf({
        tool: 'write_file',
        action: { type: 'write_file', path: 'a.txt', content: after },
        detail: { kind: 'write', path: 'a.txt', before: 'one\n', after },
        scopes: ['once'],
      });
    const short = desk();
    const asking = ask(short, write('two\n'));
    expect(short.screen()).toBe(
      [
        'changes, 1 line added, 1 removed:',
        '  │ - one',
        '  │ + two',
        '◆ medium risk, bubblewrap: change +1 -1 for release: a.txt',
        '  [y]es  [n]o  [d]etails > ',
      ].join('\n'),
    );
    wait();
    short.input.emit('data', 'y');
    expect(await asking).toEqual(yes('once'));
    const long = desk();
    const again = ask(long, write(`${'line\n'.repeat(60)}last\n`));
    expect(long.screen().split('\n')).toHaveLength(2);
    wait();
    long.input.emit('data', 'y');
    expect(long.screen()).toContain('+ last');
    wait();
    long.input.emit('data', 'y');
    expect(await again).toEqual(yes('once'));
  });

  test('Ctrl-C that stops the work leaves the question without an answer', async () => {
    const at = desk();
    const stop = new AbortController();
    const streams = { ...at.streams, interrupt: () => stop.abort(new Error('stopped by SIGINT')) };
    const asking = openTerminalAsker(streams)?.ask(requestOf(), { signal: stop.signal });
    at.input.emit('data', '\u0003');
    await expect(asking).rejects.toThrow('stopped by SIGINT');
    expect([at.input.isRaw, at.input.eventNames()]).toEqual([false, []]);
  });

  test('there is none where keys or screen are no terminal', () => {
    const piped = desk();
    piped.input.isTTY = false;
    expect(openTerminalAsker(piped.streams)).toBeUndefined();
    expect(openTerminalAsker(desk({ isTTY: false }).streams)).toBeUndefined();
  });
});

describe('random keys', () => {
  const keys = fc.array(
    fc.oneof(fc.constantFrom('y', 'r', 'a', 'n', 'yes', 'YES', 'no', '\r', ' ', '\u0015'), fc.string()),
    { maxLength: 8 },
  );

  verifies('POL-3', 'approve if and only if they are an offered answer', async () => {
    await fc.assert(
      fc.asyncProperty(keys, fc.constantFrom('medium' as const, 'high' as const), async (typed, risk) => {
        const at = desk();
        const stop = new AbortController();
        const asked = ask(at, requestOf({ risk, scopes: ['once', 'run'] }), stop.signal).catch(() => 'none');
        wait();
        const taken: string[] = [];
        for (const key of [...typed, '\u0004']) {
          if (at.input.isPaused) break;
          taken.push(key);
          at.input.emit('data', key);
          // Pasted text and the details of the question must settle first.
          wait();
        }
        stop.abort();
        const answer = await asked;
        const isYes = typeof answer === 'object' && answer !== null && 'verdict' in answer && answer.verdict === 'yes';
        const last = taken.at(-1) ?? '';
        if (risk === 'medium') expect(isYes).toBe(['y', 'r'].includes(last.trim().toLowerCase()) && last.length === 1);
        // The word is the last line on the screen.
        else if (isYes) expect(at.screen().trimEnd().split('\n').at(-2)?.toLowerCase()).toMatch(/> *yes( run)? *$/);
      }),
    );
  });
});

describe('a question of high risk', () => {
  const risky = requestOf({ risk: 'high' });

  test.each([
    ['yes\r', yes('once')],
    ['YES\r', yes('once')],
    ['yes run\r', yes('run')],
    ['yes skill\r', yes('skill')],
    ['yex\u007Fs\r', yes('once')],
    ['no\u0015yes\n', yes('once')],
    ['y\r', NO],
    ['r\r', NO],
    ['yess\r', NO],
    ['\r', NO],
  ])('%j typed', async (keys, expected) => {
    const at = desk();
    const asking = ask(at, risky);
    wait();
    for (const key of keys) at.input.emit('data', key);
    expect(await asking).toEqual(expected);
  });

  test('says that an answer for the run covers the file of a write, not every write', async () => {
    const detail = { kind: 'delete', path: 'a.txt', bytes: 1 } as const;
    const screens = [risky, { ...risky, detail }].map((request) => {
      const at = desk();
      const asking = ask(at, request);
      wait();
      at.input.emit('data', '\r');
      return { screen: at.screen(), asking };
    });
    await Promise.all(screens.map(({ asking }) => asking));
    expect(screens.map(({ screen }) => /"yes run" for this (\w+);/.exec(screen)?.[1])).toEqual(['run', 'file']);
  });

  test('does not take a word for a scope that is not offered', async () => {
    const at = desk();
    const asking = ask(at, { ...risky, scopes: ['once'] });
    wait();
    for (const key of 'yes run\r') at.input.emit('data', key);
    expect(await asking).toEqual(NO);
  });

  test('a word that was begun too early does not count', async () => {
    const at = desk();
    const asking = ask(at, risky);
    at.input.emit('data', 'yes\r');
    wait();
    for (const key of 's\r') at.input.emit('data', key);
    expect(await asking).toEqual(NO);
  });

  test('what is typed is seen, and what is deleted goes', async () => {
    const at = desk();
    const asking = ask(at, risky);
    const from = at.screen().length;
    wait();
    for (const key of ['y', 'a', '\u007F', '\u0007', 'é', 'es', '\r']) at.input.emit('data', key);
    expect(await asking).toEqual(yes('once'));
    expect(at.screen().slice(from)).toBe('ya\b \b\b \byes\nyes, once\n');
  });
});

describe('confirm', () => {
  test.each([
    ['y', true],
    ['n', false],
    ['\r', false],
  ])('%j', async (key, expected) => {
    const at = desk();
    const asking = confirm(at.streams, 'Trust it?', { signal: new AbortController().signal });
    wait();
    at.input.emit('data', key);
    expect(await asking).toBe(expected);
    expect(at.screen()).toBe(`Trust it?\n[y] yes  [n] no > ${expected ? 'yes' : 'no'}\n`);
  });

  test('is a no without a terminal', async () => {
    expect(await confirm(desk({ isTTY: false }).streams, 'Trust it?', { signal: new AbortController().signal })).toBe(
      false,
    );
  });
});
