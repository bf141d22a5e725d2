import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { EXECUTORS } from '../sandbox/sandbox.ts';
import type { Action } from '../../src/core/action.ts';
import type { Approve } from '../../src/core/approval.ts';
import { temporaryFolder } from '../cli/run-cli.ts';
import { outlines, replayWorld } from './replay-support.ts';

const CACHE = temporaryFolder();

describe.each(EXECUTORS)('programs in %s', (_title, executor) => {
  const PROGRAMS: readonly Action[] = [
    { type: 'run_script', skill: 'alpha', script: 'go.sh', args: [] },
    { type: 'run_command', skill: 'alpha', command: 'echo one > "$OUTPUT_DIR/a.txt"; echo two >&2; exit 3' },
    { type: 'run_command', command: 'cat ../out/a.txt' },
  ];

  test('are run again, and their output, their files and their ends are compared', async () => {
    const { run, replay } = replayWorld(CACHE);
    const folder = await run(PROGRAMS, { execution: { executor, artifacts: false } });
    const replayed = await replay(folder);
    expect(replayed.steps.filter(({ same }) => !same)).toEqual([]);
    expect(replayed.status).toBe('same');
    expect(replayed.steps[1]?.got.shown).toMatchObject({
      end: 'exited',
      exit: '3',
      'file out/a.txt': expect.stringMatching(/^sha256:/),
    });
  });

  test('that say something else are told apart', async () => {
    const { run, replay } = replayWorld(CACHE);
    const folder = await run([{ type: 'run_command', command: 'cat /proc/sys/kernel/random/uuid' }], {
      execution: { executor, artifacts: false },
    });
    const { status, steps } = await replay(folder);
    expect(status).toBe('different');
    expect({ ...steps[0]?.expected.shown, stdout: '' }).toEqual({ ...steps[0]?.got.shown, stdout: '' });
  });

  test('find the files again that were given with the request, and not because a stranger’s record names them', async () => {
    const { root, runtime, replay } = replayWorld(CACHE);
    const file = path.join(root, 'given.txt');
    writeFileSync(file, 'given\n');
    const agent = {
      protocol: 'tools',
      vocabulary: 'skillwright',
      activation: 'model',
      required: [],
      files: [file],
    } as const;
    const execution = { executor, artifacts: false } as const;
    const run = await (await runtime()).startRun({ request: 'read it', execution, agent });
    const brought = await run.session.execution?.stageFiles([file], undefined);
    expect(brought).toEqual({ references: ['workspace://work/inputs/given.txt'], warnings: [] });
    await run.session.perform({ type: 'run_command', command: 'cat inputs/given.txt' });
    await run.end('done');
    const folder = run.path ?? '';
    expect(await replay(folder)).toMatchObject({ status: 'same', remarks: [] });
    expect(await replay(folder, { isOwn: false, execution: { executor, opens: true } })).toMatchObject({
      status: 'different',
      remarks: expect.arrayContaining(['the files of the request are not staged, because the record is not your own']),
    });
    rmSync(file);
    expect(await replay(folder)).toMatchObject({
      status: 'different',
      remarks: [expect.stringContaining('the files of the request cannot be staged: ')],
    });
  });

  test('that were talked to are talked to again, under their new names', async () => {
    const { runtime, replay } = replayWorld(CACHE);
    const execution = { executor, artifacts: false } as const;
    const run = await (await runtime()).startRun({ request: 'talk', execution });
    const { session } = run;
    const command = 'printf "Name: "; read name; echo "hello $name"; exit 4';
    const seen = await session.perform({ type: 'start_command', command, yieldMs: 3_000 });
    const id = seen.type === 'command-seen' ? seen.session : '';
    let last = await session.perform({ type: 'write_input', session: id, chars: 'Ada', submit: true, yieldMs: 3_000 });
    for (let look = 0; look < 20 && last.type === 'command-seen' && last.status === 'running'; look += 1)
      last = await session.perform({ type: 'poll_command', session: id, yieldMs: 1_000 });
    await run.end('done');
    const { status, steps } = await replay(run.path ?? '');
    expect([status, steps.at(-1)?.got.shown]).toEqual(['same', { status: 'exited', exit: '4' }]);
  });

  test('that a person asked for are asked about where the record is a stranger’s', async () => {
    const { runtime, replay } = replayWorld(CACHE);
    const run = await (await runtime()).startRun({ request: 'do it', execution: { executor, artifacts: false } });
    await run.session.perform({ type: 'run_command', command: 'id' }, { askedBy: 'person' });
    await run.end('done');
    const asked: string[] = [];
    const approve: Approve = ({ tool }) => {
      asked.push(tool);
      return Promise.resolve('nobody');
    };
    expect(await replay(run.path ?? '', { approve })).toMatchObject({ status: 'same', remarks: [] });
    expect(asked).toEqual([]);
    const execution = { executor };
    const foreign = await replay(run.path ?? '', { approve, isOwn: false, execution });
    expect(outlines(foreign)).toEqual([[1, false, 'program-ran', 'failed: approval/needed', undefined]]);
    expect([foreign.remarks, asked.length]).toEqual([['the policy has changed'], 1]);
  });

  test('read artifacts again, and save none', async () => {
    const { project, run, replay } = replayWorld(CACHE);
    const outputs = { output_files: ['out/*'], save_as_artifacts: true };
    const folder = await run(
      [
        { type: 'run_command', command: 'echo kept > "$OUTPUT_DIR/kept.txt"', outputs },
        { type: 'run_command', command: 'cat inputs/kept.txt', inputs: [{ from: 'artifact://out/kept.txt@0' }] },
      ],
      { execution: { executor } },
    );
    const artifacts = path.join(project, '.agent/artifacts');
    const before = readdirSync(artifacts, { recursive: true });
    const replayed = await replay(folder);
    expect(replayed.steps.filter(({ same }) => !same)).toEqual([]);
    expect(replayed.status).toBe('same');
    expect(readdirSync(artifacts, { recursive: true })).toEqual(before);
  });

  test('are not allowed to run by a record that another user wrote', async () => {
    const { project, run, replay } = replayWorld(CACHE);
    const folder = await run([{ type: 'run_command', command: `touch ${project}/mark` }], {
      execution: { executor, artifacts: false },
    });
    rmSync(path.join(project, 'mark'), { force: true });
    const foreign = await replay(folder, { isOwn: false });
    expect(foreign.status).not.toBe('same');
    expect(foreign.steps.map(({ got }) => got.came ?? '').join('')).toMatch(/^(failed: approval\/needed)?$/);
    expect(existsSync(path.join(project, 'mark'))).toBe(false);
  });
});
