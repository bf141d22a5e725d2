/** A writable copy of a skill for one program, because many scripts write beside themselves or into the folder in which they start. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { toRelativePath, type RelativePath, isProblem } from '#core';
import { copyTree, openConfined, realPath, removeTree, writeBeneath, type ConfinedDirectory } from '#platform';
import { SKILL_LINKS, isRoot, isSeparate, makeInside } from './layout.ts';
import { listOwnFolders } from './own-folders.ts';
import { addedLinks } from './snapshots.ts';
import type { Workspace } from './workspace.ts';
import type { HostMount, StagedSkill } from '../program-types.ts';

interface WritableSkill {
  /** Covers the read-only skill. */
  readonly mount: HostMount;
  /** Moves new files to `out/` and removes the copy. Returns what the program wrote, for a person. */
  finish(): Promise<readonly string[]>;
}

const COPIES_FOLDER = '.copies';
/** A larger skill stays read-only: a copy for every program would take too long. */
const LIMITS = { maxBytes: 20 * 1024 * 1024, maxEntries: 2_000, maxDepth: 32 };
/** A skill with no more entries than this is copied for every program that starts in its folder: which programs write there cannot be known. */
const SMALL_ENTRIES = 200;
const LISTED = { maxFiles: 5_000, maxDepth: 32 };
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Caches that interpreters write; they are not results. */
const CACHE = /(?:^|\/)(?:__pycache__|\.pytest_cache|node_modules\/\.cache)(?:\/|$)|\.pyc$/;
const MAX_NAMED = 5;

/** Code of a larger skill that writes files by a name of its own. Most code that matches writes elsewhere; then only a copy was made in vain. */
const WRITES =
  /\bopen\s*\([^)\n]*,\s*(?:mode\s*=\s*)?['"][wax]|\.write_(?:text|bytes)\(|\bmkdirs?\(|makedirs\(|\.(?:to_(?:csv|json|excel|parquet)|savefig|save)\(|sqlite3\.connect|writeFile|appendFile|createWriteStream|>>?\s*["'$\w./]|\b(?:tee|touch|mkdir|mktemp|sed -i|cp|mv|curl -[a-zA-Z]*[oO]|wget)\b/;

/**
 * Where skills are mounted read-only, a program that starts in the folder of its skill or whose code may write files gets a copy of the skill;
 * not of one that is too large. Elsewhere skills are copies already. `run` is the name of the run, for the folder of the copy.
 *
 * Nothing that a program can replace may be mounted: `inputs` of the copy is a link, because a mount of `work/inputs` would follow a link that
 * an earlier program left there, out of the sandbox.
 */
export async function writableSkill(
  { place, attached, identity }: Workspace,
  skill: StagedSkill | undefined,
  { code, cwd, run, signal }: WritingProgram,
): Promise<WritableSkill | undefined> {
  if (skill === undefined || !isSeparate(attached)) return undefined;
  const folder = `skills/${skill.name}`;
  const isInside = cwd === folder || cwd.startsWith(`${folder}/`);
  if (!WRITES.test(code) && !(isInside && isSmall(skill))) return undefined;
  const copies = path.join(place.root, COPIES_FOLDER);
  makeInside(place.root, COPIES_FOLDER, { mode: isRoot() ? 0o711 : 0o700, owner: undefined });
  const copy = path.join(copies, run);
  const leaveOut = [...addedLinks(skill.snapshot), ...listOwnFolders(skill.snapshot)];
  const copied = await copyTree(skill.snapshot, {
    to: copy,
    permissions: 'writable',
    leaveOut,
    links: SKILL_LINKS,
    limits: LIMITS,
    owner: identity,
    signal,
  });
  if (copied.type === 'refused') {
    await removeTree(copy);
    return undefined;
  }
  return {
    mount: { source: copy, target: `${attached.root}/${folder}`, access: 'write' },
    async finish() {
      try {
        return namedChanges(
          skill.name,
          takeNewFiles(copy, skill.snapshot, { root: realPath(place.root), leftOut: leaveOut }),
        );
      } finally {
        await removeTree(copy);
      }
    },
  };
}

interface WritingProgram {
  readonly code: string;
  /** Where it starts, relative to the workspace. */
  readonly cwd: string;
  readonly run: string;
  readonly signal?: AbortSignal;
}

function isSmall({ snapshot }: StagedSkill): boolean {
  return readdirSync(snapshot, { recursive: true }).length <= SMALL_ENTRIES;
}

interface Changes {
  readonly moved: string[];
  readonly lost: string[];
}

interface CopyOrigin {
  /** The workspace. */
  readonly root: string;
  /** Names at the top of the snapshot that the copy never had. */
  readonly leftOut: readonly string[];
}

function takeNewFiles(copy: string, snapshot: string, { root, leftOut }: CopyOrigin): Changes {
  const changes: Changes = { moved: [], lost: [] };
  const opening = openConfined(copy);
  const before = openConfined(snapshot);
  try {
    if (opening.type === 'failed' || before.type === 'failed') return changes;
    const left = opening.directory.list(LISTED).files;
    const names = new Set(left.map(({ path: name }) => name));
    const isRemoved = (name: string): boolean =>
      !names.has(name) && !CACHE.test(name) && !leftOut.includes(name.split('/', 1)[0] ?? '');
    changes.lost.push(
      ...before.directory.list(LISTED).files.flatMap(({ path: name }) => (isRemoved(name) ? [name] : [])),
    );
    for (const { path: name, type } of left) {
      const file = toRelativePath(name);
      if (type !== 'file' || isProblem(file) || CACHE.test(name)) continue;
      const change = findChange(file, opening.directory, before.directory);
      if (change === 'same') continue;
      const isMoved = change !== 'changed' && isWritten(root, file, change);
      (isMoved ? changes.moved : changes.lost).push(name);
    }
    return changes;
  } finally {
    if (opening.type !== 'failed') opening.directory.close();
    if (before.type !== 'failed') before.directory.close();
  }
}

/** A file that the program already put into `out/` is what it wants to be seen. */
function isWritten(root: string, file: RelativePath, bytes: Uint8Array): boolean {
  const place = toRelativePath(`out/${file}`);
  return (
    !isProblem(place) &&
    writeBeneath(root, place, bytes, { mayReplace: (digest) => digest === undefined }).type === 'written'
  );
}

/** The bytes of a new file. */
function findChange(
  file: RelativePath,
  now: ConfinedDirectory,
  before: ConfinedDirectory,
): 'same' | 'changed' | Uint8Array {
  const found = now.read(file, { maxBytes: MAX_FILE_BYTES });
  const old = before.read(file, { maxBytes: MAX_FILE_BYTES, allowHardLinks: true });
  if (found.type === 'failed') return old.type === 'failed' ? 'changed' : 'same';
  if (old.type === 'failed') return found.bytes;
  return found.bytes.equals(old.bytes) ? 'same' : 'changed';
}

function namedChanges(skill: string, { moved, lost }: Changes): readonly string[] {
  const named = (files: readonly string[]): string =>
    [
      ...files.slice(0, MAX_NAMED),
      ...(files.length > MAX_NAMED ? [`${String(files.length - MAX_NAMED)} more`] : []),
    ].join(', ');
  return [
    ...(moved.length === 0 ? [] : [`written into the folder of ${skill} and moved to out/: ${named(moved)}`]),
    ...(lost.length === 0
      ? []
      : [`changed in a copy of ${skill} that is discarded: ${named(lost)}; write to $OUTPUT_DIR to keep files`]),
  ];
}
