/** Stages skills from an archive: a local file or a download. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, readdirSync, writeSync } from 'node:fs';
import path from 'node:path';

import { parentFolder, problemError, quoted } from '#core';
import { OPEN_FLAGS, isDirectory, isSystemError, pause } from '#platform';
import { isRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { SKILL_FILE_NAME, findSkillFolder, leftOutLine, skillName, startOfFile } from './skill-folders.ts';
import { ARCHIVE_NAME, sourceText } from './source-text.ts';
import type { EntryProblem, StagedSource, PackSource, ResolvedSource, SourceSkill, StageContext } from './source.ts';
import { findSkills, resolveTypedPath, skillsInside } from './folder.ts';
import { noSkill, readSignature, withManifest } from './top-files.ts';

const PIECE = 1024 * 1024;

export async function stageArchive(
  source: Extract<PackSource, { type: 'archive' }>,
  context: StageContext,
): Promise<StagedSource | PackRefusal> {
  const from = resolveTypedPath(source.path, context);
  const file = path.join(context.to, `archive${archiveEnding(from)}`);
  // Works on a private copy, so that the hashed bytes are the validated and unpacked ones.
  const archive = await copyHashed(from, file, context);
  const signature = readSignature(from);
  return await unpack(
    {
      file,
      shown: source.path,
      fallbackName: path.basename(from).replace(ARCHIVE_NAME, ''),
      resolved: { source: sourceText(source), kind: 'archive', archive },
      signature: signature === undefined ? undefined : { of: 'archive', text: signature, payload: file },
    },
    context,
  );
}

/** The archive extension in lower case: `.zip`, `.skill`, `.tar.gz` or `.tgz`. */
export function archiveEnding(name: string): string {
  return ARCHIVE_NAME.exec(name)?.[0].toLowerCase() ?? '';
}

export interface ArchiveHere {
  /** Path in the staging folder. */
  readonly file: string;
  /** Name of the archive for messages. */
  readonly shown: string;
  readonly fallbackName: string;
  readonly resolved: ResolvedSource;
  readonly signature?: StagedSource['signature'];
  /** Filters skills by folder (default: all). */
  readonly isMeant?: (folder: string) => boolean;
  /** The archive has a single top-level folder, which is not part of the source. */
  readonly hasTopFolder?: boolean;
}

export async function unpack(archive: ArchiveHere, context: StageContext): Promise<StagedSource | PackRefusal> {
  const { file, shown, resolved, signature, isMeant = () => true } = archive;
  const { expect, tree, limits, signal } = context;
  if (expect?.archive !== undefined && expect.archive !== resolved.archive)
    return packRefusal(
      'source/digest',
      `${quoted(shown, 200)} has ${resolved.archive ?? 'no digest'}, expected ${expect.archive}`,
    );
  context.onProgress?.({ step: 'unpack' });
  const extracted = await context.extract(file, tree, { limits, signal });
  if (isRefusal(extracted)) return extracted.path === file ? namedAs(extracted, archive) : extracted;
  if (!isDirectory(tree)) return noSkill(shown, extracted.leftOut);
  const folder = archive.hasTopFolder === true ? topFolder(tree) : tree;
  const found = findSkills(folder);
  const top = folder === tree ? '' : `${path.basename(folder)}/`;
  const damage = attributeProblems(extracted.problems, { folders: new Set(found.folders), top });
  if (isRefusal(damage)) return damage;
  const leftOut = [
    ...extracted.leftOut,
    ...damage.leftOut,
    ...found.leftOut,
    ...found.folders.flatMap((each) => skillsInside(folder, each)),
    ...foldersWithoutSkill(folder, [...found.folders, ...damage.refusals.keys()], found.leftOut),
  ];
  const meant = found.folders.filter((each) => isMeant(each) && !damage.refusals.has(each));
  const refused = [...damage.refusals].filter(([each]) => isMeant(each));
  if (meant.length + refused.length === 0) return noSkill(shown, leftOut);
  const skills = await Promise.all(meant.map((each) => skillAt(folder, each, archive.fallbackName)));
  const unusable = await Promise.all(
    refused.map(async ([each, refusal]) => ({
      folder: each,
      name: found.folders.includes(each)
        ? (await skillAt(folder, each, archive.fallbackName)).name
        : path.posix.basename(each) || archive.fallbackName,
      refusal,
    })),
  );
  const staged: StagedSource = { type: 'staged', resolved, folder, skills, unusable, leftOut, signature };
  return meant[0] === '' ? staged : withManifest(staged, folder);
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
  readonly type: 'attributed';
  /** The first problem of each skill folder. */
  readonly refusals: ReadonlyMap<string, PackRefusal>;
  readonly leftOut: readonly string[];
}

/**
 * Finds the skill of each refused entry. Refuses the archive if an entry belongs to no skill, except links, which are skipped in every
 * source. `top` is the folder of the archive that is not part of the source.
 */
function attributeProblems(
  problems: readonly EntryProblem[],
  { folders, top }: { readonly folders: ReadonlySet<string>; readonly top: string },
): AttributedProblems | PackRefusal {
  const refusals = new Map<string, PackRefusal>();
  const leftOut: string[] = [];
  for (const { path: full, refusal } of problems) {
    const at = full.startsWith(top) ? full.slice(top.length) : full;
    const isSkillFile = path.posix.basename(at) === SKILL_FILE_NAME;
    const folder = findSkillFolder(at, folders) ?? (isSkillFile ? parentFolder(at) : undefined);
    if (folder !== undefined) {
      if (!refusals.has(folder)) refusals.set(folder, refusal);
    } else if (refusal.code === 'archive/link') leftOut.push(leftOutLine({ path: at, type: 'file', reason: 'a link' }));
    else return refusal;
  }
  return { type: 'attributed', refusals, leftOut };
}

export async function skillAt(tree: string, folder: string, fallbackName: string): Promise<SourceSkill> {
  const place = path.join(tree, folder);
  const named = folder === '' ? fallbackName : path.posix.basename(folder);
  return { folder, path: place, name: await skillName(startOfFile(path.join(place, SKILL_FILE_NAME)), named) };
}

function topFolder(tree: string): string {
  const [only, second] = readdirSync(tree);
  const inside = only === undefined || second !== undefined ? tree : path.join(tree, only);
  return isDirectory(inside) ? inside : tree;
}

/** Copies a file and returns `sha256:<hex>` of the copy. Throws a refusal. */
async function copyHashed(from: string, to: string, { limits, signal }: StageContext): Promise<string> {
  const { maxArchiveBytes } = limits;
  const input = openSource(from);
  try {
    const stats = fstatSync(input);
    if (!stats.isFile()) throw refused('source/missing', `${quoted(from, 200)} is not a file`, from);
    const tooLarge = refused(
      'archive/too-large',
      `${quoted(from, 200)} has more than ${String(maxArchiveBytes)} bytes`,
      from,
    );
    if (stats.size > maxArchiveBytes) throw tooLarge;
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(PIECE);
    const output = openSync(to, 'wx', 0o600);
    try {
      let copied = 0;
      for (
        let count = readSync(input, buffer, 0, PIECE, 0);
        count > 0;
        count = readSync(input, buffer, 0, PIECE, copied)
      ) {
        const piece = buffer.subarray(0, count);
        hash.update(piece);
        for (let written = 0; written < count;) written += writeSync(output, piece, written);
        copied += count;
        if (copied > maxArchiveBytes) throw tooLarge;
        await pause(signal);
      }
      return `sha256:${hash.digest('hex')}`;
    } finally {
      closeSync(output);
    }
  } finally {
    closeSync(input);
  }
}

function openSource(from: string): number {
  try {
    return openSync(from, OPEN_FLAGS.namedFile);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const isGone = error.code === 'ENOENT' || error.code === 'ENOTDIR';
    throw problemError(
      isGone
        ? packRefusal('source/missing', `there is no ${quoted(from, 200)}`, from)
        : packRefusal('source/refused', `${quoted(from, 200)} cannot be read (${error.code})`, from),
    );
  }
}
