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
import { defineCommand } from '../command.ts';
import { DEMO_FILE, DEMO_REQUEST, DEMO_TABLE, demoText } from './demo-text.ts';
import type { DemoRun } from './demo-text.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';

const flags = {
  plain: { type: 'boolean', about: 'nothing that is different the next time: no colours, times, ids and folders' },
  keep: { type: 'boolean', about: 'leave the folder of the demo, to look at its record' },
  executor: {
    type: 'string',
    value: 'NAME',
    choices: ['auto', 'none', 'bubblewrap', 'container', 'macos'],
    about: 'what runs the script: auto takes the first that isolates; none shows what is left without one',
  },
} as const;

export const command = defineCommand({
  usage: 'demo [--plain] [--keep] [--executor NAME]',
  details: [
    'A tour on the skills that come with skillwright, in a folder of its own: one request on a small table, what the model saw of the',
    'skills, what ran and where, the answer, and the record with its check. Nothing is asked for, nothing of yours is read, no network.',
    'The model is the rule model, which is no language model. Where nothing isolates programs, no script runs, and it is said so.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright demo', 'the tour'],
    ['skillwright demo --keep', 'the same, and the folder stays'],
  ],
  positionals: [0, 0],
  async run({ flags: given, terminal, signal }) {
    const folder = makeFolder();
    try {
      if (terminal.isInteractive) terminal.overwrite('looking for a sandbox, and working …');
      const run = await demonstrate(folder, given.executor ?? 'auto', signal);
      if (terminal.isInteractive) terminal.overwrite('');
      if (given.json === true) terminal.out(jsonText({ ...run, events: undefined }));
      else for (const line of demoText(run, { isPlain: given.plain === true, terminal })) terminal.out(line);
      if (given.keep === true) terminal.remark(`the folder is ${folder}`);
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
      message: `no folder can be made in ${quoted(place)}: ${cause}`,
      hint: 'set TMPDIR to a folder that can be written',
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
        // This script is ours, and it alone: about those of others a person is asked.
        policy: { opens: ['run_script(csv-report)'] },
        ...(name === 'none' ? {} : { execution: { executor: executorOf(name), opens: false, artifacts: false } }),
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

/** The skills that come with the package and no others; nothing of the person's is looked at. */
function openBuiltIn(cwd: string, home: string): Promise<Runtime> {
  const surroundings = surroundingsOf({});
  const kept = ['PATH', 'TMPDIR', 'DOCKER_HOST'].map((name) => [name, surroundings.env[name]]);
  // What is known about sandboxes here took seconds to find out.
  kept.push(['SKILLWRIGHT_CACHE_DIR', cacheDirectory(surroundings)]);
  return createRuntime({ cwd, home, env: Object.fromEntries(kept), config: { use_default_roots: false } });
}

function executorOf(name: string): 'auto' | ExecutorName {
  return EXECUTOR_NAMES.find((known) => known === name) ?? 'auto';
}

interface Worked {
  readonly result: AgentResult;
  /** Why no program could be run. */
  readonly refusal: DemoRun['refusal'];
}

/** Without anything that isolates programs the tour goes on, and says what it could not do. */
async function withOrWithout(work: (executor: string) => Promise<AgentResult>, executor: string): Promise<Worked> {
  if (executor === 'none')
    return {
      result: await work(executor),
      refusal: { message: 'no executor was wanted', hint: 'see skillwright doctor' },
    };
  try {
    return { result: await work(executor), refusal: undefined };
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'executor/unavailable') throw error;
    return { result: await work('none'), refusal: { message: error.message, hint: error.hint } };
  }
}

/** A copy of a record in which somebody made one number larger. */
function changedCopy(record: string, folder: string): string {
  const copy = path.join(folder, 'changed', path.basename(record));
  cpSync(record, copy, { recursive: true });
  const file = path.join(copy, EVENTS_FILE);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"turn":1', '"turn":2'));
  return copy;
}
