/** The skills of a lock, by where they came from, and what their sources have in their place now. */
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import type { LockFile, LockedSkill } from './lock.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import type { SourceSkill } from '../sources/source.ts';
import { parseSkillMd } from '../../format/skill-md.ts';
import type { SkillHead } from '../../core/skill.ts';
import { quoted } from '../../core/text/text.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';

/** Skills that came from one source, which is brought once for all of them. */
export interface LockedGroup {
  /** As the lock has it. */
  readonly source: string;
  readonly skills: readonly LockedSkill[];
}

/** Those that are named, all where none is; by source and name. A name that is not installed is refused. */
export function lockedGroups(
  lock: LockFile,
  names: readonly string[],
  root: string,
): readonly LockedGroup[] | PackRefusal {
  const unknown = names.find((name) => !lock.skills.has(name));
  if (unknown !== undefined)
    return packRefusal('install/not-installed', `${quoted(unknown)} is not in the lock of ${quoted(root, 200)}`);
  const groups = new Map<string, LockedSkill[]>();
  const meant = names.length === 0 ? lock.skills : new Set(names);
  for (const skill of [...lock.skills.values()].toSorted((a, b) => compareText(a.name, b.name))) {
    if (!meant.has(skill.name)) continue;
    const group = groups.get(skill.source);
    if (group === undefined) groups.set(skill.source, [skill]);
    else group.push(skill);
  }
  return [...groups.entries()].map(([source, skills]) => ({ source, skills }));
}

/** The skill of that name: at its old place where that still has it, else wherever it moved to. */
export function nowInSource(
  { name, folder = '' }: LockedSkill,
  skills: readonly SourceSkill[],
): SourceSkill | undefined {
  const named = skills.filter((skill) => skill.name === name);
  return named.find((skill) => skill.folder === folder) ?? named[0];
}

/** Why a source that is there has no such skill. */
export function absentFromSource({ name, folder = '', source }: LockedSkill, skills: readonly SourceSkill[]): string {
  const there = skills.find((skill) => skill.folder === folder);
  const renamed = there === undefined ? '' : `; in its place is ${quoted(there.name)}`;
  return `${quoted(source, 200)} has no ${quoted(name)} any more${renamed}`;
}

const MAX_SKILL_MD = 4 * 1024 * 1024;

/** The head of a skill's SKILL.md as a loader reads it; nothing where there is none that can be read. */
export function headIn(dir: string, name: string): SkillHead | undefined {
  const file = path.join(dir, 'SKILL.md');
  const read = readTextFile(file, MAX_SKILL_MD);
  if (read.type !== 'read') return undefined;
  const source = { path: file, directory: name, fileName: 'SKILL.md', text: read.text, validUtf8: read.validUtf8 };
  return parseSkillMd(source, { mode: 'lenient', blockAngleBrackets: false }).head;
}
