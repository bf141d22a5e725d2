/** Stages skills from an archive: a local file or a download. */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { parentFolder, problemError, quoted } from '#core';
import { OPEN_FLAGS, isDirectory, isPresent, writeAll } from '#platform';
import { isRefusal, refused, type PackRefusal } from '../problems.ts';
import { choosePluginSkills, maySkipSkills, openFolderFiles } from './plugin-skills.ts';
import {
  SKILL_FILE_NAME,
  findSkillFolder,
  leftOutLine,
  readStagedPlugin,
  skillName,
  startOfFile,
} from './skill-folders.ts';
import { ARCHIVE_NAME } from './source-text.ts';
import type { EntryProblem, PackSource, SourceContents, SourceSkill, StageContext } from './source.ts';
import { findSkills, missingRefusal, resolveTypedPath, skillsInside } from './folder.ts';
import { copyManifest, noSkill, readSignature } from './top-files.ts';

export async function stageArchive(
  source: Extract<PackSource, { type: 'archive' }>,
  context: StageContext,
): Promise<SourceContents> {
  const from = resolveTypedPath(source.path, context);
  const file = path.join(context.to, `archive${archiveEnding(from)}`);
  // Works on a private copy, so that the hashed bytes are the validated and unpacked ones.
  const archive = await copyHashed(from, file, context);
  const fallbackName = path.basename(from).replace(ARCHIVE_NAME, '');
  return await unpack({ file, shown: source.path, fallbackName, archive, signature: readSignature(from) }, context);
}

/** The archive extension in lower case: `.zip`, `.skill`, `.tar.gz` or `.tgz`. */
export function archiveEnding(name: string): string {
  return ARCHIVE_NAME.exec(name)?.[0].toLowerCase() ?? '';
}

/** Throws a refusal if the lock names another archive. */
export function requireLocked(archive: string, shown: string, { expect }: StageContext): void {
  if (expect?.archive !== undefined && expect.archive !== archive)
    throw refused('source/digest', `${quoted(shown, 200)} has ${archive}, expected ${expect.archive}`);
}

export interface ArchiveHere {
  /** Path in the staging folder. */
  readonly file: string;
  /** Name of the archive for messages. */
  readonly shown: string;
  readonly fallbackName: string;
  /** `sha256:<hex>`. */
  readonly archive: string;
  /** Text of the signature of the file. */
  readonly signature?: string;
  /** Filters skills by folder (default: all). */
  readonly isMeant?: (folder: string) => boolean;
  /** The archive has a single top-level folder, which is not part of the source. */
  readonly hasTopFolder?: boolean;
}

export async function unpack(packed: ArchiveHere, context: StageContext): Promise<SourceContents> {
  const { file, shown, archive, fallbackName, signature: text, isMeant = () => true } = packed;
  const { tree } = context;
  requireLocked(archive, shown, context);
  context.onProgress?.({ step: 'unpack' });
  const extracted = await extractArchive(file, tree, context);
  if (isRefusal(extracted)) throw problemError(extracted.path === file ? namedAs(extracted, packed) : extracted);
  if (!isDirectory(tree)) throw noSkill(shown, extracted.leftOut);
  const folder = packed.hasTopFolder === true ? topFolder(tree) : tree;
  const found = await choosePluginSkills(findSkills(folder), context, openFolderFiles(folder, pluginTop(folder)));
  const { wholePlugin = false } = context;
  const top = folder === tree ? '' : `${path.basename(folder)}/`;
  const damage = attributeProblems(extracted.problems, { folders: new Set(found.folders), top });
  const leftOut = [
    ...extracted.leftOut,
    ...damage.leftOut,
    ...found.leftOut,
    ...(wholePlugin ? [] : found.folders.flatMap((each) => skillsInside(folder, each))),
    ...foldersWithoutSkill(folder, [...found.folders, ...damage.refusals.keys()], found.leftOut),
  ];
  const meant = found.folders.filter((each) => isMeant(each) && !damage.refusals.has(each));
  const damaged = [...damage.refusals].filter(([each]) => isMeant(each));
  if (meant.length + damaged.length === 0 && !maySkipSkills(found, context)) throw noSkill(shown, leftOut);
  const skills = wholePlugin
    ? meant.map((each) => ({
        folder: each,
        path: path.join(folder, each),
        ...readStagedPlugin(path.join(folder, each)),
      }))
    : await Promise.all(meant.map((each) => skillAt(folder, each, fallbackName)));
  const unusable = await Promise.all(
    damaged.map(async ([each, refusal]) => ({
      folder: each,
      name: found.folders.includes(each)
        ? (await skillAt(folder, each, fallbackName)).name
        : path.posix.basename(each) || fallbackName,
      refusal,
    })),
  );
  const signature = text === undefined ? undefined : ({ of: 'archive', text, payload: file } as const);
  const { isPlugin, marketplaces } = found;
  const contents = { folder, skills, unusable, leftOut, signature, archive, isPlugin, marketplaces };
  return meant[0] === '' ? contents : { ...contents, ...copyManifest(folder, folder, signature) };
}

/** Unpacks an archive into a new folder, and leaves out what affects a single skill. Loads the archive reader on first use. */
export async function extractArchive(file: string, to: string, { limits, signal }: StageContext) {
  const { openArchive } = await import('../archive/archive.ts');
  const opened = await openArchive(file, { limits, signal, perSkill: true });
  if (isRefusal(opened)) return opened;
  const { leftOut, problems } = opened;
  try {
    const extracted = await opened.extract(to, { signal });
    return isRefusal(extracted) ? extracted : { ...extracted, leftOut, problems };
  } finally {
    opened.close();
  }
}

/** Names the archive that the user gave instead of its private copy. */
function namedAs(refusal: PackRefusal, { file, shown }: ArchiveHere): PackRefusal {
  return { ...refusal, path: shown, message: refusal.message.replace(quoted(file), () => quoted(shown, 200)) };
}

/** In a pack, each folder is a skill: one without SKILL.md is named, because its author meant it to be one. */
function foldersWithoutSkill(tree: string, skills: readonly string[], named: readonly string[]): readonly string[] {
  const isPack = skills.some((folder) => folder !== '' && !folder.includes('/'));
  if (!isPack) return [];
  return readdirSync(tree, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .filter(({ name }) => !skills.some((folder) => folder === name || folder.startsWith(`${name}/`)))
    .filter(({ name }) => !named.some((line) => line.startsWith(`${name.normalize('NFC')}/`)))
    .map(({ name }) => leftOutLine({ path: name, type: 'folder', reason: 'it has no SKILL.md' }));
}

interface AttributedProblems {
  /** The first problem of each skill folder. */
  readonly refusals: ReadonlyMap<string, PackRefusal>;
  readonly leftOut: readonly string[];
}

/**
 * Finds the skill of each refused entry. Throws the refusal of the archive if an entry belongs to no skill, except links, which are skipped in every
 * source. `top` is the folder of the archive that is not part of the source.
 */
function attributeProblems(
  problems: readonly EntryProblem[],
  { folders, top }: { readonly folders: ReadonlySet<string>; readonly top: string },
): AttributedProblems {
  const refusals = new Map<string, PackRefusal>();
  const leftOut: string[] = [];
  for (const { path: full, refusal } of problems) {
    const at = full.startsWith(top) ? full.slice(top.length) : full;
    const isSkillFile = path.posix.basename(at) === SKILL_FILE_NAME;
    const folder = findSkillFolder(at, folders) ?? (isSkillFile ? parentFolder(at) : undefined);
    if (folder !== undefined) {
      if (!refusals.has(folder)) refusals.set(folder, refusal);
    } else if (refusal.code === 'archive/link') leftOut.push(leftOutLine({ path: at, type: 'file', reason: 'a link' }));
    else throw problemError(refusal);
  }
  return { refusals, leftOut };
}

export async function skillAt(tree: string, folder: string, fallbackName: string): Promise<SourceSkill> {
  const place = path.join(tree, folder);
  const named = folder === '' ? fallbackName : path.posix.basename(folder);
  return { folder, path: place, name: await skillName(startOfFile(path.join(place, SKILL_FILE_NAME)), named) };
}

/** The only folder of an archive, if it has a plugin.json and the top has none: packs and most zips of a plugin are like this. */
function pluginTop(tree: string): string {
  if (isPresent(path.join(tree, 'plugin.json'))) return '';
  const [only, second] = readdirSync(tree, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const isOnly = only !== undefined && second === undefined && isPresent(path.join(tree, only.name, 'plugin.json'));
  return isOnly ? only.name : '';
}

function topFolder(tree: string): string {
  const [only, second] = readdirSync(tree);
  const inside = only === undefined || second !== undefined ? tree : path.join(tree, only);
  return isDirectory(inside) ? inside : tree;
}

/** Copies a file and returns `sha256:<hex>` of the copy. Throws a refusal. */
async function copyHashed(from: string, to: string, { limits, signal }: StageContext): Promise<string> {
  const { maxArchiveBytes } = limits;
  const hash = createHash('sha256');
  const input = openSource(from);
  try {
    const tooLarge = refused(
      'archive/too-large',
      `${quoted(from, 200)} has more than ${String(maxArchiveBytes)} bytes`,
      from,
    );
    const stats = fstatSync(input);
    if (!stats.isFile()) throw refused('source/missing', `${quoted(from, 200)} is not a file`, from);
    if (stats.size > maxArchiveBytes) throw tooLarge;
    let copied = 0;
    const pieces: AsyncIterable<Buffer> = createReadStream('', { fd: input, autoClose: false, start: 0 });
    const output = openSync(to, 'wx', 0o600);
    try {
      for await (const piece of pieces) {
        signal?.throwIfAborted();
        copied += piece.length;
        if (copied > maxArchiveBytes) throw tooLarge;
        hash.update(piece);
        writeAll(output, piece);
      }
    } finally {
      closeSync(output);
    }
    return `sha256:${hash.digest('hex')}`;
  } finally {
    closeSync(input);
  }
}

function openSource(from: string): number {
  try {
    return openSync(from, OPEN_FLAGS.namedFile);
  } catch (error) {
    throw problemError(missingRefusal(error, from));
  }
}
