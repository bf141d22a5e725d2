import { lstatSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { runAgent } from '../../src/agent/agent.ts';
import { isRunEvent } from '../../src/journal/shape.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import type { Executor } from '../../src/core/execution.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { VOCABULARY_NAMES } from '../../src/core/vocabulary-names.ts';
import { FUZZ_KINDS, type FuzzKind } from '../../src/model/fuzz/fuzz-answers.ts';
import { fuzzModel } from '../../src/model/fuzz/fuzz.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { eventsOf, ofType, REPORT, world } from './support.ts';
import { runs } from '../property-runs.ts';

const TURNS = runs(3_200);
const VERIFIED_ONE_IN = 20;
const EXECUTES_ONE_IN = 7;
/** What ends a run at once is only now and then among the answers: most runs are to be long. */
const ENDING: ReadonlySet<FuzzKind> = new Set(['final-answer', 'prose', 'empty', 'empty-final', 'huge-answer']);
const LASTING = FUZZ_KINDS.filter((kind) => !ENDING.has(kind));

/** Of one run; what takes longer hangs. */
const DEADLINE_MS = 150_000;
const BUDGET = { toolCalls: 500, scriptRuns: 20, tokens: 1e9, wallMs: 2 * DEADLINE_MS };

/** Runs nothing, and counts what it was to run: hostile commands have no place on a machine where tests run. */
function pretending(): { readonly executor: Executor; readonly count: () => number } {
  let count = 0;
  return {
    count: () => count,
    executor: {
      name: 'bubblewrap',
      attach: ({ root }) =>
        Promise.resolve({
          root,
          capabilities: {
            isolation: 'bubblewrap',
            limits: {},
            hasNetworkGrants: false,
            hasInteraction: false,
            hasTerminal: false,
          },
          run() {
            count += 1;
            return Promise.resolve({ reason: 'exited', exitCode: 0, durationMs: 1, warnings: [] });
          },
          detach: () => Promise.resolve(),
        }),
    },
  };
}

/** Every file with its content, but not the records themselves. */
function tree(folder: string): readonly string[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => {
      const file = path.join(folder, name);
      if (name === '.agent') return [];
      return lstatSync(file).isDirectory() ? [file, ...tree(file)] : [`${file} ${sha256(readFileSync(file))}`];
    });
}

/** What was done without a rule or a person that allowed it; and what was asked for and never came to an end. */
function lawless(events: readonly RunEvent[]): readonly string[] {
  const allowed = new Set(
    ofType(events, 'decision').flatMap(({ call, decision }) => (decision.effect === 'allow' ? [call] : [])),
  );
  const ended = new Set(ofType(events, 'observation').map(({ call }) => call));
  return [
    ...ofType(events, 'observation')
      .filter(({ call, observation }) => observation.type !== 'failed' && !allowed.has(call))
      .map(({ call, observation }) => `call ${String(call)} gave ${observation.type} without a decision`),
    ...ofType(events, 'action')
      .filter(({ call }) => !ended.has(call))
      .map(({ call }) => `call ${String(call)} has no end`),
    ...ofType(events, 'action')
      .filter(({ action }) => ['write_file', 'delete_file', 'network_request'].includes(action.type))
      // Programs write there anyway.
      .filter(({ action }) => action.type !== 'write_file' || !action.path.startsWith('workspace://'))
      .filter(({ call }) => allowed.has(call))
      .map(({ call, action }) => `call ${String(call)}: ${action.type} was allowed`),
  ];
}

test(`${String(TURNS)} turns of chance: no crash, nothing outside the policy, no hang, a record of each`, async () => {
  const { report, ...others } = REPORT;
  // The name of a script that the fuzz model knows.
  const files = { ...report?.files, 'scripts/run.mjs': 'throw new Error()\n' };
  const { runtime, root, project } = await world({ ...others, report: { ...report, files } });
  const before = tree(root);
  const kinds = new Set<string>();
  const outcomes = new Set<string>();
  let turns = 0;
  let programs = 0;
  for (let seed = 1; turns < TURNS; seed += 1) {
    const model = fuzzModel(seed, {
      hugeCharacters: 20_000,
      failsOneIn: 500,
      kinds: seed % 4 === 0 ? FUZZ_KINDS : LASTING,
    });
    const { executor, count } = pretending();
    const startedAt = performance.now();
    const result = await runAgent({
      runtime,
      request: 'count the rows',
      model,
      protocol: seed % 2 === 0 ? 'tools' : 'actions',
      vocabulary: VOCABULARY_NAMES[seed % VOCABULARY_NAMES.length] ?? 'skillwright',
      activation: seed % 5 === 0 ? 'forced' : 'model',
      budget: { ...BUDGET, turns: 1 + (seed % 60) },
      run: {
        host: {},
        ...(seed % EXECUTES_ONE_IN === 0 ? { execution: { executor, artifacts: false } } : {}),
      },
    });
    const context = `seed ${String(seed)}`;
    expect(performance.now() - startedAt, context).toBeLessThan(DEADLINE_MS);
    const folder = result.path ?? expect.fail(context);
    const events = eventsOf(result);
    expect([context, events.every(isRunEvent), events.at(-1)?.type]).toEqual([context, true, 'run-end']);
    expect([context, lawless(events)]).toEqual([context, []]);
    const ran = ofType(events, 'observation').filter(({ observation }) => observation.type === 'program-ran');
    expect([context, count()]).toEqual([context, ran.length]);
    if (seed % VERIFIED_ONE_IN === 0) expect([context, verifyRun(folder).status]).toEqual([context, 'intact']);
    programs += count();
    turns += model.played.length;
    model.played.forEach((kind) => kinds.add(kind));
    outcomes.add(result.outcome);
    rmSync(path.join(project, '.agent'), { recursive: true });
  }
  expect(tree(root)).toEqual(before);
  expect([...outcomes]).toEqual(expect.arrayContaining(['degraded', 'done', 'failed']));
  expect(programs).toBeGreaterThan(0);
  expect(kinds.size).toBeGreaterThan(25);
}, 600_000);
