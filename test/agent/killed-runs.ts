/** Runs in processes of their own that are killed at a given event: what they leave is what a crash leaves. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { runIds } from '../../src/journal/run-folder.ts';
import type { Model } from '../../src/core/model.ts';
import { bundleProgram } from '../bundle-program.ts';
import type { World } from './support.ts';

/** A model that goes by the conversation alone, so that it is the same in every process. */
const MODEL = `
  const answer = (text, call) => ({
    text,
    toolCalls: call === undefined ? [] : [{ id: 'call-' + call.turn, name: call.name, input: JSON.stringify(call.input) }],
    finish: call === undefined ? 'stop' : 'tool-calls',
    usage: {},
    retries: 0,
  });
  export const delegatingFor = (file, isFatal) => ({
    id: 'delegating',
    async call({ messages }) {
      const results = messages.filter(({ role }) => role === 'tool');
      const turn = results.length + 1;
      const isChild = messages[0].content.startsWith('Do only the part');
      if (results.length > 0 && isChild && isFatal) process.kill(process.pid, 'SIGKILL');
      if (results.length > 0) return answer(isChild ? 'The child counted.' : 'All done: ' + results[0].content);
      if (!isChild) return answer('', { turn, name: 'load_skill', input: { skill: 'deep' } });
      return answer('', { turn, name: 'run_script', input: { skill: 'deep', script: 'count.sh', args: [file] } });
    },
  });
  export const modelFor = (file) => ({
    id: 'by-conversation',
    async call({ messages }) {
      const results = messages.filter(({ role }) => role === 'tool');
      const last = results.at(-1)?.content ?? '';
      const turn = results.length + 1;
      const run = { turn, name: 'run_script', input: { skill: 'report', script: 'count.sh', args: [file] } };
      if (results.length === 0) return answer('', { turn, name: 'load_skill', input: { skill: 'report' } });
      if (results.length === 1) return answer('', { turn, name: 'update_plan', input: { steps: [{ id: 's1', title: 'Count', status: 'in_progress' }] } });
      if (results.length === 2 || last.includes('unknown whether')) return answer('', run);
      return answer('There are 42 rows.');
    },
  });`;

const DRIVER = `
  import { createRuntime } from './runtime/runtime.ts';
  import { runAgent } from './agent/agent.ts';
  import { resumeAgent } from './agent/resume/resume.ts';
  const [, , root, file, past, fatal] = process.argv;
  const { modelFor, delegatingFor } = await import(root + '/model.mjs');
  const runtime = await createRuntime({
    cwd: root + '/project', home: root + '/home', env: {}, roots: [root + '/skills'], onlyRoots: true, cache: false,
  });
  const sinks = [({ seq, event }) => {
    if (seq === Number(fatal) && !event.type.endsWith('-delta')) process.kill(process.pid, 'SIGKILL');
  }];
  const run = { execution: { executor: 'local', artifacts: false }, sinks };
  const model = fatal === 'child' ? delegatingFor(file, true) : modelFor(file);
  const shared = { runtime, model, run };
  if (past === '') await runAgent({ ...shared, request: 'count the rows' });
  else await resumeAgent({ ...shared, path: past });`;

/** The script notes each time that it is run, outside of its workspace. */
const SCRIPT = '#!/bin/sh\necho run >> "$1"\necho "rows: 42"\n';

export const NOTING = {
  deep: {
    description: 'Counts in a context of its own. Use it to delegate.',
    fields: ['run-mode: subagent'],
    files: { 'scripts/count.sh': SCRIPT },
  },
  report: {
    description: 'Counts rows of a table. Use it for reports.',
    body: '# Report\n\nRun scripts/count.sh.\n',
    files: { 'scripts/count.sh': SCRIPT },
  },
};

export interface KilledRuns {
  /**
   * Starts a run, or goes on with one, and kills it once so many events are recorded, or when a child has run a script. Gives the
   * folder of its record.
   */
  readonly kill: (moment: number | 'child', past?: string) => Promise<string>;
  readonly model: Model;
  /** Has a skill of its own context do it. */
  readonly delegating: Model;
  /** How often the script was run since the last look. */
  readonly countRuns: () => number;
}

/** Bundles the program that `openKilledRuns` starts; once for a file of tests, because it takes longer than a run. */
export function bundleDriver(folder: string): Promise<string> {
  return bundleProgram(DRIVER, folder);
}

export async function openKilledRuns({ root, project }: World, driver: string): Promise<KilledRuns> {
  const file = path.join(root, 'runs.txt');
  const module = path.join(root, 'model.mjs');
  writeFileSync(module, MODEL);
  writeFileSync(file, '');
  // Where tests are run by root, programs are run by somebody else.
  chmodSync(file, 0o666);
  chmodSync(root, 0o755);
  const runs = path.join(project, '.agent', 'runs');
  mkdirSync(runs, { recursive: true, mode: 0o700 });
  // It is what was written above.
  const { modelFor, delegatingFor } = (await import(pathToFileURL(module).href)) as {
    readonly modelFor: (file: string) => Model;
    readonly delegatingFor: (file: string, isFatal: boolean) => Model;
  };
  return {
    model: modelFor(file),
    delegating: delegatingFor(file, false),
    countRuns() {
      const count = readFileSync(file, 'utf8').split('\n').length - 1;
      writeFileSync(file, '');
      return count;
    },
    async kill(moment, past = '') {
      const before = new Set(runIds(runs));
      const child = spawn(process.execPath, [driver, root, file, past, String(moment)], {
        stdio: ['ignore', 'inherit', 'inherit'],
        timeout: 170_000,
      });
      await new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      const [made = ''] = runIds(runs)
        .filter((name) => !before.has(name))
        .toSorted((a, b) => birth(path.join(runs, a)) - birth(path.join(runs, b)));
      return path.join(runs, made);
    },
  };
}

function birth(folder: string): number {
  return statSync(path.join(folder, 'index.json')).mtimeMs;
}
