import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';

import type { RunEvent } from '../../../src/core/run-events.ts';
import type { CaseResult } from '../../../src/evals/report/result.ts';
import { compareArms } from '../../../src/evals/report/compare-arms.ts';
import { readRunFacts } from '../../../src/evals/grade/read-run-facts.ts';
import { gradeStored, regrade, type StoredRun } from '../../../src/evals/grade/regrade.ts';
import { verifies } from '../../conformance/verifies.ts';
import { world } from '../../agent/support.ts';
import { scratch } from '../../skills/registry/support.ts';
import { ANSWER, LOAD, RUN, evalCase, ran, type Ran } from './support.ts';

const run = { case: 'case-1', arm: 'with', attempt: 1, way: 'scripted' } as const;
let stored: Ran;
let counter = 0;

beforeEach(async () => {
  stored = await ran([LOAD, RUN, ANSWER]);
});

/** Copies the run, so that the copy can be damaged. */
function copied(): string {
  counter += 1;
  const folder = path.join(scratch(), path.basename(stored.folder), String(counter), path.basename(stored.folder));
  cpSync(stored.folder, folder, { recursive: true });
  return folder;
}

function reasonOf(folder: string): string {
  const reading = readRunFacts(folder);
  return reading.type === 'unusable' ? reading.reason : 'usable';
}

describe('a run folder', () => {
  verifies('EVAL-5', 'is graded by its events, with the same result each time', async () => {
    const one = evalCase({ trigger: true, actions: { ordered: [{ tool: 'load_skill' }, { tool: 'run_script' }] } });
    const first = await gradeStored({ ...run, folder: stored.folder }, one);
    expect(first).toEqual({
      case: 'case-1',
      name: 'case 1',
      place: { file: 'evals/cases.yaml', line: 3, column: 1 },
      input: 'count the rows',
      tags: [],
      arm: 'with',
      attempt: 1,
      status: 'passed',
      reason: '',
      checks: [
        {
          id: 'trigger',
          kind: 'trigger',
          status: 'passed',
          asked: 'report fires',
          found: '',
          events: [expect.any(Number)],
        },
        {
          id: 'actions.ordered',
          kind: 'sequence',
          status: 'passed',
          asked: 'in this order: load_skill, then run_script',
          found: '',
          events: [expect.any(Number), expect.any(Number)],
        },
      ],
      loaded: ['report'],
      skill: 'report',
      answer: 'there are 42 rows',
      cost: stored.facts.cost,
      model: { id: 'played', way: 'scripted' },
      run: stored.folder,
      isCached: false,
    });
    expect(await gradeStored({ ...run, folder: stored.folder }, one)).toEqual(first);
    // state.json and final.md are not graded, but a change to them is detected.
    const other = copied();
    writeFileSync(path.join(other, 'final.md'), 'there are 43 rows');
    expect((await gradeStored({ ...run, folder: other }, one)).status).toBe('error');
  });

  test('that was edited is an error with the line', () => {
    const folder = copied();
    const file = path.join(folder, 'events.jsonl');
    const lines = readFileSync(file, 'utf8').split('\n');
    const place = lines.findIndex((line) => line.includes('"skill-load"'));
    lines[place] = lines[place]?.replace('option/report', 'option/repart') ?? '';
    writeFileSync(file, lines.join('\n'));
    expect(reasonOf(folder)).toBe(
      `the record of the run was modified: events.jsonl:${String(place + 1)}: its hash does not match its text and the previous line (line/edited)`,
    );
  });

  test('that is torn, truncated, extended or empty is an error', () => {
    const torn = copied();
    const file = path.join(torn, 'events.jsonl');
    truncateSync(file, readFileSync(file).length - 40);
    expect(reasonOf(torn)).toMatch(
      /^the record of the run was modified: events\.jsonl: it has \d+ lines; run\.json says \d+/,
    );
    const killed = copied();
    const text = readFileSync(path.join(killed, 'events.jsonl'), 'utf8');
    writeFileSync(path.join(killed, 'events.jsonl'), text.slice(0, text.indexOf('\n') + 1));
    for (const name of ['run.json', 'state.json', 'final.md', 'observations'])
      rmSync(path.join(killed, name), { recursive: true, force: true });
    expect(reasonOf(killed)).toBe('the run was killed before its end and its record is incomplete');
    const longer = copied();
    appendFileSync(path.join(longer, 'events.jsonl'), '{}\n');
    expect(reasonOf(longer)).toMatch(/^the record of the run was modified: events\.jsonl:\d+: /);
    const empty = path.join(scratch(), 'empty');
    mkdirSync(empty);
    expect(reasonOf(empty)).toMatch(/^the folder has no readable run/);
    expect(reasonOf(path.join(empty, 'none'))).toMatch(/^the folder has no readable run/);
  });
});

describe('an intact record with invalid events', () => {
  /** Records a run with these events and a valid hash chain. */
  async function recorded(...events: readonly unknown[]): Promise<string> {
    const { runtime } = await world();
    const made = await runtime.startRun({ request: 'x' });
    // The events are untrusted and may have any shape.
    for (const event of events) made.record(event as RunEvent);
    await made.end('done', '');
    return made.path ?? '';
  }

  test('is an error, never a verdict', async () => {
    const odd = { type: 'observation', call: 1, observation: { type: 'skill-loaded', action: 'load_skill' } };
    const action = { type: 'action', call: 1, action: { type: 'load_skill' }, askedBy: 'model' };
    const folder = await recorded(action, odd);
    const one = evalCase({ disclosure: { resourcesOnly: [], unloadedBytes: 0 } });
    const { status, reason } = await gradeStored({ ...run, folder }, one);
    expect([status, reason.slice(0, 28)]).toEqual(['error', 'cannot grade the run: Cannot']);
  });

  test('takes negative amounts as not reported', async () => {
    const usage = { inputTokens: -5, outputTokens: -1 };
    const folder = await recorded(
      { type: 'turn', turn: 1 },
      { type: 'model-call', turn: 1, model: 'm', request: 'sha256:00', tokens: 7 },
      { type: 'model-answer', turn: 1, text: '', toolCalls: [], finish: 'stop', usage, retries: 0 },
    );
    const reading = readRunFacts(folder);
    expect(reading.type === 'facts' ? reading.facts.cost : reading).toMatchObject({
      // The estimate of the request, as if the model had reported nothing.
      inputTokens: 7,
      outputTokens: 0,
      tokensAreEstimated: true,
    });
  });
});

describe('grading again', () => {
  test('gives one result per run, including errors, and reports progress', async () => {
    const runs: readonly StoredRun[] = [
      { ...run, folder: stored.folder },
      { ...run, folder: path.join(stored.folder, 'none'), attempt: 2 },
      { ...run, folder: stored.folder, case: 'unknown' },
    ];
    const told: string[] = [];
    const results = await regrade(runs, [evalCase({ trigger: false })], {
      onProgress: (done, of) => told.push(`${String(done)}/${String(of)}`),
    });
    expect(results.map(({ case: id, attempt, status, reason }) => [id, attempt, status, reason])).toEqual([
      ['case-1', 1, 'failed', ''],
      ['case-1', 2, 'error', expect.stringMatching(/^the folder has no readable run/)],
      ['unknown', 1, 'error', 'the suite has no case with this id'],
    ]);
    expect(told).toEqual(['1/3', '2/3', '3/3']);
  });

  test('gives no comparison without run folders', async () => {
    const none = path.join(stored.folder, 'without-runs');
    const arms = ['with', 'old'] as const;
    const results = await regrade(
      arms.map((arm) => ({ ...run, arm, folder: none })),
      [evalCase({ trigger: true })],
    );
    expect(compareArms(results, { of: 'with', against: 'old' })).toMatchObject({
      reason:
        'no outcome was judged (1 case: every attempt is missing, such as: the folder has no readable run: .: it is not a folder that can be opened (folder/not-a-run))',
    });
  });

  test('a case without expectations is an error', async () => {
    const [result] = await regrade([{ ...run, folder: stored.folder }], [evalCase({})]);
    expect([result?.status, result?.reason]).toEqual([
      'error',
      'evals/cases.yaml:3: the case has no expectations',
    ] satisfies readonly [CaseResult['status'], string]);
  });
});
