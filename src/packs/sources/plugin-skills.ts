/** Finds which skills of a source belong to the plugin that is wanted, and names what of the plugin is not installed. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { compareText, isObject, parentFolder, parseJson, quoted } from '#core';
import { isDirectory, isInside, isPresent, readTextFile, realPath } from '#platform';
import { readPluginManifest } from '#skills';
import { refused } from '../problems.ts';
import { readMarketplaces, readSkillPaths } from './marketplace.ts';
import { SKILL_FILE_NAME } from './skill-folders.ts';
import type { PluginChoice, StageContext, StagedSource } from './source.ts';

/** The files of a source that say what belongs to a plugin. */
export interface SourceFiles {
  /** Undefined if the file is absent, a link that leads out, or not text. Throws a refusal if it is too large. */
  readonly read: (file: string) => Promise<string | undefined>;
  /** The folder of the source that may be a plugin (default: its top). */
  readonly top?: string;
  /** The direct children of the folder `skills` that have a SKILL.md. */
  readonly pluginSkills: () => readonly string[];
}

export const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;

/** The code for a file that is too large or cannot be read. */
export function codeFor(file: string): 'source/marketplace' | 'pack/plugin' {
  return file.endsWith('marketplace.json') ? 'source/marketplace' : 'pack/plugin';
}

/** Only of this file is it known that it says what the source is: without it, a plugin would be taken for loose skills. */
export function unusable(file: string, problem: string): undefined {
  if (file === 'plugin.json') throw refused('pack/plugin', `plugin.json ${problem}`, file);
  return undefined;
}

/** `top`: a folder below, such as the only one of an archive. */
export function openFolderFiles(source: string, top = ''): SourceFiles {
  const root = path.join(source, top);
  const real = realPath(root);
  const read: SourceFiles['read'] = async (file) => {
    const place = path.join(root, file);
    if (!isInside(realPath(place), real)) return unusable(file, 'leads out of the source');
    const read = readTextFile(place, MAX_MANIFEST_BYTES);
    if (read.type === 'read') return read.validUtf8 ? read.text : unusable(file, 'is not text in UTF-8');
    if (read.type === 'failed') throw refused(codeFor(file), `${quoted(file)} cannot be read: ${read.reason}`, file);
    return undefined;
  };
  const pluginSkills = (): readonly string[] => {
    const folder = path.join(root, 'skills');
    if (!isDirectory(folder) || !isInside(realPath(folder), real)) return [];
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isPresent(path.join(folder, entry.name, SKILL_FILE_NAME)))
      .map(({ name }) => name);
  };
  return { read, top, pluginSkills };
}

interface FoundFolders {
  readonly folders: readonly string[];
  readonly leftOut: readonly string[];
}

/** Manifests of plugins of single agents. Only `skills` is used; Gemini has one folder for them. */
const MANIFESTS = ['.claude-plugin/plugin.json', '.codex-plugin/plugin.json', 'gemini-extension.json'] as const;
const HOOK_FILES = ['hooks/hooks.json', 'hooks.json'] as const;

type Chosen = FoundFolders & Pick<StagedSource, 'marketplaces' | 'isPlugin'>;

/**
 * The skills to stage of those that were found: all; those of a plugin that a marketplace lists; only those in `skills` of an Agent Plugin; or
 * the top as the one folder to stage if a whole plugin is wanted. Throws a refusal.
 */
export async function choosePluginSkills(
  found: FoundFolders,
  { plugin, withPlugins = false, wholePlugin = false }: Pick<StageContext, 'plugin' | 'withPlugins' | 'wholePlugin'>,
  files: SourceFiles,
): Promise<Chosen> {
  const marketplaces = withPlugins ? await readMarketplaces(files.read) : undefined;
  const text = plugin?.skills === undefined ? await files.read('plugin.json') : undefined;
  const manifest = text === undefined ? undefined : readPluginManifest(text);
  if (typeof manifest === 'string') throw refused('pack/plugin', `plugin.json: ${manifest}`, 'plugin.json');
  if (manifest !== undefined && wholePlugin) return { folders: [files.top ?? ''], leftOut: [], marketplaces };
  if (wholePlugin) throw refused('pack/plugin', 'the source has no plugin.json of Agent Plugins 1.0.0');
  if (manifest !== undefined) return { ...skillsOfAgentPlugin(found, files), marketplaces, isPlugin: true };
  return plugin === undefined ? { ...found, marketplaces } : await skillsOfPlugin(found, plugin, files.read);
}

/** The specification puts skills in `skills` and nowhere else. */
function skillsOfAgentPlugin(
  { folders, leftOut }: FoundFolders,
  { top = '', pluginSkills }: SourceFiles,
): FoundFolders {
  const own = pluginSkills()
    .map((name) => path.posix.join(top, 'skills', name))
    .toSorted(compareText);
  const others = folders
    .filter((folder) => !own.includes(folder))
    .map((folder) => `${path.posix.join(folder, SKILL_FILE_NAME)}: not directly in skills/ of the plugin`);
  return { folders: own, leftOut: [...leftOut, ...others] };
}

/** Whether a source can be used without a skill: it lists plugins, or it is a plugin, perhaps only with MCP servers. */
export function maySkipSkills(
  { marketplaces, isPlugin = false }: Pick<StagedSource, 'marketplaces' | 'isPlugin'>,
  { withPlugins = false }: Pick<StageContext, 'withPlugins'>,
): boolean {
  return (withPlugins && isPlugin) || marketplaces?.lists.some(({ plugins }) => plugins.length > 0) === true;
}

/**
 * The skills that the marketplace lists; without a list those in `skills`, those that a manifest names, or the plugin itself. Other skills
 * of the source are left out.
 */
async function skillsOfPlugin(
  found: FoundFolders,
  { name, skills }: PluginChoice,
  read: SourceFiles['read'],
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
