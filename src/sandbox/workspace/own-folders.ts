/**
 * A skill may bring an `out/`, `work/` or `inputs/` of its own. Programs read and write one folder of each name, that of the workspace: it gets
 * the files of the skill, and a link to it takes the place of the skill's folder.
 */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { quoted, toRelativePath, isProblem } from '#core';
import { inConfined, realPath, writeBeneath, type ConfinedDirectory } from '#platform';
import { SKILL_LINK_NAMES } from './layout.ts';
import type { StagedSkill } from '../program-types.ts';

type LinkName = (typeof SKILL_LINK_NAMES)[number];

const LISTED = { maxFiles: 5_000, maxDepth: 32 };
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_NAMED = 5;

/** The names among `out`, `work` and `inputs` that are folders of the skill itself. */
export function listOwnFolders(snapshot: string): readonly LinkName[] {
  return SKILL_LINK_NAMES.filter(
    (name) => lstatSync(path.join(snapshot, name), { throwIfNoEntry: false })?.isDirectory() === true,
  );
}

/** Copies the files of such folders where no file is yet. Returns warnings about those that programs will not see. */
export function copyOwnFolders(
  { name: skill, snapshot }: StagedSkill,
  targets: Readonly<Record<LinkName, string>>,
): readonly string[] {
  const hidden = listOwnFolders(snapshot).flatMap((name) =>
    copyMissing(path.join(snapshot, name), realPath(targets[name])).map((file) => `${name}/${file}`),
  );
  if (hidden.length === 0) return [];
  const more = hidden.length > MAX_NAMED ? ` and ${String(hidden.length - MAX_NAMED)} more` : '';
  const named = hidden.slice(0, MAX_NAMED).map((file) => quoted(file));
  return [`programs do not see these files of ${skill}, because the workspace has others: ${named.join(', ')}${more}`];
}

function copyMissing(from: string, to: string): readonly string[] {
  const copyAll = (folder: ConfinedDirectory): readonly string[] =>
    folder.list(LISTED).files.flatMap(({ path: name, type }) => {
      const relative = toRelativePath(name);
      if (type !== 'file' || isProblem(relative)) return [name];
      const file = folder.read(relative, { maxBytes: MAX_FILE_BYTES, allowHardLinks: true });
      if (file.type === 'failed') return [name];
      const options = {
        mode: file.isExecutable ? 0o755 : 0o644,
        mayReplace: (digest?: string) => digest === undefined,
      };
      return writeBeneath(to, relative, file.bytes, options).type === 'written' ? [] : [name];
    });
  return inConfined(from, copyAll, () => []);
}
