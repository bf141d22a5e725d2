import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { RunEvent } from '../../src/core/run-events.ts';
import { createRun } from '../../src/journal/journal-writer.ts';
import { pruneRuns } from '../../src/journal/prune.ts';
import { appendToChain } from '../../src/journal/run-chain.ts';
import { folderId, recordProblem, verifyChain } from '../../src/journal/verify-chain.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import { sealKey } from '../../src/platform/fs/seal-key.ts';
import { scratch } from '../skills/registry/support.ts';
import { START } from './support.ts';

const NOTE: RunEvent = { type: 'note', message: 'something happened' };

interface World {
  readonly directory: string;
  readonly keys: { readonly home: string; readonly sealKey: Uint8Array };
  /** A run that ended. */
  readonly run: () => string;
}

function world(): World {
  const folder = scratch();
  const home = path.join(folder, 'home');
  mkdirSync(home);
  const keys = { home, sealKey: sealKey(home) };
  const directory = path.join(folder, 'runs');
  let clock = Date.parse('2026-03-01T10:00:00Z');
  const run = (): string => {
    clock += 1_000;
    const record = createRun(directory, START, { ...keys, now: () => new Date(clock) });
    record.append(NOTE);
    record.end('done', '');
    return record.id;
  };
  return { directory, keys, run };
}

const codes = ({ directory, keys }: World): readonly string[] =>
  verifyChain(directory, keys).problems.map(({ code, run = '' }) => `${code} ${run}`.trim());

/** What the home folder remembers, older line first. */
function remembered({ keys }: World): {
  readonly file: () => string;
  readonly heads: () => readonly { readonly seq: number }[];
} {
  const folder = path.join(keys.home, '.agent/run-heads');
  const file = (): string => path.join(folder, readdirSync(folder)[0] ?? '');
  const heads = (): readonly { readonly seq: number }[] =>
    readFileSync(file(), 'utf8')
      .trimEnd()
      .split('\n')
      .map((slot): { seq: number } => JSON.parse(slot))
      .toSorted((one, two) => one.seq - two.seq);
  return { file, heads };
}

describe('the chain of runs', () => {
  test('runs that began and ended are announced, sealed and intact', () => {
    const at = world();
    const ids = [at.run(), at.run(), at.run()];
    expect(verifyChain(at.directory, at.keys)).toEqual({
      status: 'intact',
      problems: [],
      runs: 3,
      unchained: [],
      unannounced: [],
      removed: [],
      breaks: [],
      resumedAgain: [],
    });
    for (const id of ids)
      expect(verifyRun(path.join(at.directory, id), at.keys)).toEqual({ status: 'intact', problems: [], seal: 'good' });
    expect(verifyChain(at.directory).status).toBe('unsealed');
  });

  test('a deleted run is named, the first, the last and all of them', () => {
    for (const places of [[0], [1], [2], [0, 1, 2]]) {
      const at = world();
      const ids = [at.run(), at.run(), at.run()];
      const gone = places.map((place) => ids[place] ?? '');
      for (const id of gone) rmSync(path.join(at.directory, id), { recursive: true });
      expect(codes(at)).toEqual(gone.map((id) => `chain/run-missing ${id}`));
    }
  });

  test.each<[string, (place: string, other: string) => void]>([
    ['a file', (place) => writeFileSync(place, '')],
    ['a link that leads nowhere', (place) => symlinkSync('nothing', place)],
    ['a link to another run', (place, other) => symlinkSync(other, place)],
  ])('a deleted run is named if %s takes its name, and its removal can be acknowledged', async (_, put) => {
    const at = world();
    const [id, other] = [at.run(), at.run()];
    rmSync(path.join(at.directory, id), { recursive: true });
    put(path.join(at.directory, id), other);
    expect(verifyChain(at.directory, at.keys).problems).toMatchObject([
      { code: 'chain/run-missing', run: id, message: expect.stringContaining('a file or a link has its name') },
    ]);
    await pruneRuns({ directory: at.directory, missing: true, ...at.keys });
    expect(codes(at)).toEqual([]);
    expect(verifyRun(path.join(at.directory, other), at.keys).status).toBe('intact');
  });

  test('a deleted run shows although its lines were cut out of the chain as well', () => {
    const at = world();
    const ids = [at.run(), at.run(), at.run()];
    const file = path.join(at.directory, 'chain.jsonl');
    const lines = readFileSync(file, 'utf8').split('\n');
    rmSync(path.join(at.directory, ids[1] ?? ''), { recursive: true });
    writeFileSync(file, [...lines.slice(0, 2), ...lines.slice(4)].join('\n'));
    expect(codes(at)).toEqual(['chain/edited', 'chain/forged']);
    // The newest run and its lines: only the home folder knows of them.
    writeFileSync(file, `${lines.slice(0, 4).join('\n')}\n`);
    rmSync(path.join(at.directory, ids[2] ?? ''), { recursive: true });
    expect(codes(at)).toEqual([`chain/cut`, `chain/run-missing ${ids[1] ?? ''}`]);
    rmSync(at.directory, { recursive: true });
    expect(codes(at)).toEqual(['chain/missing']);
  });

  test('folders with exchanged names are noticed, by the run itself and by the chain', () => {
    const at = world();
    const [a = '', b = ''] = [at.run(), at.run()].map((id) => path.join(at.directory, id));
    renameSync(a, `${a}-x`);
    renameSync(b, a);
    renameSync(`${a}-x`, b);
    for (const place of [a, b])
      expect(verifyRun(place, at.keys)).toMatchObject({ status: 'tampered', problems: [{ code: 'folder/renamed' }] });
    expect(codes(at)).toEqual([a, b].map((place) => `chain/run-exchanged ${path.basename(place)}`));
  });

  test('a run that was written anew without the key, shortened or brought from elsewhere is named', () => {
    const at = world();
    const other = world();
    const [first, second] = [at.run(), at.run()];
    const foreign = other.run();
    // All of it written anew, consistent in itself, under the old name.
    const forged = createRun(other.directory, START, {});
    forged.end('done', 'nothing happened');
    rmSync(path.join(at.directory, first), { recursive: true });
    cpSync(forged.path, path.join(at.directory, first), { recursive: true });
    for (const name of ['events.jsonl', 'run.json']) {
      const file = path.join(at.directory, first, name);
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(forged.id, first));
    }
    cpSync(path.join(other.directory, foreign), path.join(at.directory, '20260301T120000Z-00000000'), {
      recursive: true,
    });
    truncateSync(path.join(at.directory, second, 'events.jsonl'), 10);
    expect(codes(at).toSorted()).toEqual(
      [
        `chain/run-exchanged ${first}`,
        `chain/run-exchanged ${second}`,
        'chain/run-unlisted 20260301T120000Z-00000000',
      ].toSorted(),
    );
  });

  test('a run that was cut back to its beginning, as if it had been killed, is named and not continued', () => {
    const at = world();
    const record = createRun(at.directory, START, at.keys);
    const begun = ['events.jsonl', 'run.json'].map(
      (name) => [name, readFileSync(path.join(record.path, name))] as const,
    );
    record.append(NOTE);
    record.end('done', '');
    for (const name of readdirSync(record.path)) if (name !== 'index.json') rmSync(path.join(record.path, name));
    for (const [name, bytes] of begun) writeFileSync(path.join(record.path, name), bytes);
    expect(verifyRun(record.path, at.keys)).toEqual({ status: 'running', problems: [], seal: 'absent' });
    expect(codes(at)).toEqual([`chain/run-exchanged ${record.id}`]);
    expect(recordProblem(record.path, at.keys)).toContain('does not fit the chain');
  });

  test('a chain that was written anew as a whole lacks the codes of the user', () => {
    const at = world();
    at.run();
    const forger = world();
    forger.run();
    cpSync(path.join(forger.directory, 'chain.jsonl'), path.join(at.directory, 'chain.jsonl'));
    expect(codes(at)).toContain('chain/cut');
    rmSync(path.join(at.keys.home, '.agent/run-heads'), { recursive: true });
    expect(verifyChain(at.directory, at.keys).status).toBe('tampered');
  });

  test('the newest line is remembered after every run, beside the one before it', () => {
    const at = world();
    const { file, heads } = remembered(at);
    for (let run = 1; run <= 6; run += 1) {
      at.run();
      const lines = readFileSync(path.join(at.directory, 'chain.jsonl'), 'utf8').trimEnd().split('\n').slice(-2);
      const known = lines.map((line): { seq: number; hash: string } => JSON.parse(line));
      expect(heads()).toMatchObject(known.map(({ seq, hash }) => ({ seq, hash })));
      expect(codes(at)).toEqual([]);
    }
    const elsewhere = path.join(at.keys.home, 'elsewhere');
    const place = file();
    renameSync(place, elsewhere);
    const before = readFileSync(elsewhere);
    symlinkSync(elsewhere, place);
    at.run();
    expect(readFileSync(elsewhere)).toEqual(before);
    expect(codes(at)).toEqual(['chain/forged']);
    // A chain that begins anew after its folder was deleted: a break, a start and an end.
    rmSync(at.directory, { recursive: true });
    at.run();
    expect(codes(at)).toEqual(['chain/missing']);
    expect(heads()).toMatchObject([{ seq: 2 }, { seq: 3 }]);
  });

  test('a write of the newest line that stopped anywhere is no forgery; lines that are gone are still noticed', () => {
    const at = world();
    const { file } = remembered(at);
    at.run();
    const old = readFileSync(file());
    at.run();
    const whole = readFileSync(file());
    const last = whole.subarray(0, whole.length / 2);
    for (const written of [0, 1, 100, 300, last.length - 1, last.length]) {
      writeFileSync(
        file(),
        Buffer.concat([last.subarray(0, written), old.subarray(written, last.length), whole.subarray(last.length)]),
      );
      expect(codes(at)).toEqual([]);
    }
    writeFileSync(file(), Buffer.concat([Buffer.alloc(last.length), whole.subarray(last.length)]));
    expect(codes(at)).toEqual([]);
    at.run();
    expect(codes(at)).toEqual([]);
    const chain = path.join(at.directory, 'chain.jsonl');
    writeFileSync(chain, readFileSync(chain, 'utf8').split('\n').slice(0, 4).join('\n').concat('\n'));
    expect(codes(at)).toContain('chain/cut');
    writeFileSync(file(), readFileSync(file()).subarray(0, 100));
    expect(codes(at)).toContain('chain/forged');
  });

  test('runs of earlier versions are accepted and named; a newer one without a chain is not', () => {
    const at = world();
    mkdirSync(at.directory, { mode: 0o700 });
    const old = '20250101T000000Z-00000000';
    const source = world();
    const id = source.run();
    cpSync(path.join(source.directory, id), path.join(at.directory, old), { recursive: true });
    const unchain = (name: string): void => {
      const file = path.join(at.directory, name, 'run.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/ {2}"chain": "[0-9a-f]+",\n/, ''));
    };
    unchain(old);
    at.run();
    expect(verifyChain(at.directory, at.keys)).toMatchObject({ status: 'intact', unchained: [old], runs: 1 });
    const late = '20270101T000000Z-00000000';
    cpSync(path.join(at.directory, old), path.join(at.directory, late), { recursive: true });
    expect(codes(at)).toEqual([`chain/run-unlisted ${late}`]);
  });

  test('prune leaves a tombstone, and a run that comes back is noticed', async () => {
    const at = world();
    const [a, b, c] = [at.run(), at.run(), at.run()];
    const copy = path.join(scratch(), 'copy');
    cpSync(path.join(at.directory, a), copy, { recursive: true });
    await pruneRuns({ directory: at.directory, run: a, ...at.keys });
    expect(verifyChain(at.directory, at.keys)).toMatchObject({
      status: 'intact',
      removed: [{ run: a, reason: 'named' }],
    });
    cpSync(copy, path.join(at.directory, a), { recursive: true });
    expect(codes(at)).toEqual([`chain/run-returned ${a}`]);
    rmSync(path.join(at.directory, a), { recursive: true });
    // Deleted by hand, then acknowledged.
    rmSync(path.join(at.directory, b), { recursive: true });
    expect(codes(at)).toEqual([`chain/run-missing ${b}`]);
    const { removed } = await pruneRuns({ directory: at.directory, missing: true, ...at.keys });
    expect(removed).toEqual([{ id: b, bytes: 0, reason: 'missing' }]);
    expect([verifyChain(at.directory, at.keys).status, readdirSync(at.directory)]).toEqual([
      'intact',
      [c, 'chain.jsonl'],
    ]);
  });

  test('a prune that was killed at any moment left a run that is there or one that was removed', async () => {
    const at = world();
    const [a] = [at.run(), at.run()];
    const whole = path.join(scratch(), 'whole');
    cpSync(at.directory, whole, { recursive: true });
    const folder = path.join(at.directory, a);
    const removal = { type: 'run-remove', run: a, reason: 'named', folder: folderId(folder) ?? '' } as const;
    appendToChain(at.directory, removal, { ...at.keys, now: new Date() });
    // Killed between the record and the rename, then between the rename and the removal of the files.
    expect(verifyChain(at.directory, at.keys)).toMatchObject({ status: 'intact', removed: [{ run: a }] });
    renameSync(folder, path.join(at.directory, `.removed-${a}`));
    expect(verifyChain(at.directory, at.keys)).toMatchObject({ status: 'intact', removed: [{ run: a }] });
    renameSync(path.join(at.directory, `.removed-${a}`), folder);
    await pruneRuns({ directory: at.directory, olderThanMs: Number.MAX_SAFE_INTEGER, ...at.keys });
    expect([verifyChain(at.directory, at.keys).status, readdirSync(at.directory).includes(a)]).toEqual([
      'intact',
      false,
    ]);
    cpSync(path.join(whole, a), folder, { recursive: true });
    expect(codes(at)).toEqual([`chain/run-returned ${a}`]);
  });

  test('a folder that was renamed as a prune would is missing, and the next prune does not remove it', async () => {
    const at = world();
    const [a] = [at.run(), at.run()];
    renameSync(path.join(at.directory, a), path.join(at.directory, `.removed-${a}`));
    for (let time = 0; time < 2; time += 1) {
      expect(codes(at)).toEqual([`chain/run-missing ${a}`]);
      await pruneRuns({ directory: at.directory, olderThanMs: Number.MAX_SAFE_INTEGER, ...at.keys });
    }
    expect(readdirSync(at.directory)).toContain(`.removed-${a}`);
    await pruneRuns({ directory: at.directory, missing: true, ...at.keys });
    expect([codes(at), readdirSync(at.directory).includes(`.removed-${a}`)]).toEqual([[], false]);
  });

  test('a run that was killed is announced without an end, and half a line of the chain is dropped', () => {
    const at = world();
    at.run();
    const killed = createRun(at.directory, START, at.keys);
    killed.append(NOTE);
    expect(verifyChain(at.directory, at.keys)).toMatchObject({ status: 'intact', runs: 2 });
    appendFileSync(path.join(at.directory, 'chain.jsonl'), '{"seq":4,"ti');
    at.run();
    expect(verifyChain(at.directory, at.keys)).toMatchObject({ status: 'intact', runs: 3 });
    rmSync(killed.path, { recursive: true });
    expect(codes(at)).toEqual([`chain/run-missing ${killed.id}`]);
  });

  test('a link in the place of the chain is not followed, and the run is not done', () => {
    const at = world();
    const elsewhere = path.join(scratch(), 'file');
    writeFileSync(elsewhere, '');
    mkdirSync(at.directory, { mode: 0o700 });
    symlinkSync(elsewhere, path.join(at.directory, 'chain.jsonl'));
    expect(() => at.run()).toThrow('cannot record the run');
    expect([readFileSync(elsewhere, 'utf8'), readdirSync(at.directory)]).toEqual(['', ['chain.jsonl']]);
  });
});

test('a record without the seal of this user is not intact', () => {
  const at = world();
  const sealed = path.join(at.directory, at.run());
  const bare = createRun(at.directory, START, {});
  bare.end('done', '');
  const other = world();
  const foreign = path.join(other.directory, other.run());
  expect([sealed, bare.path, foreign].map((place) => verifyRun(place, at.keys).status)).toEqual([
    'intact',
    'unsealed',
    'unsealed',
  ]);
});
