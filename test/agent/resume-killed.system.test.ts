import { describe, expect, test } from 'vitest';

import { resumeAgent, type Resumed } from '../../src/agent/resume/resume.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { temporaryFolder } from '../cli/run-cli.ts';
import { STEP } from '../property-runs.ts';
import { NOTING, bundleDriver, openKilledRuns, type KilledRuns } from './killed-runs.ts';
import { eventsOf, ofType, world, type World } from './support.ts';

const DRIVER = await bundleDriver(temporaryFolder());
const EXECUTION = { execution: { executor: 'local', artifacts: false } } as const;

function resume({ runtime }: World, { model }: KilledRuns, path: string): Promise<Resumed> {
  return resumeAgent({ runtime, model, path, run: EXECUTION });
}

function recorded(path: string): readonly RunEvent[] {
  return [...readRun(path).lines].map(({ event }) => event);
}

describe('a run that was killed with -9', () => {
  test('at any of its events comes to the same result, and no action whose end was recorded is done again', async () => {
    const here = await world(NOTING);
    const killed = await openKilledRuns(here, DRIVER);
    const whole = await killed.kill(0);
    expect(killed.countRuns()).toBe(1);
    const length = recorded(whole).length;
    expect(length).toBeGreaterThan(25);
    for (let seq = 1; seq < length; seq += STEP) {
      const path = await killed.kill(seq);
      const before = killed.countRuns();
      const past = recorded(path);
      expect(past).toHaveLength(seq);
      const resumed = await resume(here, killed, path);
      const after = killed.countRuns();
      expect(resumed).toMatchObject({
        type: 'resumed',
        result: {
          outcome: 'done',
          answer: 'There are 42 rows.',
          plan: { steps: [{ id: 's1', title: 'Count', status: 'in_progress' }] },
        },
      });
      if (resumed.type !== 'resumed') continue;
      expect(verifyRun(resumed.result.path ?? '').status).toBe('intact');
      const scripts = new Set(
        ofType(past, 'action').flatMap(({ call, action }) => (action.type === 'run_script' ? [call] : [])),
      );
      const isFinished = ofType(past, 'observation').some(({ call }) => scripts.has(call));
      // What had an end is not done again; what had none is done again only because the model, which was told so, wanted it.
      expect([seq, after]).toEqual([seq, isFinished ? 0 : 1]);
      expect(before).toBeLessThanOrEqual(1);
      const failures = ofType(eventsOf(resumed.result), 'observation').flatMap(({ observation }) =>
        observation.type === 'failed' ? [observation.code] : [],
      );
      const wasBegun = ofType(past, 'decision').some(({ call }) => scripts.has(call));
      expect([seq, failures]).toEqual([seq, wasBegun && !isFinished ? ['run/interrupted'] : []]);
    }
  }, 300_000);

  test('and killed again while it goes on still does nothing twice', async () => {
    const here = await world(NOTING);
    const killed = await openKilledRuns(here, DRIVER);
    const length = recorded(await killed.kill(0)).length;
    killed.countRuns();
    for (const share of [0.1, 0.4, 0.7]) {
      const first = await killed.kill(length - 2);
      expect(killed.countRuns()).toBe(1);
      const second = await killed.kill(Math.ceil(length * share), first);
      const third = await killed.kill(Math.ceil(length * share), second);
      const resumed = await resume(here, killed, third);
      expect(resumed).toMatchObject({ type: 'resumed', result: { outcome: 'done', answer: 'There are 42 rows.' } });
      expect([share, killed.countRuns()]).toEqual([share, 0]);
    }
  }, 120_000);

  test('while a subagent was at work goes on with the subagent as well, which does nothing twice', async () => {
    const here = await world(NOTING);
    const killed = await openKilledRuns(here, DRIVER);
    const path = await killed.kill('child');
    expect(killed.countRuns()).toBe(1);
    const { delegating: model } = killed;
    const resumed = await resumeAgent({ runtime: here.runtime, model, path, run: EXECUTION });
    expect(resumed).toMatchObject({
      type: 'resumed',
      result: {
        outcome: 'done',
        answer: expect.stringMatching(/^All done: [^]*The child counted\./),
        used: { scriptRuns: 1 },
      },
    });
    expect(killed.countRuns()).toBe(0);
  });
});
