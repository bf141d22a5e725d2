import { describe, expect, test } from 'vitest';

import { jsonlSink, terminalSink, type EventSink } from '../../../src/journal/export/sinks.ts';
import type { TextLevel } from '../../../src/core/event-text.ts';
import type { RunEvent } from '../../../src/core/run-events.ts';
import { WHOLE_RUN, linesOf, start } from '../run-lines.ts';

function played(open: (write: (text: string) => void) => EventSink, events: readonly RunEvent[]): string {
  let written = '';
  const sink = open((text) => {
    written += text;
  });
  for (const line of linesOf(events)) sink(line);
  return written;
}

const onTerminal = (level: TextLevel, events = WHOLE_RUN): readonly string[] =>
  played((write) => terminalSink({ level, write, style: (style, text) => `<${style}>${text}` }), events).split('\n');

describe('the terminal', () => {
  test('quiet: what was denied, what was asked, and how it ended', () => {
    expect(onTerminal('quiet')).toEqual([
      '<yellow>question: run_script pdf scripts/read.py "the secret argument", high risk (rule "run_script(*)" of user /home/ada/config.json)',
      '<red>denied: run_command "the secret command", by rule "run_command(*)" of user /home/ada/config.json',
      '<green>run done: "it was answered"',
      '',
    ]);
  });

  test('normal: one line per action, with its time; the 10 ms in which a person was asked do not count', () => {
    expect(onTerminal('normal')).toEqual([
      'run run-1: "read my invoice"',
      '<green>load_skill pdf: new, 23 characters (30 ms)',
      '<yellow>question: run_script pdf scripts/read.py "the secret argument", high risk (rule "run_script(*)" of user /home/ada/config.json)',
      'approved for this run by you',
      '<green>run_script pdf scripts/read.py "the secret argument": exit 0 (40 ms)',
      '<red>denied: run_command "the secret command", by rule "run_command(*)" of user /home/ada/config.json',
      '<yellow>note: "the disk is nearly full"',
      '<green>final_answer: 17 characters (10 ms)',
      '<green>run done: "it was answered"',
      '',
    ]);
  });

  test('a question that the terminal shows itself does not count into the time either, nor does one that was interrupted', () => {
    const asked = WHOLE_RUN.findIndex(({ type }) => type === 'approval-ask');
    const interrupted: RunEvent = {
      type: 'observation',
      call: 2,
      observation: {
        type: 'failed',
        action: 'run_script',
        code: 'run/interrupted',
        message: 'stopped',
        hint: '',
        nearest: [],
        isTerminal: false,
      },
    };
    const note: RunEvent = { type: 'note', message: 'a second later' };
    const written = played(
      (write) =>
        terminalSink({
          level: 'normal',
          write,
          style: (_, text) => text,
          isHidden: ({ type }) => type.startsWith('approval-') || type === 'note',
        }),
      [...WHOLE_RUN.slice(0, asked + 1), note, note, note, interrupted],
    );
    expect(written.trimEnd().split('\n').at(-1)).toBe(
      'run_script pdf scripts/read.py "the secret argument": stopped (20 ms)',
    );
  });

  test('verbose: every event has a line', () => {
    expect(onTerminal('verbose')).toHaveLength(WHOLE_RUN.length + 1);
  });

  test('a request cannot forge a line or colour one', () => {
    expect(onTerminal('normal', [start({ request: 'x"\n\u001b[32mrun done\r\u2028y' })])).toEqual([
      'run run-1: "x\\"\\n\\x1b[32mrun done\\r\\u{2028}y"',
      '',
    ]);
  });
});

describe('lines of JSON', () => {
  test('each event is a line with its number and times', () => {
    const written = played(jsonlSink, WHOLE_RUN);
    const read = written
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(read).toEqual(linesOf(WHOLE_RUN).map(({ seq, time, elapsed, event }) => ({ seq, time, elapsed, event })));
  });
});

test('a sink whose output is closed does not throw', () => {
  const broken = (): never => {
    throw new Error('closed pipe');
  };
  for (const sink of [jsonlSink(broken), terminalSink({ level: 'verbose', write: broken, style: broken })])
    for (const line of linesOf(WHOLE_RUN)) expect(() => sink(line)).not.toThrow();
});
