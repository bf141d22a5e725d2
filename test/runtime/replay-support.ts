import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Action } from '../../src/core/action.ts';
import type { Approve } from '../../src/core/approval.ts';
import { sealKey } from '../../src/platform/fs/seal-key.ts';
import { replayRun, type Replay, type ReplayOptions } from '../../src/runtime/replay/replay-run.ts';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import type { RunOptions } from '../../src/runtime/start-run.ts';
import { scratch } from '../skills/registry/support.ts';
import { writeThree } from './support.ts';

export interface ReplayWorld {
  readonly root: string;
  readonly project: string;
  readonly alpha: string;
  readonly runtime: () => Promise<Runtime>;
  /** Does these in a run and gives its folder. */
  readonly run: (actions: readonly Action[], options?: Partial<RunOptions>) => Promise<string>;
  readonly replay: (folder: string, options?: Partial<ReplayOptions>) => Promise<Replay>;
}

const yes: Approve = () => Promise.resolve({ verdict: 'yes', scope: 'run', by: 'callback' });

/** With `cache`, what was found out about executors is kept there: that takes seconds. */
export function replayWorld(cache?: string): ReplayWorld {
  const root = scratch();
  const [project, home, skills] = ['project', 'home', 'skills'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [project, home, skills]) mkdirSync(folder);
  writeThree(skills);
  writeFileSync(path.join(project, 'a.txt'), 'one\ntwo\n');
  const runtime = (): Promise<Runtime> =>
    createRuntime({
      cwd: project,
      home,
      env: cache === undefined ? {} : { SKILLWRIGHT_CACHE_DIR: cache },
      roots: [skills],
      onlyRoots: true,
      cache: cache !== undefined,
    });
  return {
    root,
    project,
    alpha: path.join(skills, 'alpha'),
    runtime,
    async run(actions, options = {}) {
      const run = await (await runtime()).startRun({ request: 'do it', host: {}, approve: yes, ...options });
      for (const action of actions) await run.session.perform(action);
      await run.end('done');
      return run.path ?? '';
    },
    replay: async (folder, options = {}) =>
      replayRun({ runtime: await runtime(), path: folder, sealKey: sealKey(home), ...options }),
  };
}

/** Of each step: was it the same, what came of it then and now, and why it was not repeated. */
export const outlines = ({ steps }: Replay): readonly unknown[] =>
  steps.map(({ call, same, expected, got, notRepeated }) => [call, same, expected.came, got.came, notRepeated]);
