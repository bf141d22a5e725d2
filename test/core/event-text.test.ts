import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Action } from '../../src/core/action.ts';
import { describeAction, describeOutcome } from '../../src/core/action-text.ts';
import { eventText } from '../../src/core/event-text.ts';
import { failure } from '../../src/core/failure-codes.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { durationText, shownText } from '../../src/core/text/line-text.ts';
import { actionFailed } from '../../src/core/observation.ts';
import { findHidden } from '../../src/core/text/text.ts';
import { DENIED, LOADED, QUESTION, RESULT, decided, decision, seen, start } from '../journal/run-lines.ts';
import { verifies } from '../conformance/verifies.ts';

const texts = (...given: Parameters<typeof eventText>): readonly string[] =>
  eventText(...given).map(({ text }) => text);
const COMMAND: Action = { type: 'run_command', command: 'rm -rf /' };

describe('what a person is told', () => {
  test('a search without words, as list_skills makes it, is not said to find nothing', () => {
    const search = { type: 'search_skills', query: '' } as const;
    const found = { type: 'skills-found', action: 'search_skills', query: '', results: [] } as const;
    expect(`${describeAction(search, 'list_skills')}: ${describeOutcome(found, false).text}`).toBe('list_skills: done');
  });

  test('quiet: denials, questions, failures and the end', () => {
    expect(texts(start(), 'quiet')).toEqual([]);
    expect(texts(seen(1, LOADED), 'quiet')).toEqual([]);
    expect(texts({ type: 'note', message: 'x' }, 'quiet')).toEqual([]);
    expect(eventText(decided(1, 'deny', 'run_command'), 'quiet', { action: COMMAND })).toEqual([
      {
        tone: 'bad',
        text: 'denied: run_command "rm -rf /", by rule "run_command(*)" of user /home/ada/config.json',
      },
    ]);
    expect(eventText({ type: 'approval-ask', call: 1, request: QUESTION }, 'quiet')).toEqual([
      {
        tone: 'warning',
        text: 'question: run_script pdf scripts/read.py "the secret argument", high risk (rule "run_script(*)" of user /home/ada/config.json)',
      },
    ]);
    expect(eventText({ type: 'run-end', outcome: 'failed', reason: '' }, 'quiet')).toEqual([
      { tone: 'bad', text: 'run failed' },
    ]);
  });

  verifies('AGT-8', 'normal: a line an action, with its outcome and how long it took', () => {
    expect(texts(start(), 'normal')).toEqual(['run run-1: "read my invoice"']);
    expect(texts(decided(1, 'allow', 'load_skill'), 'normal')).toEqual([]);
    expect(
      eventText(seen(1, LOADED), 'normal', { action: { type: 'load_skill', skill: 'pdf' }, durationMs: 12.4 }),
    ).toEqual([{ tone: 'good', text: 'load_skill pdf: new, 23 characters (12 ms)' }]);
    expect(
      eventText(
        seen(1, { type: 'program-ran', action: 'run_command', result: { ...RESULT, exit_code: 3, isolation: 'none' } }),
        'normal',
        { action: COMMAND, durationMs: 61_000 },
      ),
    ).toEqual([{ tone: 'warning', text: 'run_command "rm -rf /": exit 3, not isolated (1 min 1 s)' }]);
  });

  test('a denial is told once: by the decision, which knows the rule', () => {
    const call = { action: COMMAND, decision: decision('deny', 'run_command') };
    expect(texts(seen(1, DENIED), 'normal', call)).toEqual([]);
    expect(texts(seen(1, DENIED), 'normal', { action: COMMAND })).toEqual([
      'run_command "rm -rf /": failed, policy/denied: "the secret command is forbidden"',
    ]);
  });

  test('what the user refused or interrupted reads as such, without a code', () => {
    const outcome = (...given: Parameters<typeof failure>): string =>
      describeOutcome(actionFailed('write_file', failure(...given)), false).text;
    expect([
      outcome('approval/refused', 'a person refused write_file'),
      outcome('approval/refused', 'a person refused write_file: "not\u001B[2J now"'),
      outcome('approval/refused', 'a person refused use_network'),
      outcome('run/interrupted', 'write_file was interrupted'),
      outcome('run/interrupted', 'write_file was in progress when the run was interrupted; its outcome is unknown'),
    ]).toEqual([
      'denied by you',
      String.raw`denied by you: "not\x1b[2J now"`,
      'denied by you: use_network',
      'interrupted',
      'it was in progress when the run was interrupted; its outcome is unknown',
    ]);
  });

  test('verbose: the decision with its rule and origin, steps with their figures, sizes', () => {
    expect(texts(decided(1, 'allow', 'load_skill'), 'verbose')).toEqual([
      'decision: allow load_skill, low risk (rule "load_skill(*)" of user /home/ada/config.json): "the rule says allow"',
    ]);
    const span: RunEvent = {
      type: 'span',
      span: { name: 'workspace.run', startedAt: 0, durationMs: 1500, attributes: { cwd: 'a b', n: 2 }, isFailed: true },
    };
    expect(eventText(span, 'verbose')).toEqual([
      { tone: 'warning', text: 'step workspace.run: failed 1.5 s cwd="a b" n=2' },
    ]);
    expect(describeOutcome(LOADED, true).text).toBe('new, 23 characters, 0 files');
    expect(describeOutcome({ type: 'program-ran', action: 'run_command', result: RESULT }, true).text).toBe(
      'exit 0, 17 characters printed, 0 files, bubblewrap',
    );
  });

  test('answers of people are told with their reach', () => {
    const answer = (given: (RunEvent & { readonly type: 'approval-answer' })['answer']): readonly string[] =>
      texts({ type: 'approval-answer', call: 1, request: 'sha256:1', answer: given }, 'normal');
    expect(answer({ verdict: 'yes', scope: 'once', by: 'terminal' })).toEqual(['approved once by you']);
    expect(answer({ verdict: 'yes', scope: 'once', by: 'option', reason: '--yes' })).toEqual([
      'approved once by --yes',
    ]);
    expect(answer({ verdict: 'yes', scope: 'skill', by: 'stored' })).toEqual([
      'approved for this skill by your stored answer',
    ]);
    expect(answer({ verdict: 'no', scope: 'once', by: 'terminal' })).toEqual(['denied by you']);
    expect(answer('nobody')).toEqual(['not approved: no person is available']);
    expect(answer('pending')).toEqual(['not approved yet: the question waits for an answer']);
  });
});

describe('text of strangers', () => {
  test('is bare only where it is a plain word', () => {
    expect(shownText('references/a-1.md')).toBe('references/a-1.md');
    expect(shownText('skill://pdf/x')).toBe('skill://pdf/x');
    expect(shownText('')).toBe('""');
    expect(shownText('pdf: new (1 ms)')).toBe('"pdf: new (1 ms)"');
    expect(shownText('pdf:')).toBe('"pdf:"');
    expect(shownText('a" by rule "b')).toBe('"a\\" by rule \\"b"');
    expect(shownText('a\nrun done\u001b[2J\u202e')).toBe('"a\\nrun done\\x1b[2J\\u{202e}"');
    expect(shownText('x'.repeat(90))).toBe(`"${'x'.repeat(80)}…"`);
    expect(shownText(`${'x'.repeat(79)}😀`)).toBe(`"${'x'.repeat(79)}…"`);
  });

  test('counts contents and does not show them', () => {
    expect(describeAction({ type: 'write_file', path: 'a.txt', content: 'hello' })).toBe(
      'write_file a.txt 5 characters',
    );
    expect(describeAction({ type: 'edit_file', path: 'a.txt', oldText: 'one\ntwo', newText: 'one\n2\n3' })).toBe(
      'edit_file a.txt +2 -1',
    );
    expect(describeAction({ type: 'write_input', session: 's1', chars: 'p', submit: true })).toBe(
      'write_input s1 1 character',
    );
    expect(
      describeAction({ type: 'run_script', skill: 'pdf', script: 'a.py', args: ['-f', 'b c', '', '1', '2', '3'] }),
    ).toBe('run_script pdf a.py -f "b c" "" 1 and 2 more');
    expect(describeAction({ type: 'final_answer', answer: 'hello' })).toBe('final_answer');
  });

  test('makes no line and hides nothing, whatever it is and wherever it comes', () => {
    const hostile = fc.string({
      unit: fc.constantFrom(
        'a',
        '"',
        '\\',
        '\n',
        '\r',
        '\u001b',
        '\u2028',
        '\u202e',
        '\u0000',
        '\ud800',
        '\u{e0041}',
        ':',
      ),
    });
    fc.assert(
      fc.property(hostile, fc.constantFrom(...(['quiet', 'normal', 'verbose'] as const)), (text, level) => {
        for (const event of eventsWith(text)) {
          for (const line of texts(event, level, { action: { type: 'run_command', command: text }, durationMs: 1 })) {
            expect(line).not.toContain('\n');
            expect(findHidden(line)).toBeUndefined();
          }
        }
      }),
    );
  });
});

test('durations are in the unit that a person would use', () => {
  expect([0.4, 999.4, 1000, 59_949, 60_000, 3_599_600].map(durationText)).toEqual([
    '0 ms',
    '999 ms',
    '1.0 s',
    '59.9 s',
    '1 min 0 s',
    '60 min 0 s',
  ]);
});

/** One stranger's text in every place where one can stand. */
function eventsWith(text: string): readonly RunEvent[] {
  const judged = {
    ...decision('deny', text),
    rule: text,
    reason: text,
    origin: { layer: 'skill', where: text },
  } as const;
  const skill = { id: text, name: text, source: text, dir: text };
  return [
    start({ run: text, request: text, version: text, parent: text, policyHash: text }),
    { type: 'action', call: 1, action: { type: 'grep', pattern: text, path: text }, askedBy: 'model' },
    { type: 'decision', call: 1, decision: judged },
    {
      type: 'approval-ask',
      call: 1,
      request: { ...QUESTION, rule: text, affects: [text, text], origin: judged.origin },
    },
    { type: 'skill-use', call: 1, skill: { ...skill, digest: text } },
    seen(1, actionFailed('run_command', failure('file/missing', text))),
    seen(1, {
      type: 'file-read',
      action: 'read_file',
      path: text,
      mediaType: text,
      isBinary: true,
      text,
      lines: { from: 1, to: 1 },
      totalLines: 1,
      bytes: 1,
      digest: text,
      truncated: false,
      notes: [text],
    }),
    { type: 'session', event: { type: 'skill-load', skill, digest: text, askedBy: 'model', lifetime: 'turn' } },
    {
      type: 'session',
      event: {
        type: 'content-show',
        shown: { skill: text, path: text, digest: text, characters: 1, tokens: 1, reason: 'load' },
      },
    },
    {
      type: 'span',
      span: { name: 'workspace.run', startedAt: 0, durationMs: 1, attributes: { [text]: text }, isFailed: false },
    },
    { type: 'note', message: text },
    { type: 'run-end', outcome: 'done', reason: text },
  ];
}
