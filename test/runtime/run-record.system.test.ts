import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { listRuns } from '../../src/journal/run-folder.ts';
import type { SinkLine } from '../../src/journal/export/sinks.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import type { Approve } from '../../src/core/approval.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { sealKey } from '../../src/platform/fs/seal-key.ts';
import { openTreeDigests } from '../../src/platform/fs/tree-digest.ts';
import { policyHash } from '../../src/runtime/policy-hash.ts';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import type { RunOptions } from '../../src/runtime/start-run.ts';
import { VERSION } from '../../src/version.ts';
import { verifies } from '../conformance/verifies.ts';
import { built, scratch } from '../skills/registry/support.ts';
import { writeThree } from './support.ts';

interface Place {
  readonly root: string;
  readonly project: string;
  readonly runs: string;
  readonly open: (config?: object) => Promise<Runtime>;
}

/** A project with three skills, and a home of its own. */
function place(): Place {
  const root = scratch();
  const [project, home, skills] = ['project', 'home', 'skills'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [project, home, skills]) mkdirSync(folder);
  writeThree(skills);
  const options = { cwd: project, home, env: {}, roots: [skills], onlyRoots: true, cache: false } as const;
  return {
    root,
    project,
    runs: path.join(project, '.agent/runs'),
    open: (config = {}) => createRuntime({ ...options, config }),
  };
}

const yes: Approve = () => Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' });
const plain: RunOptions = { request: 'do it', host: {}, approve: yes };

const eventsOf = (run: string): readonly RunEvent[] => [...readRun(run).lines].map(({ event }) => event);
const ofType = <Type extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: Type,
): readonly Extract<RunEvent, { readonly type: Type }>[] =>
  events.filter((event): event is Extract<RunEvent, { readonly type: Type }> => event.type === type);

verifies(
  ['AGT-9', 'REG-8'],
  'a run says what it was, with which bytes, under which rules, and how it ended',
  async () => {
    const { root, project, open } = place();
    const runtime = await open();
    const execution = { executor: 'local', artifacts: false } as const;
    const run = await runtime.startRun({ ...plain, execution });
    const { session, path: folder = '', id } = run;
    await session.perform({ type: 'load_skill', skill: 'alpha' });
    await session.perform({ type: 'run_script', skill: 'alpha', script: 'go.sh', args: [] });
    await session.perform({ type: 'write_file', path: 'new.txt', content: 'new' });
    await session.perform({ type: 'final_answer', answer: 'Done.' });
    const policy = policyHash((await runtime.startSession({ host: {}, execution })).policy);
    await run.end('done', 'all of it');

    const tree = await openTreeDigests().of(path.join(root, 'skills/alpha'));
    const digest = tree.type === 'digest' ? tree.digest : '';
    const events = eventsOf(folder);
    const [asked] = ofType(events, 'approval-ask');
    const { seal, ...info } = JSON.parse(readFileSync(path.join(folder, 'run.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(info).toEqual({
      schema: 1,
      run: id,
      version: VERSION,
      project,
      request: 'do it',
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      endedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      outcome: 'done',
      reason: 'all of it',
      indexHash: runtime.index.indexHash,
      indexDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      skills: [{ id: runtime.find('alpha').id, name: 'alpha', source: runtime.find('alpha').source, digest }],
      executor: { name: 'local', isolation: 'none', profile: expect.stringMatching(/^sha256:/) },
      policyHash: policy,
      approvals: [
        {
          call: 3,
          request: asked?.request.id,
          tool: 'write_file',
          answer: { verdict: 'yes', scope: 'once', by: 'callback' },
        },
      ],
      normalizedRequest: 'do it',
      scanDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      phases: ['Init', 'IndexSkills', 'LoadSkillBody', 'Act', 'Observe', 'Act', 'Observe', 'Final'],
      resources: [],
      tools: ['load_skill', 'run_script', 'write_file', 'final_answer'].map((tool) => ({ tool, calls: 1, failed: 0 })),
      programs: [
        {
          call: 2,
          tool: 'run_script',
          skill: 'alpha',
          program: 'go.sh',
          exitCode: 0,
          reason: 'exited',
          stdout: 'canary-script\n',
          stderr: '',
        },
      ],
      invalidCalls: 0,
      chain: expect.stringMatching(/^[0-9a-f]{64}$/),
      budgets: {},
      process: expect.objectContaining({ pid: process.pid }),
      events: { count: events.length, head: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const index = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as readonly {
      readonly name: string;
    }[];
    expect(index.map(({ name }) => name)).toEqual(['alpha', 'beta', 'gamma']);
    const staged = ofType(events, 'span').find(({ span }) => span.name === 'workspace.stage.skill');
    expect(staged?.span.attributes['digest']).toBe(digest);
    expect(readFileSync(path.join(folder, 'final.md'), 'utf8')).toBe('Done.');
    expect(readFileSync(path.join(project, 'new.txt'), 'utf8')).toBe('new');
    expect(verifyRun(folder, { sealKey: sealKey(path.join(root, 'home')) })).toEqual({
      status: 'intact',
      problems: [],
      seal: 'good',
    });
    expect(typeof seal).toBe('string');
  },
);

verifies('POL-7', 'each action has one decision with its rule and who wrote it, before anything is done', async () => {
  const { project, open } = place();
  mkdirSync(path.join(project, 'secret'));
  for (const name of ['a.txt', 'secret/b.txt']) writeFileSync(path.join(project, name), name);
  const runtime = await open({ policy: { deny: ['read_file(secret/**)'] } });
  const told: SinkLine[] = [];
  const run = await runtime.startRun({ ...plain, sinks: [(line) => told.push(line)] });
  const { session } = run;
  await session.perform({ type: 'read_file', path: 'a.txt' });
  await session.perform({ type: 'read_file', path: 'secret/b.txt' });
  await session.perform({ type: 'load_skill', skill: 'beta' });
  await session.perform({ type: 'load_skill', skill: 'nothing' });
  await session.perform({ type: 'write_file', path: 'c.txt', content: '' });
  await run.end('done');
  const events = eventsOf(run.path ?? '');
  expect(
    ofType(events, 'decision').map(({ call, decision: { effect, rule, origin } }) => [
      call,
      effect,
      rule,
      origin.layer,
    ]),
  ).toEqual([
    [1, 'allow', expect.any(String), 'built-in'],
    [2, 'deny', 'read_file(secret/**)', 'option'],
    [3, 'allow', expect.any(String), 'built-in'],
    // Of a skill that is not there nothing is to be decided.
    [5, 'ask', 'by risk', 'built-in'],
  ]);
  for (const call of [1, 2, 3, 5]) {
    const order = events.flatMap((event) => ('call' in event && event.call === call ? [event.type] : []));
    expect([order[0], order[1], order.at(-1)]).toEqual(['action', 'decision', 'observation']);
  }
  // Who listens hears all of it, the end included, with the numbers of the record.
  expect(told.map(({ seq, event }) => [seq, event.type])).toEqual(events.map(({ type }, place) => [place + 1, type]));
});

/** Starts a run in a process that is killed when it comes to an event. */
const DOOMED = `
  const [, module, project, skills, type] = process.argv;
  const { createRuntime } = await import(module);
  const runtime = await createRuntime({ cwd: project, home: undefined, env: {}, roots: [skills], onlyRoots: true, cache: false });
  const run = await runtime.startRun({
    request: 'die', host: {},
    sinks: [({ event }) => { if (event.type === type && event.call === 2) process.kill(process.pid, 'SIGKILL'); }],
    approve: () => Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' }),
  });
  await run.session.perform({ type: 'load_skill', skill: 'alpha' });
  await run.session.perform({ type: 'write_file', path: 'written.txt', content: 'x'.repeat(10000) });`;

describe('a process that is killed', () => {
  test.each([
    ['action', false],
    ['decision', false],
    ['approval-ask', false],
    ['approval-answer', false],
    ['observation', true],
  ])('at the %s of a write leaves all that came before it, and the write is there: %s', (type, isWritten) => {
    const { root, project, runs } = place();
    const words = [built('lib/index.js'), project, path.join(root, 'skills'), type];
    const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', DOOMED, ...words], {
      timeout: 170_000,
      encoding: 'utf8',
    });
    expect([signal, stderr]).toEqual(['SIGKILL', '']);
    const [listed] = listRuns(runs);
    expect(listed?.state).toBe('killed');
    const folder = listed?.path ?? '';
    expect(verifyRun(folder)).toEqual({ status: 'torn', problems: [], seal: 'absent' });
    const events = eventsOf(folder);
    expect(events.at(-1)).toMatchObject({ type, call: 2 });
    expect(ofType(events, 'observation')[0]).toMatchObject({ call: 1, observation: { type: 'skill-loaded' } });
    expect(existsSync(path.join(project, 'written.txt'))).toBe(isWritten);
  });
});

/** A file system of one mebibyte, or nothing where we may not make one. */
function smallDisk(folder: string): boolean {
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    console.log('skipped: a file system cannot be mounted here');
    return false;
  }
  onTestFinished(() => void execFileSync('umount', [folder]));
  return true;
}

describe('a full disk', () => {
  verifies('AGT-9', 'ends the run: what cannot be recorded is not done, and nothing is done afterwards', async () => {
    const { root, project, open } = place();
    const disk = path.join(root, 'disk');
    if (!smallDisk(disk)) return;
    const run = await (await open()).startRun({ ...plain, directory: path.join(disk, 'runs') });
    const write = (name: string, content: string): Promise<unknown> =>
      run.session.perform({ type: 'write_file', path: name, content });
    expect(await write('first.txt', 'small')).toMatchObject({ type: 'file-written' });
    // Its content alone is more than there is room for.
    expect(await write('second.txt', 'x'.repeat(2 * 1024 * 1024))).toMatchObject({
      type: 'failed',
      code: 'record/failed',
      isTerminal: true,
    });
    expect(await write('third.txt', 'small')).toMatchObject({ type: 'failed', code: 'record/failed' });
    expect(readdirSync(project)).toEqual(['first.txt']);
    await expect(run.end('done')).rejects.toMatchObject({ code: 'record/failed' });
    expect(verifyRun(run.path ?? '').problems).toEqual([]);
    expect(readRun(run.path ?? '').info).toMatchObject({ outcome: 'record-failed' });
  });

  test('at any moment leaves no file that the record does not speak of', async () => {
    const { root, project, open } = place();
    const disk = path.join(root, 'disk');
    if (!smallDisk(disk)) return;
    const run = await (await open()).startRun({ ...plain, directory: path.join(disk, 'runs') });
    const fill = (bytes: number): void => {
      try {
        writeFileSync(path.join(disk, `filler-${String(bytes)}`), Buffer.alloc(bytes));
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' });
      }
    };
    for (let bytes = 512 * 1024; bytes >= 4096; bytes /= 2) fill(bytes);
    let isOver = false;
    for (let count = 0; count < 200 && !isOver; count += 1) {
      const observation = await run.session.perform({ type: 'write_file', path: `${String(count)}.txt`, content: 'x' });
      isOver = observation.type === 'failed';
    }
    expect(isOver).toBe(true);
    const allowed = ofType(eventsOf(run.path ?? ''), 'approval-answer').length;
    expect(readdirSync(project).length).toBeLessThanOrEqual(allowed);
    expect(['torn', 'running']).toContain(verifyRun(run.path ?? '').status);
    await expect(run.end('done')).rejects.toMatchObject({ code: 'record/failed' });
  });
});

test('a folder for runs that is a link is refused, and nothing is written to where it leads', async () => {
  const { root, project, runs, open } = place();
  const elsewhere = path.join(root, 'elsewhere');
  mkdirSync(elsewhere);
  mkdirSync(path.join(project, '.agent'));
  symlinkSync(elsewhere, runs);
  await expect((await open()).startRun(plain)).rejects.toMatchObject({
    code: 'record/failed',
    message: expect.stringContaining('it is a symbolic link'),
  });
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('runs that begin in one second are told apart, and each is whole', async () => {
  const { runs, open } = place();
  const runtime = await open();
  const started = await Promise.all([1, 2, 3].map((number) => runtime.startRun({ ...plain, request: String(number) })));
  await Promise.all(started.map(({ session }) => session.perform({ type: 'load_skill', skill: 'alpha' })));
  await Promise.all(started.map((run) => run.end('done')));
  expect(new Set(started.map(({ id }) => id)).size).toBe(3);
  expect(listRuns(runs).map(({ path: folder }) => verifyRun(folder).status)).toEqual(['intact', 'intact', 'intact']);
});

test('a run folder that was copied or moved elsewhere is still what was recorded', async () => {
  const { root, open } = place();
  const run = await (await open()).startRun(plain);
  await run.session.perform({ type: 'load_skill', skill: 'alpha' });
  await run.end('done');
  const copy = path.join(root, 'another name');
  cpSync(run.path ?? '', copy, { recursive: true });
  rmSync(path.join(root, 'skills'), { recursive: true });
  const key = sealKey(path.join(root, 'home'));
  expect(verifyRun(copy, { sealKey: key })).toEqual({ status: 'intact', problems: [], seal: 'good' });
  expect(eventsOf(copy)).toEqual(eventsOf(run.path ?? ''));
});

test('nothing is kept where the user wants no record; a project cannot turn it off', async () => {
  const { project, runs, open } = place();
  const told: string[] = [];
  const off = await (
    await open({ runs: { enabled: false } })
  ).startRun({ ...plain, sinks: [({ event }) => told.push(event.type)] });
  await off.session.perform({ type: 'load_skill', skill: 'alpha' });
  await off.end('done');
  expect([off.id, off.path, existsSync(runs)]).toEqual([undefined, undefined, false]);
  expect([told[0], told.at(-1)]).toEqual(['run-start', 'run-end']);
  mkdirSync(path.join(project, '.agent'), { recursive: true });
  writeFileSync(path.join(project, '.agent/config.json'), '{"runs": {"enabled": false}}');
  const on = await (await open()).startRun(plain);
  await on.end('done');
  expect(statSync(on.path ?? '').isDirectory()).toBe(true);
});

test('a clock that goes backwards changes no order', async () => {
  const { open } = place();
  const runtime = await open();
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-05-01T12:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const run = await runtime.startRun(plain);
  vi.setSystemTime(new Date('2020-01-01T00:00:00Z'));
  await run.session.perform({ type: 'load_skill', skill: 'alpha' });
  await run.end('done');
  const lines = [...readRun(run.path ?? '').lines];
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, place) => place + 1));
  expect(lines.map(({ elapsed }) => elapsed)).toEqual(lines.map(({ elapsed }) => elapsed).toSorted((a, b) => a - b));
  expect([lines[0]?.time.slice(0, 4), lines.at(-1)?.time.slice(0, 4)]).toEqual(['2026', '2020']);
  expect(verifyRun(run.path ?? '')).toMatchObject({ status: 'intact', problems: [] });
});

test('a sink that throws neither ends the run nor keeps events from the next sink', async () => {
  const told: string[] = [];
  const broken = (): never => {
    throw new Error('closed pipe');
  };
  const runtime = await place().open();
  const run = await runtime.startRun({ ...plain, sinks: [broken, ({ event }) => told.push(event.type)] });
  await run.session.perform({ type: 'load_skill', skill: 'alpha' });
  await run.end('done');
  expect(verifyRun(run.path ?? '')).toMatchObject({ status: 'intact', problems: [] });
  expect([told[0], told.at(-1)]).toEqual(['run-start', 'run-end']);
});
