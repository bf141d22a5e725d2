/** Stages skills from a git repository: fetches one commit, lists its tree and writes the files of its skills from the objects. */
import path from 'node:path';

import { quoted, type SkillError } from '#core';
import { removeTree } from '#platform';
import {
  leftOutLine,
  findOmission,
  SKILL_FILE_NAME,
  findSkillFolders,
  insideSkill,
  findSkillFolder,
} from './skill-folders.ts';
import { asRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { isRef, sourceText } from './source-text.ts';
import type { PackSource, SourceContents, SourceSkill, StageContext, UnusableSkill } from './source.ts';
import { fetchFiles, gitFailed, runGit, type ScratchRepository, type TreeFile } from './git-repository.ts';
import { choosePluginSkills, maySkipSkills } from './plugin-skills.ts';
import { StagedSkill } from './staged-skill.ts';
import { noSkill } from './top-files.ts';

export async function stageGit(
  source: Extract<PackSource, { type: 'git' }>,
  context: StageContext,
): Promise<SourceContents> {
  const { expect } = context;
  const ref = expect?.revision ?? source.ref;
  // The ref may come from a lock or from a caller that did not use `readSource`.
  if (ref !== undefined && !isRef(ref))
    throw refused('source/revision', `${quoted(ref)} is not a valid branch, tag or commit`);
  const own: ScratchRepository = { folder: path.join(context.to, 'repository'), url: source.url, context };
  const { revision, files, at } = await fetchFiles(own, { ref, folder: source.folder });
  if (expect?.revision !== undefined && revision !== expect.revision)
    throw refused('source/revision', `the repository returned ${revision}, expected ${quoted(expect.revision)}`);
  const listed = findSkillFolders(files.filter(({ kind }) => kind === 'file').map(({ path: at }) => at));
  const found = { folders: listed.folders, leftOut: listed.leftOut.map(leftOutLine) };
  const { marketplaces, isPlugin, folders, ...chosen } = await choosePluginSkills(found, context, at);
  const leftOut = [...chosen.leftOut];
  if (folders.length === 0 && !maySkipSkills({ marketplaces, isPlugin }, context))
    throw noSkill(sourceText(source), leftOut);
  const written = await writeSkills(
    own,
    { files, folders, leftOut },
    path.posix.basename(source.folder ?? source.url.replace(/\.git$/, '').replaceAll(':', '/')) || 'skill',
  );
  await removeTree(own.folder);
  return { ...written, leftOut, revision, marketplaces, isPlugin };
}

interface ChosenFile extends TreeFile {
  readonly folder: string;
  readonly inside: string;
}

/** The longest path of most systems. */
const MAX_TARGET_BYTES = 4096;

interface Choice {
  readonly files: readonly TreeFile[];
  readonly folders: readonly string[];
  readonly leftOut: string[];
}

/**
 * Selects, validates and counts all files before the first object is read. A file that is refused is passed to `refuseSkill`. Throws
 * a refusal if the repository is too large.
 */
function choose(
  { files, folders, leftOut }: Choice,
  { limits: { maxFileBytes, maxBytes }, wholePlugin = false }: StageContext,
  refuseSkill: (folder: string, refusal: PackRefusal) => void,
): readonly ChosenFile[] {
  const isSkill = new Set(folders);
  const hidden = new Set<string>();
  const chosen = files.flatMap((file) => {
    const folder = findSkillFolder(file.path, isSkill);
    if (folder === undefined) return [];
    const inside = insideSkill(file.path, folder);
    const omission = findOmission(inside, file.kind === 'submodule' ? 'folder' : 'file');
    if (omission !== undefined || file.kind === 'submodule') {
      const { path: at, ...rest } = omission ?? { path: inside, type: 'folder', reason: 'another repository' };
      hidden.add(leftOutLine({ path: path.posix.join(folder, at), ...rest }));
      return [];
    }
    // The content of a link is its target.
    const isTaken = file.kind === 'file' || (wholePlugin && file.bytes <= MAX_TARGET_BYTES);
    if (isTaken && file.bytes <= maxFileBytes) return [{ ...file, folder, inside }];
    const [code, what] =
      file.kind === 'link'
        ? (['archive/link', 'is a link'] as const)
        : (['archive/too-large', `has more than ${String(maxFileBytes)} bytes`] as const);
    refuseSkill(folder, packRefusal(code, `${quoted(file.path)} ${what}`, file.path));
    return [];
  });
  leftOut.push(...hidden);
  // The limit applies to the whole repository, because small packs can contain large files.
  if (chosen.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes)
    throw refused('archive/too-large', `the skills of the repository have more than ${String(maxBytes)} bytes`);
  return chosen;
}

async function writeSkills(
  own: ScratchRepository,
  choice: Choice,
  fallbackName: string,
): Promise<Pick<SourceContents, 'skills' | 'unusable'>> {
  const { limits, tree, onProgress, wholePlugin } = own.context;
  /** The first problem of each refused skill. */
  const refusals = new Map<string, PackRefusal>();
  const refuseSkill = (folder: string, refusal: PackRefusal): void => {
    if (!refusals.has(folder)) refusals.set(folder, refusal);
  };
  const all = choose(choice, own.context, refuseSkill);
  const chosen = all.filter(({ folder, inside }) => !refusals.has(folder) || inside === SKILL_FILE_NAME);
  const staged = new Map<string, StagedSkill>();
  for (const folder of choice.folders)
    staged.set(folder, new StagedSkill({ folder, path: path.join(tree, folder), fallbackName, limits, wholePlugin }));
  const reader = openBlobReader(chosen, (file, bytes, done) => {
    try {
      const skill = staged.get(file.folder);
      if (file.kind === 'link') skill?.link(file.inside, bytes.toString('utf8'));
      else skill?.wholeFile(file.inside, file.isExecutable, bytes);
    } catch (error) {
      refuseSkill(file.folder, asRefusal(error));
    }
    onProgress?.({ step: 'copy', done, total: chosen.length });
  });
  const result = await runGit(own, ['cat-file', '--batch'], {
    stdin: Buffer.from(chosen.map(({ object }) => `${object}\n`).join(''), 'latin1'),
    onOutput: (chunk) => reader.take(chunk),
    maxOutputBytes: Number.MAX_SAFE_INTEGER,
  });
  reader.finish();
  if (result.exitCode !== 0) throw gitFailed(result);
  const skills: SourceSkill[] = [];
  const unusable: UnusableSkill[] = [];
  for (const [folder, skill] of staged) {
    const refusal = refusals.get(folder);
    if (refusal === undefined) {
      skills.push(await skill.finish());
      continue;
    }
    unusable.push({ folder, name: await skill.name(), refusal });
    await removeTree(path.join(tree, folder));
  }
  return { skills, unusable };
}

/**
 * Parses the output of `git cat-file --batch` in chunks of any size: a header line, the content and a newline for each object, in order.
 * Buffers one object at a time. If the callback throws, the program is ended and `finish` rethrows.
 */
function openBlobReader<T extends Pick<TreeFile, 'object' | 'bytes'>>(
  blobs: readonly T[],
  found: (blob: T, bytes: Buffer, done: number) => void,
) {
  let next = 0;
  let pieces: Buffer[] = [];
  let length = 0;
  let problem: { readonly error: unknown } | undefined;
  const readBlobs = (): void => {
    for (let blob = blobs[next]; blob !== undefined; blob = blobs[next]) {
      const header = `${blob.object} blob ${String(blob.bytes)}\n`;
      const end = header.length + blob.bytes + 1;
      if (length < end) return;
      const all = pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces);
      if (all.toString('latin1', 0, header.length) !== header) throw damaged();
      pieces = [all.subarray(end)];
      length -= end;
      next += 1;
      found(blob, all.subarray(header.length, end - 1), next);
    }
    if (length > 0) throw damaged();
  };
  return {
    /** Returns false to stop the program. */
    take(chunk: Uint8Array): boolean {
      pieces.push(Buffer.from(chunk));
      length += chunk.length;
      try {
        readBlobs();
      } catch (error) {
        problem ??= { error };
      }
      return problem === undefined;
    },
    /** Throws if objects are missing. */
    finish(): void {
      if (problem !== undefined) throw problem.error;
      if (next < blobs.length) throw damaged();
    },
  };
}

function damaged(): SkillError {
  return refused('source/failed', 'git returned unexpected objects');
}
