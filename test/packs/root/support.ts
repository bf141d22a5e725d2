import { chmodSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

import type { LockedSkill } from '../../../src/packs/lock/lock-file.ts';
import type { PackRefusal } from '../../../src/packs/problems.ts';
import { withRoot, type Committed, type OpenRoot } from '../../../src/packs/root/open-root.ts';
import type { PutChange } from '../../../src/packs/root/plan.ts';
import { presentFiles } from '../../../src/packs/root/present-files.ts';

/** Texts by path; a path that ends in `!` is executable. */
export type Files = Readonly<Record<string, string>>;

export function writeFiles(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name.replace(/!$/, ''));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, name.endsWith('!') ? 0o755 : 0o644);
  }
}

/** A small skill whose files all tell the version. */
export function skillFiles(name: string, version: string): Files {
  return {
    'SKILL.md': `---\nname: ${name}\ndescription: Does it.\nmetadata:\n  version: "${version}"\n---\n`,
    'references/notes.md': `notes of ${version}\n`,
    'scripts/run.sh!': `#!/bin/sh\necho ${version}\n`,
  };
}

/** The entry of a folder as it is. */
export function lockOf(name: string, folder: string, version = '1.0.0'): LockedSkill {
  const tree = presentFiles(folder);
  if (tree.type !== 'present') throw new Error(tree.message);
  return {
    name,
    version,
    source: `./${name}`,
    digest: tree.digest,
    files: tree.files,
    installedAt: '2026-11-15T12:00:00Z',
    tool: '0.1.0',
  };
}

/** Stages a skill and gives the change that puts it in its place. */
export function staged(
  open: OpenRoot,
  name: string,
  { version = '1.0.0', existing = 'refuse', files = skillFiles(name, version) }: Partial<StagedOptions> = {},
): PutChange {
  const from = path.join(open.staging(), name);
  writeFiles(from, files);
  return { type: 'put', name, from, lock: lockOf(name, from, version), existing };
}

interface StagedOptions {
  readonly version: string;
  readonly existing: PutChange['existing'];
  readonly files: Files;
}

/** Installs skills, each at a version. */
export async function install(
  root: string,
  versions: Readonly<Record<string, string>>,
  existing: PutChange['existing'] = 'refuse',
): Promise<Committed> {
  return committed(
    await withRoot(root, { create: true }, (open) =>
      open.commit(Object.entries(versions).map(([name, version]) => staged(open, name, { version, existing }))),
    ),
  );
}

/** Brings back the newest backup of a skill, or the one that is named. */
export async function bringBack(root: string, part: 'trash' | 'previous', name: string, id?: string) {
  return await withRoot(root, {}, (open) =>
    open.bringBack(
      open
        .backups(part, name)
        .filter((kept) => id === undefined || kept.id === id)
        .slice(0, 1),
      { existing: part === 'previous' ? 'replace' : 'refuse' },
    ),
  );
}

export function committed(end: Committed | PackRefusal): Committed {
  expect(end).toMatchObject({ type: 'committed' });
  if (end.type !== 'committed') throw new Error(end.message);
  return end;
}

/** Every entry of a tree, files by mode and text; times left out. What lies in the state folder is left out as well. */
export function treeOf(folder: string, below = ''): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(path.join(folder, below)).toSorted()) {
    const at = below === '' ? name : `${below}/${name}`;
    if (name === '.skillwright') continue;
    const stats = lstatSync(path.join(folder, at));
    if (stats.isDirectory()) Object.assign(found, { [`${at}/`]: 'folder' }, treeOf(folder, at));
    else if (stats.isSymbolicLink()) found[at] = `-> ${readlinkSync(path.join(folder, at))}`;
    else found[at] = `${(stats.mode & 0o777).toString(8)} ${readFileSync(path.join(folder, at), 'utf8')}`;
  }
  return found;
}

/** What is left of work in the state folder: nothing, where the root is at rest. */
export function leftovers(root: string): readonly string[] {
  const state = path.join(root, '.skillwright');
  const known = new Set(['.gitignore', 'staging', 'originals', 'trash', 'previous', 'backups']);
  return [
    ...readdirSync(state).filter((name) => !known.has(name)),
    ...readdirSync(path.join(state, 'staging')).map((name) => `staging/${name}`),
  ];
}
