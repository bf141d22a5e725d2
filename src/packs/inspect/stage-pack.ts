/** Turns a typed source into staged skills. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { isDirectory, isPresent } from '#platform';
import { ARCHIVE_LIMITS, quoted } from '#core';
import { isRefusal, orSystemRefusal, refused, type PackRefusal } from '../problems.ts';
import { readSource, sourceText } from '../sources/source-text.ts';
import type { PackSource, SourceContents, StagedSource, StageContext, StageOptions } from '../sources/source.ts';
import { resolveTypedPath, stageFolder } from '../sources/folder.ts';
import type { PackSettings } from '../pack-settings.ts';
import type { SiteIndex } from '../sources/well-known.ts';
import { stageArchive } from '../sources/archive.ts';
import { stagePlugin } from '../sources/plugin.ts';

export interface StagePackOptions extends Omit<StageOptions, 'cwd' | 'home' | 'env' | 'limits' | 'network'> {
  readonly settings: PackSettings;
}

/** Parses a typed source. An existing path takes precedence over a repository shorthand. */
export function readTypedSource(text: string, { surroundings, network }: PackSettings): PackSource | PackRefusal {
  const { cwd, home = cwd } = surroundings;
  const source = readSource(text, {
    looksLikeFolder(typed) {
      const place = resolveTypedPath(typed, { cwd, home });
      if (isDirectory(place)) return 'folder';
      return isPresent(place) ? 'file' : 'absent';
    },
    fileAddress: (typed) => pathToFileURL(resolveTypedPath(typed, { cwd, home })).href,
    allowHttp: network.allowHttp,
  });
  if (source.type !== 'folder') return source;
  const place = resolveTypedPath(source.path, { cwd, home });
  return isBareRepository(place) ? { type: 'git', url: pathToFileURL(place).href } : source;
}

/** Whether a folder is the store of a repository, which has no files to copy. */
function isBareRepository(place: string): boolean {
  return (
    ['objects', 'refs'].every((name) => isDirectory(path.join(place, name))) &&
    isPresent(path.join(place, 'HEAD')) &&
    !isPresent(path.join(place, 'SKILL.md'))
  );
}

/**
 * The source as it is written into the lock. Relative paths are rewritten relative to the root, so that the lock has the same meaning in
 * every working directory and clone.
 */
export function lockedSource(source: PackSource, settings: PackSettings): PackSource {
  if (source.type === 'plugin') {
    const marketplace = lockedSource(source.marketplace, settings);
    return marketplace.type === 'folder' ? { ...source, marketplace } : source;
  }
  if (source.type !== 'folder' && source.type !== 'archive') return source;
  const {
    surroundings: { cwd },
    root,
  } = settings;
  if (path.isAbsolute(source.path) || source.path.startsWith('~')) return source;
  const below = path.relative(root, path.resolve(cwd, source.path)).split(path.sep).join('/');
  return { ...source, path: below.startsWith('..') ? below : `./${below}` };
}

/** Settings for reading sources from the lock: paths are relative to the root. */
export function settingsForLock(settings: PackSettings): PackSettings {
  return { ...settings, surroundings: { ...settings.surroundings, cwd: settings.root } };
}

export function stagePack(source: PackSource, options: StagePackOptions): Promise<StagedSource | PackRefusal> {
  return stageSource(source, stageOptions(options));
}

function stageOptions({ settings, ...rest }: StagePackOptions) {
  const { cwd, home = cwd, env } = settings.surroundings;
  const wholePlugin = settings.unit === 'plugin';
  return { ...rest, cwd, home, env, limits: settings.limits, network: settings.network, wholePlugin };
}

/** The current revision of a source; undefined if it is not known without staging the source. */
export async function currentRevision(source: PackSource, options: StagePackOptions): Promise<string | undefined> {
  if (source.type !== 'git' || options.offline === true) return undefined;
  const { remoteCommit } = await import('../sources/git-repository.ts');
  return await remoteCommit(source, { ...stageOptions(options), tree: options.to });
}

/**
 * Stages a source into `to`. Local folders and archives load no network code. Throws the abort reason; every other failure is a refusal.
 */
export async function stageSource(source: PackSource, options: StageOptions): Promise<StagedSource | PackRefusal> {
  options.signal?.throwIfAborted();
  const context = toStageContext(options);
  const contents = await orSystemRefusal(() => stage(source, context), 'the source cannot be staged', 'source/failed');
  if (isRefusal(contents)) return contents;
  const { revision, archive, leadsTo, unusable = [], leftOut = [], ...rest } = contents;
  const [only, second] = unusable;
  // The source is the skill.
  if (only !== undefined && second === undefined && rest.skills.length === 0) return only.refusal;
  const resolved = { source: sourceText(source), kind: source.type, revision, archive, leadsTo };
  return { type: 'staged', resolved, folder: context.tree, unusable, leftOut, ...rest };
}

/** Reads what a site lists, without fetching a skill. */
export async function listSite(
  source: Extract<PackSource, { type: 'well-known' }>,
  options: StagePackOptions,
): Promise<SiteIndex | PackRefusal> {
  options.signal?.throwIfAborted();
  const { findIndex } = await import('../sources/well-known.ts');
  const context = toStageContext(stageOptions(options));
  return await orSystemRefusal(
    () => findIndex(source.url, context),
    'the index of the site cannot be read',
    'source/failed',
  );
}

function toStageContext(options: StageOptions): StageContext {
  return {
    ...options,
    limits: options.limits ?? ARCHIVE_LIMITS,
    network: options.network ?? {},
    tree: path.join(options.to, 'tree'),
  };
}

async function stage(source: PackSource, context: StageContext): Promise<SourceContents> {
  if (source.type === 'folder') return await stageFolder(source, context);
  if (source.type === 'archive') return await stageArchive(source, context);
  const from = source.type === 'plugin' ? source.marketplace : source;
  const isLocal = from.type === 'folder' || (from.type === 'git' && from.url.startsWith('file:'));
  if (context.offline === true && !isLocal)
    throw refused('source/not-offline', `${quoted(sourceText(source), 200)} is not a local source`);
  if (source.type === 'plugin') return await stagePlugin(source, context, stage);
  if (source.type === 'git') return await (await import('../sources/git.ts')).stageGit(source, context);
  if (source.type === 'npm') return await (await import('../sources/npm.ts')).stageNpm(source, context);
  const { stageSite, stageUrl } = await import('../sources/well-known.ts');
  return source.type === 'url' ? await stageUrl(source, context) : await stageSite(source, context);
}
