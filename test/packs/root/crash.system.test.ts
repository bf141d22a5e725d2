import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import type { FolderChange } from '../../../src/packs/agents/place-skills.ts';
import { needsRecovery, withRoot } from '../../../src/packs/root/open-root.ts';
import { verifies } from '../../conformance/verifies.ts';
import { bundleProgram } from '../../bundle-program.ts';
import { STEP, runs } from '../../property-runs.ts';
import { scratch } from '../../skills/registry/support.ts';
import { committed, install, leftovers, skillFiles, treeOf, type Files } from './support.ts';

const KILLS = runs(48, 1);
const PAIRS = runs(16, 1);

interface Plan {
  readonly put: Readonly<Record<string, Files>>;
  readonly remove: readonly string[];
  readonly places?: readonly FolderChange[];
}

const linked = (kind: 'link' | 'copy', agent: string, ...add: readonly string[]): FolderChange => {
  return { folder: `../../.${agent}/skills`, kind, add, remove: [] };
};

const at = (version: string, ...names: readonly string[]): Plan['put'] =>
  Object.fromEntries(names.map((name) => [name, skillFiles(name, version)]));

/** Each begins with alpha and beta at version 1; alpha is linked for one agent and copied for another. */
const PLANS: Readonly<Record<string, Plan>> = {
  install: { put: at('1', 'gamma', 'delta'), remove: [] },
  update: { put: at('2', 'alpha', 'beta'), remove: [] },
  uninstall: { put: {}, remove: ['alpha', 'beta'] },
  'all at once': { put: at('2', 'alpha', 'gamma'), remove: ['beta'] },
  'links for agents': {
    put: at('1', 'gamma', 'delta'),
    remove: ['alpha'],
    places: [linked('link', 'claude', 'gamma', 'delta', 'beta'), linked('copy', 'windsurf', 'gamma', 'beta')],
  },
  'links alone': { put: {}, remove: [], places: [linked('link', 'claude', 'beta'), linked('copy', 'roo', 'beta')] },
};

/** Does a plan, and kills itself behind the step that it is told. */
const WORKER = `
  import fs from 'node:fs';
  import path from 'node:path';
  import { withRoot } from './packs/root/open-root.ts';
  import { presentFiles } from './packs/root/present-files.ts';
  const [, , root, planText, killAt] = process.argv;
  const plan = JSON.parse(planText);
  let steps = 0;
  const onStep = () => { steps += 1; if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL'); };
  process.stdout.write('begun\\n');
  const end = await withRoot(root, { onStep, timeoutMs: 60_000, create: true }, async (open) => {
    onStep();
    const changes = [];
    for (const [name, files] of Object.entries(plan.put)) {
      const from = path.join(open.staging(), name);
      for (const [file, text] of Object.entries(files)) {
        const place = path.join(from, file.replace('!', ''));
        fs.mkdirSync(path.dirname(place), { recursive: true });
        fs.writeFileSync(place, text, { mode: file.endsWith('!') ? 0o755 : 0o644 });
      }
      const { digest, files: found } = presentFiles(from);
      const lock = { name, version: '1.0.0', source: './' + name, digest, files: found, installedAt: '2026-11-15T12:00:00Z', tool: '0.1.0' };
      changes.push({ type: 'put', name, from, lock, existing: plan.existing ?? 'replace' });
    }
    for (const name of plan.remove) changes.push({ type: 'remove', name, to: 'trash' });
    onStep();
    return open.commit(changes, { onStep, places: plan.places });
  });
  process.stdout.write(JSON.stringify({ type: end.type, code: end.code, steps }));`;

const programs = mkdtempSync(path.join(os.tmpdir(), 'skillwright-program-'));
afterAll(() => rmSync(programs, { recursive: true, force: true }));
const WORDS = [await bundleProgram(WORKER, programs)];

const ROOT = '.agents/skills';

/** Copies the project of a root, so that its agents are copied as well. */
function copyProject(from: string, to: string): void {
  cpSync(path.resolve(from, '../..'), path.resolve(to, '../..'), { recursive: true, verbatimSymlinks: true });
}

/** Everything that must not be lost: what stands in the root, its lock, what is kept, and the originals for the next merge. */
async function stateOf(root: string): Promise<unknown> {
  const kept = await withRoot(root, {}, (open) =>
    Promise.resolve(
      (['trash', 'previous', 'backups'] as const)
        .flatMap((part) => open.backups(part))
        .map((skill) => ({ is: `${skill.part} ${skill.name}`, lock: skill.lock, tree: treeOf(skill.path) }))
        .toSorted((a, b) => (a.is < b.is ? -1 : 1)),
    ),
  );
  const originals = await withRoot(root, {}, async (open) => {
    const texts: Record<string, unknown> = {};
    for (const locked of open.lock.skills.values()) {
      const found = await open.originals(locked);
      texts[locked.name] = Object.entries(locked.files).map(([file, { sha256 }]) => [file, found.get(sha256)]);
    }
    return texts;
  });
  return { tree: treeOf(path.resolve(root, '../..')), kept, originals };
}

interface World {
  readonly folder: string;
  readonly before: string;
  readonly old: unknown;
  readonly after: unknown;
}

const worlds = new Map<Plan, Promise<World>>();

function worldOf(plan: Plan): Promise<World> {
  const world = worlds.get(plan) ?? makeWorld(plan);
  worlds.set(plan, world);
  return world;
}

async function makeWorld(plan: Plan): Promise<World> {
  const folder = mkdtempSync(path.join(programs, 'world-'));
  const before = path.join(folder, 'before', ROOT);
  await install(before, { alpha: '1', beta: '1' });
  const places = [linked('link', 'claude', 'alpha'), linked('copy', 'windsurf', 'alpha')];
  committed(await withRoot(before, {}, (open) => open.commit([], { places })));
  const after = path.join(folder, 'after', ROOT);
  copyProject(before, after);
  const end = spawnSync(process.execPath, [...WORDS, after, JSON.stringify(plan), '0'], { encoding: 'utf8' });
  expect(end.stdout).toContain('"type":"committed"');
  return { folder, before, old: await stateOf(before), after: await stateOf(after) };
}

/** Which of the two states a root is in after it was brought to rest. Anything else is shown whole. */
async function rested(root: string, { old, after }: World): Promise<'old' | 'new'> {
  expect(await withRoot(root, {}, () => Promise.resolve({ type: 'recovered' }))).toMatchObject({ type: 'recovered' });
  expect(needsRecovery(root)).toBe(false);
  expect(leftovers(root)).toEqual([]);
  const state = await stateOf(root);
  if (JSON.stringify(state) === JSON.stringify(old)) return 'old';
  expect(state).toEqual(after);
  return 'new';
}

describe('a process that is killed', () => {
  // In a normal run every third step of a plan, and other ones for the next plan.
  for (const [place, [what, plan]] of Object.entries(PLANS).entries())
    verifies('PACK-3', `behind any step of: ${what}, leaves the old state or the new one`, async () => {
      const world = await worldOf(plan);
      const states: string[] = [];
      for (let step = 1 + (place % STEP); ; step += STEP) {
        const root = path.join(world.folder, 'project', ROOT);
        copyProject(world.before, root);
        const words = [...WORDS, root, JSON.stringify(plan), String(step)];
        const { signal } = spawnSync(process.execPath, words, { encoding: 'utf8' });
        const isCommitted = needsRecovery(root);
        const state = await rested(root, world);
        // The journal alone says what comes of it.
        if (isCommitted) expect(state).toBe('new');
        states.push(state);
        rmSync(path.join(world.folder, 'project'), { recursive: true });
        if (signal === null) break;
      }
      expect(states.length).toBeGreaterThan(6 / STEP);
      expect(states.join(' ')).toMatch(STEP === 1 ? /^(?:old ){3,}(?:new ){3,}new$/ : /^(?:old )+(?:new )+new$/);
    });

  for (const [what, plan] of Object.entries(PLANS).filter((_, place) => place < 3 || place === 4))
    verifies('PACK-3', `at any moment of: ${what}, leaves the old state or the new one`, async () => {
      const world = await worldOf(plan);
      const duration = await longest(world, plan);
      const states = { old: 0, new: 0 };
      for (let kill = 0; kill < KILLS / 3; kill += 1) {
        const root = path.join(world.folder, `project-${String(kill)}`, ROOT);
        copyProject(world.before, root);
        await killed(root, plan, Math.random() * duration);
        states[await rested(root, world)] += 1;
        rmSync(path.join(world.folder, `project-${String(kill)}`), { recursive: true });
      }
      console.log(`${what}: ${String(states.old)} old, ${String(states.new)} new, within ${duration.toFixed(1)} ms`);
      expect(states.old + states.new).toBe(Math.ceil(KILLS / 3));
    });

  test('while it recovers leaves the new state', async () => {
    const plan = PLANS['all at once'] ?? { put: {}, remove: [] };
    const world = await worldOf(plan);
    const interrupted = path.join(world.folder, 'interrupted', ROOT);
    copyProject(world.before, interrupted);
    spawnSync(process.execPath, [...WORDS, interrupted, JSON.stringify(plan), '4']);
    expect(needsRecovery(interrupted)).toBe(true);
    for (let step = 1; step < 8; step += 1) {
      const root = path.join(world.folder, `project-${String(step)}`, ROOT);
      // Other folders than the journal knows, with the same files in them.
      spawnSync('cp', ['-a', path.resolve(interrupted, '../..'), path.resolve(root, '../..')]);
      spawnSync(process.execPath, [...WORDS, root, JSON.stringify({ put: {}, remove: [] }), String(step)]);
      expect(await rested(root, world)).toBe('new');
    }
  });
});

describe('two processes at once', () => {
  test('lose nothing, and one of two that want the same is refused', async () => {
    const root = path.join(scratch(), 'root');
    for (let round = 0; round < PAIRS; round += 1) {
      const own = [`one-${String(round)}`, `two-${String(round)}`];
      const both = `both-${String(round)}`;
      const ends = await Promise.all([
        ...own.map((name) => worked(root, { put: at('1', name), remove: [], existing: 'refuse' })),
        worked(root, { put: at('1', both), remove: [], existing: 'refuse' }),
        worked(root, { put: at('2', both), remove: [], existing: 'refuse' }),
      ]);
      expect(ends.slice(0, 2)).toEqual(['committed', 'committed']);
      expect(ends.slice(2).toSorted()).toEqual(['committed', 'install/exists']);
    }
    expect(leftovers(root)).toEqual([]);
    const lock = await withRoot(root, {}, (open) => Promise.resolve([...open.lock.skills.keys()]));
    const names = readdirSync(root).filter((name) => /^(?:one|two|both)-/.test(name));
    expect(lock).toEqual(names.toSorted());
    expect(names).toHaveLength(3 * PAIRS);
  });
});

async function killed(root: string, plan: Plan, delay: number): Promise<number> {
  const child = spawn(process.execPath, [...WORDS, root, JSON.stringify(plan), '0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((resolve) => {
    let begun = performance.now();
    child.stdout.once('data', () => {
      begun = performance.now();
      if (delay === Number.POSITIVE_INFINITY) return;
      // Timers are too coarse for work of a few milliseconds.
      while (performance.now() - begun < delay);
      child.kill('SIGKILL');
    });
    child.once('close', () => resolve(performance.now() - begun));
  });
}

/** How long the work takes when nobody kills it. */
async function longest(world: World, plan: Plan): Promise<number> {
  const root = path.join(world.folder, 'measured');
  cpSync(world.before, root, { recursive: true });
  return killed(root, plan, Number.POSITIVE_INFINITY);
}

function worked(root: string, plan: Plan & { readonly existing: string }): Promise<string> {
  const child = spawn(process.execPath, [...WORDS, root, JSON.stringify(plan), '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  return new Promise((resolve) => {
    child.once('close', () => {
      const end = /"type":"(\w+)"(?:,"code":"([\w/-]+)")?/.exec(text);
      resolve(end?.[2] ?? end?.[1] ?? text);
    });
  });
}
