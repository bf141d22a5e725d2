import { chmodSync, mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import type { Action } from '../../src/core/action.ts';
import type { ExecutionOptions } from '../../src/sandbox/execution/parts.ts';
import { groupExecutor } from '../sandbox/own-executor.ts';
import { callback, sessionIn, trustedWorld, walledExecutor } from './policy-world.ts';

const ACTIONS: readonly Action[] = [
  { type: 'run_script', skill: 'demo', script: 'go.sh', args: [] },
  { type: 'run_command', command: 'ls' },
];

describe('for one program', () => {
  test('other variables, folders, hosts, limits, packages and places of a session are another question', async () => {
    const world = await trustedWorld();
    const folder = (name: string): string => {
      const made = path.join(path.dirname(world.project), name);
      mkdirSync(made, { recursive: true });
      chmodSync(made, 0o755);
      return made;
    };
    for (let at = path.dirname(world.project); at !== path.dirname(at); at = path.dirname(at))
      if (at.startsWith(os.tmpdir()) && at !== os.tmpdir()) chmodSync(at, 0o755);
    const read = (name: string) => ({ folder: folder(name), access: 'read' }) as const;
    const options: readonly ExecutionOptions[] = [
      {},
      { env: { MODE: 'list' } },
      { env: { MODE: 'delete' } },
      { mounts: [read('one')] },
      { mounts: [read('two')] },
      { mounts: [read('one'), read('two')] },
      { mounts: [{ ...read('one'), isProject: true }] },
      { mounts: [{ ...read('one'), isProject: true }], startsInProject: true },
      { network: ['*.example.org'] },
      { network: ['any.example.org'] },
      { limits: { wallMs: 1_000 } },
      { hostInputs: [world.project] },
      { packages: { with: ['pypdf'] } },
      { packages: { venv: folder('venv') } },
      { executor: groupExecutor() },
    ];
    const askAll = async (): Promise<readonly string[]> => {
      const said = callback({ verdict: 'no', scope: 'once' });
      for (const more of options)
        for (const action of ACTIONS) {
          const execution = { executor: walledExecutor(), opens: false, artifacts: false, ...more } as const;
          const session = await sessionIn(world, { approve: said.approve, execution });
          await session.perform(action);
        }
      return said.asked.map(({ id }) => id);
    };
    const first = await askAll();
    expect([first.length, new Set(first).size]).toEqual([2 * options.length, 2 * options.length]);
    expect(await askAll()).toEqual(first);
  });
});
