/** The files of a commit, as git lists them. */
import { isUtf8 } from 'node:buffer';

import { PackRefused, packRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { gitFailed, runGit } from './git-program.ts';
import type { OwnRepository } from './git-program.ts';
import { refuse } from './staged-skill.ts';

export interface TreeFile {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'submodule';
  readonly isExecutable: boolean;
  readonly object: string;
  readonly bytes: number;
}

/** Of one repository; a skill has fewer. */
const MAX_FILES = 200_000;
const MAX_LISTING = 64 * 1024 * 1024;
const ENTRY = /^(\d{6}) (blob|commit|tree) ([0-9a-f]{40,64}) +(\d+|-)\t(.+)$/s;
const NOTHING_THERE = /Not a valid object name|not a tree object|does not exist/i;

/** Everything below `folder` of a commit; links and submodules as what they are. Throws `PackRefused`. */
export async function listTree(
  own: OwnRepository,
  commit: string,
  folder: string | undefined,
): Promise<readonly TreeFile[]> {
  const tree = folder === undefined ? commit : `${commit}:${folder}`;
  const result = await runGit(own, ['ls-tree', '-r', '-z', '-l', '--full-tree', tree], { maxOutputBytes: MAX_LISTING });
  if (result.isTooMuch) throw tooMany();
  if (result.exitCode !== 0 && NOTHING_THERE.test(result.errors))
    throw new PackRefused(packRefusal('source/missing', `the commit ${commit} has no folder ${quoted(folder ?? '')}`));
  if (result.exitCode !== 0) throw gitFailed(result);
  if (!isUtf8(result.output))
    throw new PackRefused(packRefusal('archive/name', 'the repository has a file whose name is not UTF-8'));
  const lines = result.output.toString('utf8').split('\0').slice(0, -1);
  if (lines.length > MAX_FILES) throw tooMany();
  return lines.map(readEntry);
}

function readEntry(line: string): TreeFile {
  const [, mode = '', type = '', object = '', size = '', path = ''] = ENTRY.exec(line) ?? [];
  if (path === '') refuse(packRefusal('source/failed', `git listed ${quoted(line)}, which is no file`));
  const kind = type === 'commit' ? 'submodule' : mode === '120000' ? 'link' : 'file';
  return { path, kind, isExecutable: mode === '100755', object, bytes: size === '-' ? 0 : Number(size) };
}

function tooMany(): PackRefused {
  return new PackRefused(
    packRefusal('archive/too-many', `the repository has more than ${String(MAX_FILES)} files; name a folder of it`),
  );
}
