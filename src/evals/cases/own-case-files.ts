/** The case files of a skill that runs never see, so that no model reads the expectations. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { quietly } from '#platform';
import { readCases } from './read-cases.ts';
import { CASE_FOLDER, CASE_FOLDERS } from './suite.ts';

/** Relative paths of case files in `tests` and similar folders, which may also hold what the skill works with. */
export function findOwnCaseFiles(skill: string): ReadonlySet<string> {
  const folders = quietly(() => readdirSync(skill, { withFileTypes: true }), []).filter(
    (entry) => entry.isDirectory() && CASE_FOLDER.test(entry.name) && !CASE_FOLDERS.includes(entry.name),
  );
  if (folders.length === 0) return new Set();
  const { cases, drafts } = readCases(folders.map(({ name }) => path.join(skill, name)));
  const files = [...cases, ...drafts].map(({ place }) => path.relative(skill, place.file));
  return new Set(files.map((file) => file.split(path.sep).join('/')));
}
