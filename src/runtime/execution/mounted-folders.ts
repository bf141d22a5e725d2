import path from 'node:path';

import { printable, type HostMount } from '#core';
import { writeProtection, isSecretPath } from '#policy';
import { mountEntries, type VerifiedFolder, type Workspace } from '#sandbox';
import type { ExecutionParts } from './parts.ts';

/** The host folders that one program sees. */
export interface MountedFolders {
  readonly mounts: readonly HostMount[];
  readonly folders: readonly VerifiedFolder[];
  /** Where the program sees the project. */
  readonly project: string | undefined;
  readonly warnings: readonly string[];
  /** To be called after the program; returns further warnings. */
  readonly finish: () => readonly string[];
}

/** Hidden files that a warning names. */
const MAX_NAMED = 5;

export function mountedFolders(
  workspace: Workspace,
  { mounts, records, skillRoots }: ExecutionParts,
  isDenied: (absolute: string) => boolean = () => false,
): MountedFolders {
  const { place, attached } = workspace;
  const isIsolating = attached.capabilities.isolation !== 'none';
  const found = mounts.map((mount) => ({
    ...mountEntries(mount, {
      workspace: place.root,
      root: attached.root,
      isIsolating,
      isHidden: (relative) => {
        const absolute = path.join(mount.source, relative);
        return isSecretPath(relative) || records.includes(absolute) || isDenied(absolute);
      },
      isProtected: (name) => writeProtection(name) !== 'free',
      skillRoots,
    }),
    inode: mount.inode,
    source: mount.source,
    access: mount.access,
    isProject: mount.isProject,
  }));
  return {
    mounts: found.flatMap((each) => each.mounts),
    folders: found.map(({ target, inode }) => ({ target, inode })),
    finish: () => found.flatMap((each) => each.finish()),
    project: found.find(({ isProject }) => isProject)?.target,
    warnings: found.flatMap(({ source, access, hidden, target, mounts: entries }) => [
      ...(target === source ? [] : [`programs see ${printable(source)} as ${printable(target)}`]),
      ...hiddenWarning(source, hidden),
      ...(attached.capabilities.isolation === 'landlock' && access === 'write' ? fixedFolders(entries.slice(1)) : []),
      ...(isIsolating || access === 'write'
        ? []
        : [`without isolation ${printable(source)} is not protected from being changed`]),
    ]),
  };
}

/** Path rules allow a folder with all that is in it, so one with exceptions is allowed entry by entry. */
function fixedFolders(covers: readonly HostMount[]): readonly string[] {
  const folders = [...new Set(covers.map(({ target }) => path.dirname(target)))];
  if (folders.length === 0) return [];
  const [names, holds] = [nameSome(folders), `which hold protected or hidden files`];
  return [`under landlock programs change files, but create, rename and delete nothing directly in ${names}, ${holds}`];
}

function nameSome(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? [`${String(names.length - MAX_NAMED)} more`] : [];
  return [...names.slice(0, MAX_NAMED).map((name) => printable(name)), ...more].join(', ');
}

/** The folder of our own records is always hidden and never needed. */
function hiddenWarning(source: string, hidden: readonly string[]): readonly string[] {
  const names = hidden.filter((name) => name !== '.agent');
  return names.length === 0 ? [] : [`hidden from programs in ${printable(source)}: ${nameSome(names)}`];
}
