import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';

import { openFileArtifacts } from '../../../src/sandbox/artifacts/file-store.ts';
import { built, scratch } from '../../skills/registry/support.ts';
import { runs } from '../../property-runs.ts';

const ROUNDS = 100 * Math.ceil(runs(500) / 100);

/** Saves under one name and tells each version as it comes; deletes some of its own. */
const WORKER = `
  const [, module, directory, own, rounds] = process.argv;
  const { openFileArtifacts } = await import(module);
  const store = openFileArtifacts(directory);
  for (let round = 0; round < Number(rounds); round += 1) {
    const text = round % 5 === 0 ? 'the same for both' : own + ' ' + round;
    const { version } = await store.save('shared', new TextEncoder().encode(text), { mediaType: 'text/plain' });
    process.stdout.write(JSON.stringify([version, text, round % 10 === 5 || round % 10 === 7]) + '\\n');
    if (round % 10 === 5 || round % 10 === 7) await store.delete('shared', version);
  }`;

type Told = readonly (readonly [version: number, text: string, isDeleted: boolean])[];

/** Every line that came whole; killed, where asked for, once so many have come. */
function run(directory: string, own: string, killAfter = Number.POSITIVE_INFINITY): Promise<Told> {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', WORKER, built('sandbox/artifacts/file-store.js'), directory, own, String(ROUNDS)],
    { stdio: ['ignore', 'pipe', 'inherit'], timeout: 170_000 },
  );
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
    if (output.split('\n').length > killAfter) child.kill('SIGKILL');
  });
  return new Promise<Told>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () =>
      resolve(
        output
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as [number, string, boolean]),
      ),
    );
  });
}

test('two processes that save and delete many times each get distinct versions without loss', async () => {
  const directory = scratch();
  const [one, other] = await Promise.all(['one', 'other'].map((own) => run(directory, own)));
  const told = [...(one ?? []), ...(other ?? [])];
  expect(told.map(([version]) => version).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: ROUNDS * 2 }, (_, version) => version),
  );

  const store = openFileArtifacts(directory);
  const left = new Set((await store.versions('shared')).map(({ version }) => version));
  expect(left.size).toBe(ROUNDS * 2 * 0.8);
  const wrong: number[] = [];
  for (const [version, text] of told) {
    if (!left.has(version)) continue;
    const { content } = await store.load('shared', version);
    if (Buffer.from(content).toString() !== text) wrong.push(version);
  }
  expect(wrong).toEqual([]);
});

test('a killed process leaves complete versions, including all that it reported', async () => {
  const directory = scratch();
  const told: Told[number][] = [];
  for (let round = 0; round < 15; round += 1) told.push(...(await run(directory, String(round), 2 + round)));
  expect(told.length).toBeGreaterThan(10);
  expect(new Set(told.map(([version]) => version)).size).toBe(told.length);

  const store = openFileArtifacts(directory);
  const left = await store.versions('shared');
  const loaded = new Map<number, string>();
  for (const { version } of left)
    loaded.set(version, Buffer.from((await store.load('shared', version)).content).toString());
  expect(told.filter(([version, text]) => (loaded.get(version) ?? text) !== text)).toEqual([]);
  expect(told.filter(([version, , isDeleted]) => !loaded.has(version) && !isDeleted)).toEqual([]);
});
