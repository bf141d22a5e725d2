/** Finds which skills of a source belong to the plugin that is wanted, and names what of the plugin is not installed. */
import path from 'node:path';

import { isObject, parentFolder, parseJson, quoted } from '#core';
import { isInside, readTextFile, realPath } from '#platform';
import { refused } from '../problems.ts';
import { readMarketplaces, readSkillPaths } from './marketplace.ts';
import type { PluginChoice, StageContext, StagedSource } from './source.ts';

/** Reads a file of a source; undefined if it is absent, a link that leads out, or not text. Throws a refusal if it is too large. */
export type ReadSourceFile = (file: string) => Promise<string | undefined>;

export const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;

export function openFolderFiles(root: string): ReadSourceFile {
  const real = realPath(root);
  return async (file) => {
    const place = path.join(root, file);
    if (!isInside(realPath(place), real)) return undefined;
    const read = readTextFile(place, MAX_MANIFEST_BYTES);
    if (read.type === 'read') return read.validUtf8 ? read.text : undefined;
    if (read.type === 'failed')
      throw refused('source/marketplace', `${quoted(file)} cannot be read: ${read.reason}`, file);
    return undefined;
  };
}

interface FoundFolders {
  readonly folders: readonly string[];
  readonly leftOut: readonly string[];
}

/** Manifests of plugins of single agents. Only `skills` is used; Gemini has one folder for them. */
const MANIFESTS = ['.claude-plugin/plugin.json', '.codex-plugin/plugin.json', 'gemini-extension.json'] as const;
const HOOK_FILES = ['hooks/hooks.json', 'hooks.json'] as const;

type Chosen = FoundFolders & Pick<StagedSource, 'marketplaces'>;

/** The skills to stage of those that were found, and with `withPlugins` the plugins that the source lists. Throws a refusal. */
export async function choosePluginSkills(
  found: FoundFolders,
  { plugin, withPlugins = false }: Pick<StageContext, 'plugin' | 'withPlugins'>,
  read: ReadSourceFile,
): Promise<Chosen> {
  if (plugin !== undefined) return await skillsOfPlugin(found, plugin, read);
  return withPlugins ? { ...found, marketplaces: await readMarketplaces(read) } : found;
}

export function hasPlugins(marketplaces: StagedSource['marketplaces']): boolean {
  return marketplaces?.lists.some(({ plugins }) => plugins.length > 0) === true;
}

/**
 * The skills that the marketplace lists; without a list those in `skills`, those that a manifest names, or the plugin itself. Other skills
 * of the source are left out.
 */
async function skillsOfPlugin(
  found: FoundFolders,
  { name, skills }: PluginChoice,
  read: ReadSourceFile,
): Promise<FoundFolders> {
  const leftOut = found.leftOut.filter((line) => !line.startsWith('.mcp.json: '));
  const paths = new Set(skills ?? ['skills']);
  for (const file of MANIFESTS) {
    const text = await read(file);
    if (text === undefined) continue;
    const manifest = parseJson(text);
    const named = isObject(manifest) ? readSkillPaths(manifest['skills']) : undefined;
    if (!isObject(manifest) || named === undefined) {
      leftOut.push(
        `${file}: ${isObject(manifest) ? '"skills" has a path that leads out' : 'not a JSON object'}; ignored`,
      );
      continue;
    }
    if (skills === undefined) for (const one of named) paths.add(one);
    const servers = Object.keys(isObject(manifest['mcpServers']) ? manifest['mcpServers'] : {});
    if (servers.length > 0) leftOut.push(`${file}: ${serverText(servers)}`);
    if (isObject(manifest['hooks'])) leftOut.push(`${file}: hooks are not installed`);
  }
  const servers = parseJson((await read('.mcp.json')) ?? '');
  if (isObject(servers)) {
    const { mcpServers = servers } = servers;
    leftOut.push(`.mcp.json: ${serverText(Object.keys(isObject(mcpServers) ? mcpServers : {}))}`);
  }
  for (const file of HOOK_FILES) if ((await read(file)) !== undefined) leftOut.push(`${file}: hooks are not installed`);
  const isMeant = (folder: string): boolean =>
    paths.has(folder) || paths.has(parentFolder(folder)) || (folder === '' && skills === undefined);
  const folders = found.folders.filter(isMeant);
  for (const listed of skills ?? [])
    if (!folders.some((folder) => folder === listed || parentFolder(folder) === listed))
      leftOut.push(`${listed}: the marketplace lists it for ${quoted(name)}, and no skill is there`);
  return { folders, leftOut };
}

function serverText(names: readonly string[]): string {
  const [first, ...others] = names.map((name) => quoted(name, 64));
  const listed = [first ?? 'none', ...others.slice(0, 4), ...(others.length > 4 ? ['...'] : [])];
  return `MCP servers are not installed: ${listed.join(', ')}`;
}
