import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { timerMs } from '#platform';
import { defined, SkillError, type ExecutorName, type Model } from '#core';
import { chooseModel } from '../agent/agent-model.ts';
import { EXECUTOR_FLAG, modelExecution } from '../agent/programs.ts';
import { defineCommand, list, option } from '../command.ts';
import { EXIT } from '../exit.ts';
import { parseSettings, wholeNumber } from '../arguments.ts';
import { openRuntime } from '../open-runtime.ts';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';
import { FLEET_FLAGS, fleetOptions, openFleetFor } from './fleet-flags.ts';
import { untilStopped } from '../serving.ts';
import type { Runtime } from '#runtime';

const flags = {
  ...FLEET_FLAGS,
  model: option('NAME', 'use this model for every run (default: as in run)'),
  'offer-model': list('NAME', 'also a model that submissions may name'),
  ...EXECUTOR_FLAG,
  slots: option('N', 'runs at the same time (default: 4)'),
  'per-project': option('N', 'runs of one project at the same time, over all workers (default: 20)'),
  'per-minute': option('N', 'runs of one project that may begin within a minute (default: no limit)'),
  grace: option('SECONDS', 'time for runs to end after SIGTERM; then others continue them (default: 30)'),
  'health-port': option('N', 'answer /healthz and /readyz on this port, for the probes of an orchestrator'),
  data: option('DIR', 'keep fetched skills in DIR (default: ~/.agent/worker)'),
} as const;

const LINGER_MS = 5_000;
/** The queue may wait for ever if the database is lost while it starts. */
const START_MS = 60_000;
const START_EACH_MS = 500;

function notStarted(error?: unknown): SkillError {
  const cause = error === undefined ? 'timeout' : toErrorMessage(error);
  return new SkillError({
    code: 'io/failed',
    message: `the worker did not start within ${String(START_MS / 1_000)} seconds${error === undefined ? '' : `: ${cause}`}`,
    hint: 'check that PostgreSQL answers, and start the worker again',
    data: { path: 'worker', cause },
    cause: error,
  });
}

/** Waits for a database that is restarted, as when both start at the same time. */
async function openPatiently<T>(act: () => Promise<T>, { terminal, signal }: Waiting): Promise<T> {
  const { isUnreachable } = await import('#fleet');
  const start = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isUnreachable(error) || signal.aborted) throw error;
      if (performance.now() - start > START_MS) throw notStarted(error);
      if (tries === 1)
        terminal.remark(`waiting for the database, at most ${String(START_MS / 1_000)} s: ${toErrorMessage(error)}`);
      await sleep(START_EACH_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

interface Waiting {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

function toErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const command = defineCommand({
  usage: 'worker --database URL [--artifacts URL] [--model NAME] [--executor NAME] [--slots N]',
  details: [
    'Takes runs from the database and works on them, with the same agent, policy and sandbox as run. Start as many workers as you like, on as many machines.',
    'If a worker ends without a word, others notice within three seconds and continue its runs from their records: no model call and no finished action is repeated. A run whose workers ended three times is set aside.',
    'SIGTERM and Ctrl-C drain the worker: it takes no more runs, and returns those that are not done in time.',
    'What a run may do is decided by the configuration of this worker, not by who submitted it. A question that needs a person makes the run wait; answer it over the API.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright worker --database postgres://skillwright@db/skillwright --model anthropic', 'work with this model'],
    ['skillwright worker --slots 16 --executor none', 'many runs at once, without programs'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags: flagValues, terminal, signal } = invocation;
    const { executor = 'auto' } = flagValues;
    const slots = count(flagValues.slots, 'slots') ?? 4;
    const perProject = count(flagValues['per-project'], 'per-project');
    const perMinute = count(flagValues['per-minute'], 'per-minute');
    const grace = count(flagValues.grace, 'grace') ?? 30;
    const healthPort = wholeNumber(flagValues['health-port'], '--health-port', { least: 1, most: 65_535 });
    const options = fleetOptions(invocation);
    const { home, cwd } = invocation.surroundings;
    const directory =
      flagValues.data === undefined ? path.join(home ?? cwd, '.agent/worker') : path.resolve(cwd, flagValues.data);
    const { createAttemptRunner, startWorker } = await import('#fleet');
    const runtime = await openRuntime(invocation);
    const { model, reason } = await chooseModel(invocation, runtime, flagValues.model);
    // SIGTERM does not stop them: a draining worker still works on what it took.
    const openNamed = async (name: string | undefined): Promise<Model> =>
      (await chooseModel({ ...invocation, signal: new AbortController().signal }, runtime, name)).model;
    // A script has its own position in each run.
    const isScript = flagValues.model?.startsWith('scripted:') === true;
    const config = await parseSettings(flagValues.set);
    if (executor !== 'none') await tryExecutor(runtime, executor, terminal);
    const fleet = await openPatiently(() => openFleetFor({ ...options, connections: slots + 6 }), invocation);
    const openModel = async (name = flagValues.model): Promise<Model> =>
      name === flagValues.model && !isScript ? model : openNamed(name);
    const models = [...new Set([flagValues.model ?? model.id, model.id, ...(flagValues['offer-model'] ?? [])])];
    try {
      const starting = startWorker({
        ...fleet,
        openModel: (name) => openModel(name === model.id ? undefined : name),
        models,
        runAttempt: createAttemptRunner({
          runtime,
          executor,
          openModel: () => openModel(),
          openJudge: openNamed,
        }),
        settings: defined({ config, configFile: flagValues.config && path.resolve(cwd, flagValues.config) }),
        directory,
        slots,
        limits: defined({ perProject, perMinute }),
        healthPort,
        ...(executor === 'none' ? {} : { run: { execution: modelExecution(terminal, executor) } }),
        onNote: (note) => terminal.remark(note),
      });
      const worker = await Promise.race([starting, sleep(START_MS, undefined, { ref: false })]);
      if (worker === undefined) throw notStarted();
      terminal.remark(`worker ${worker.id}: model ${model.id} (${reason}), ${String(slots)} slots`);
      const failure = await Promise.race([untilStopped(signal), worker.failed]);
      terminal.remark(`draining; runs that are not done in ${String(grace)} s go back to the queue`);
      // If the database does not answer, the others take over what this one cannot return.
      await Promise.race([
        worker.drain(grace * 1_000),
        sleep(timerMs(grace * 1_000 + LINGER_MS), undefined, { ref: false }),
      ]);
      if (failure !== undefined) {
        terminal.remark(`this worker ends because ${failure}; start it again`);
        return EXIT.failed;
      }
    } finally {
      await fleet.close();
      // Loops of the queue may wait for a database that is gone. A worker that has ended must not look alive to its supervisor.
      // oxlint-disable-next-line unicorn/no-process-exit -- see above
      setTimeout(() => process.exit(), LINGER_MS).unref();
    }
    return EXIT.done;
  },
});

/** Tests the isolation before runs come: it takes seconds, in which a worker does not answer others. Runs find the result in the cache. */
async function tryExecutor(runtime: Runtime, choice: 'auto' | ExecutorName, terminal: Terminal): Promise<void> {
  const { usableExecutor } = await import('#sandbox');
  const usable = await usableExecutor(runtime, choice, (name) =>
    terminal.remark(`testing the isolation of ${name}; this takes some seconds once a day`),
  );
  if (usable === undefined)
    reportWarning(
      terminal,
      `the executor ${choice} isolates nothing on this machine, so programs of skills do not run; see skillwright doctor`,
    );
}

function count(text: string | undefined, name: string): number | undefined {
  return wholeNumber(text, `--${name}`, { least: 1, most: 10_000 });
}
