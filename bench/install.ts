import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { AGENTS } from '../src/packs/agents/agent-table.ts';
import { placeTargets } from '../src/packs/agents/place-targets.ts';
import { isRefusal } from '../src/packs/problems.ts';
import { removeTree } from '../src/platform/fs/remove-tree.ts';
import { installSkills } from '../src/packs/install.ts';
import { packSettings } from '../src/packs/pack-settings.ts';
import { verifyRoot } from '../src/packs/verify-root.ts';
import { makePlainSkills, makeRichSkills } from './make-packs.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const MANY = 5_000;

interface Round {
  readonly ours: number;
  readonly theirs: number;
}

/** Installing from a folder against `cp -r` and `sync` of the same folder, in the same moments: copied, hashed, inspected, scanned, on the disk, locked. */
export async function benchInstall({ workDir }: { readonly workDir: string }): Promise<readonly BenchRow[]> {
  const [few, many] = [path.join(workDir, 'rich'), path.join(workDir, 'plain')];
  const files = makeRichSkills(few);
  makePlainSkills(many, MANY);
  const rich = await rounds(7, { source: few, workDir });
  const plain = await rounds(3, { source: many, workDir });
  const linked = await agentRounds(9, { source: few, workDir });
  const linkedMany = await agentRounds(3, { source: many, workDir });
  return [
    ratioRow(`install of 18 skills, ${String(files)} files, from a folder`, rich, { unit: 'x cp -r; sync', most: 3 }),
    ratioRow(`install of ${String(MANY)} skills from a folder`, plain, { unit: 'x cp -r; sync', most: 4 }),
    ratioRow('install of 18 skills for three agents', linked, { unit: 'x without agents', most: 1.2 }),
    // Without a bound: skills of one file each have fewer files than links, so the file system decides.
    ratioRow(`install of ${String(MANY)} skills for three agents`, linkedMany, { unit: 'x without agents' }),
  ];
}

/** Every file of 5,000 installed skills against its lock, and `sha256sum` of the same files. */
export async function benchVerify({ workDir }: { readonly workDir: string }): Promise<readonly BenchRow[]> {
  const source = path.join(workDir, 'verified');
  makePlainSkills(source, MANY);
  const root = path.join(workDir, 'verified-root');
  await install(source, root);
  const measured: Round[] = [];
  for (let round = 0; round < 5; round += 1) {
    const sum = (): void => void execFileSync('sh', ['-c', SUM, 'sh', root], { stdio: 'ignore' });
    const verify = async (): Promise<void> => {
      const verified = await verifyRoot(root);
      if (isRefusal(verified) || !verified.isIntact) throw new Error('what was just installed is not intact');
    };
    measured.push(await inTurn(round, verify, async () => sum()));
  }
  await Promise.all([removeTree(source), removeTree(root)]);
  return [ratioRow(`verify of ${String(MANY)} skills`, measured, { unit: 'x sha256sum', most: 1.3 })];
}

const SUM = 'find "$1" -path "$1/.skillwright" -prune -o -type f -print0 | xargs -0 sha256sum';

async function rounds(
  count: number,
  { source, workDir }: { readonly source: string; readonly workDir: string },
): Promise<readonly Round[]> {
  const measured: Round[] = [];
  for (let round = 0; round < count; round += 1) {
    const [root, copy] = [placeIn(workDir, 'root', source, round), placeIn(workDir, 'copy', source, round)];
    const theirs = async (): Promise<void> => {
      execFileSync('cp', ['-r', source, copy]);
      execFileSync('sync', ['-f', copy]);
    };
    // What others left to be written is not for either to wait for.
    execFileSync('sync', ['-f', workDir]);
    // Nothing is removed before the end: for minutes after many files were removed, ext4 makes new ones several times more slowly.
    measured.push(await inTurn(round, () => install(source, root), theirs));
  }
  return measured;
}

/** With links for three agents that do not read `.agents/skills`, against the same install without. */
async function agentRounds(
  count: number,
  { source, workDir }: { readonly source: string; readonly workDir: string },
): Promise<readonly Round[]> {
  const measured: Round[] = [];
  for (let round = 0; round < count; round += 1) {
    const [linked, bare] = [placeIn(workDir, 'linked', source, round), placeIn(workDir, 'bare', source, round)];
    execFileSync('sync', ['-f', workDir]);
    measured.push(
      await inTurn(
        round,
        () => install(source, path.join(linked, '.agents/skills'), AGENTS_TO_LINK),
        () => install(source, path.join(bare, '.agents/skills')),
      ),
    );
  }
  return measured;
}

function placeIn(workDir: string, name: string, source: string, round: number): string {
  return path.join(workDir, `${name}-${path.basename(source)}-${String(round)}`);
}

const AGENTS_TO_LINK = ['claude-code', 'windsurf', 'roo'];

/** Neither has the advantage of always coming second. */
async function inTurn(round: number, ours: () => Promise<void>, theirs: () => Promise<void>): Promise<Round> {
  if (round % 2 === 0) {
    const first = await elapsed(theirs);
    return { theirs: first, ours: await elapsed(ours) };
  }
  const first = await elapsed(ours);
  return { ours: first, theirs: await elapsed(theirs) };
}

async function install(source: string, root: string, ids: readonly string[] = []): Promise<void> {
  const home = path.join(path.dirname(root), 'home');
  mkdirSync(home, { recursive: true });
  const settings = packSettings({ cwd: home, home, env: {} }, {}, { root });
  if (isRefusal(settings)) throw new Error(settings.message);
  const agents = AGENTS.filter(({ id }) => ids.includes(id));
  const targets = placeTargets(agents, [], { root, surroundings: settings.surroundings });
  if ('type' in targets) throw new Error(targets.message);
  const installed = await installSkills({ settings, source, targets, confirm: async () => true });
  if (isRefusal(installed)) throw new Error(installed.message);
  if (installed.unplaced.length > 0) throw new Error('a link is missing');
}

async function elapsed(act: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

function ratioRow(
  name: string,
  measured: readonly Round[],
  { unit, most }: { readonly unit: string; readonly most?: number },
): BenchRow {
  const value = median(measured.map(({ ours, theirs }) => ours / theirs));
  const milliseconds = (times: readonly number[]): string => `${median(times).toFixed(0)} ms`;
  const note = `${milliseconds(measured.map(({ ours }) => ours))} against ${milliseconds(measured.map(({ theirs }) => theirs))}`;
  return { name, value, unit, note, ...(most === undefined ? {} : { bound: `<= ${String(most)}`, ok: value <= most }) };
}
