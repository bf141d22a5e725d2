/** Finds the SKILL.md files that an agent reads. */
import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';

import type { Surroundings } from '#core';
import { expandFolder } from '#packs';
import { isDirectory, isPresent, isSystemError, realPath } from '#platform';
import type { Agent, FolderRule } from './agents/agent.ts';

export interface ReadFolder {
  readonly path: string;
  readonly scope: 'project' | 'user';
  /** Paths of SKILL.md, sorted. */
  readonly files: readonly string[];
  /** Folders below it that cannot be listed, or that are too many. */
  readonly problems: readonly string[];
}

type Location = Pick<Surroundings, 'cwd' | 'home' | 'env'>;

/** More folders below one root than any agent was measured with. */
const MAX_FOLDERS = 50_000;

/** The folders of an agent that exist, each once, in the agent's order. */
export function readFolders(agent: Agent, place: Location): readonly ReadFolder[] {
  const seen = new Set<string>();
  return agent.folders.flatMap((rule) =>
    placesOf(rule, place).flatMap(({ folder, scope }) => {
      const real = realPath(folder);
      if (seen.has(real) || !isDirectory(folder)) return [];
      seen.add(real);
      return [{ path: folder, scope, ...findFiles(folder, rule) }];
    }),
  );
}

/** Where an agent looks, whether or not the folders exist. */
export function namedFolders(agent: Agent, place: Location): readonly string[] {
  return agent.folders.flatMap((rule) => placesOf(rule, place).map(({ folder }) => folder));
}

function placesOf(
  { path: text, isInParents = false }: FolderRule,
  place: Location,
): readonly { readonly folder: string; readonly scope: 'project' | 'user' }[] {
  if (/^[~$/]/.test(text)) {
    const folder = expandFolder(text, place);
    return folder === undefined ? [] : [{ folder, scope: 'user' }];
  }
  const above = isInParents ? parentsOf(place.cwd) : [place.cwd];
  return above.map((top) => ({ folder: path.join(top, text), scope: 'project' }));
}

/** The working directory and the folders above it, up to the top of the repository if there is one. */
function parentsOf(cwd: string): readonly string[] {
  const all = [cwd];
  for (let at = cwd; !isPresent(path.join(at, '.git')) && path.dirname(at) !== at; at = path.dirname(at))
    all.push(path.dirname(at));
  return all;
}

function findFiles(
  top: string,
  { depth = 1, isInsideSkills = false, withHidden = false }: FolderRule,
): Pick<ReadFolder, 'files' | 'problems'> {
  const files: string[] = [];
  const problems: string[] = [];
  const seen = new Set([realPath(top)]);
  const pending = [{ folder: top, real: realPath(top), level: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { folder, level } = next;
    if (seen.size >= MAX_FOLDERS) {
      problems.push(`${top} has more than ${String(MAX_FOLDERS)} folders; the rest was not read`);
      break;
    }
    const entries = entriesOf(folder);
    if (entries === undefined) {
      problems.push(`${folder} cannot be listed`);
      continue;
    }
    const isSkill = level > 0 && entries.some(({ name }) => name === 'SKILL.md');
    if (isSkill) files.push(path.join(folder, 'SKILL.md'));
    if (level >= depth || (isSkill && !isInsideSkills)) continue;
    for (const entry of entries) {
      if (entry.name === 'node_modules' || entry.name === '.git' || (entry.name.startsWith('.') && !withHidden))
        continue;
      const below = path.join(folder, entry.name);
      if (!entry.isDirectory() && !(entry.isSymbolicLink() && isDirectory(below))) continue;
      // A link may lead to a folder above, or to one that was read.
      const real = entry.isSymbolicLink() ? realPath(below) : path.join(next.real, entry.name);
      if (seen.has(real)) continue;
      seen.add(real);
      pending.push({ folder: below, real, level: level + 1 });
    }
  }
  return { files: files.toSorted(), problems };
}

function entriesOf(folder: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
