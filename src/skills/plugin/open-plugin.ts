/** Opens a folder with an Agent Plugin (1.0.0): its skills, its MCP servers and files of clients. Nothing of it is run. */
import { lstatSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { compareText, printable, quoted } from '#core';
import { isDirectory, isInside, isSystemError, readTextFile, readTreeDigest, realPath, sha256 } from '#platform';
import { readPluginManifest, type PluginManifest } from './plugin-manifest.ts';
import { expandPlaceholders, readPluginServers, type PluginServer } from './plugin-servers.ts';

export interface Plugin extends PluginManifest {
  /** With all links resolved: `PLUGIN_ROOT`. */
  readonly dir: string;
  /** Names of folders in `skills` that have a SKILL.md, sorted. */
  readonly skills: readonly string[];
  readonly servers: readonly PluginServer[];
  /** Files in folders of clients that look like hooks, relative to the plugin. They are never run. */
  readonly hooks: readonly string[];
  /** What was ignored or left out, each a sentence; safe to print. */
  readonly problems: readonly string[];
  /** The folder that the client keeps for the plugin. */
  readonly dataFolder: (home: string | undefined) => string;
  readonly launch: (server: PluginProgram, home: string | undefined) => Launch;
  /**
   * The path and the digest to which trust in the servers is bound. Every byte counts, also of `.git`: a server can run any file. The path
   * is a file, so that trust in a skill, which is bound to a folder, never counts for servers.
   */
  readonly readServerTrust: () => Promise<
    { readonly type: 'digest'; readonly dir: string; readonly digest: string } | TreeRefusal
  >;
}

type TreeRefusal = Exclude<Awaited<ReturnType<typeof readTreeDigest>>, { readonly type: 'digest' }>;

type PluginProgram = Extract<PluginServer, { readonly type: 'stdio' }>;

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;
/** Windows gives these names to devices. */
const DEVICE = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9])(?:\.|$)/;
const MAX_HOOKS = 20;

/** Undefined if the folder is no Agent Plugin. A text says why the plugin is rejected as a whole. */
export function openPlugin(folder: string): Plugin | string | undefined {
  const dir = realPath(folder);
  const text = readInside(dir, 'plugin.json');
  if (text.type === 'outside') return 'plugin.json leads out of the plugin';
  if (text.type === 'absent') return undefined;
  if (text.type !== 'read')
    return `plugin.json is not a text file in UTF-8 of at most ${String(MAX_MANIFEST_BYTES)} bytes`;
  const read = readPluginManifest(text.text);
  if (read === undefined || typeof read === 'string') return read;
  const problems = read.ignored.map((ignored) => `plugin.json: ${ignored}`);
  if (DEVICE.test(read.manifest.name))
    problems.push(`no folder can be called ${quoted(read.manifest.name)} on Windows, so install refuses it`);
  const skills = listSkills(dir, problems);
  const servers = listServers(dir, problems);
  const { name } = read.manifest;
  const dataFolder: Plugin['dataFolder'] = (home) =>
    path.join(home ?? dir, '.agent/plugins/data', `${name}-${sha256(Buffer.from(dir)).slice(0, 12)}`);
  return {
    ...read.manifest,
    dir,
    skills,
    servers,
    hooks: listHooks(dir),
    problems,
    dataFolder,
    launch: (server, home) => launchServer(server, { root: dir, data: dataFolder(home) }),
    async readServerTrust() {
      const tree = await readTreeDigest(dir, { repositoryData: true });
      return tree.type === 'digest' ? { type: 'digest', dir: path.join(dir, 'mcp.json'), digest: tree.digest } : tree;
    },
  };
}

/** The client's own variables replace equal names of the plugin, which are refused anyway. */
function launchServer(
  { command, args, env, cwd = './' }: PluginProgram,
  places: { readonly root: string; readonly data: string },
): Launch {
  const expanded = Object.entries(env).map(([name, value]) => [name, expandPlaceholders(value, places)] as const);
  return {
    command: command.startsWith('./') ? path.join(places.root, command) : command,
    args: args.map((one) => expandPlaceholders(one, places)),
    env: { ...Object.fromEntries(expanded), PLUGIN_ROOT: places.root, PLUGIN_DATA: places.data },
    cwd: path.resolve(places.root, expandPlaceholders(cwd, places)),
  };
}

type InsideFile =
  | { readonly type: 'read'; readonly text: string }
  | { readonly type: 'absent' | 'outside' | 'unusable' };

function readInside(dir: string, file: string): InsideFile {
  const place = path.join(dir, file);
  if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return { type: 'absent' };
  if (!isInside(realPath(place), dir)) return { type: 'outside' };
  const read = readTextFile(place, MAX_MANIFEST_BYTES);
  return read.type === 'read' && read.validUtf8 ? { type: 'read', text: read.text } : { type: 'unusable' };
}

/** Only the direct children of `skills`: deeper folders are files of a skill. */
function listSkills(dir: string, problems: string[]): readonly string[] {
  const folder = path.join(dir, 'skills');
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  if (!isDirectory(folder) || !isInside(realPath(folder), dir)) {
    problems.push('skills is not a folder inside the plugin: no skill is used');
    return [];
  }
  return readdirSync(folder)
    .filter((name) => {
      const file = path.join(folder, name, 'SKILL.md');
      if (!isRegularFile(file)) return false;
      const isOwn = isInside(realPath(file), dir);
      if (!isOwn) problems.push(`skills/${printable(name)} leads out of the plugin: it is left out`);
      return isOwn;
    })
    .toSorted(compareText);
}

function isRegularFile(file: string): boolean {
  try {
    return (
      statSync(file, { throwIfNoEntry: false })?.isFile() === true &&
      readdirSync(path.dirname(file)).includes('SKILL.md')
    );
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  }
}

function listServers(dir: string, problems: string[]): readonly PluginServer[] {
  const read = readInside(dir, 'mcp.json');
  if (read.type === 'absent') return [];
  if (read.type !== 'read') {
    problems.push('mcp.json is not a text file inside the plugin: no server is used');
    return [];
  }
  const { servers, problems: others } = readPluginServers(read.text);
  problems.push(...others);
  return servers.filter((server) => {
    if (server.type !== 'stdio') return true;
    const { command, cwd = '' } = server;
    // The real data folder is ours and has no links.
    const places = [command, cwd.startsWith('${PLUGIN_DATA}') ? '' : expandPlaceholders(cwd, { root: dir, data: '' })];
    const isOwn = places.every((one) => !/^[./]/.test(one) || isInside(realPath(path.resolve(dir, one)), dir));
    if (!isOwn)
      problems.push(`the MCP server ${JSON.stringify(printable(server.name))} leads out of the plugin: it is left out`);
    return isOwn;
  });
}

/** Folders of clients are called as their domain in reverse, such as `com.example.client`. */
const CLIENT_FOLDER = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;

function listHooks(dir: string): readonly string[] {
  const clients = readdirSync(dir, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && CLIENT_FOLDER.test(entry.name),
  );
  const found = [...clients.map(({ name }) => name), ''].flatMap((folder) =>
    ['hooks', 'hooks.json']
      .map((name) => path.posix.join(folder, name))
      .filter((at) => lstatSync(path.join(dir, at), { throwIfNoEntry: false }) !== undefined),
  );
  return found.toSorted(compareText).slice(0, MAX_HOOKS);
}
