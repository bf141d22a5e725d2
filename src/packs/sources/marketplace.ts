/** Reads the `marketplace.json` of a repository: a list of plugins, each in a folder of the repository or elsewhere. Every field is untrusted. */
import { isObject, isProblem, parseJson, quoted, readJsonText, toRelativePath } from '#core';
import { packRefusal, type PackRefusal } from '../problems.ts';
import { isOnThisMachine, isPluginName, isRef, readSource } from './source-text.ts';
import type { ListedPlugin, Marketplace, Marketplaces, PackSource, PluginChoice } from './source.ts';

/** Where agents keep the file, the most common place first. */
export const MARKETPLACE_FILES = [
  '.claude-plugin/marketplace.json',
  '.agents/plugins/marketplace.json',
  '.github/plugin/marketplace.json',
  '.cursor-plugin/marketplace.json',
] as const;
const MAX_PLUGINS = 10_000;
const MAX_DEPTH = 32;
const MAX_SHOWN = 20;

interface PluginTarget extends PluginChoice {
  readonly type: 'target';
  /** A folder of the marketplace itself, with `/`, empty for its top; or another source. */
  readonly from: { readonly folder: string } | { readonly source: PackSource };
}

/** A damaged entry affects only its own plugin, so entries are not validated here. */
function readMarketplace(text: string, file: string): Marketplace | PackRefusal {
  const invalid = (what: string): PackRefusal => packRefusal('source/marketplace', `${file} ${what}`, file);
  const value = parseJson(text);
  if (!isObject(value)) return invalid('is not a JSON object');
  const written = readJsonText(text);
  if (written.depth > MAX_DEPTH) return invalid(`is nested more than ${String(MAX_DEPTH)} levels deep`);
  const [path] = written.repeated;
  if (path !== undefined)
    return invalid(`has the duplicate key ${quoted(String(path.at(-1)))} in line ${String(written.locate(path).line)}`);
  const { plugins, renames, metadata } = value;
  if (!Array.isArray(plugins)) return invalid('has no list "plugins"');
  if (plugins.length > MAX_PLUGINS) return invalid(`lists more than ${String(MAX_PLUGINS)} plugins`);
  const pluginRoot = isObject(metadata) ? metadata['pluginRoot'] : undefined;
  return {
    file,
    plugins: plugins.flatMap((entry): readonly ListedPlugin[] => {
      if (!isObject(entry) || typeof entry['name'] !== 'string') return [];
      const { name, description } = entry;
      return [{ name, description: typeof description === 'string' ? description : '', entry }];
    }),
    renames: new Map(
      Object.entries(isObject(renames) ? renames : {}).flatMap(([before, after]) =>
        typeof after === 'string' ? [[before, after] as const] : [],
      ),
    ),
    ...(typeof pluginRoot === 'string' ? { pluginRoot } : {}),
  };
}

export async function readMarketplaces(read: (file: string) => Promise<string | undefined>): Promise<Marketplaces> {
  const lists: Marketplace[] = [];
  let problem: PackRefusal | undefined;
  for (const file of MARKETPLACE_FILES) {
    const text = await read(file);
    const list = text === undefined ? undefined : readMarketplace(text, file);
    if (list !== undefined && 'code' in list) problem ??= list;
    else if (list !== undefined) lists.push(list);
  }
  return { lists, problem };
}

/** The plugins that lie in other repositories, which are not staged with the marketplace. */
export function listElsewhere({ lists }: Marketplaces): readonly ListedPlugin[] {
  return lists.flatMap(({ plugins }) =>
    plugins.filter(({ entry: { source } }) => isObject(source) && source['source'] !== 'local'),
  );
}

/** The entry of a plugin. `isLocal`: the marketplace is on this machine, so it may name servers of this machine. */
export function findPlugin(
  marketplaces: readonly Marketplace[],
  name: string,
  { isLocal }: { readonly isLocal: boolean },
): PluginTarget | PackRefusal {
  for (const marketplace of marketplaces) {
    const { plugins, renames, file } = marketplace;
    const current = plugins.some((plugin) => plugin.name === name) ? name : renames.get(name);
    const [plugin, second] = plugins.filter((one) => one.name === current);
    if (plugin === undefined) continue;
    if (second !== undefined) return packRefusal('source/marketplace', `${file} lists ${quoted(name)} twice`, file);
    if (!isPluginName(name))
      return packRefusal(
        'source/marketplace',
        `${file} lists ${quoted(name)}: a lock cannot name it; the name needs 1 to 128 of letters, digits, _, . and -`,
        file,
      );
    return readTarget(plugin, marketplace, isLocal);
  }
  const names = marketplaces.flatMap(({ plugins }) => plugins.map((plugin) => quoted(plugin.name, 64)));
  const more = names.length > MAX_SHOWN ? ` and ${String(names.length - MAX_SHOWN)} more` : '';
  const has = names.length === 0 ? 'no plugins' : `${names.slice(0, MAX_SHOWN).join(', ')}${more}`;
  return packRefusal('pack/unknown-skill', `the marketplace has no plugin ${quoted(name)}; it has ${has}`);
}

function readTarget(
  { name, entry }: ListedPlugin,
  { file, pluginRoot }: Marketplace,
  isLocal: boolean,
): PluginTarget | PackRefusal {
  const invalid = (what: string): PackRefusal =>
    packRefusal('source/marketplace', `the plugin ${quoted(name)} in ${file} ${what}`, file);
  const skills = readSkillPaths(entry['skills']);
  if (skills === undefined) return invalid('has "skills" that are not relative paths inside the plugin');
  const choice = { type: 'target', name, ...(skills.length === 0 ? {} : { skills }) } as const;
  const { source } = entry;
  const inside = (written: unknown, root = ''): PluginTarget | PackRefusal => {
    const folder = typeof written === 'string' ? readInside(root === '' ? written : `${root}/${written}`) : undefined;
    return folder === undefined
      ? invalid(`has the source ${shownValue(written)}, which is not a folder inside the marketplace`)
      : { ...choice, from: { folder } };
  };
  // A bare name is a folder of `pluginRoot`.
  if (typeof source === 'string') return inside(source, /^\.\.?(?:\/|$)/.test(source) ? '' : pluginRoot);
  if (!isObject(source)) return invalid('has no source');
  if (source['source'] === 'local') return inside(source['path']);
  const elsewhere = readElsewhere(source, isLocal);
  return typeof elsewhere === 'string' ? invalid(elsewhere) : { ...choice, from: { source: elsewhere } };
}

/** A source in another place; text says what is wrong with it, without credentials. */
function readElsewhere(source: Readonly<Record<string, unknown>>, isLocal: boolean): PackSource | string {
  const { source: kind, sha, ref, path } = source;
  if (kind === 'npm') return readPackage(source);
  const address =
    kind === 'github'
      ? typeof source['repo'] === 'string' && GITHUB.test(source['repo']) && `github:${source['repo']}`
      : (kind === 'url' || kind === 'git' || kind === 'git-subdir') && source['url'];
  if (kind !== 'github' && address === false)
    return `has a source of the kind ${shownValue(kind)}, which is not supported`;
  if (typeof address !== 'string') return `has a source of the kind ${shownValue(kind)} without a valid address`;
  const git = readRepository(address, isLocal);
  if (typeof git === 'string') return git;
  if (sha !== undefined && (typeof sha !== 'string' || !COMMIT.test(sha)))
    return `has the sha ${shownValue(sha)}, which is not a full commit`;
  if (ref !== undefined && (typeof ref !== 'string' || !isRef(ref)))
    return `has the ref ${shownValue(ref)}, which is not a branch, tag or commit`;
  if (kind === 'git-subdir' && path === undefined) return 'has a git-subdir source without a path';
  const folder = path === undefined ? '' : typeof path === 'string' ? readInside(path) : undefined;
  if (folder === undefined) return `has the path ${shownValue(path)}, which is not a folder inside the repository`;
  return { ...git, ref: sha?.toLowerCase() ?? ref ?? git.ref, folder: folder === '' ? git.folder : folder };
}

const GITHUB = /^[\w-][\w.-]*\/[\w-][\w.-]*$/;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
type GitSource = Extract<PackSource, { type: 'git' }>;

/** Local paths and helpers are refused: a stranger's list must not read files of this machine or choose programs. */
function readRepository(address: string, isLocal: boolean): GitSource | string {
  const shown = shownValue(address);
  const text = /^https?:/i.test(address) ? `git+${address}` : address;
  if (!/^(?:git\+https?|ssh|github):|^[\w.-]+@[\w.-]+:/i.test(text))
    return `has the address ${shown}, which is not a repository on a server`;
  const read = readSource(text, { looksLikeFolder: () => 'absent' });
  if (read.type !== 'git')
    return `has the address ${shown}: ${read.type === 'refused' ? read.message : 'no repository'}`;
  if (!isLocal && isOnThisMachine(read.url))
    return `has the address ${shown}, which is this machine; only a marketplace on this machine may name it`;
  return read;
}

function readPackage({ package: name, version, registry }: Readonly<Record<string, unknown>>): PackSource | string {
  if (registry !== undefined) return 'names a registry; packages come from the registry of your npm configuration';
  if (typeof name !== 'string' || (version !== undefined && typeof version !== 'string'))
    return 'has an npm source without a package name';
  const read = readSource(`npm:${name}${version === undefined ? '' : `@${version}`}`, {
    looksLikeFolder: () => 'absent',
  });
  return read.type === 'npm' ? read : `has the npm package ${shownValue(name)}, which is not a package name`;
}

/** A folder below the top, or empty for the top itself; undefined if it leads out. */
function readInside(written: string): string | undefined {
  if (/^(?:\.\/*)+$/.test(written) && !written.includes('..')) return '';
  const path = toRelativePath(written);
  return isProblem(path) || written.startsWith('-') ? undefined : path;
}

/** Also of a manifest: one path or several. Undefined if one is invalid. */
export function readSkillPaths(value: unknown): readonly string[] | undefined {
  const written: readonly unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value];
  const paths = written.map((one) => (typeof one === 'string' ? readInside(one) : undefined));
  return paths.every((one) => one !== undefined) ? paths : undefined;
}

/** Without user, password and query of an address. */
function shownValue(value: unknown): string {
  return quoted(
    typeof value === 'string'
      ? value.replace(/\/\/[^/@\s]*@/, '//').replace(/\?.*$/s, '')
      : JSON.stringify(value ?? null),
    100,
  );
}
