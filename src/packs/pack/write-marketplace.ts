/** Writes `.claude-plugin/marketplace.json`, so that agents and `install` find the skills of a repository as plugins. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { compareText, isObject, isValidName, parseJson, quoted } from '#core';
import { isDirectory, isPresent, makeFolders, readTextFile, realPath, writeFileAtomically } from '#platform';
import { openPlugin } from '#skills';
import { refused } from '../problems.ts';
import { findSkills } from '../sources/folder.ts';
import { MARKETPLACE_FILES } from '../sources/marketplace.ts';

interface WrittenMarketplace {
  readonly file: string;
  readonly plugins: readonly { readonly name: string; readonly source: string; readonly skills?: readonly string[] }[];
}

const MAX_BYTES = 4 * 1024 * 1024;
const STALE_MS = 60 * 60 * 1000;

/**
 * One plugin for each Agent Plugin in a subfolder, and one with the name of the marketplace for all other skills. Of a file that is there,
 * owner and metadata are kept. Throws a refusal.
 */
export function writeMarketplace(
  folder: string,
  {
    name,
    force = false,
    dryRun = false,
  }: { readonly name: string; readonly force?: boolean; readonly dryRun?: boolean },
): WrittenMarketplace {
  if (!isValidName(name)) throw refused('pack/name', `${quoted(name)} cannot be the name of a marketplace`);
  if (!isDirectory(folder)) throw refused('source/missing', `there is no folder ${quoted(folder, 200)}`, folder);
  const root = realPath(folder);
  const own = pluginFolders(root);
  const isOfPlugin = (skill: string): boolean => own.some(({ at }) => skill.startsWith(`${at}/`));
  const rest = findSkills(root).folders.filter((skill) => !isOfPlugin(skill));
  const skills = rest.map((skill) => (skill === '' ? './' : `./${skill}`));
  const plugins = [
    ...(skills.length === 0 ? [] : [{ name, description: `Skills of ${name}`, source: './', strict: false, skills }]),
    ...own.map(({ at, plugin }) => ({ name: plugin.name, description: plugin.description ?? '', source: `./${at}` })),
  ];
  if (plugins.length === 0) throw refused('pack/no-skill', `${quoted(folder, 200)} has no skill and no plugin`, folder);
  const twice = plugins.find((one, at) => plugins.findIndex((other) => other.name === one.name) !== at);
  if (twice !== undefined) throw refused('source/marketplace', `two plugins are called ${quoted(twice.name)}`);
  const file = path.join(root, MARKETPLACE_FILES[0]);
  if (isPresent(file) && !force) throw refused('pack/exists', `${quoted(file, 200)} exists already`, file);
  const before = readTextFile(file, MAX_BYTES);
  const known = before.type === 'read' ? parseJson(before.text) : undefined;
  const text = JSON.stringify({ name, owner: { name }, ...keptFields(known), plugins }, undefined, 2);
  if (!dryRun) {
    makeFolders(path.dirname(file));
    writeFileAtomically(file, Buffer.from(`${text}\n`, 'utf8'), { sync: true, staleMs: STALE_MS });
  }
  return { file, plugins };
}

function keptFields(before: unknown): object {
  if (!isObject(before)) return {};
  const { owner, metadata } = before;
  return { ...(isObject(owner) ? { owner } : {}), ...(isObject(metadata) ? { metadata } : {}) };
}

/** Plugins lie directly in the repository or in its folder `plugins`. */
function pluginFolders(root: string) {
  const below = ['', 'plugins'].flatMap((folder) => {
    const dir = path.join(root, folder);
    if (!isDirectory(dir)) return [];
    const entries = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return entries.map((entry) => path.posix.join(folder, entry.name)).filter((at) => !at.startsWith('.'));
  });
  return below.toSorted(compareText).flatMap((at) => {
    const plugin = openPlugin(path.join(root, at));
    if (typeof plugin === 'string') throw refused('pack/plugin', `${at}/plugin.json: ${plugin}`);
    return plugin === undefined ? [] : [{ at, plugin }];
  });
}
