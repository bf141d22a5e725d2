/** Groups locked skills by source and finds them in their staged sources. */
import path from 'node:path';

import { compareText, quoted, type SkillHead } from '#core';
import { requireLock, type LockFile, type LockedSkill } from './lock-file.ts';
import { completeChange, type RootOptions } from '../root/open-root.ts';
import { groupBy } from '../group-by.ts';
import { refused } from '../problems.ts';
import type { SourceSkill } from '../sources/source.ts';
import { parseSkillMd } from '#skills';
import { readTextFile } from '#platform';

/** Skills of one source, which is staged once for all of them. */
export interface LockedGroup {
  readonly source: string;
  readonly skills: readonly LockedSkill[];
}

/** Groups the named skills (default: all), sorted by source and name. Throws a refusal for names that are not installed. */
export function lockedGroups(lock: LockFile, names: readonly string[], root: string): readonly LockedGroup[] {
  const unknown = names.find((name) => !lock.skills.has(name));
  if (unknown !== undefined)
    throw refused('install/not-installed', `${quoted(unknown)} is not in the lock of ${quoted(root, 200)}`);
  const meant = [...lock.skills.values()].filter(({ name }) => names.length === 0 || names.includes(name));
  const sorted = meant.toSorted((a, b) => compareText(a.name, b.name));
  return [...groupBy(sorted, ({ source }) => source)].map(([source, skills]) => ({ source, skills }));
}

export function findInSource(
  { name, folder = '' }: LockedSkill,
  skills: readonly SourceSkill[],
): SourceSkill | undefined {
  const named = skills.filter((skill) => skill.name === name);
  return named.find((skill) => skill.folder === folder) ?? named[0];
}

/** Explains why a source does not contain a locked skill. */
export function absentFromSource({ name, folder = '', source }: LockedSkill, skills: readonly SourceSkill[]): string {
  const there = skills.find((skill) => skill.folder === folder);
  const renamed = there === undefined ? '' : `; the folder now contains ${quoted(there.name)}`;
  return `${quoted(source, 200)} no longer contains ${quoted(name)}${renamed}`;
}

const MAX_SKILL_MD = 4 * 1024 * 1024;

/** Reads the head of SKILL.md leniently, as the loader does. Undefined if it cannot be read. */
export function readSkillHead(dir: string, name: string): SkillHead | undefined {
  const file = path.join(dir, 'SKILL.md');
  const read = readTextFile(file, MAX_SKILL_MD);
  if (read.type !== 'read') return undefined;
  const source = { path: file, directory: name, fileName: 'SKILL.md', text: read.text, validUtf8: read.validUtf8 };
  return parseSkillMd(source, { mode: 'lenient', blockAngleBrackets: false }).head;
}

/** What is installed in a root, sorted by name. Completes an interrupted change first. Throws a refusal. */
export async function listLocked(
  options: RootOptions,
): Promise<{ readonly root: string; readonly skills: readonly LockedSkill[] }> {
  await completeChange(options);
  const { root } = options.settings;
  return { root, skills: [...requireLock(root).skills.values()].toSorted((a, b) => compareText(a.name, b.name)) };
}
