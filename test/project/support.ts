import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { resolvePath, type FileRoots, type ResolvedPath, type Purpose } from '../../src/project/resolve-path.ts';
import { scratch } from '../skills/registry/support.ts';

/** Files by path; a text that starts with `-> ` is a link to what follows. */
export type Tree = Readonly<Record<string, string | Uint8Array>>;

export function plant(folder: string, tree: Tree): string {
  for (const [file, content] of Object.entries(tree)) {
    const target = path.join(folder, file);
    mkdirSync(path.dirname(target), { recursive: true });
    if (typeof content === 'string' && content.startsWith('-> ')) symlinkSync(content.slice(3), target);
    else writeFileSync(target, content);
  }
  return folder;
}

export interface World {
  /** Holds the places, and what lies outside of them. */
  readonly base: string;
  readonly places: FileRoots & { readonly workspace: string };
}

/** A project, a workspace and a loaded skill beside each other, and a secret that is in none of them. */
export function world(tree: Tree = {}): World {
  const base = scratch();
  plant(base, {
    'secret/key.txt': 'SECRET',
    'project/a.txt': 'project a\n',
    'workspace/work/b.txt': 'workspace b\n',
    'workspace/metadata.json': '{}',
    'skills/pdf/SKILL.md': 'skill\n',
    ...tree,
  });
  const places = {
    project: path.join(base, 'project'),
    workspace: path.join(base, 'workspace'),
    skills: [{ name: 'pdf', dir: path.join(base, 'skills/pdf') }],
  };
  return { base, places };
}

/** Where a path that must be fine leads. */
export function placed({ places }: Pick<World, 'places'>, text: string, purpose: Purpose = 'read'): ResolvedPath {
  const found = resolvePath(text, places, purpose);
  if (found.type === 'refused') throw new Error(`${found.failure.code}: ${found.failure.message}`);
  return found;
}
