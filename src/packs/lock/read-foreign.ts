/** Finds and reads what `npx skills` or openskills left at a path: a lock file, a folder of skills, or a project. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { compareText, quoted } from '#core';
import { isDirectory, isPresent, readTextFile, quietly } from '#platform';
import { packRefusal, type PackRefusal } from '../problems.ts';
import {
  readForeignLock,
  readOpenSkillsEntry,
  type ForeignLock,
  type ForeignSkill,
  type UnreadForeignSkill,
} from './foreign-lock.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const OPENSKILLS_FILE = '.openskills.json';
const LOCK_FILES = ['skills-lock.json', '.skill-lock.json'];
/** Where openskills puts skills, relative to a project or the home folder. */
const OPENSKILLS_FOLDERS = ['.claude/skills', '.agent/skills'];
const HINT =
  'name a skills-lock.json or .skill-lock.json of npx skills, a folder of skills of openskills, or a project that has one of them';

export interface ForeignInstall extends ForeignLock {
  /** Relative paths in the file start here. */
  readonly base: string;
}

/** Replaces the hints of the parser, which are about our own lock file. */
export function readForeignInstall(file: string): ForeignInstall | PackRefusal {
  const shown = quoted(file, 200);
  if (path.basename(file) === OPENSKILLS_FILE) {
    const folder = path.dirname(file);
    return openSkills(path.dirname(folder), [path.basename(folder)]);
  }
  if (isDirectory(file)) return readForeignFolder(file);
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') {
    const why = read.type === 'absent' ? 'file not found' : read.reason;
    return { ...packRefusal('lock/missing', `cannot read ${shown}: ${why}`), hint: HINT };
  }
  const foreign = readForeignLock(read.text);
  if (foreign.type === 'read') return { ...foreign, base: path.dirname(file) };
  return { ...foreign, message: `cannot import ${shown}: ${foreign.message}`, hint: HINT };
}

function readForeignFolder(folder: string): ForeignInstall | PackRefusal {
  const lock = LOCK_FILES.map((name) => path.join(folder, name)).find((file) => isPresent(file));
  if (lock !== undefined) return readForeignInstall(lock);
  const places = [folder, ...OPENSKILLS_FOLDERS.map((below) => path.join(folder, below))];
  const found = places.find((place) =>
    namesIn(place).some((name) => isPresent(path.join(place, name, OPENSKILLS_FILE))),
  );
  if (found !== undefined) return openSkills(found, namesIn(found));
  const message = `${quoted(folder, 200)} has no skills-lock.json, no .skill-lock.json and no skill with .openskills.json`;
  return { ...packRefusal('lock/missing', message), hint: HINT };
}

function openSkills(folder: string, names: readonly string[]): ForeignInstall {
  const skills: ForeignSkill[] = [];
  const unread: UnreadForeignSkill[] = [];
  for (const name of names) {
    const read = readTextFile(path.join(folder, name, OPENSKILLS_FILE), MAX_BYTES);
    const skill =
      read.type === 'read'
        ? readOpenSkillsEntry(name, read.text)
        : read.type === 'absent'
          ? `it has no ${OPENSKILLS_FILE}, so its source is unknown: install it from its source`
          : `its ${OPENSKILLS_FILE} cannot be read: ${read.reason}`;
    if (typeof skill === 'string') unread.push({ name, reason: skill });
    else skills.push(skill);
  }
  return { type: 'read', scope: 'project', skills, unread, base: folder };
}

/** Names of the folders in a folder; links are left out, because they lead to skills of another folder. */
function namesIn(folder: string): readonly string[] {
  return quietly(
    () =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
        .map(({ name }) => name)
        .toSorted(compareText),
    [],
  );
}
