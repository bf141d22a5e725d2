/** Builds the index of a source: reads names, descriptions and digests, and keeps none of the files. */
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { compareText, isSkillError, isValidName, quoted, type Problem } from '#core';
import { removeTree } from '#platform';
import { currentRevision, listSite, readTypedSource, stagePack, type StagePackOptions } from '../inspect/stage-pack.ts';
import type { PackSettings } from '../pack-settings.ts';
import { readStagedTree } from '../inspect/inspect-skill.ts';
import { accepted, asRefusal, isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import { resolveTypedPath } from '../sources/folder.ts';
import { skillHead, startOfFile, SKILL_FILE_NAME } from '../sources/skill-folders.ts';
import { sourceText } from '../sources/source-text.ts';
import type { PackSource, StageProgress } from '../sources/source.ts';
import { noSkill } from '../sources/top-files.ts';
import {
  MAX_AVAILABLE,
  availableSkill,
  openSourceStore,
  type AvailableSkill,
  type SourceIndex,
} from './source-store.ts';

export interface IndexSourceOptions {
  readonly settings: PackSettings;
  /** The user's name for the source. */
  readonly name: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: StageProgress) => void;
  /** The index from before: a source with the same revision is not fetched again. */
  readonly before?: SourceIndex;
  readonly now?: Date;
}

export interface IndexedSource {
  readonly type: 'indexed';
  readonly index: SourceIndex;
  /** The revision is that of `before`, so nothing was fetched. */
  readonly isSame: boolean;
  /** Skills that are not in the index, each with the reason; safe to print. */
  readonly leftOut: readonly string[];
}

/** `text` is a source as `install` takes it. Throws the abort reason; every other failure is a refusal. */
export async function indexSource(text: string, options: IndexSourceOptions): Promise<IndexedSource | PackRefusal> {
  const { settings, name, before, now = new Date() } = options;
  const source = readTypedSource(text, settings);
  if (isRefusal(source)) return source;
  const { cwd, home = cwd } = settings.surroundings;
  const place = toAbsoluteSource(source, { cwd, home });
  const to = mkdtempSync(path.join(os.tmpdir(), 'skillwright-source-'));
  const stage: StagePackOptions = { settings, to, signal: options.signal, onProgress: options.onProgress };
  try {
    if (before?.revision !== undefined && (await currentRevision(place, stage)) === before.revision)
      return { type: 'indexed', index: { ...before, at: now.toISOString() }, isSame: true, leftOut: [] };
    const listed = place.type === 'well-known' ? await ofSite(place, stage) : await ofFiles(place, stage);
    const { skills, leftOut } = usable(listed.skills);
    if (skills.length === 0)
      return packRefusal('pack/no-skill', `${quoted(sourceText(place), 200)} has no skill that can be installed`);
    return {
      type: 'indexed',
      index: { name, source: sourceText(place), at: now.toISOString(), revision: listed.revision, skills },
      isSame: false,
      leftOut: [...listed.leftOut, ...leftOut],
    };
  } catch (error) {
    return asRefusal(error);
  } finally {
    await removeTree(to);
  }
}

/** Paths are made absolute, because an index is used in every working directory. */
function toAbsoluteSource(source: PackSource, places: { readonly cwd: string; readonly home: string }): PackSource {
  return source.type === 'folder' || source.type === 'archive'
    ? { ...source, path: resolveTypedPath(source.path, places) }
    : source;
}

interface Listed {
  readonly skills: readonly AvailableSkill[];
  readonly leftOut: readonly string[];
  readonly revision?: string;
}

async function ofSite(source: Extract<PackSource, { type: 'well-known' }>, stage: StagePackOptions): Promise<Listed> {
  const site = accepted(await listSite(source, stage));
  const skills = site.skills.map((skill) => ({
    name: skill.name,
    description: skill.description,
    digest: 'sha256' in skill ? `sha256:${skill.sha256}` : undefined,
  }));
  return { skills, leftOut: [] };
}

async function ofFiles(source: PackSource, stage: StagePackOptions): Promise<Listed> {
  const staged = accepted(await stagePack(source, { ...stage, withPlugins: true }));
  const skills: AvailableSkill[] = [];
  for (const skill of staged.skills) {
    const { digest } = accepted(readStagedTree(skill));
    const text = skill.seen?.skillText ?? startOfFile(path.join(skill.path, SKILL_FILE_NAME));
    const head = await skillHead(text, path.posix.basename(skill.folder));
    skills.push({ name: skill.name, description: head?.description ?? '', path: skill.folder, digest });
  }
  const leftOut = staged.unusable.map(({ folder, refusal }) => `${quoted(folder)}: ${refusal.message}`);
  // `install SOURCE NAME` fetches the plugin; reading hundreds of repositories for a list would take hours.
  const known = new Set(skills.map(({ name }) => name));
  for (const { name, description } of staged.marketplaces?.lists.flatMap(({ plugins }) => plugins) ?? [])
    if (!known.has(name) && isValidName(name)) skills.push({ name, description });
  if (staged.isPlugin === true && skills.length + leftOut.length === 0)
    throw noSkill(sourceText(source), staged.leftOut);
  return { skills, leftOut, revision: staged.resolved.revision };
}

/** Skills that `install` could take: with a valid name that occurs once. */
function usable(skills: readonly AvailableSkill[]): Omit<Listed, 'revision'> {
  const leftOut: string[] = [];
  const byName = new Map<string, AvailableSkill>();
  for (const skill of skills) {
    if (!isValidName(skill.name)) leftOut.push(`${quoted(skill.name)} is not a valid skill name`);
    else if (byName.has(skill.name)) leftOut.push(`${quoted(skill.path ?? skill.name)} repeats ${quoted(skill.name)}`);
    else if (byName.size >= MAX_AVAILABLE) leftOut.push(`${quoted(skill.name)} is beyond the limit of skills`);
    else byName.set(skill.name, availableSkill(skill));
  }
  return { skills: [...byName.values()].toSorted((a, b) => compareText(a.name, b.name)), leftOut };
}

interface SourceOptions extends Pick<IndexSourceOptions, 'settings' | 'signal' | 'onProgress'> {
  readonly name: string;
}

/** Indexes a new source and keeps the index. Throws a refusal, and `input/invalid` for an invalid or used name. */
export async function addSource(source: string, options: SourceOptions): Promise<IndexedSource> {
  const { settings, name, signal } = options;
  const store = openSourceStore(settings.surroundings);
  // Before anything is fetched.
  store.checkNew(name);
  const indexed = accepted(await indexSource(source, options));
  await store.save(indexed.index, { isNew: true, signal });
  return indexed;
}

interface SourceDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Indexes a source again, and returns what changed. If it cannot be read, its index is kept. */
export async function updateSource(
  before: SourceIndex,
  options: Omit<SourceOptions, 'name'>,
): Promise<(IndexedSource & SourceDifference) | Problem> {
  const { settings, signal } = options;
  const indexed = await indexSource(before.source, { ...options, name: before.name, before });
  if (isRefusal(indexed)) return indexed;
  try {
    await openSourceStore(settings.surroundings).save(indexed.index, { isNew: false, signal });
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
  return { ...indexed, ...difference(before.skills, indexed.index.skills) };
}

function difference(before: readonly AvailableSkill[], now: readonly AvailableSkill[]): SourceDifference {
  const old = new Map(before.map((skill) => [skill.name, skill]));
  const present = new Set(now.map(({ name }) => name));
  const names = (skills: readonly AvailableSkill[]): readonly string[] => skills.map(({ name }) => name);
  return {
    added: names(now.filter(({ name }) => !old.has(name))),
    removed: names(before.filter(({ name }) => !present.has(name))),
    changed: names(
      now.filter(({ name, digest, description }) => {
        const known = old.get(name);
        return known !== undefined && (known.digest !== digest || known.description !== description);
      }),
    ),
  };
}
