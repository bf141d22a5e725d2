/** Stages one plugin of a marketplace: reads the list, then stages the folder or the repository that it names. */
import path from 'node:path';

import { quoted, type SkillError } from '#core';
import { isDirectory, isInside, realPath, removeTree } from '#platform';
import { accepted, refused, type PackRefusal } from '../problems.ts';
import { resolveTypedPath } from './folder.ts';
import { MARKETPLACE_FILES, findPlugin, readMarketplaces } from './marketplace.ts';
import { openFolderFiles } from './plugin-skills.ts';
import { isOnThisMachine, sourceText } from './source-text.ts';
import type { Marketplaces, PackSource, SourceContents, StageContext } from './source.ts';

type PluginSource = Extract<PackSource, { type: 'plugin' }>;
type MarketplaceSource = PluginSource['marketplace'];

/** The lists of a source, and where its folders are staged from. */
interface OpenMarketplace extends Marketplaces {
  readonly isLocal: boolean;
  readonly inside: (folder: string) => PackSource;
}

/** `stage` stages the source of the plugin. Throws a refusal. */
export async function stagePlugin(
  { name, marketplace }: PluginSource,
  context: StageContext,
  stage: (source: PackSource, context: StageContext) => Promise<SourceContents>,
): Promise<SourceContents> {
  const opened = await openMarketplace(marketplace, context);
  if (opened.lists.length === 0) throw noMarketplace(marketplace, opened.problem);
  const { from, ...plugin } = accepted(findPlugin(opened.lists, name, opened));
  const source = 'source' in from ? from.source : opened.inside(from.folder);
  const contents = await stage(source, { ...context, plugin });
  return 'source' in from ? { ...contents, leadsTo: sourceText(from.source) } : contents;
}

async function openMarketplace(source: MarketplaceSource, context: StageContext): Promise<OpenMarketplace> {
  if (source.type === 'folder') {
    const root = resolveTypedPath(source.path, context);
    if (!isDirectory(root)) throw refused('source/missing', `there is no ${quoted(root, 200)}`, root);
    const real = realPath(root);
    return {
      ...(await readMarketplaces(openFolderFiles(root).read)),
      isLocal: true,
      inside(folder) {
        const place = path.join(root, folder);
        if (!isInside(realPath(place), real))
          throw refused('source/marketplace', `${quoted(folder)} is a link that leads out of the marketplace`, folder);
        return { type: 'folder', path: place };
      },
    };
  }
  const { fetchFiles } = await import('./git-repository.ts');
  const own = { folder: path.join(context.to, 'marketplace'), url: source.url, context };
  const { revision, at } = await fetchFiles(own, source);
  const lists = await readMarketplaces(at.read);
  await removeTree(own.folder);
  return {
    ...lists,
    isLocal: source.url.startsWith('file:') || isOnThisMachine(source.url),
    inside: (folder) => ({
      type: 'git',
      url: source.url,
      ref: context.expect?.revision ?? revision,
      folder: [source.folder ?? '', folder].filter((part) => part !== '').join('/') || undefined,
    }),
  };
}

function noMarketplace(source: MarketplaceSource, problem: PackRefusal | undefined): SkillError {
  accepted(problem);
  return refused('source/marketplace', `${quoted(sourceText(source), 200)} has no ${MARKETPLACE_FILES[0]}`);
}
