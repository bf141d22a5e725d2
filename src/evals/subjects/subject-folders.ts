/** The folders of one run of another agent: an empty home, and a project with the skills and the files of the case. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { copyTree } from '../../platform/fs/copy-tree.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { readFilesIn } from '../run/stored-outputs.ts';
import type { InstalledSkill } from './installed-skills.ts';
import type { SubjectAgent, SubjectPlaces, SubjectStart } from './subject.ts';

/** Throws if a skill cannot be copied. `work` is an unused folder. */
export async function makeSubjectFolders(
  work: string,
  { skillsFolder }: SubjectAgent,
  skills: readonly InstalledSkill[],
): Promise<SubjectPlaces> {
  const [home, temporary, project] = [path.join(work, 'home'), path.join(work, 'tmp'), path.join(work, 'project')];
  for (const folder of [home, temporary, project]) makeFolders(folder, 0o700);
  makeRepository(path.join(project, '.git'));
  const to = path.join(project, skillsFolder);
  makeFolders(to);
  for (const { folder } of skills) {
    const name = path.basename(folder);
    const copied = await copyTree(folder, { to: path.join(to, name), permissions: 'writable' });
    if (copied.type === 'refused') throw new Error(`cannot install the skill ${name}: ${copied.message}`);
  }
  return { home, temporary, project, skills: to };
}

/** An empty repository, as `git init` makes it: without one, agents look for skills in parent folders. */
function makeRepository(folder: string): void {
  for (const name of ['objects', 'refs/heads']) mkdirSync(path.join(folder, name), { recursive: true });
  writeFileSync(path.join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(path.join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
}

export function writeConfiguration({ files = {} }: SubjectStart): void {
  for (const [file, text] of Object.entries(files)) {
    makeFolders(path.dirname(file));
    writeFileSync(file, text, { mode: 0o600 });
  }
}

/** What agents keep in a project for themselves. */
const OWN_FOLDERS = /^\.(?:git|claude|agents|codex|gemini|opencode|pi)\//;

export type ProjectFiles = ReadonlyMap<string, Buffer>;

/** The files of the project without skills and files of the agents themselves. */
export function projectFiles(project: string): ProjectFiles {
  return readFilesIn(project, (name) => !OWN_FOLDERS.test(name));
}

/** New files and files with another content. */
export function changedFiles(before: ProjectFiles, after: ProjectFiles): ProjectFiles {
  return new Map([...after].filter(([name, bytes]) => before.get(name)?.equals(bytes) !== true));
}
