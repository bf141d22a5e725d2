/** The files of a skill that a model can read, to find answers in them: SKILL.md first, without the cases. Those that are binary or large have a name only. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { compareText } from '#core';
import { quietly } from '#platform';
import { CASE_FOLDERS, findOwnCaseFiles } from '../cases/own-case-files.ts';
import type { SkillText } from './finding.ts';

const MOST_FILES = 300;
const MOST_BYTES = 512 * 1024;
/** Folders that hold no text of the skill. */
const LEFT_OUT = /^(?:node_modules|\.git)$/;

export function readSkillTexts(folder: string): readonly SkillText[] {
  const ownCases = findOwnCaseFiles(folder);
  const seen = listFiles(folder, '').filter((file) => !ownCases.has(file));
  const files = seen.toSorted((a, b) => Number(b === 'SKILL.md') - Number(a === 'SKILL.md') || compareText(a, b));
  return files.slice(0, MOST_FILES).flatMap((file) => {
    const full = path.join(folder, file);
    const text = quietly(() => (statSync(full).size > MOST_BYTES ? '' : readFileSync(full, 'utf8')), '');
    return [{ file, text: text.includes('\0') ? '' : text }];
  });
}

/** Links are not followed. */
function listFiles(folder: string, within: string): readonly string[] {
  return quietly(() => readdirSync(path.join(folder, within), { withFileTypes: true }), []).flatMap((entry) => {
    const name = within === '' ? entry.name : `${within}/${entry.name}`;
    if (entry.isFile()) return [name];
    const isLeftOut = LEFT_OUT.test(entry.name) || CASE_FOLDERS.includes(name);
    return entry.isDirectory() && !isLeftOut ? listFiles(folder, name) : [];
  });
}
