import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { readRun } from '../../../src/journal/journal-reader.ts';
import { listRuns } from '../../../src/journal/run-folder.ts';
import { verifyRun } from '../../../src/journal/verify.ts';
import type { Action } from '../../../src/core/action.ts';
import type { ApprovalRequest, Approve } from '../../../src/core/approval.ts';
import { sealKey } from '../../../src/platform/fs/seal-key.ts';
import { writeSkill } from '../../skills/registry/support.ts';
import { outlines, replayWorld } from '../replay-support.ts';

const READS: readonly Action[] = [
  { type: 'search_skills', query: 'alpha' },
  { type: 'load_skill', skill: 'alpha', documents: '*' },
  { type: 'load_skill', skill: 'alpha' },
  { type: 'load_skill', skill: 'nothing' },
  { type: 'list_resources', skill: 'alpha' },
  { type: 'read_resource', skill: 'alpha', path: 'references/one.md' },
  { type: 'select_documents', skill: 'alpha', mode: 'add', documents: ['references/two.md'] },
  { type: 'get_script_path', skill: 'alpha', script: 'go.sh' },
  { type: 'read_file', path: 'a.txt' },
  { type: 'list_dir', path: '.' },
  { type: 'grep', path: 'a.txt', pattern: 'two' },
  { type: 'final_answer', answer: 'Done.' },
];

test('what was read is read again: the same decisions, the same observations, the same bytes', async () => {
  const { project, run, replay } = replayWorld();
  mkdirSync(path.join(project, '.agent/runs'), { recursive: true, mode: 0o700 });
  const folder = await run(READS);
  const before = readdirSync(path.dirname(folder));
  const first = await replay(folder);
  expect(first.steps.map(({ action }) => action)).toEqual(READS);
  expect(first.steps.filter(({ same }) => !same)).toEqual([]);
  expect([first.status, first.problems]).toEqual(['same', []]);
  expect(first.steps.map(({ got }) => got.came)).toEqual([
    'skills-found',
    'skill-loaded',
    'skill-loaded',
    'failed: skill/unknown',
    'resources-listed',
    'resource-read',
    'documents-selected',
    'script-found',
    'file-read',
    'directory-listed',
    'lines-found',
    'answered',
  ]);
  expect(await replay(folder)).toEqual(first);
  // Nothing is recorded of a replay.
  expect(readdirSync(path.dirname(folder))).toEqual(before);
});

test('folders that declare one name are recorded and replayed by the names that the vocabulary gives them', async () => {
  const { alpha, run, replay } = replayWorld();
  for (const folder of ['twin-a', 'twin-b'])
    writeSkill(path.join(path.dirname(alpha), folder), { name: 'twin', body: `Body of ${folder}.\n` });
  const folder = await run([{ type: 'load_skill', skill: 'twin-b' }], { vocabulary: 'openseed' });
  const { status, remarks } = await replay(folder);
  expect([status, remarks]).toEqual(['same', []]);
});

test('turns are begun again where they were: what was loaded for one is loaded anew', async () => {
  const { runtime, replay } = replayWorld();
  const run = await (await runtime()).startRun({ request: 'do it' });
  for (let turn = 0; turn < 2; turn += 1) {
    await run.session.perform({ type: 'load_skill', skill: 'alpha' });
    run.session.startTurn();
    run.session.startRequest();
  }
  await run.end('done');
  const replayed = await replay(run.path ?? '');
  expect([replayed.status, replayed.steps.map(({ got }) => got.shown['status'])]).toEqual(['same', ['new', 'new']]);
});

test('another file of the project is another result, and the step says which digest changed', async () => {
  const { project, run, replay } = replayWorld();
  const folder = await run(READS);
  writeFileSync(path.join(project, 'a.txt'), 'one\n2\n');
  const { status, steps } = await replay(folder);
  expect(status).toBe('different');
  expect(steps.filter(({ same }) => !same).map(({ action }) => action.type)).toEqual(['read_file', 'list_dir', 'grep']);
  const read = steps.find(({ action }) => action.type === 'read_file');
  expect(Object.keys(read?.expected.shown ?? {})).toEqual(['file', 'text']);
  expect(read?.expected.shown).not.toEqual(read?.got.shown);
});

describe('a replay is impossible, and nothing is done,', () => {
  const WRITE: readonly Action[] = [
    { type: 'load_skill', skill: 'alpha' },
    { type: 'write_file', path: 'new.txt', content: 'new' },
  ];

  test('where a skill has one byte more', async () => {
    const { project, alpha, run, replay } = replayWorld();
    const folder = await run(WRITE);
    rmSync(path.join(project, 'new.txt'));
    const recorded = readRun(folder).info.skills[0]?.digest ?? '';
    appendFileSync(path.join(alpha, 'references/two.md'), ' ');
    const { status, problems, steps } = await replay(folder, { writes: true });
    expect([status, steps]).toEqual(['impossible', []]);
    expect(problems).toEqual([expect.stringMatching(/^the skill ".*alpha" has changed: its files are sha256-tree:/)]);
    expect(problems[0]).toContain(recorded);
    expect(existsSync(path.join(project, 'new.txt'))).toBe(false);
  });

  test('where a skill is gone', async () => {
    const { alpha, run, replay } = replayWorld();
    const folder = await run(WRITE);
    rmSync(alpha, { recursive: true });
    expect(await replay(folder)).toMatchObject({
      status: 'impossible',
      problems: [expect.stringMatching(/alpha" was not found; the record used sha256-tree:/)],
    });
  });

  test('where the record was changed', async () => {
    const { run, replay } = replayWorld();
    const folder = await run(WRITE);
    const events = path.join(folder, 'events.jsonl');
    writeFileSync(events, readFileSync(events, 'utf8').replace('new.txt', 'old.txt'));
    expect(await replay(folder, { writes: true })).toEqual({
      status: 'impossible',
      problems: ['the record is tampered: see skillwright runs verify'],
      remarks: [],
      steps: [],
    });
  });

  test('where there is no record at all', async () => {
    const { root, replay } = replayWorld();
    await expect(replay(root)).rejects.toMatchObject({ code: 'run/invalid' });
  });
});

describe('what changes the world', () => {
  const CHANGES: readonly Action[] = [
    { type: 'write_file', path: 'new.txt', content: 'new' },
    { type: 'write_file', path: 'new2.txt', content: 'new' },
    { type: 'delete_file', path: 'a.txt' },
    { type: 'write_file', path: '../outside.txt', content: 'x' },
    { type: 'load_skill', skill: 'alpha' },
  ];
  const note = 'writes and deletions are not repeated';

  test('is decided about again and not done, as often as there is', async () => {
    const { project, run, replay } = replayWorld();
    const folder = await run(CHANGES);
    writeFileSync(path.join(project, 'a.txt'), 'one\ntwo\n');
    for (const name of ['new.txt', 'new2.txt']) rmSync(path.join(project, name));
    const replayed = await replay(folder);
    expect(outlines(replayed)).toEqual([
      [1, true, undefined, undefined, note],
      [2, true, undefined, undefined, note],
      [3, true, undefined, undefined, note],
      [4, true, undefined, undefined, note],
      [5, true, 'skill-loaded', 'skill-loaded', undefined],
    ]);
    expect(replayed.steps.map(({ got }) => got.effect)).toEqual(['ask', 'ask', 'ask', undefined, 'allow']);
    expect(replayed.status).toBe('same');
    expect(readdirSync(project).toSorted()).toEqual(['.agent', 'a.txt']);
  });

  test('is done again where that is wanted, with the answers of our own record to the same questions alone', async () => {
    const { project, run, replay } = replayWorld();
    const folder = await run(CHANGES.slice(0, 1));
    rmSync(path.join(project, 'new.txt'));
    expect(await replay(folder, { writes: true })).toMatchObject({ status: 'same' });
    expect(readFileSync(path.join(project, 'new.txt'), 'utf8')).toBe('new');
    // Now it would replace something: another question, to which the record has no answer.
    const asked: ApprovalRequest[] = [];
    const approve: Approve = (request) => {
      asked.push(request);
      return Promise.resolve('nobody');
    };
    const again = await replay(folder, { writes: true, approve });
    expect(outlines(again)).toEqual([[1, false, 'file-written', 'failed: approval/needed', undefined]]);
    expect(asked.map(({ detail }) => detail)).toMatchObject([{ kind: 'write', before: 'new' }]);
  });

  test('is not allowed by a record that another user wrote, whatever answers it holds', async () => {
    const { root, project, run, replay } = replayWorld();
    const folder = await run(CHANGES.slice(0, 1));
    rmSync(path.join(project, 'new.txt'));
    const home = path.join(root, 'stranger');
    mkdirSync(home);
    const foreign = await replay(folder, { writes: true, sealKey: sealKey(home) });
    expect(outlines(foreign)).toEqual([[1, false, 'file-written', 'failed: approval/needed', undefined]]);
    expect(existsSync(path.join(project, 'new.txt'))).toBe(false);
    expect(await replay(folder, { writes: true, sealKey: sealKey(home), isOwn: true })).toMatchObject({
      status: 'same',
    });
  });

  test('a server is asked again only where that is wanted', async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      response.end('hello');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
    const { run, replay } = replayWorld();
    const folder = await run([{ type: 'network_request', url }]);
    expect(requests).toBe(1);
    expect(outlines(await replay(folder))).toEqual([
      [1, true, undefined, undefined, 'network requests are not repeated'],
    ]);
    expect(requests).toBe(1);
    expect(await replay(folder, { network: true })).toMatchObject({ status: 'same' });
    expect(requests).toBe(2);
  });
});

test('a run that did not come to its end is replayed up to where its record ends', async () => {
  const { root, project, alpha, runtime, replay } = replayWorld();
  const copy = path.join(root, 'copy');
  const run = await (
    await runtime()
  ).startRun({
    request: 'do it',
    host: {},
    approve() {
      cpSync(run.path ?? '', copy, { recursive: true });
      return Promise.resolve('nobody');
    },
  });
  await run.session.perform({ type: 'load_skill', skill: 'alpha' });
  await run.session.perform({ type: 'write_file', path: 'new.txt', content: 'new' });
  await run.end('failed');
  const replayed = await replay(copy, { writes: true });
  expect([replayed.status, outlines(replayed)]).toEqual([
    'same',
    [
      [1, true, 'skill-loaded', 'skill-loaded', undefined],
      [2, true, undefined, undefined, 'the record ends before it was done'],
    ],
  ]);
  expect(readdirSync(project).toSorted()).toEqual(['.agent', 'a.txt']);
  appendFileSync(path.join(alpha, 'SKILL.md'), 'More.');
  expect(await replay(copy)).toMatchObject({ status: 'impossible' });
});

test('a replay is recorded where that is wanted, what is not repeated with its decision', async () => {
  const { project, run, replay } = replayWorld();
  const folder = await run([
    { type: 'write_file', path: 'new.txt', content: 'new' },
    { type: 'load_skill', skill: 'alpha' },
  ]);
  rmSync(path.join(project, 'new.txt'));
  const { status, run: id } = await replay(folder, { record: true });
  expect(status).toBe('same');
  const recorded = listRuns(path.dirname(folder)).find((listed) => listed.id === id)?.path ?? '';
  expect(verifyRun(recorded)).toMatchObject({ status: 'intact', problems: [] });
  const calls = [...readRun(recorded).lines].flatMap(({ event }) =>
    'call' in event ? [[event.call, event.type]] : [],
  );
  expect(calls).toEqual([
    [1, 'action'],
    [1, 'decision'],
    [2, 'action'],
    [2, 'decision'],
    [2, 'skill-use'],
    [2, 'observation'],
  ]);
});
