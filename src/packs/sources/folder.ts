/** Stages skills from a local folder. Each file is read once and hashed while it is copied. */
import { fstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { problemError, quoted, isNeverSearched, type OfType } from '#core';
import { isProgram, isSystemError, orRefusal, pause, removeTree, walkOpened, type TreeEntry } from '#platform';
import { findFilesNamed } from '#skills';
import {
  leftOutLine,
  whyLeftOut,
  whyNotSearched,
  SKILL_FILE_NAME,
  nestedSkill,
  whyUnreachable,
} from './skill-folders.ts';
import type { ArchiveLimits } from '../archive-limits.ts';
import { asRefusal, packRefusal, refused, treeRefusal, type PackRefusal } from '../problems.ts';
import { choosePluginSkills, maySkipSkills, openFolderFiles } from './plugin-skills.ts';
import type { PackSource, SourceContents, SourceSkill, StageContext, UnusableSkill } from './source.ts';
import { StagedSkill } from './staged-skill.ts';
import { copyManifest, noSkill } from './top-files.ts';

/** Limit of folders to search for skills. */
const MAX_FOLDERS = 100_000;
/** Entries to copy before yielding to the event loop. */
const SLICE = 64;

/** Limits of file contents to keep in memory for the inspection, because reading them again takes longer than copying them. */
const MAX_KEPT = 64 * 1024 * 1024;
const MAX_KEPT_OF_SKILL = 4 * 1024 * 1024;

interface FoundFolders {
  readonly folders: readonly string[];
  readonly leftOut: readonly string[];
}

export async function stageFolder(
  source: Extract<PackSource, { type: 'folder' }>,
  context: StageContext,
): Promise<SourceContents> {
  const { tree, limits, signal } = context;
  const root = resolveTypedPath(source.path, context);
  const at = openFolderFiles(root);
  const chosen = await choosePluginSkills(findSkills(root), context, at);
  const { folders, leftOut: notSearched, marketplaces, isPlugin } = chosen;
  if (folders.length === 0 && !maySkipSkills(chosen, context)) throw noSkill(source.path, notSearched);
  const leftOut = [...notSearched];
  let count = 0;
  /** Bytes that may still be kept for the inspection. */
  let room = MAX_KEPT;
  const copyFiles = async (folder: string, skill: StagedSkill): Promise<undefined> => {
    const skip = (at: string, isFolder: () => boolean): boolean => {
      const name = at.slice(at.lastIndexOf('/') + 1);
      // Most names need no further check.
      if (!name.startsWith('.') && !name.startsWith('_')) return false;
      const type = isFolder() ? 'folder' : 'file';
      const reason = whyLeftOut(name, type);
      if (reason === undefined) return false;
      leftOut.push(leftOutLine({ path: path.posix.join(folder, at), type, reason }));
      return true;
    };
    const names = openOtherNames(folder);
    for (const entry of walkOpened(path.join(root, folder), { limits, skip })) {
      if (entry.type === 'folder') skill.folder(entry.path);
      else if (entry.type === 'file') {
        names.see(entry);
        if (entry.path.endsWith(`/${SKILL_FILE_NAME}`) && context.wholePlugin !== true)
          leftOut.push(leftOutLine(nestedSkill(path.posix.join(folder, path.posix.dirname(entry.path)), folder)));
        copyFile(entry, skill, limits);
      } else if (context.wholePlugin === true) skill.link(entry.path, entry.target);
      else throw refused('archive/link', `${quoted(entry.path)} is a link`, path.posix.join(folder, entry.path));
      count += 1;
      if (count % SLICE === 0) await pause(signal);
    }
    names.refuseStrangers();
  };
  if (folders[0] !== '') mkdirSync(tree);
  const skills: SourceSkill[] = [];
  const unusable: UnusableSkill[] = [];
  for (const folder of folders) {
    const skill = new StagedSkill({
      folder,
      path: path.join(tree, folder),
      fallbackName: path.basename(root),
      limits,
      room: Math.min(MAX_KEPT_OF_SKILL, room),
      isInOrder: true,
      wholePlugin: context.wholePlugin,
    });
    try {
      const unread = await orRefusal(() => copyFiles(folder, skill));
      if (unread !== undefined) throw problemError(treeRefusal(unread, folder));
      room -= skill.keptBytes;
      skills.push(await skill.finish());
    } catch (error) {
      // Nothing of a refused skill remains in the staging folder.
      const refusal = asRefusal(error);
      await removeTree(path.join(tree, folder));
      unusable.push({ folder, name: await skill.name(), refusal });
    }
    context.onProgress?.({ step: 'copy', done: skills.length + unusable.length, total: folders.length });
  }
  return { skills, unusable, leftOut, marketplaces, isPlugin, ...(folders[0] === '' ? {} : copyManifest(root, tree)) };
}

export function resolveTypedPath(typed: string, { cwd, home }: Pick<StageContext, 'cwd' | 'home'>): string {
  const inHome = /^~(?:[/\\]|$)/.test(typed);
  return inHome ? path.join(home, typed.slice(1)) : path.resolve(cwd, typed);
}

/** Finds all folders with a SKILL.md. Does not search inside skills and follows no links except the top folder itself. */
export function findSkills(root: string): FoundFolders {
  const folders: string[] = [];
  const leftOut: string[] = [];
  const pending: string[] = [''];
  for (let at = pending.pop(), seen = 0; at !== undefined; at = pending.pop(), seen += 1) {
    if (seen > MAX_FOLDERS) {
      const reason = `it and what follows it is not searched: the source has more than ${String(MAX_FOLDERS)} folders`;
      leftOut.push(leftOutLine({ path: at, type: 'folder', reason }));
      break;
    }
    // Checks for SKILL.md first; the other files of a skill are read when it is copied.
    const skillFile = `${root}/${at}/${SKILL_FILE_NAME}`;
    if (isFileLike(skillFile)) {
      const omission = whyUnreachable(at);
      if (omission === undefined) folders.push(at);
      else leftOut.push(leftOutLine(omission));
      continue;
    }
    const entries = listFolder(root, at);
    if (typeof entries === 'string') {
      leftOut.push(leftOutLine({ path: at, type: 'folder', reason: entries }));
      continue;
    }
    for (const entry of entries) {
      const below = at === '' ? entry.name : `${at}/${entry.name}`;
      const type = entry.isDirectory() ? 'folder' : 'file';
      const reason = type === 'folder' ? whyNotSearched(entry.name) : whyLeftOut(entry.name, type);
      const tell = (why: string): unknown => leftOut.push(leftOutLine({ path: below, type, reason: why }));
      if (reason !== undefined) {
        tell(reason);
        if (type === 'folder' && isNeverSearched(entry.name) !== 'copies')
          leftOut.push(...skillsNotSearched(root, below));
      } else if (entry.isSymbolicLink())
        if (isFileLike(`${root}/${below}/${SKILL_FILE_NAME}`))
          leftOut.push(leftOutLine({ path: `${below}/${SKILL_FILE_NAME}`, type: 'file', reason: 'behind a link' }));
        else tell('a link');
      else if (type === 'file') {
        if (entry.name.toLowerCase() === 'skill.md') tell(`it must be called ${SKILL_FILE_NAME}`);
      } else pending.push(below);
    }
  }
  return { folders: folders.toSorted((a, b) => (a < b ? -1 : 1)), leftOut: leftOut.toSorted() };
}

/** Folders to search for skills that are only named. */
const MAX_PEEKED = 2_000;

/** Each SKILL.md of a folder that is not searched, e.g. of `node_modules`. */
function skillsNotSearched(root: string, folder: string): readonly string[] {
  const { paths, isCut } = findFilesNamed(`${root}/${folder}`, SKILL_FILE_NAME, MAX_PEEKED);
  const named = paths.map((at) => at.slice(root.length + 1));
  return [
    ...named.map((at) =>
      leftOutLine({ path: at, type: 'file', reason: `${path.posix.basename(folder)} is not searched` }),
    ),
    ...(isCut ? [leftOutLine({ path: folder, type: 'folder', reason: 'there may be more skills in it' })] : []),
  ];
}

/** Each SKILL.md inside a skill that was unpacked to `tree`. */
export function skillsInside(tree: string, folder: string): readonly string[] {
  const own = path.posix.join(folder, SKILL_FILE_NAME);
  return findFilesNamed(path.join(tree, folder), SKILL_FILE_NAME, MAX_PEEKED)
    .paths.map((at) => path.relative(tree, at))
    .filter((at) => at !== own)
    .map((at) => leftOutLine(nestedSkill(path.posix.dirname(at), folder)));
}

/** Whether something else than a folder exists at a path. Follows links. */
function isFileLike(place: string): boolean {
  try {
    return statSync(place, { throwIfNoEntry: false })?.isDirectory() === false;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  }
}

/** A subfolder that cannot be read costs only its own skills: the reason is returned. */
function listFolder(root: string, at: string) {
  try {
    // Distinguishes a file from an unreadable folder.
    if (at === '' && !statSync(root).isDirectory())
      throw refused('source/missing', `${quoted(root, 200)} is not a folder`, root);
    return readdirSync(path.join(root, at), { withFileTypes: true });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const refusal = missingRefusal(error, path.join(root, at));
    if (at !== '' && refusal.code === 'source/refused') return `it cannot be read (${error.code})`;
    throw problemError(at === '' ? refusal : packRefusal('source/changed', refusal.message, refusal.path));
  }
}

/** Why a file or folder that the user named cannot be opened. */
export function missingRefusal(error: unknown, place: string): PackRefusal {
  if (!isSystemError(error)) throw error;
  return error.code === 'ENOENT' || error.code === 'ENOTDIR'
    ? packRefusal('source/missing', `there is no ${quoted(place, 200)}`, place)
    : packRefusal('source/refused', `${quoted(place, 200)} cannot be read (${error.code})`, place);
}

/**
 * Refuses files with a hard link outside of the skill: they may belong to another user, and the author of the skill may not have had
 * permission to read them. Hard links inside the skill become separate files.
 */
function openOtherNames(folder: string): {
  readonly see: (entry: OpenedFile) => void;
  readonly refuseStrangers: () => void;
} {
  const linked = new Map<number, { readonly path: string; readonly names: number; seen: number }>();
  return {
    see({ path: at, stats: { ino, nlink } }) {
      if (nlink < 2) return;
      const known = linked.get(ino) ?? { path: at, names: nlink, seen: 0 };
      known.seen += 1;
      linked.set(ino, known);
    },
    refuseStrangers() {
      for (const { path: at, names, seen } of linked.values())
        if (seen < names)
          throw refused(
            'archive/link',
            `${quoted(at)} is a hard link to a file outside of the skill`,
            path.posix.join(folder, at),
          );
    },
  };
}

type OpenedFile = OfType<TreeEntry, 'file'> & { readonly descriptor: number };

function copyFile(entry: OpenedFile, skill: StagedSkill, { maxFileBytes }: Pick<ArchiveLimits, 'maxFileBytes'>): void {
  const { path: at, descriptor, stats } = entry;
  if (stats.size > maxFileBytes)
    throw refused('archive/too-large', `${quoted(at)} has more than ${String(maxFileBytes)} bytes`, at);
  skill.file(at, isProgram(stats), (write) => {
    const sha256 = entry.hash(write);
    if (fstatSync(descriptor).mtimeMs !== stats.mtimeMs)
      throw refused('source/changed', `${quoted(at)} changed while it was read`, at);
    return { sha256, bytes: stats.size };
  });
}
