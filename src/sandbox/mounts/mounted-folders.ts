import path from 'node:path';

import { isWeaker, printable, shellWord, type AttachedWorkspace, type HiddenNames, type ProgramSpec } from '#core';
import { isSeparate } from '../workspace/layout.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { CheckedMount } from './check-mount.ts';
import { mountEntries, type MountEntriesOptions } from './mount-entries.ts';
import { secretDocuments } from './hidden-names.ts';
import type { SetAside } from './set-aside.ts';
import type { HostMount, ProjectView } from '../program-types.ts';

/** The host folders that one program sees. */
interface MountedFolders {
  readonly mounts: readonly HostMount[];
  /** Where the program sees the folders. */
  readonly targets: readonly string[];
  /** Where the program sees the project. */
  readonly project: string | undefined;
  readonly projectView: ProjectView;
  readonly warnings: readonly string[];
  /** What the executor hides from the program while it runs. */
  readonly hidden: ProgramSpec['hidden'];
  /**
   * A command that starts the program only if each folder is the one that was checked. Executors mount by path, so between check and mount
   * another process could put a different folder or a link there.
   */
  readonly verify: (argv: readonly string[]) => readonly string[];
  /** To be called after the program. */
  readonly finish: () => SetAside;
}

interface MountFoldersOptions extends Pick<MountEntriesOptions, 'records' | 'skillRoots'> {
  readonly isProtected: (relative: string, folder: string) => boolean;
  readonly isHidden: (relative: string, folder: string) => boolean;
  /** Of the files that `isHidden` hides. */
  readonly names: HiddenNames;
}

/** Hidden files that a warning names. */
const MAX_NAMED = 5;
/** The exit code of a program that was not started. */
const NOT_VERIFIED = 125;

export function mountFolders(
  { place, attached }: Workspace,
  mounts: readonly CheckedMount[],
  { isHidden, isProtected, names, ...rules }: MountFoldersOptions,
): MountedFolders {
  const { isolation } = attached.capabilities;
  const isIsolating = isolation !== 'none';
  const hidesNames = isIsolating && mounts.length > 0 && attached.hidesNames?.() === true;
  // Contents are read where no executor looks at the files that programs open: it takes time with every program.
  const isSecretDocument = hidesNames ? () => false : secretDocuments(names);
  const entries = mountEntries(mounts, (mount) => ({
    ...rules,
    workspace: place.root,
    root: attached.root,
    isIsolating,
    // Where programs share the files of this machine, they have no sockets that connect.
    hasSockets: isSeparate(attached),
    hidesNames,
    isSecretDocument,
    isHidden: (relative) => isHidden(relative, mount.source),
    isProtected: (relative) => isProtected(relative, mount.source),
  }));
  const found = mounts.flatMap((mount, at) => {
    const mounted = entries[at];
    return mounted === undefined ? [] : [{ ...mount, ...mounted }];
  });
  const project = found.find(({ isProject }) => isProject);
  return {
    mounts: found.flatMap((each) => each.mounts),
    targets: found.map(({ target }) => target),
    hidden: hidesNames
      ? {
          folders: found.map(({ target }) => target),
          free: found.flatMap(({ free }) => free),
          secrets: found[0]?.secrets ?? [],
          names,
        }
      : undefined,
    finish: () => {
      const all = found.map((each) => each.finish());
      return { warnings: all.flatMap(({ warnings }) => warnings), isLeft: all.some(({ isLeft }) => isLeft) };
    },
    verify: (argv) => (found.length === 0 ? argv : verifiedCommand(argv, found, attached)),
    project: project?.target,
    projectView: { access: project?.access ?? 'none', folder: project?.target ?? '' },
    warnings: found.flatMap(({ source, access, hidden, target, mounts: covers }) => [
      ...(target === source ? [] : [`programs see ${printable(source)} as ${printable(target)}`]),
      ...hiddenWarning(source, hidden),
      ...(isWeaker(isolation) && access === 'write' ? fixedFolders(covers.slice(1)) : []),
      ...(isIsolating || access === 'write'
        ? []
        : [`without isolation ${printable(source)} is not protected from being changed`]),
    ]),
  };
}

function verifiedCommand(
  argv: readonly string[],
  folders: readonly { readonly target: string; readonly inode: string }[],
  attached: AttachedWorkspace,
): readonly string[] {
  const stat = process.platform === 'darwin' && !isSeparate(attached) ? 'stat -f %d:%i' : 'stat -c %d:%i';
  const checks = folders.map(
    ({ target, inode }) =>
      `[ "$(${stat} ${shellWord(target)})" = ${inode} ] || { echo ${shellWord(`skillwright: ${target} was replaced after it was checked`)} >&2; exit ${String(NOT_VERIFIED)}; }`,
  );
  return ['/bin/sh', '-c', `${checks.join('\n')}\nexec "$@"`, 'sh', ...argv];
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
