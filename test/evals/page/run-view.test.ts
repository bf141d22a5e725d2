import { appendFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { JournalLine, RunEvent } from '../../../src/core/run-events.ts';
import type { ShownReason } from '../../../src/core/text/shown.ts';
import { MOST_STEPS, runView, buildTimeline } from '../../../src/evals/page/run-view.ts';
import { createRun } from '../../../src/journal/journal-writer.ts';
import { scratch } from '../../skills/registry/support.ts';

/** Journal lines at intervals of ten milliseconds. */
function lines(...events: readonly RunEvent[]): readonly JournalLine[] {
  return events.map((event, place) => ({ seq: place + 1, time: '', elapsed: place * 10, event, hash: '' }));
}

const shown = (reason: ShownReason, tokens: number): RunEvent => ({
  type: 'session',
  event: { type: 'content-show', shown: { skill: 's', path: '', digest: '', characters: 0, tokens, reason } },
});
const asks = (turn: number, tokens: number): RunEvent => ({
  type: 'model-call',
  turn,
  model: 'm',
  request: '',
  tokens,
});
const decision = (call: number, effect: 'allow' | 'ask' | 'deny'): RunEvent => ({
  type: 'decision',
  call,
  decision: {
    effect,
    tool: 'read_file',
    risk: 'high',
    rule: 'r',
    origin: { layer: 'user', where: '' },
    reason: 'because',
  },
});
const reads = (call: number): RunEvent => ({
  type: 'action',
  call,
  action: { type: 'load_skill', skill: 'tables' },
  askedBy: 'model',
});
const fails = (call: number): RunEvent => ({
  type: 'observation',
  call,
  observation: {
    type: 'failed',
    action: 'load_skill',
    code: 'policy/denied',
    message: 'no',
    hint: '',
    isTerminal: true,
    nearest: [],
  },
});

describe('the timeline of a run', () => {
  test('combines an action, its decision and its outcome into one step with the worst tone', () => {
    const { steps } = buildTimeline(lines({ type: 'turn', turn: 1 }, reads(1), decision(1, 'deny'), fails(1)));
    expect(steps).toEqual([
      {
        events: [2, 3, 4],
        atMs: 10,
        turn: 1,
        kind: 'action',
        tone: 'bad',
        text: 'load_skill tables',
        tookMs: 20,
        lines: [
          { label: 'decision', tone: 'bad', text: 'deny, risk high, by rule r of user: because' },
          { label: 'outcome', tone: 'bad', text: expect.stringContaining('policy/denied') },
        ],
      },
    ]);
  });

  test('adds an approval to the step of its action', () => {
    const answer: RunEvent = {
      type: 'approval-answer',
      call: 1,
      request: 'q',
      answer: { verdict: 'yes', scope: 'once', by: 'callback' },
    };
    const { steps } = buildTimeline(lines(reads(1), decision(1, 'ask'), answer));
    expect(steps[0]).toMatchObject({
      tone: 'warning',
      lines: [{ label: 'decision' }, { label: 'answer', text: 'approved once by the program' }],
    });
  });

  test('shows a plan with steps', () => {
    const plan = {
      goal: 'g',
      steps: [{ id: '1', title: 't', status: 'pending' }],
      assumptions: [],
      constraints: {},
    } as const;
    const { steps } = buildTimeline(
      lines({ type: 'plan', turn: 1, plan: { ...plan, steps: [] } }, { type: 'plan', turn: 1, plan }),
    );
    expect(steps).toMatchObject([{ kind: 'plan', plan }]);
  });

  test('splits each request into sections that add up to it', () => {
    const { turns } = buildTimeline(
      lines(
        shown('catalog', 40),
        { type: 'turn', turn: 1 },
        asks(1, 1000),
        shown('load', 300),
        shown('resource', 50),
        { type: 'turn', turn: 2 },
        asks(2, 1500),
        { type: 'context-compact', before: 1500, after: 1100, dropped: [] },
        { type: 'turn', turn: 3 },
        asks(3, 900),
      ),
    );
    expect(turns.map(({ turn, tokens, sections }) => ({ turn, tokens, ...sections }))).toEqual([
      { turn: 1, tokens: 1000, catalog: 40, bodies: 0, resources: 0, rest: 960, observations: 0 },
      { turn: 2, tokens: 1500, catalog: 40, bodies: 300, resources: 50, rest: 960, observations: 150 },
      { turn: 3, tokens: 900, catalog: 40, bodies: 0, resources: 0, rest: 860, observations: 0 },
    ]);
  });
});

describe('the view of a run', () => {
  function record(events: readonly RunEvent[], isEnded: boolean): string {
    const directory = scratch();
    const run = createRun(directory, { request: 'r', version: '1', indexHash: '', index: {}, policyHash: '' });
    for (const event of events) run.append(event);
    if (isEnded) run.end('done', '');
    return run.path;
  }

  test('is read from the run folder and shortened', () => {
    const notes = Array.from({ length: MOST_STEPS + 5 }, (): RunEvent => ({ type: 'note', message: 'x'.repeat(9000) }));
    const folder = record(notes, true);
    const { outcome, steps, stepsLeftOut, isTorn } = runView(folder);
    expect({ outcome, steps: steps.length, stepsLeftOut, isTorn }).toEqual({
      outcome: 'done',
      steps: MOST_STEPS,
      stepsLeftOut: 6,
      isTorn: false,
    });
    expect(steps.at(-1)?.kind).toBe('end');
    expect(JSON.stringify(steps).length).toBeLessThan(MOST_STEPS * 600);
  });

  test('shows a torn record up to its end, and rejects a folder without a record', () => {
    const folder = record([{ type: 'note', message: 'one' }], false);
    appendFileSync(path.join(folder, 'events.jsonl'), '{"seq":3,"ti');
    expect(runView(folder)).toMatchObject({ isTorn: true, steps: [{ kind: 'note', text: 'note: one' }] });
    rmSync(path.join(folder, 'events.jsonl'));
    expect(() => runView(folder)).toThrow(/cannot be read as a run/);
  });
});
