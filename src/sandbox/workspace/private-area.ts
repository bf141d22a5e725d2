/**
 * Folders for one program that gets secrets, in place of those that it would share with programs of other skills. Interpreters and tools
 * run files by their names (`sitecustomize.py`, `conftest.py`, `package.json`, `Makefile`, `.git/hooks`, ...), and no list of such names is
 * complete. So the program sees no file at all that another skill could have made.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { toRelativePath, type HostMount, type WorkspacePlace } from '#core';
import { inConfined, realPath, removeTree, writeBeneath, type ConfinedDirectory } from '#platform';
import { HOMES_FOLDER, WRITABLE_FOLDERS, isRoot, makeInside } from './layout.ts';
import type { RunFolder, Workspace } from './workspace.ts';

export interface PrivateArea {
  /** Host folder with the program's own `work/`, which the skill keeps for its next program. */
  readonly root: string;
  /** The run folder as the program has it. */
  readonly run: RunFolder;
  /** Cover `work/`, `out/` and `runs/`. */
  readonly mounts: readonly HostMount[];
  /** Moves the files in `out/` and in the run folder to the shared ones. Returns what could not be moved, for a person. */
  finish(): Promise<readonly string[]>;
}

const AREAS_FOLDER = 'private';
const LISTED = { maxFiles: 20_000, maxDepth: 32 };
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_NAMED = 5;

/** The private folders of other skills, and of programs without one, that have run programs in this workspace. */
export function otherAuthors({ root }: Pick<WorkspacePlace, 'root'>, home: string): readonly string[] {
  return readdirSync(path.join(root, HOMES_FOLDER)).filter((name) => name !== path.basename(home));
}

export function openPrivateArea({ place, attached, identity }: Workspace, home: string, run: RunFolder): PrivateArea {
  const name = path.basename(home);
  const owner = { mode: 0o700, owner: identity };
  // Programs of another user have to traverse these, but must not change them.
  const passage = { mode: isRoot() ? 0o711 : 0o700, owner: undefined };
  const root = path.join(place.root, AREAS_FOLDER, name);
  const once = path.join(root, run.name);
  makeInside(place.root, AREAS_FOLDER, passage);
  makeInside(path.dirname(root), name, passage);
  makeInside(root, 'work', owner);
  makeInside(path.join(root, 'work'), 'inputs', owner);
  makeInside(root, run.name, passage);
  makeInside(once, 'out', owner);
  makeInside(once, 'runs', owner);
  makeInside(path.join(once, 'runs'), run.name, owner);
  const ownRun = path.join(once, 'runs', run.name);
  return {
    root,
    run: { ...run, host: ownRun },
    mounts: WRITABLE_FOLDERS.map((folder) => ({
      source: path.join(folder === 'work' ? root : once, folder),
      target: `${attached.root}/${folder}`,
      access: 'write',
    })),
    async finish() {
      try {
        const lost = [
          ...publish(path.join(once, 'out'), path.join(place.root, 'out')),
          ...publish(ownRun, path.join(place.root, run.path)),
        ];
        return lost.length === 0 ? [] : [`not kept: ${lost.slice(0, MAX_NAMED).join(', ')}`];
      } finally {
        await removeTree(once);
      }
    },
  };
}

/** Copies files without following any link. Returns the names of those that were not copied. */
function publish(from: string, to: string): readonly string[] {
  const copyAll = (folder: ConfinedDirectory): readonly string[] =>
    folder.list(LISTED).files.flatMap(({ path: name, type }) => {
      const relative = toRelativePath(name);
      if (type !== 'file' || relative.type === 'refused') return [name];
      const file = folder.read(relative.path, { maxBytes: MAX_FILE_BYTES });
      if (file.type === 'failed') return [name];
      const mode = file.isExecutable ? 0o755 : 0o644;
      return writeBeneath(realPath(to), relative.path, file.bytes, { mode }).type === 'written' ? [] : [name];
    });
  return inConfined(from, copyAll, () => []);
}
