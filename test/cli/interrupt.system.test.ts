/** Ctrl-C at a terminal: once stops the step, twice ends the run, and the record says interrupted. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { Observation } from '../../src/core/observation.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { listRuns } from '../../src/journal/run-folder.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import { PROJECT } from '../files-below.ts';
import { serve } from '../model/local-server.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, spawnCli, temporaryFolder } from './run-cli.ts';
import { needs } from '../needs.ts';
const PROGRAM = path.join(PROJECT, 'dist/command/skillwright.js');
const home = temporaryFolder();
const [CTRL_C, CTRL_O] = [{ keys: '\u0003' }, { keys: '\u000F' }];
/** More than keys need to count as an answer. */
const PAUSE = { seconds: 0.6 };
const QUESTION = { until: '[d]etails > ' };
const STOPPED = { until: '[e] end the run > ' };

function project(...turns: readonly object[]): string {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'script.json'), JSON.stringify({ turns }));
  return folder;
}

const call = (command: string): object => ({ toolCalls: [{ name: 'run_command', input: { command } }] });

function run(folder: string, steps: readonly Step[], env: Readonly<Record<string, string>> = {}): Promise<Screen> {
  const model = env['OPENAI_API_KEY'] === undefined ? ['--model', 'scripted:script.json'] : [];
  return atTerminal([process.execPath, PROGRAM, 'run', 'count', ...model], steps, {
    cwd: folder,
    env: { HOME: home, ...SHARED_CACHE, ...env },
  });
}

const failureOf = (observation: Observation): readonly string[] => {
  if (observation.type === 'failed') return [observation.code];
  return observation.type === 'program-ran' ? [observation.result.reason] : [];
};

function recorded(folder: string): {
  readonly id: string;
  readonly end: RunEvent | undefined;
  readonly failures: readonly string[];
  readonly answers: number;
  readonly notes: readonly string[];
} {
  const [newest] = listRuns(path.join(folder, '.agent/runs'));
  const events = [...readRun(newest?.path ?? '').lines].map(({ event }) => event);
  expect(verifyRun(newest?.path ?? '').status).toBe('intact');
  return {
    id: newest?.id ?? '',
    end: events.at(-1),
    failures: events.flatMap((event) => (event.type === 'observation' ? failureOf(event.observation) : [])),
    notes: events.flatMap((event) => (event.type === 'note' ? [event.message] : [])),
    answers: events.filter(({ type }) => type === 'approval-answer').length,
  };
}

describe('Ctrl-C at a terminal', needs('python3 with pty', 'bubblewrap'), () => {
  test('stops a program, whose last output line a key shows, and the run goes on', async () => {
    const folder = project(call('while true; do echo tick; sleep 1; done'), { text: '**Stopped** as asked.' });
    const { status, text } = await run(folder, [
      QUESTION,
      PAUSE,
      { keys: 'y' },
      { until: 'Ctrl-O: output' },
      CTRL_O,
      { until: '│ tick' },
      CTRL_C,
      STOPPED,
      PAUSE,
      { keys: 'c' },
    ]);
    expect([status, text]).toEqual([0, expect.stringContaining('**Stopped** as asked.')]);
    expect(recorded(folder)).toMatchObject({
      end: { type: 'run-end', outcome: 'done' },
      failures: ['cancelled'],
      answers: 1,
      notes: ['interrupted: the user stopped run_command'],
    });
  });

  test('at a question is no answer; the second ends the run with 130, and the run can be resumed', async () => {
    const folder = project(call('expr 1'), { text: 'Counted.' });
    const { status } = await run(folder, [QUESTION, CTRL_C, STOPPED, CTRL_C]);
    const before = recorded(folder);
    expect([status, before]).toEqual([
      130,
      {
        id: before.id,
        end: { type: 'run-end', outcome: 'cancelled', reason: 'the run was interrupted: stopped by SIGINT' },
        failures: ['run/interrupted'],
        answers: 0,
        notes: ['interrupted: the user stopped run_command'],
      },
    ]);
    const words = ['runs', 'resume', before.id, '--model', 'scripted:rest.json', '--yes'];
    writeFileSync(path.join(folder, 'rest.json'), JSON.stringify({ turns: [{ text: 'Counted.' }] }));
    const resumed = await spawnCli(folder, words, { HOME: home });
    expect([resumed.status, resumed.out]).toEqual([0, 'Counted.\n']);
  });

  test('stops a call of the model, and the second ends the run', async () => {
    const folder = project();
    const silent = await serve(() => undefined);
    onTestFinished(() => silent.close());
    const env = { OPENAI_BASE_URL: `${silent.url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm' };
    const { status } = await run(
      folder,
      [{ until: 'asking' }, CTRL_C, STOPPED, PAUSE, { keys: 'c' }, { until: 'asking' }, CTRL_C, STOPPED, CTRL_C],
      env,
    );
    expect([status, recorded(folder).end]).toEqual([
      130,
      { type: 'run-end', outcome: 'cancelled', reason: 'the run was interrupted: stopped by SIGINT' },
    ]);
  });
});
