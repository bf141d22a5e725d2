/** Stages any kind of source: fetches its bytes into the staging folder and finds its skills. Only file names are validated here. */
import path from 'node:path';

import { quoted, ARCHIVE_LIMITS } from '#core';
import { isRefusal, orSystemRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import { sourceText } from './source-text.ts';
import type { PackSource, StageContext, StageOptions, StagedSource } from './source.ts';
import { stageArchive } from './archive.ts';
import { stageFolder } from './folder.ts';
import type { SiteIndex } from './well-known.ts';

/**
 * Stages a source into `to`. Local folders and archives load no network code. Throws the abort reason; every other failure is a refusal.
 */
export async function stageSource(source: PackSource, options: StageOptions): Promise<StagedSource | PackRefusal> {
  options.signal?.throwIfAborted();
  const context = toStageContext(options);
  const staged = await orSystemRefusal(() => stage(source, context), 'the source cannot be staged', 'source/failed');
  if (isRefusal(staged) || staged.skills.length > 0 || staged.unusable.length !== 1) return staged;
  // The source is the skill.
  return staged.unusable[0]?.refusal ?? staged;
}

/** Reads what a site lists, without fetching a skill. */
export async function readSite(
  source: Extract<PackSource, { type: 'well-known' }>,
  options: StageOptions,
): Promise<SiteIndex | PackRefusal> {
  options.signal?.throwIfAborted();
  const { findIndex } = await import('./well-known.ts');
  const read = (): Promise<SiteIndex | PackRefusal> => findIndex(source.url, toStageContext(options));
  return await orSystemRefusal(read, 'the index of the site cannot be read', 'source/failed');
}

function toStageContext(options: StageOptions): StageContext {
  return {
    ...options,
    limits: options.limits ?? ARCHIVE_LIMITS,
    network: options.network ?? {},
    tree: path.join(options.to, 'tree'),
  };
}

async function stage(source: PackSource, context: StageContext): Promise<StagedSource | PackRefusal> {
  if (source.type === 'folder') return await stageFolder(source, context);
  if (source.type === 'archive') return await stageArchive(source, context);
  const isLocal = source.type === 'git' && source.url.startsWith('file:');
  if (context.offline === true && !isLocal)
    return packRefusal('source/not-offline', `${quoted(sourceText(source), 200)} is not a local source`);
  switch (source.type) {
    case 'url':
      return await (await import('./url.ts')).stageUrl(source, context);
    case 'git':
      return await (await import('./git.ts')).stageGit(source, context);
    case 'npm':
      return await (await import('./npm.ts')).stageNpm(source, context);
    case 'well-known':
      return await (await import('./well-known.ts')).stageSite(source, context);
  }
}
