/** The one way in for every source: its bytes come to the staging folder, and what was found there is said. Nothing is judged but names. */
import path from 'node:path';

import { ARCHIVE_LIMITS } from '../../core/archive-limits.ts';
import { packRefusal, orSystemRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { sourceText } from './source-text.ts';
import type { BroughtSource, PackSource, BringOptions, Bringing } from './source.ts';
import { quoted } from '../../core/text/text.ts';
import { bringArchive } from './archive.ts';
import { bringFolder } from './folder.ts';

/**
 * Brings a source into `to`. Folders and archives of this machine load nothing that knows of a network. Throws what the signal was
 * aborted with; all else that can go wrong is a refusal.
 */
export async function bringSource(source: PackSource, options: BringOptions): Promise<BroughtSource | PackRefusal> {
  options.signal?.throwIfAborted();
  const bringing: Bringing = {
    ...options,
    limits: options.limits ?? ARCHIVE_LIMITS,
    network: options.network ?? {},
    tree: path.join(options.to, 'tree'),
  };
  return await orSystemRefusal(() => bring(source, bringing), 'the source cannot be staged', 'source/failed');
}

async function bring(source: PackSource, bringing: Bringing): Promise<BroughtSource | PackRefusal> {
  if (source.type === 'folder') return await bringFolder(source, bringing);
  if (source.type === 'archive') return await bringArchive(source, bringing);
  if (bringing.offline === true)
    return packRefusal('source/not-offline', `${quoted(sourceText(source), 200)} is not on this machine`);
  switch (source.type) {
    case 'url':
      return await (await import('./url.ts')).bringUrl(source, bringing);
    case 'git':
      return await (await import('./git.ts')).bringGit(source, bringing);
    case 'npm':
      return await (await import('./npm.ts')).bringNpm(source, bringing);
    case 'well-known':
      return await (await import('./well-known.ts')).bringSite(source, bringing);
  }
}
