/** One run continues another one; a second one is asked for, and shows. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

import { openChat } from '../../../src/agent/chat.ts';
import { resumeAgent, type ResumeOptions } from '../../../src/agent/resume/resume.ts';
import { describeAction } from '../../../src/core/action-text.ts';
import { pruneRuns } from '../../../src/journal/prune.ts';
import { verifyChain } from '../../../src/journal/verify-chain.ts';
import { readSealKey } from '../../../src/platform/fs/seal-key.ts';
import { bundleProgram } from '../../bundle-program.ts';
import { temporaryFolder } from '../../cli/run-cli.ts';
import { verifies } from '../../conformance/verifies.ts';
import { played, world, type Line, type World } from '../support.ts';

const LOAD: Line = { calls: [['load_skill', { skill: 'report' }]] };
const WRITE: Line = { calls: [['write_file', { path: 'made.txt', content: 'once' }]] };
const DONE: Line = { text: 'fine' };

/** A run that used up its budget before it wrote anything. */
async function interrupted(): Promise<World & { readonly folder: string; readonly id: string }> {
  const here = await world();
  const { path: folder = '', run: id = '' } = await here.agent({
    model: played([LOAD]),
    budget: { turns: 1 },
    request: 'count the rows of a table for a report',
  });
  return { ...here, folder, id };
}

function resume({ runtime }: World, folder: string, lines: readonly Line[], more: Partial<ResumeOptions> = {}) {
  return resumeAgent({
    runtime,
    path: folder,
    model: played(lines),
    budget: { turns: 6 },
    run: { host: {}, approve: () => Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' }) },
    ...more,
  });
}

describe('resuming a run', () => {
  verifies('JRN-12', 'a second time is refused, names what may be repeated, and shows in verify', async () => {
    const here = await interrupted();
    const first = await resume(here, here.folder, [WRITE, DONE]);
    const winner = first.type === 'resumed' ? (first.result.run ?? '') : '';
    expect(first).toMatchObject({ type: 'resumed', result: { outcome: 'done' } });
    expect(existsSync(path.join(here.project, 'made.txt'))).toBe(true);
    rmSync(path.join(here.project, 'made.txt'));
    const refused = await resume(here, here.folder, [WRITE, DONE]);
    expect(refused).toEqual({
      type: 'impossible',
      problems: [
        `it was already resumed as ${winner} (ended)`,
        expect.stringMatching(/^may be repeated: .*made\.txt/),
        `continue ${winner} instead, or pass --again to resume it once more`,
      ],
    });
    expect(existsSync(path.join(here.project, 'made.txt'))).toBe(false);
    const directory = path.dirname(here.folder);
    expect(verifyChain(directory).resumedAgain).toEqual([]);
    const repeated: string[] = [];
    const again = await resume(here, here.folder, [DONE], {
      again: true,
      onRepeat: (actions) => repeated.push(...actions.map((action) => describeAction(action))),
    });
    expect([again.type, repeated]).toEqual(['resumed', [expect.stringContaining('made.txt')]]);
    const second = again.type === 'resumed' ? (again.result.run ?? '') : '';
    expect(verifyChain(directory)).toMatchObject({
      problems: [],
      resumedAgain: [{ run: here.id, by: [{ run: winner }, { run: second }] }],
    });
  });

  verifies('JRN-12', 'twice at the same time in one process: one wins', async () => {
    const here = await interrupted();
    const results = await Promise.all([0, 1, 2].map(() => resume(here, here.folder, [DONE])));
    expect(results.map(({ type }) => type).toSorted()).toEqual(['impossible', 'impossible', 'resumed']);
    expect(verifyChain(path.dirname(here.folder))).toMatchObject({ problems: [], resumedAgain: [] });
  });

  /** Keeps only so many lines of the chain. */
  const cutChain = (directory: string, count: number): void => {
    const file = path.join(directory, 'chain.jsonl');
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(
      file,
      lines
        .slice(0, count)
        .map((line) => `${line}\n`)
        .join(''),
    );
  };

  verifies('JRN-12', 'a second time is refused after the line of the first one was lost', async () => {
    const here = await interrupted();
    const first = await resume(here, here.folder, [WRITE, DONE]);
    const winner = first.type === 'resumed' ? (first.result.run ?? '') : '';
    const directory = path.dirname(here.folder);
    const keys = { home: path.join(here.root, 'home'), sealKey: readSealKey(path.join(here.root, 'home')) };
    cutChain(directory, 2);
    const refused = {
      type: 'impossible',
      problems: [
        `it was already resumed as ${winner} (ended)`,
        expect.stringMatching(/^may be repeated: .*made\.txt/),
        `continue ${winner} instead, or pass --again to resume it once more`,
      ],
    };
    expect(await resume(here, here.folder, [WRITE, DONE])).toEqual(refused);
    rmSync(path.join(directory, 'chain.jsonl'));
    await pruneRuns({ directory, missing: true, ...keys });
    expect(await resume(here, here.folder, [WRITE, DONE])).toEqual(refused);
    const again = await resume(here, here.folder, [DONE], { again: true });
    const second = again.type === 'resumed' ? (again.result.run ?? '') : '';
    // The line of the second one is there; the first one is known by its record.
    expect(verifyChain(directory, keys)).toMatchObject({
      problems: [],
      resumedAgain: [{ run: here.id, by: expect.arrayContaining([{ run: winner, at: expect.any(String) }]) }],
    });
    rmSync(path.join(directory, 'chain.jsonl'));
    await pruneRuns({ directory, missing: true, ...keys });
    expect(verifyChain(directory, keys)).toMatchObject({
      problems: [],
      resumedAgain: [{ run: here.id, by: [{ run: winner }, { run: second }] }],
    });
  });

  verifies('JRN-12', 'a run is not resumed while lines about it are lost, unless the user knows', async () => {
    const here = await interrupted();
    const directory = path.dirname(here.folder);
    const keys = { home: path.join(here.root, 'home'), sealKey: readSealKey(path.join(here.root, 'home')) };
    const first = await resume(here, here.folder, [WRITE, DONE]);
    rmSync(first.type === 'resumed' ? (first.result.path ?? '') : '', { recursive: true });
    cutChain(directory, 2);
    expect(await resume(here, here.folder, [WRITE, DONE])).toEqual({
      type: 'impossible',
      problems: [
        expect.stringMatching(/^the chain of runs has lost lines, .*it had 2 lines; its last known line was 5$/),
        expect.stringContaining('runs prune --missing'),
      ],
    });
    // A run from after the loss is not concerned.
    const later = await here.agent({
      model: played([LOAD]),
      budget: { turns: 1 },
      request: 'count the rows of a report',
    });
    expect(await resume(here, later.path ?? '', [DONE])).toMatchObject({ type: 'resumed' });
    expect(await resume(here, here.folder, [WRITE, DONE])).toMatchObject({ type: 'impossible' });
    await pruneRuns({ directory, missing: true, ...keys });
    expect(await resume(here, here.folder, [DONE])).toMatchObject({ type: 'resumed' });
  });

  test('a chat whose line was lost is not continued a second time', async () => {
    const { runtime, root } = await world();
    const home = path.join(root, 'home');
    const first = openChat({ runtime, model: played([DONE]) });
    const { run = '', path: folder = '' } = await first.send('hello');
    await first.end();
    const directory = path.dirname(folder);
    const send = async () => {
      const chat = openChat({ runtime, model: played([DONE]), earlier: { run, path: folder, said: first.said } });
      await chat.send('and now?').finally(() => chat.end());
    };
    await send();
    rmSync(path.join(directory, 'chain.jsonl'));
    await pruneRuns({ directory, missing: true, home, sealKey: readSealKey(home) });
    await expect(send()).rejects.toMatchObject({
      code: 'run/resumed',
      message: expect.stringContaining('it was already resumed as'),
    });
  });

  test('a run that continued and did not end can be continued itself, and the first one only with again', async () => {
    const here = await interrupted();
    const first = await resume(here, here.folder, [WRITE], { budget: { turns: 2 } });
    const next = first.type === 'resumed' ? (first.result.path ?? '') : '';
    expect(await resume(here, next, [DONE])).toMatchObject({ type: 'resumed', result: { outcome: 'done' } });
    expect(await resume(here, here.folder, [DONE])).toMatchObject({ type: 'impossible' });
  });

  test('a run whose record could not be created leaves the other one free', async () => {
    const here = await interrupted();
    const blocked = path.join(here.project, 'file');
    const first = resume(here, here.folder, [DONE], { run: { host: {}, directory: path.join(blocked, '\0') } });
    await expect(first).rejects.toThrow(/null bytes|ENOTDIR|not a directory/);
    expect(await resume(here, here.folder, [DONE])).toMatchObject({ type: 'resumed' });
  });

  test('without a record is a claim as well', async () => {
    const here = await interrupted();
    expect(await resume(here, here.folder, [DONE], { run: { directory: false } })).toMatchObject({ type: 'resumed' });
    expect(await resume(here, here.folder, [DONE])).toMatchObject({
      type: 'impossible',
      problems: expect.arrayContaining(['it was already resumed by a run without a record']),
    });
  });

  test('another course of the run is not a resume', async () => {
    const here = await interrupted();
    for (let time = 0; time < 2; time += 1)
      expect(await resume(here, here.folder, [DONE], { keepAnswers: 0 })).toMatchObject({ type: 'resumed' });
    expect(await resume(here, here.folder, [DONE])).toMatchObject({ type: 'resumed' });
  });

  test('a chat is continued by one chat, and by another one with again', async () => {
    const { runtime } = await world();
    const first = openChat({ runtime, model: played([DONE]) });
    const { run = '', path: folder = '' } = await first.send('hello');
    await first.end();
    const earlier = { run, path: folder, said: first.said };
    const send = async (again: boolean) => {
      const chat = openChat({ runtime, model: played([DONE]), earlier, again });
      try {
        return (await chat.send('and now?')).outcome;
      } finally {
        await chat.end();
      }
    };
    expect(await send(false)).toBe('done');
    await expect(send(false)).rejects.toMatchObject({ code: 'run/resumed' });
    expect(await send(true)).toBe('done');
    expect(verifyChain(path.dirname(folder)).resumedAgain).toMatchObject([{ run, by: [{}, {}] }]);
  });
});

/** Continues a run whose model never answers, or ends at once. Prints `begun` with the id, or the problems. */
const PROGRAM = `
  import path from 'node:path';
  import { createRuntime } from './runtime/runtime.ts';
  import { resumeAgent } from './agent/resume/resume.ts';
  const [root, folder, kind] = process.argv.slice(2);
  const runtime = await createRuntime({
    cwd: path.join(root, 'project'), home: path.join(root, 'home'), env: {}, roots: [path.join(root, 'skills')], onlyRoots: true, cache: false,
  });
  const sinks = [({ event }) => { if (event.type === 'run-start') console.log('begun'); }];
  const model = { id: 'slow', call: () => kind === 'hang' ? new Promise(() => setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300)) : Promise.resolve({ text: 'fine', toolCalls: [], finish: 'stop', usage: {}, retries: 0 }) };
  const resumed = await resumeAgent({ runtime, path: folder, model, budget: { turns: 6 }, run: { sinks } });
  console.log(resumed.type);
`;

describe('several processes', () => {
  verifies('JRN-12', 'at once: one continues the run, and a killed one is taken over', async () => {
    const here = await interrupted();
    const program = await bundleProgram(PROGRAM, temporaryFolder());
    const start = (kind: string) =>
      promisify(execFile)(process.execPath, [program, here.root, here.folder, kind]).then(
        ({ stdout }) => stdout.trim().split('\n').at(-1),
        (error: unknown) => (error as { readonly signal?: string }).signal,
      );
    const raced = await Promise.all([start('hang'), start('hang')]);
    // The other one was refused while the first one lived, or took over after it was killed.
    expect(raced).toContain('SIGKILL');
    expect(await start('end')).toBe('resumed');
    expect(await start('end')).toBe('impossible');
    const lines = readFileSync(path.join(path.dirname(here.folder), 'chain.jsonl'), 'utf8');
    expect(verifyChain(path.dirname(here.folder)).problems).toEqual([]);
    expect(lines.match(/"run-resume"/g)?.length).toBeGreaterThanOrEqual(2);
  });
});
