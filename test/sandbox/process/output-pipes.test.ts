import { closeSync, existsSync, readdirSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';
import { openPipes } from '../../../src/sandbox/process/output-pipes.ts';

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

test('pipes carry bytes and end with their writer', needs('linux'), async () => {
  const folder = path.join(scratch(), 'pipes');
  const pipes = openPipes(folder);
  // More than one batch, several at once.
  const taken = await Promise.all(Array.from({ length: 100 }, () => pipes.take()));
  const texts = await Promise.all(
    taken.map(async (pair, number) => {
      if (pair === undefined) throw new Error('no pipes');
      const [first, second] = pair;
      writeSync(first.writer, `out ${String(number)}`);
      closeSync(first.writer);
      closeSync(second.writer);
      return await Promise.all([readAll(first.read()), readAll(second.read())]);
    }),
  );
  expect(texts).toEqual(Array.from({ length: 100 }, (_, number) => [`out ${String(number)}`, '']));
  // What is open has no name any more.
  const left = readdirSync(folder).length;
  expect(left).toBe(2 + 8 + 40 + 64 * 3 - 200);
  await pipes.close();
  expect(existsSync(folder)).toBe(false);
});

test('without a folder there are no pipes and no error', async () => {
  const pipes = openPipes('/proc/none/pipes');
  pipes.prepare();
  expect(await pipes.take()).toBeUndefined();
  await pipes.close();
});

test('two pipes are prepared, and removed even while being created', needs('linux'), async () => {
  const folder = path.join(scratch(), 'pipes');
  const pipes = openPipes(folder);
  pipes.prepare();
  pipes.prepare();
  const pair = await pipes.take();
  expect([pair?.length, readdirSync(folder)]).toEqual([2, ['0', '1']]);
  for (const pipe of pair ?? []) {
    closeSync(pipe.writer);
    expect(await readAll(pipe.read())).toBe('');
  }
  await pipes.close();
  const others = openPipes(folder);
  others.prepare();
  await others.close();
  expect(existsSync(folder)).toBe(false);
});

test('the folder is removed with its last name, and recreated for the next pipes', needs('linux'), async () => {
  const folder = path.join(scratch(), 'pipes');
  const pipes = openPipes(folder);
  const readBoth = async (): Promise<readonly string[]> => {
    const pair = (await pipes.take()) ?? [];
    for (const { writer } of pair) closeSync(writer);
    return await Promise.all(pair.map(async (pipe) => await readAll(pipe.read())));
  };
  expect(await readBoth()).toEqual(['', '']);
  // Taken while the folder may be on its way out.
  expect(await readBoth()).toEqual(['', '']);
  expect(readdirSync(folder)).toHaveLength(6);
  for (let pair = 0; pair < 3; pair += 1) await readBoth();
  await expect.poll(() => existsSync(folder)).toBe(false);
  await pipes.close();
});
