/** Breaks of the chain of runs stay visible, and crashes are not breaks. */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { createRun } from '../../src/journal/journal-writer.ts';
import { pruneRuns } from '../../src/journal/prune.ts';
import { verifyChain } from '../../src/journal/verify-chain.ts';
import { sealKey } from '../../src/platform/fs/seal-key.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import { START } from './support.ts';

interface World {
  readonly directory: string;
  readonly chain: string;
  readonly heads: string;
  readonly keys: { readonly home: string; readonly sealKey: Uint8Array };
  /** A run that ended. */
  readonly run: () => string;
  readonly codes: () => readonly string[];
}

function world(): World {
  const folder = scratch();
  const home = path.join(folder, 'home');
  mkdirSync(home);
  const keys = { home, sealKey: sealKey(home) };
  const directory = path.join(folder, 'runs');
  let clock = Date.parse('2026-03-01T10:00:00Z');
  return {
    directory,
    chain: path.join(directory, 'chain.jsonl'),
    heads: path.join(home, '.agent/run-heads'),
    keys,
    run() {
      clock += 1_000;
      const record = createRun(directory, START, { ...keys, now: () => new Date(clock) });
      record.end('done', '');
      return record.id;
    },
    codes: () => verifyChain(directory, keys).problems.map(({ code, run = '' }) => `${code} ${run}`.trim()),
  };
}

function cutLines({ chain }: World, count: number): void {
  const lines = readFileSync(chain, 'utf8').trimEnd().split('\n');
  writeFileSync(
    chain,
    lines
      .slice(0, -count)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** What a person or a program does to the record after three runs, and what verify says of it for good. */
const BREAKS: readonly (readonly [
  name: string,
  act: (at: World, ids: readonly string[]) => void,
  codes: readonly string[],
])[] = [
  [
    'the newest run and its lines deleted',
    (at, [, , newest = '']) => {
      rmSync(path.join(at.directory, newest), { recursive: true });
      cutLines(at, 2);
    },
    ['chain/cut'],
  ],
  ['the end of the newest run cut off', (at) => cutLines(at, 1), ['chain/cut', 'chain/run-exchanged ID2']],
  [
    'a folder deleted',
    (at, [, middle = '']) => rmSync(path.join(at.directory, middle), { recursive: true }),
    ['chain/run-missing ID1'],
  ],
  [
    'a line edited',
    ({ chain }) => writeFileSync(chain, readFileSync(chain, 'utf8').replace('"count":2', '"count":3')),
    ['chain/edited', 'chain/forged', 'chain/run-exchanged ID0'],
  ],
  [
    'the last line edited',
    ({ chain }) => writeFileSync(chain, readFileSync(chain, 'utf8').replace(/"count":2(?=[^\n]*\n$)/, '"count":3')),
    ['chain/edited', 'chain/forged', 'chain/run-exchanged ID2'],
  ],
  [
    'the chain deleted',
    ({ chain }) => rmSync(chain),
    ['chain/missing', 'chain/run-unlisted ID2', 'chain/run-unlisted ID1', 'chain/run-unlisted ID0'],
  ],
  ['the memory deleted', ({ heads }) => rmSync(heads, { recursive: true }), ['chain/head-missing']],
  [
    'both deleted',
    ({ chain, heads }) => {
      rmSync(chain);
      rmSync(heads, { recursive: true });
    },
    ['chain/missing', 'chain/run-unlisted ID2', 'chain/run-unlisted ID1', 'chain/run-unlisted ID0'],
  ],
  [
    'the chain cut in the middle of a line',
    ({ chain }) => writeFileSync(chain, readFileSync(chain).subarray(0, -40)),
    ['chain/cut', 'chain/run-exchanged ID2'],
  ],
  [
    'the last line replaced by a long one',
    (at) => {
      cutLines(at, 1);
      writeFileSync(at.chain, `${readFileSync(at.chain, 'utf8')}${'x'.repeat(10_000)}`);
    },
    ['chain/unreadable', 'chain/cut', 'chain/run-exchanged ID2'],
  ],
  ['all runs deleted', ({ directory }) => rmSync(directory, { recursive: true }), ['chain/missing']],
  [
    'the memory overwritten',
    ({ heads }) => {
      for (const name of readdirSync(heads)) writeFileSync(path.join(heads, name), 'x');
    },
    ['chain/forged'],
  ],
];

describe('a break of the chain', () => {
  for (const [name, act, expected] of BREAKS)
    verifies('JRN-12', `stays visible after more runs: ${name}`, () => {
      const at = world();
      const ids = [at.run(), at.run(), at.run()];
      const before = at.codes();
      act(at, ids);
      const now = at.codes();
      expect([before, now.length > 0]).toEqual([[], true]);
      const wanted = expected.map((code) => code.replace(/ID(\d)/, (_, place: string) => ids[Number(place)] ?? ''));
      at.run();
      expect(at.codes()).toEqual(wanted);
      at.run();
      at.run();
      expect(at.codes()).toEqual(wanted);
    });

  verifies('JRN-12', 'stays visible if the chain was replaced by an older copy, each time', () => {
    const at = world();
    at.run();
    const copy = readFileSync(at.chain);
    const lost = at.run();
    writeFileSync(at.chain, copy);
    at.run();
    const [first] = verifyChain(at.directory, at.keys).breaks;
    expect(first).toMatchObject({ code: 'chain/cut', line: 3, message: 'it had 2 lines; its last known line was 4' });
    writeFileSync(at.chain, copy);
    at.run();
    const { breaks, problems } = verifyChain(at.directory, at.keys);
    expect(breaks.map(({ code, line }) => [code, line])).toEqual([['chain/cut', 3]]);
    expect(problems.some(({ run }) => run === lost)).toBe(true);
  });

  verifies('JRN-12', 'stays listed after the user said to know of it, and a later one is a problem again', async () => {
    const at = world();
    at.run();
    at.run();
    cutLines(at, 2);
    // Before any further run: the break is recorded together with the acknowledgement.
    await pruneRuns({ directory: at.directory, missing: true, ...at.keys });
    const [known] = verifyChain(at.directory, at.keys).breaks;
    expect(known).toMatchObject({ code: 'chain/cut', line: 3, knownAt: expect.any(String) });
    expect(at.codes()).toEqual([]);
    cutLines(at, 1);
    at.run();
    expect(at.codes()).toContain('chain/cut');
  });

  verifies('JRN-12', 'is acknowledged after the whole folder was deleted, before any further run', async () => {
    const at = world();
    at.run();
    rmSync(at.directory, { recursive: true });
    const prune = (dryRun: boolean): Promise<unknown> =>
      pruneRuns({ directory: at.directory, missing: true, dryRun, ...at.keys });
    await prune(true);
    expect([at.codes(), existsSync(at.directory)]).toEqual([['chain/missing'], false]);
    await prune(false);
    expect(verifyChain(at.directory, at.keys)).toMatchObject({
      status: 'intact',
      problems: [],
      breaks: [{ code: 'chain/missing', knownAt: expect.any(String) }],
    });
    const other = world();
    await pruneRuns({ directory: other.directory, missing: true, ...other.keys });
    expect(existsSync(other.directory)).toBe(false);
  });

  verifies('JRN-12', 'is acknowledged with the runs that the chain had announced, and only with those', async () => {
    const at = world();
    const [first, second, third] = [at.run(), at.run(), at.run()];
    const copy = path.join(scratch(), 'copy');
    cpSync(path.join(at.directory, second), copy, { recursive: true });
    rmSync(at.chain);
    writeFileSync(path.join(at.directory, third, 'final.md'), 'forged');
    await pruneRuns({ directory: at.directory, missing: true, ...at.keys });
    expect(at.codes()).toEqual([`chain/run-unlisted ${third}`]);
    expect(
      verifyChain(at.directory, at.keys)
        .unannounced.map(({ run }) => run)
        .toSorted(),
    ).toEqual([first, second]);
    // From now on the chain knows them: one that is cut back, deleted or added shows.
    writeFileSync(path.join(at.directory, first, 'events.jsonl'), '');
    rmSync(path.join(at.directory, second), { recursive: true });
    const added = '20260301T110000Z-00000000';
    cpSync(copy, path.join(at.directory, added), { recursive: true });
    const problems = [
      `chain/run-exchanged ${first}`,
      `chain/run-missing ${second}`,
      `chain/run-unlisted ${third}`,
      `chain/run-unlisted ${added}`,
    ];
    expect(at.codes().toSorted()).toEqual(problems);
    await pruneRuns({ directory: at.directory, missing: true, ...at.keys });
    expect(at.codes().toSorted()).toEqual(problems.filter((problem) => !problem.includes('missing')));
  });

  test('is not acknowledged by a line without the key', async () => {
    const at = world();
    at.run();
    at.run();
    cutLines(at, 2);
    at.run();
    await pruneRuns({ directory: at.directory, missing: true });
    expect(at.codes()).toContain('chain/cut');
  });
});

describe('a crash is not a break', () => {
  test('a kill between the line and its memory, at any line of several runs', () => {
    const at = world();
    at.run();
    for (let round = 0; round < 4; round += 1) {
      const memory = path.join(scratch(), 'heads');
      cpSync(at.heads, memory, { recursive: true });
      const record = createRun(at.directory, START, at.keys);
      if (round % 2 === 1) record.end('done', '');
      // The lines are written, and what the home folder remembers is as before.
      rmSync(at.heads, { recursive: true });
      cpSync(memory, at.heads, { recursive: true });
      expect(at.codes()).toEqual([]);
      at.run();
      expect(at.codes()).toEqual([]);
    }
    expect(verifyChain(at.directory, at.keys).breaks).toEqual([]);
  });

  test('a kill before the very first line is remembered', () => {
    const at = world();
    createRun(at.directory, START, at.keys);
    rmSync(at.heads, { recursive: true });
    at.run();
    expect(at.codes()).toEqual([]);
  });

  test('a kill between a recorded break and its memory records the break once', () => {
    const at = world();
    at.run();
    at.run();
    cutLines(at, 1);
    const memory = path.join(scratch(), 'heads');
    cpSync(at.heads, memory, { recursive: true });
    at.run();
    rmSync(at.heads, { recursive: true });
    cpSync(memory, at.heads, { recursive: true });
    at.run();
    expect(verifyChain(at.directory, at.keys).breaks).toMatchObject([{ code: 'chain/cut' }]);
  });

  test('a home folder that remembers nothing, a moved project and a new key', () => {
    const at = world();
    at.run();
    writeFileSync(path.join(at.keys.home, 'file'), '');
    const moved = path.join(scratch(), 'moved');
    renameSync(at.directory, moved);
    createRun(moved, START, at.keys).end('done', '');
    expect(verifyChain(moved, at.keys)).toMatchObject({ status: 'intact', runs: 2 });
    const home = path.join(scratch(), 'other');
    mkdirSync(home);
    const other = { home, sealKey: sealKey(home) };
    cpSync(at.heads, path.join(home, '.agent/run-heads'), { recursive: true });
    createRun(moved, START, other).end('done', '');
    expect(verifyChain(moved, other)).toMatchObject({ status: 'unsealed', runs: 3, breaks: [] });
  });

  test('a memory that cannot be written: each run goes on and says so', () => {
    const at = world();
    // A file takes its place.
    writeFileSync(at.heads, '');
    const warnings: string[] = [];
    const options = { ...at.keys, onWarning: (message: string) => warnings.push(message) };
    const record = createRun(at.directory, START, options);
    const warning = expect.stringMatching(/^cannot write ".*run-heads.*" \(E[A-Z]+\): if the newest runs are deleted/);
    expect(warnings).toEqual([warning]);
    record.end('done', '');
    expect(warnings).toEqual([warning, warning]);
    expect(at.codes()).toEqual([]);
  });
});

test.skipIf(process.platform === 'win32')('a pipe in the place of the chain is refused before a run begins', () => {
  const at = world();
  at.run();
  rmSync(at.chain);
  execFileSync('mkfifo', [at.chain]);
  expect(() => createRun(at.directory, START, at.keys)).toThrow(
    expect.objectContaining({
      code: 'record/failed',
      message: expect.stringContaining('chain.jsonl is not a regular file'),
    }),
  );
  expect(at.codes()).toEqual(['chain/unreadable', expect.stringContaining('chain/run-unlisted')]);
});

test.skipIf(process.platform === 'win32')(
  'a pipe that takes the place of the chain does not block the end of a run',
  () => {
    const at = world();
    const record = createRun(at.directory, START, at.keys);
    rmSync(at.chain);
    execFileSync('mkfifo', [at.chain]);
    expect(() => record.end('done', '')).toThrow(expect.objectContaining({ code: 'record/failed' }));
  },
);
