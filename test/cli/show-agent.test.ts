import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseBudget } from '../../src/cli/agent/agent-flags.ts';
import { openAgentDisplay, type AgentDisplay, type WatchOutputKey } from '../../src/cli/agent/show-agent.ts';
import { openTerminal } from '../../src/cli/terminal/terminal.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import type { Plan, StepState } from '../../src/core/plan.ts';
import { cleanText } from '../../src/core/text/text.ts';
import { RESULT } from '../journal/run-lines.ts';

interface Screen extends AgentDisplay {
  readonly tell: (...events: readonly RunEvent[]) => void;
  readonly resize: (columns: number) => void;
  readonly out: () => string;
  readonly err: () => string;
}

function open(isTTY: boolean, level: 'quiet' | 'normal' = 'normal', watchKey?: WatchOutputKey): Screen {
  let out = '';
  let err = '';
  const stdout = { write: (text: string) => (out += text), isTTY, columns: 80 };
  const terminal = openTerminal({
    streams: { stdout, stderr: { write: (text) => (err += text), isTTY } },
    env: {},
    color: 'never',
    quiet: false,
    json: false,
  });
  const display = openAgentDisplay(terminal, level, watchKey);
  const tell = (...events: readonly RunEvent[]): void => {
    for (const event of events) display.sink({ seq: 1, time: '', elapsed: 0, event });
  };
  const resize = (columns: number): void => void (stdout.columns = columns);
  return { ...display, tell, resize, out: () => out, err: () => err };
}

const ask: RunEvent = { type: 'model-call', turn: 1, model: 'played', request: '', tokens: 10 };
const delta = (text: string): RunEvent => ({ type: 'answer-delta', text });
const note: RunEvent = { type: 'note', message: 'odd' };
const plan = (...steps: readonly (readonly [string, StepState])[]): RunEvent => ({
  type: 'plan',
  turn: 1,
  plan: {
    goal: 'count',
    steps: steps.map(([title, status]) => ({ id: title, title, status })),
    assumptions: [],
    constraints: {},
  } satisfies Plan,
});

const lastLine = (text: string): string | undefined =>
  text
    .trimEnd()
    .split(/[\n\r]|\u001B\[\w+/)
    .at(-1);

describe('the answer', () => {
  test('grows on a terminal and is not shown twice', () => {
    const screen = open(true);
    screen.tell(ask, delta('It has '), delta('12 rows.'));
    screen.end('It has 12 rows.');
    expect(screen.out()).toBe('\nIt has\n\u001B[1A\r\u001B[JIt has 12 rows.\n');
  });

  test('is complete before a step begins, so that nothing is drawn over its question', () => {
    const screen = open(true);
    const action = { type: 'run_command', command: 'ls' } as const;
    screen.tell(ask, delta('I run '), delta('it.'), { type: 'action', call: 1, action, askedBy: 'model' });
    expect(screen.out()).toBe('\nI run\n\u001B[1A\r\u001B[JI run it.\n');
    screen.end('');
  });

  test('comes after what the model decides, which is shown as long as it writes the rest', () => {
    const screen = open(true);
    screen.tell(ask, { type: 'decision-delta', field: 'goal', text: 'count rows' });
    expect(lastLine(screen.err())).toMatch(/planning: "count rows"/);
    screen.tell({ type: 'decision-delta', field: 'action', text: 'run_script' });
    expect(lastLine(screen.err())).toMatch(/preparing: run_script/);
    screen.tell(ask, { type: 'decision-delta', field: 'action', text: 'final_answer' });
    expect(lastLine(screen.err())).not.toContain('final_answer');
    screen.end('');
    const file = open(false);
    file.tell(ask, { type: 'decision-delta', field: 'goal', text: 'count rows' });
    expect(file.err()).not.toContain('count rows');
  });

  test('comes after the line of a step that was stopped; the step gets no second line when it ends later', () => {
    const screen = open(true);
    const command = { type: 'run_command', command: 'sleep 60' } as const;
    const late: RunEvent = {
      type: 'observation',
      call: 1,
      observation: { type: 'program-ran', action: 'run_command', result: { ...RESULT, reason: 'cancelled' } },
    };
    screen.tell(ask, { type: 'action', call: 1, action: command, askedBy: 'model' });
    screen.end('This answer is incomplete.');
    expect(lastLine(screen.err())).toMatch(/^✗ run_command "sleep 60": interrupted \([^)]+\)$/);
    const before = screen.err();
    screen.tell(late, { type: 'turn', turn: 2 });
    expect(screen.err()).toBe(before);
  });

  test('is printed when it is complete if stdout is not a terminal', () => {
    const screen = open(false);
    screen.tell(ask, delta('It has '), delta('12 rows.'));
    expect(screen.out()).toBe('');
    screen.end('It has 12 rows.');
    expect(screen.out()).toBe('It has 12 rows.\n');
  });

  test('that is another one than what grew is shown as well', () => {
    const screen = open(true);
    screen.tell(ask, delta('First I look.'), note, ask, delta('It has'));
    screen.end('This answer is not complete.');
    expect(screen.out()).toBe('\nFirst I look.\n\nIt has\n\nThis answer is not complete.\n');
  });

  test('cannot act on the screen, however it is cut', () => {
    const text = '\u001B[2Jgone \u001B]0;title\u0007\u202Eabc 王\u{1F600}';
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 6 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const screen = open(true);
        screen.tell(ask, ...places.slice(1).map((to, place) => delta(text.slice(places[place], to))));
        screen.end(text);
        // The block that grows is drawn again in its own place; nothing else moves the cursor.
        const shown = screen.out().replaceAll(/\u001B\[\d+A\r\u001B\[J/g, '');
        expect(cleanText(shown)).toBe(shown);
        expect(Buffer.from(shown).toString()).toBe(shown);
      }),
    );
  });
});

describe('the plan', () => {
  test('is told step by step: all of it first, then what changed', () => {
    const screen = open(false);
    screen.tell(plan(['find', 'in_progress'], ['run', 'pending']));
    screen.tell(plan(['find', 'completed'], ['run', 'pending'], ['say', 'pending']));
    expect(screen.err()).toBe('  [>] find\n  [ ] run\n  [x] find\n  [ ] say\n');
  });

  test('of a model that writes terminal codes is text', () => {
    const screen = open(false);
    screen.tell(plan(['a\u001B[31m\nrun done', 'pending']));
    expect(screen.err()).not.toContain('\u001B');
    expect(screen.err().split('\n')).toHaveLength(2);
  });

  test('is not told where little is wanted', () => {
    const screen = open(false, 'quiet');
    screen.tell(plan(['find', 'in_progress']), note);
    expect(screen.err()).toBe('');
  });
});

test('a terminal says what is waited for, and takes it back', () => {
  const screen = open(true);
  screen.tell(ask, note);
  expect(screen.err()).toBe('\r\u001B[K⠋ turn 1: asking played\r\u001B[K! note: odd\n');
  const plain = open(false);
  plain.tell(ask, note);
  expect(plain.err()).toBe('note: odd\n');
});

test('a long command leaves room for the key, and for the last line that the program printed', () => {
  let press = (): void => undefined;
  const screen = open(true, 'normal', (onKey) => {
    press = onKey;
    return () => undefined;
  });
  const command = `echo ${'very '.repeat(30)}long`;
  screen.tell({ type: 'action', call: 1, action: { type: 'run_command', command }, askedBy: 'model' });
  screen.output('stdout', Buffer.from('first\nsecond\nthi'));
  press();
  press();
  const rows = screen.err().split('\r\u001B[K').slice(-2);
  expect(rows.map((row) => [row.length <= 79, row.includes(' run_command "echo'), row.slice(-17)])).toEqual([
    [true, true, expect.stringMatching(/…  │ thi$/)],
    [true, true, expect.stringMatching(/…  Ctrl-O: output$/)],
  ]);
  // The terminal wraps the old line when the window becomes narrower; both of its rows are cleared.
  screen.resize(50);
  press();
  expect(screen.err()).toMatch(/ {2}Ctrl-O: output\u001B\[1A\r\u001B\[J[^\n]* run_command [^\n]* {2}│ thi$/);
});

test('the last lines of a failed program follow its step, as text', () => {
  const ran = (exitCode: number, stderr: string): RunEvent => ({
    type: 'observation',
    call: 1,
    observation: {
      type: 'program-ran',
      action: 'run_command',
      result: { ...RESULT, reason: 'exited', exit_code: exitCode, stdout: 'much\n', stderr },
    },
  });
  const rowsOf = (screen: Screen): readonly string[] =>
    screen
      .err()
      .split('\n')
      .filter((row) => row.includes('│'));
  const screen = open(true);
  screen.tell(ran(0, 'a warning'), ran(1, `1\n2\n\u001B[31m◆ forged\u001B[0m\n\n${'x'.repeat(100)}\n`), ran(2, ''));
  expect(rowsOf(screen)).toEqual(['  │ 2', '  │ ◆ forged', `  │ ${'x'.repeat(74)}…`, '  │ much']);
  const plain = open(false);
  plain.tell(ran(1, 'wrong'));
  expect(rowsOf(plain)).toEqual([]);
});

describe('--budget', () => {
  test('is names and numbers, the last one counts', () => {
    expect(parseBudget(['turns=5,tokens=20000', 'turns=6'])).toEqual({ turns: 6, tokens: 20_000 });
    expect(parseBudget([])).toEqual({});
  });

  test.each(['turns', 'turns=', 'turns=-1', 'turns=1e9', 'turns=1=2', 'turn=5', '', 'turns=5,', '__proto__=1'])(
    'refuses %j',
    (text) => {
      expect(() => parseBudget([text])).toThrow(/--budget/);
    },
  );
});
