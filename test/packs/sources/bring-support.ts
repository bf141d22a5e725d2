import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { zipSync, type Zippable } from 'fflate';

import { readSource } from '../../../src/packs/sources/source-text.ts';
import { isRefusal, type PackRefusal } from '../../../src/packs/problems.ts';
import type { StagedSource, PackSource, StageOptions } from '../../../src/packs/sources/source.ts';
import { stageSource } from '../../../src/packs/inspect/stage-pack.ts';
import { isDirectory, isPresent } from '../../../src/platform/fs/paths.ts';
import { harvest, plant, type Tree } from '../../platform/fs/tree-support.ts';
import { scratch } from '../../skills/registry/support.ts';

export const skillText = (name: string): string =>
  `---\nname: ${name}\ndescription: Does it. Use it to test.\n---\n\n# Body\n`;

/** A folder with skills, in the words of `plant`. */
export function plantSource(tree: Tree): string {
  return plant(path.join(scratch(), 'source'), tree);
}

/** Packs the content of a folder as `.tar.gz` or `.zip`. */
export function packAs(name: string, folder: string): string {
  const file = path.join(scratch(), name);
  if (name.endsWith('.zip') || name.endsWith('.skill')) writeFileSync(file, zipSync(listFiles(folder)));
  else execFileSync('tar', ['-czf', file, '-C', folder, '.']);
  return file;
}

function listFiles(folder: string): Zippable {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(folder, file), [readFileSync(file), { os: 3, attrs: (statSync(file).mode << 16) >>> 0 }]];
    }),
  );
}

export interface Brought {
  readonly result: StagedSource | PackRefusal;
  readonly to: string;
}

export async function bring(source: PackSource | string, options: Partial<StageOptions> = {}): Promise<Brought> {
  const to = options.to ?? mkdtempSync(path.join(scratch(), 'staging-'));
  const looksLikeFolder = (at: string): 'folder' | 'file' | 'absent' =>
    isDirectory(at) ? 'folder' : isPresent(at) ? 'file' : 'absent';
  const read = typeof source === 'string' ? readSource(source, { looksLikeFolder }) : source;
  if (isRefusal(read)) return { result: read, to };
  const { PATH } = process.env;
  const env = { PATH, HOME: to, GIT_CONFIG_NOSYSTEM: '1' };
  const all: StageOptions = { to, cwd: to, home: to, env, ...options };
  return { result: await stageSource(read, all), to };
}

/** What came: skills with their files, or the code of the refusal. */
export async function outcome(source: PackSource | string, options: Partial<StageOptions> = {}) {
  const { result } = await bring(source, options);
  if (result.type === 'refused') return result.code;
  return Object.fromEntries(result.skills.map(({ name, path: at }) => [name, Object.keys(harvest(at))]));
}

export async function mustBring(
  source: PackSource | string,
  options: Partial<StageOptions> = {},
): Promise<StagedSource> {
  const { result } = await bring(source, options);
  if (result.type === 'refused') throw new Error(`${result.code}: ${result.message}`);
  return result;
}
