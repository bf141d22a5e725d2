import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { AGENTS } from '../../../src/activation/agents/agents.ts';
import { readHintSource, type HintSource, type KnownFile } from '../../../src/activation/hook/hint-source.ts';
import { plainSkill, writeSkill } from '../odd-skills.ts';

let home: string;
let known: Map<string, KnownFile>;
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'hint-source-'));
  known = new Map();
  for (const name of ['a', 'b', 'c']) writeSkill(folderOf(name), plainSkill(name));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const folderOf = (name: string): string => path.join(home, '.codex/skills', name);
const fileOf = (name: string): string => path.join(folderOf(name), 'SKILL.md');
/** A file that changed within a tick of the clock is read again in any case. */
const settle = async (): Promise<void> => sleep(120);

async function read(): Promise<HintSource> {
  const codex = AGENTS.find(({ id }) => id === 'codex');
  if (codex === undefined) throw new Error('no codex');
  return readHintSource(codex, { cwd: home, home, env: {} }, { known });
}

const objects = (): Readonly<Record<string, unknown>> =>
  Object.fromEntries([...known].map(([name, { file }]) => [path.basename(path.dirname(name)), file]));

test('reads only the files that changed, and sees every change', async () => {
  await settle();
  const first = await read();
  const before = objects();
  expect(Object.keys(before).toSorted()).toEqual(['a', 'b', 'c']);
  // Codex writes its own skills at each start.
  writeSkill(path.join(home, '.codex/skills/.system/own'), plainSkill('own'));
  expect(first.isCurrent()).toBe(false);
  writeSkill(folderOf('b'), plainSkill('b', 'Says something else.'));
  rmSync(folderOf('c'), { recursive: true });
  await settle();
  const second = await read();
  expect(second.skills.map(({ name, description }) => `${name}: ${description}`).toSorted()).toEqual([
    'a: Says a.',
    'b: Says something else.',
    'own: Says own.',
  ]);
  const after = objects();
  expect(after['a']).toBe(before['a']);
  expect(after['b']).not.toBe(before['b']);
});

test('keeps no file that could change again without another time', async () => {
  writeSkill(folderOf('a'), plainSkill('a', 'Says one.'));
  await read();
  writeSkill(folderOf('a'), plainSkill('a', 'Says two.'));
  const { skills } = await read();
  expect(skills.find(({ name }) => name === 'a')?.description).toBe('Says two.');
});

test('tells when an index of the same texts fits, and when a file changed', async () => {
  await settle();
  const first = await read();
  writeSkill(folderOf('a'), `${plainSkill('a')}More.\n`);
  const second = await read();
  expect([first.isCurrent(), first.isWhollyCurrent()]).toEqual([true, false]);
  expect(second.texts).toBe(first.texts);
  expect(second.stamp).not.toBe(first.stamp);
  writeSkill(folderOf('a'), plainSkill('a', 'Says else.'));
  expect((await read()).texts).not.toBe(first.texts);
  expect(known.has(fileOf('b'))).toBe(true);
});
