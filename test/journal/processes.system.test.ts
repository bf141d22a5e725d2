import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { createRun } from '../../src/journal/journal-writer.ts';
import { runIds } from '../../src/journal/run-folder.ts';
import { verifyChain } from '../../src/journal/verify-chain.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import { built, scratch } from '../skills/registry/support.ts';
import { runs } from '../property-runs.ts';
import { START, linesOf } from './support.ts';

const KILLS = runs(48, 1);

/** Writes runs one after the other, and tells of each line once it is written. */
const WRITER = `
  const [, module, directory, start, length, sync] = process.argv;
  const { createRun } = await import(module);
  for (let number = 0; ; number += 1) {
    const run = createRun(directory, JSON.parse(start), { sync });
    for (let line = 2; line < 2 + Number(length); line += 1) {
      run.append({ type: 'note', message: line % 7 === 0 ? (number + ' ' + line + ' ').repeat(1000) : 'line ' + line });
      process.stdout.write(run.id + ' ' + line + '\\n');
    }
    run.end('done', 'all said');
    process.stdout.write(run.id + ' ' + (2 + Number(length)) + '\\n');
  }`;

/** Kills a writer at some moment after so many lines; gives the last line it told of, by run. */
function killed(
  directory: string,
  { length, sync, after, delay }: { length: number; sync: string; after: number; delay: number },
): Promise<ReadonlyMap<string, number>> {
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      WRITER,
      built('journal/journal-writer.js'),
      directory,
      JSON.stringify(START),
      String(length),
      sync,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], timeout: 170_000 },
  );
  let output = '';
  let isDoomed = false;
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
    if (isDoomed || output.split('\n').length <= after) return;
    isDoomed = true;
    setTimeout(() => child.kill('SIGKILL'), delay);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      const told = new Map<string, number>();
      for (const line of output.split('\n').slice(0, -1)) {
        const [id = '', seq] = line.split(' ');
        told.set(id, Number(seq));
      }
      resolve(told);
    });
  });
}

describe('a process that is killed', () => {
  test.each([
    ['in the middle of a long run', 1_000_000, 'none'],
    ['while runs begin and end', 3, 'none'],
    ['while every line is forced to the disk', 5, 'each'],
  ])('%s leaves all that it told of, and nothing that looks changed', async (_, length, sync) => {
    const wrong: unknown[] = [];
    const seen = new Set<string>();
    for (let round = 0; round < KILLS / 3; round += 1) {
      const directory = scratch();
      const told = await killed(directory, { length, sync, after: 1 + round * 20, delay: (round * 7) % 11 });
      for (const id of runIds(directory)) {
        const run = path.join(directory, id);
        const { status, problems } = verifyRun(run);
        seen.add(status);
        if (status !== 'torn' && status !== 'intact') wrong.push([id, status, problems]);
        const least = told.get(id) ?? 0;
        if (least > 0 && [...readRun(run).lines].length < least) wrong.push([id, 'lost', least]);
      }
    }
    expect(wrong).toEqual([]);
    expect(seen).toContain('torn');
  });

  test('beside others that begin and end runs leaves one chain of all of them', async () => {
    const directory = scratch();
    const writers = Array.from({ length: 4 }, (_, place) =>
      killed(directory, { length: 2, sync: 'none', after: 40 + place * 7, delay: place }),
    );
    const told = new Map((await Promise.all(writers)).flatMap((each) => [...each]));
    const { problems, runs, status } = verifyChain(directory);
    expect([problems, status]).toEqual([[], 'unsealed']);
    expect(runs).toBeGreaterThanOrEqual(told.size);
    expect(createRun(directory, START).id).not.toBe('');
    // A lock that was not yet in its place is removed by the next process that waits.
    expect(readdirSync(directory).filter((name) => name.startsWith('chain.jsonl.lock'))).toEqual([]);
  });

  test('in the middle of a line leaves the lines before it', () => {
    const run = createRun(scratch(), START);
    run.append({ type: 'note', message: 'whole' });
    const [first = '', second = ''] = linesOf(run.path);
    for (let cut = 0; cut < second.length; cut += 1) {
      writeFileSync(path.join(run.path, 'events.jsonl'), `${first}\n${second.slice(0, cut)}`);
      const { torn, lines } = readRun(run.path);
      expect([torn, [...lines].map(({ seq }) => seq)]).toEqual([cut > 0, [1]]);
    }
  });
});

/** A file system of one megabyte, or why there is none. */
function smallDisk(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const folder = path.join(scratch(), 'disk');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
  onTestFinished(() => {
    execFileSync('umount', [folder]);
  });
  return folder;
}

describe('a full disk', () => {
  test('ends the record with its last whole line, and is not asked again', (context) => {
    const disk = smallDisk();
    if (disk === undefined) {
      context.skip('mounts');
      return;
    }
    const run = createRun(path.join(disk, 'runs'), START);
    let written = 1;
    let failure: Error | undefined;
    while (failure === undefined && written < 10_000) {
      try {
        run.append({ type: 'note', message: `${String(written)} ${'x'.repeat(written % 3000)}` });
        written += 1;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        failure = error;
      }
    }
    expect(failure).toMatchObject({ code: 'record/failed', data: { path: run.path } });
    expect(() => run.append({ type: 'note', message: 'small' })).toThrow(failure);
    expect(linesOf(run.path)).toHaveLength(written);
    expect(readRun(run.path).torn).toBe(false);
    expect(verifyRun(run.path).problems).toEqual([]);
    expect(() => createRun(path.join(disk, 'runs'), { ...START, index: 'x'.repeat(100_000) })).toThrow('ENOSPC');
    expect(runIds(path.join(disk, 'runs'))).toEqual([run.id]);
  });
});

describe('two processes', () => {
  test('that write runs into one directory do not meet', async () => {
    const directory = scratch();
    await Promise.all([1, 2].map(() => killed(directory, { length: 5, sync: 'none', after: 100, delay: 0 })));
    const found = runIds(directory).map((id) => verifyRun(path.join(directory, id)).status);
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter((status) => status !== 'intact' && status !== 'torn')).toEqual([]);
  });

  test('that write to one journal: the first one stops rather than record what is not there', () => {
    const run = createRun(scratch(), START);
    appendFileSync(path.join(run.path, 'events.jsonl'), '{"seq":2}\n');
    expect(() => run.append({ type: 'note', message: 'mine' })).toThrow('another process writes to it');
    expect(linesOf(run.path)).toHaveLength(1);
  });
});
