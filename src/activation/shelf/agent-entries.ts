/** The skills of the user that an agent lists, each with all entries through which the agent finds it. */
import path from 'node:path';

import { isPresent, realPath } from '#platform';
import type { Surroundings } from '#core';
import type { Agent, AgentSkill } from '../agents/agent.ts';
import { namedFolders, readFolders, type ReadFolder } from '../find-skills.ts';
import { readSkillFile } from '../skill-file.ts';

/** A skill that a fit may move. */
export interface FitSkill {
  readonly skill: AgentSkill;
  /** The folder of the skill, and links to it. */
  readonly entries: readonly string[];
}

interface EntryOptions {
  readonly surroundings: Surroundings;
  readonly listed: readonly AgentSkill[];
  /** What the last fit of the agent moved, and where it is now. */
  readonly moved: readonly { readonly from: string; readonly at: string; readonly target?: string }[];
}

/** `own` may be moved; `others` are in projects, belong to the agent, or are in a repository. */
export async function readEntries(
  agent: Agent,
  { surroundings, listed, moved }: EntryOptions,
): Promise<{ readonly own: readonly FitSkill[]; readonly others: readonly AgentSkill[] }> {
  const folders = readFolders(agent, surroundings);
  const rules = agent.folders.filter(({ path: rule }) => /^[~$/]/.test(rule));
  // An agent that looks in every folder above the working directory also finds the one of the home folder in this way.
  const ofUser = new Set(namedFolders({ ...agent, folders: rules }, surroundings).map(realPath));
  const byReal = new Map<string, string[]>();
  const fixed = new Set<string>();
  for (const { path: folder, files } of folders)
    for (const file of files) {
      const entry = path.dirname(file);
      const real = realPath(entry);
      byReal.set(real, [...(byReal.get(real) ?? []), entry]);
      const isOwn =
        ofUser.has(realPath(folder)) &&
        !path.basename(folder).startsWith('.') &&
        !isInRepository(entry, surroundings.home);
      if (!isOwn || files.some((other) => other !== file && other.startsWith(`${entry}${path.sep}`))) fixed.add(real);
    }
  const own: FitSkill[] = [];
  const others: AgentSkill[] = [];
  for (const skill of listed) {
    const real = realPath(path.dirname(skill.path));
    if (fixed.has(real) || skill.isNameOnly === true) others.push(skill);
    else own.push({ skill, entries: byReal.get(real) ?? [] });
  }
  const userFolders = folders.filter(({ path: folder }) => ofUser.has(realPath(folder)));
  return { own: [...own, ...(await shelvedSkills(agent, userFolders, moved))], others };
}

/** Skills that would be listed again if the last fit of the agent were undone. */
async function shelvedSkills(
  agent: Agent,
  folders: readonly ReadFolder[],
  moved: EntryOptions['moved'],
): Promise<readonly FitSkill[]> {
  const byKey = new Map<string, { readonly at: string; readonly entries: string[] }>();
  for (const { from, at, target } of moved) {
    const key = target ?? from;
    const known = byKey.get(key) ?? { at, entries: [] };
    known.entries.push(from);
    byKey.set(key, target === undefined ? { ...known, at } : known);
  }
  const found: FitSkill[] = [];
  for (const { at, entries } of byKey.values()) {
    const [entry = ''] = entries;
    const folder = folders.find(({ path: one }) => entry.startsWith(`${realPath(one)}${path.sep}`));
    if (folder === undefined) continue;
    const file = { ...(await readSkillFile(path.join(at, 'SKILL.md'))), folder: path.basename(entry) };
    const reading = agent.readSkill(file, '');
    if (reading.type !== 'skill') continue;
    const place = path.join(folder.path, path.relative(realPath(folder.path), entry), 'SKILL.md');
    const { name, description } = reading;
    found.push({ skill: { name, description, path: place, scope: 'user', folder: folder.path }, entries });
  }
  return found;
}

/** Whether a team may share the entry: a repository below the home folder contains it. */
function isInRepository(entry: string, home: string | undefined): boolean {
  const end = home === undefined ? undefined : realPath(home);
  for (let at = realPath(path.dirname(entry)); at !== end && at !== path.dirname(at); at = path.dirname(at))
    if (isPresent(path.join(at, '.git'))) return true;
  return false;
}
