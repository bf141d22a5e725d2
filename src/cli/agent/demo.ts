import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import type { AgentResult } from '../../agent/agent-options.ts';
import { runAgent } from '../../agent/agent.ts';
import { EVENTS_FILE } from '../../journal/run-folder.ts';
import { verifyRun } from '../../journal/verify.ts';
import { SkillError, isSkillError } from '../../core/errors.ts';
import { EXECUTOR_NAMES } from '../../core/execution.ts';
import type { ExecutorName } from '../../core/execution.ts';
import type { RunEvent } from '../../core/run-events.ts';
import { quoted } from '../../core/text/text.ts';
import { openRules } from '../../model/rules/rules.ts';
import { cacheDirectory } from '../../platform/fs/cache-directory.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { readSealKey } from '../../platform/fs/seal-key.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import { createRuntime } from '../../runtime/runtime.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { defineCommand, option, toggle } from '../command.ts';
import { DEMO_FILE, DEMO_REQUEST, DEMO_TABLE, demoText } from './demo-text.ts';
import type { DemoRun } from './demo-text.ts';
import { EXIT } from '../exit.ts';

const flags = {
  plain: toggle('print only what is the same in every run: no colors, times, ids and paths'),
  keep: toggle('keep the folder of the demo with its record'),
  executor: option(
    'NAME',
    'run the script with this executor; none runs no script (default: auto, the first that isolates)',
    { choices: ['auto', 'none', 'bubblewrap', 'namespaces', 'container', 'macos', 'landlock'] },
  ),
} as const;

export const command = defineCommand({
  usage: 'demo [--plain] [--keep] [--executor NAME]',
  details: [
    'Runs one request on a small table with the built-in skills, in a temporary folder. Shows what the model saw, what ran and where, the answer, and the verified record. Asks nothing, reads none of your files, and uses no network.',
    'The model is the rule model, which is not a language model. If no executor isolates programs on this machine, no script runs and the demo says so.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright demo', 'run the tour'],
    ['skillwright demo --keep', 'run the tour and keep its folder'],
  ],
  positionals: [0, 0],
  async run({ flags: given, terminal, signal }) {
    const folder = makeFolder();
    try {
      if (terminal.isInteractive) terminal.overwrite('preparing a sandbox and running …');
      const run = await demonstrate(folder, given.executor ?? 'auto', signal);
      if (terminal.isInteractive) terminal.overwrite('');
      if (!terminal.printJson({ ...run, events: undefined }))
        terminal.out(demoText(run, { isPlain: given.plain === true, terminal }));
      if (given.keep === true) terminal.remark(`folder: ${folder}`);
      if (run.result.outcome === 'cancelled') return EXIT.interrupted;
      return run.result.outcome === 'done' && run.verified === 'intact' ? EXIT.done : EXIT.failed;
    } finally {
      if (given.keep !== true) rmSync(folder, { recursive: true, force: true });
    }
  },
});

function makeFolder(): string {
  const place = os.tmpdir();
  try {
    return mkdtempSync(path.join(place, 'skillwright-demo-'));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const { code: cause } = error;
    throw new SkillError({
      code: 'io/failed',
      message: `cannot create a folder in ${quoted(place)}: ${cause}`,
      hint: 'set TMPDIR to a writable folder',
      data: { path: place, cause },
    });
  }
}

async function demonstrate(folder: string, executor: string, signal: AbortSignal): Promise<DemoRun> {
  writeFileSync(path.join(folder, DEMO_FILE), DEMO_TABLE);
  const home = path.join(folder, 'home');
  const runtime = await openBuiltIn(folder, home);
  const events: RunEvent[] = [];
  const work = (name: string): Promise<AgentResult> =>
    runAgent({
      runtime,
      model: openRules(),
      request: DEMO_REQUEST,
      files: [name === 'none' ? DEMO_FILE : path.join(folder, DEMO_FILE)],
      signal,
      run: {
        sinks: [({ event }) => void events.push(event)],
        // Only this built-in script runs without approval.
        policy: { opens: ['run_script(csv-report)'] },
        ...(name === 'none'
          ? {}
          : { execution: { executor: executorOf(name), opens: false, artifacts: false, runsBuiltIn: true } }),
      },
    });
  const { result, refusal } = await withOrWithout(work, executor);
  const key = readSealKey(home);
  const check = (place: string): string => verifyRun(place, key === undefined ? {} : { sealKey: key }).status;
  const { path: record = '' } = result;
  return {
    result,
    events,
    refusal,
    skills: runtime.index.skills.map(({ name }) => name),
    verified: check(record),
    verifiedAfterChange: check(changedCopy(record, folder)),
  };
}

/** A runtime with the built-in skills only; it reads no files of the user. */
function openBuiltIn(cwd: string, home: string): Promise<Runtime> {
  const surroundings = surroundingsOf({});
  const kept = ['PATH', 'TMPDIR', 'DOCKER_HOST'].map((name) => [name, surroundings.env[name]]);
  // Reuses the cached sandbox probes, which take seconds.
  kept.push(['SKILLWRIGHT_CACHE_DIR', cacheDirectory(surroundings)]);
  return createRuntime({ cwd, home, env: Object.fromEntries(kept), config: { use_default_roots: false } });
}

function executorOf(name: string): 'auto' | ExecutorName {
  return EXECUTOR_NAMES.find((known) => known === name) ?? 'auto';
}

/** Falls back to a run without programs if no executor isolates them. */
async function withOrWithout(
  work: (executor: string) => Promise<AgentResult>,
  executor: string,
): Promise<Pick<DemoRun, 'result' | 'refusal'>> {
  if (executor === 'none')
    return {
      result: await work(executor),
      refusal: { message: '--executor none', hint: 'see skillwright doctor' },
    };
  try {
    return { result: await work(executor), refusal: undefined };
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'executor/unavailable') throw error;
    return { result: await work('none'), refusal: { message: error.message, hint: error.hint } };
  }
}

/** Copies a record and changes one number in the copy. */
function changedCopy(record: string, folder: string): string {
  const copy = path.join(folder, 'changed', path.basename(record));
  cpSync(record, copy, { recursive: true });
  const file = path.join(copy, EVENTS_FILE);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"turn":1', '"turn":2'));
  return copy;
}
