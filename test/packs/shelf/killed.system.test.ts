import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import { isRefusal } from '../../../src/packs/problems.ts';
import { withRoot } from '../../../src/packs/root/open-root.ts';
import { verifyRoot } from '../../../src/packs/verify-root.ts';
import { bundleProgram } from '../../bundle-program.ts';
import { verifies } from '../../conformance/verifies.ts';
import { STEP } from '../../property-runs.ts';
import { committed, install } from '../root/support.ts';
import { homeFolder, setTimes, shelfOf, treeOf, writeSkill } from './support.ts';

/** Makes or undoes a fit, and kills itself behind the step that it is told. */
const WORKER = `
  import path from 'node:path';
  import { openShelf } from './packs/shelf/shelf.ts';
  const [, , home, act, killAt, agent, ...entries] = process.argv;
  let steps = 0;
  const onStep = () => { steps += 1; if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL'); };
  const shelf = await openShelf({ surroundings: { home, cwd: home, env: {} }, onStep });
  const add = { path: path.join(home, '.claude/skills/find-skill'), text: 'Find it.' };
  const request = { agent, entries: entries.map((one) => path.join(home, one)), pins: [], at: new Date(0), add };
  const done = act === 'fit' ? await shelf.fit(request) : await shelf.undo(agent);
  process.stdout.write(JSON.stringify({ type: done.type ?? 'done', message: done.message, steps }));`;

const programs = mkdtempSync(path.join(os.tmpdir(), 'skillwright-program-'));
afterAll(() => rmSync(programs, { recursive: true, force: true }));
const PROGRAM = await bundleProgram(WORKER, programs);

const ENTRIES = ['.claude/skills/pdf', '.claude/skills/alpha', '.agents/skills/beta', '.codex/skills/pdf'];

function work(home: string, act: 'fit' | 'undo', killAt: number, agent = 'claude-code', entries = ENTRIES) {
  const { stdout, signal } = spawnSync(process.execPath, [PROGRAM, home, act, String(killAt), agent, ...entries], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { signal, steps: signal === null ? Number(/"steps":(\d+)/.exec(stdout)?.[1]) : undefined };
}

/** A folder, its equal in another agent's folder, and installed skills with links. */
async function makeHome(): Promise<string> {
  const home = homeFolder();
  for (const folder of ['.claude', '.codex']) writeSkill(path.join(home, folder, 'skills/pdf'));
  const root = path.join(home, '.agents/skills');
  await install(root, { alpha: '1', beta: '1' });
  const places = [{ folder: '../../.claude/skills', kind: 'link' as const, add: ['alpha', 'beta'], remove: [] }];
  committed(await withRoot(root, {}, (open) => open.commit([], { places })));
  setTimes(home);
  return home;
}

/** Skills, links and copies that differ from the locks. */
async function broken(home: string): Promise<readonly unknown[]> {
  const roots = ['.agents/skills', '.agent/shelf'].map((root) => path.join(home, root));
  const verified = await Promise.all(roots.map((root) => verifyRoot(root)));
  return verified.flatMap((one): readonly unknown[] => {
    if (isRefusal(one)) return one.code === 'lock/missing' ? [] : [one];
    return one.skills.flatMap(({ name, status, places = [] }) => [
      ...(status === 'same' || status === 'not-locked' ? [] : [{ name, status }]),
      ...places.filter((place) => place.status !== 'same'),
    ]);
  });
}

describe('a process that is killed', () => {
  for (const act of ['fit', 'undo'] as const)
    verifies(
      'ACT-3',
      `at any step of ${act} leaves the folders as before or as after, once the next command ran`,
      async () => {
        const home = await makeHome();
        const before = treeOf(home);
        const copy = (to: string): string => {
          rmSync(to, { recursive: true, force: true });
          cpSync(home, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
          return to;
        };
        const { steps = 0 } = work(copy(path.join(home, '../trial')), 'fit', 0);
        expect(steps).toBeGreaterThan(ENTRIES.length);
        const seen = new Set<string>();
        for (let killAt = 1; killAt <= steps; killAt += STEP) {
          // The links and times of the home folder itself must be real, so it is used in place.
          if (act === 'undo') expect(work(home, 'fit', 0).signal).toBeNull();
          const { signal } = work(home, act, killAt);
          if (signal === null) break;
          const notes: string[] = [];
          const shelf = await shelfOf(home, { onNote: (note) => notes.push(note) });
          expect({ killAt, broken: await broken(home) }).toEqual({ killAt, broken: [] });
          if (shelf.last('claude-code') === undefined) {
            expect(treeOf(home)).toEqual(before);
            seen.add('before');
          } else {
            expect(ENTRIES.some((entry) => existsSync(path.join(home, entry)) && entry !== '.claude/skills/beta')).toBe(
              false,
            );
            seen.add('after');
            expect(isRefusal(await shelf.undo('claude-code'))).toBe(false);
            expect(treeOf(home)).toEqual(before);
          }
          expect(notes.every((note) => note === 'an interrupted fit of claude-code was undone')).toBe(true);
          expect(readdirSync(path.join(shelf.path, '.skillwright/fits'))).toEqual([]);
        }
        expect([...seen]).toContain('before');
      },
    );

  test('two fits at once: each agent has its own, and both can be undone', async () => {
    const home = await makeHome();
    const before = treeOf(home);
    const start = (agent: string, ...entries: readonly string[]): Promise<string> =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [PROGRAM, home, 'fit', '0', agent, ...entries]);
        let out = '';
        child.stdout.on('data', (text) => (out += String(text)));
        child.on('close', () => resolve(out));
      });
    const ends = await Promise.all([
      start('claude-code', '.claude/skills/pdf', '.claude/skills/alpha'),
      start('codex', '.codex/skills/pdf', '.agents/skills/beta'),
      start('codex', '.codex/skills/pdf'),
    ]);
    expect(ends.map((end) => /"type":"(\w+)"/.exec(end)?.[1])).toEqual(['done', 'done', 'done']);
    expect(await broken(home)).toEqual([]);
    const shelf = await shelfOf(home);
    for (const agent of ['codex', 'claude-code']) expect(isRefusal(await shelf.undo(agent))).toBe(false);
    expect(treeOf(home)).toEqual(before);
  });
});
