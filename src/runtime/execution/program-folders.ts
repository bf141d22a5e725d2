/** The folders that one program sees: those of the host, its own ones if it has secrets, and a copy of its skill. */
import path from 'node:path';

import {
  printable,
  failure,
  quoted,
  type HostMount,
  type ActionProblem,
  type Action,
  type OfType,
  type RunResult,
  type StagedSkill,
} from '#core';
import { isProtectedPath, isSecretPath } from '#policy';
import {
  mountEntries,
  openPrivateArea,
  otherAuthors,
  mayWriteFiles,
  writableSkill,
  type VerifiedFolder,
  type Workspace,
  type PrivateArea,
  type RunFolder,
  type WritableSkill,
} from '#sandbox';
import { isDirectory } from '#platform';
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
      isProtected: isProtectedPath,
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

type InputRequest = NonNullable<OfType<Action, 'run_script'>['inputs']>[number];

export type AreaForSecrets =
  | { readonly type: 'shared'; readonly warnings: readonly string[] }
  | { readonly type: 'private'; readonly area: PrivateArea; readonly warnings: readonly string[] }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

/** Only these can mount one folder over another. */
const COVERING: ReadonlySet<RunResult['isolation']> = new Set(['bubblewrap', 'namespaces', 'container']);
const BRING = 'bring a file with inputs from workspace://work/... or workspace://out/...';

/** The folders of a program that gets secrets: its own as soon as another skill has run a program in the workspace. */
export function areaForSecrets(workspace: Workspace, home: string, run: RunFolder): AreaForSecrets {
  const others = otherAuthors(workspace.place, home).map((name) => name.replace(/-[0-9a-f]{8}$/, ''));
  if (others.length === 0) return { type: 'shared', warnings: [] };
  const names = others.map((name) => (name === 'none' ? 'commands without a skill' : quoted(name))).join(', ');
  const { isolation } = workspace.attached.capabilities;
  if (isolation === 'none')
    return {
      type: 'shared',
      warnings: [
        `this program has secrets and shares work/ and out/ with ${names}: this executor cannot separate them`,
      ],
    };
  if (!COVERING.has(isolation))
    return {
      type: 'refused',
      failure: failure(
        'execution/unavailable',
        `the program gets secrets, and this executor cannot hide files of ${names} from it`,
        { hint: 'run it in a session of its own, or with the executor bubblewrap, namespaces or container' },
      ),
    };
  return {
    type: 'private',
    area: openPrivateArea(workspace, home, run),
    warnings: [`this program has secrets, so its work/ and out/ hold no files of ${names}; ${BRING}`],
  };
}

/** Host files that the session may read for any program, each at its last target. */
export function listUserFiles(
  records: readonly { readonly from: string; readonly to: string }[],
  mayRead: ((file: string) => boolean) | undefined,
): readonly InputRequest[] {
  const byTarget = new Map<string, InputRequest>();
  for (const { from, to } of records)
    if (from.startsWith('host://') && mayRead?.(from.slice('host://'.length)) === true) byTarget.set(to, { from, to });
  return [...byTarget.values()];
}

/** Names that interpreters and tools run or obey without being told to. */
const RUN_BY_NAME =
  /(?:^|\/)(?:\.[^/]*|(?:site|user)customize\.py|conftest\.py|setup\.(?:py|cfg)|pyproject\.toml|tox\.ini|pytest\.ini|[^/]*\.pth|__init__\.py|__main__\.py|__pycache__|package(?:-lock)?\.json|node_modules|[^/]*\.config\.(?:[cm]?[jt]s|json)|(?:GNU)?[Mm]akefile|CMakeLists\.txt|Rakefile|Gemfile|[^/]*\.(?:so|pyc|node|jar|dylib|dll))(?:\/|$)/i;

/** A file of another skill may be data for a program with secrets, but no file that something runs by its name, and no folder. */
export function refusedForeignInput(inputs: readonly InputRequest[], { place }: Workspace): ActionProblem | undefined {
  for (const { from, to = '' } of inputs) {
    if (!from.startsWith('workspace://')) continue;
    const file = from.slice('workspace://'.length);
    const problem = RUN_BY_NAME.test(file) || RUN_BY_NAME.test(to) ? 'is run or obeyed by its name' : undefined;
    const folder = isDirectory(path.join(place.root, file)) ? 'is a folder' : undefined;
    if (problem === undefined && folder === undefined) continue;
    return failure(
      'input/not-allowed',
      `${quoted(from)} ${problem ?? folder ?? ''} and may come from another skill, and this program gets secrets`,
      { hint: 'name single data files; copy such a file outside of the workspace and check it to use it' },
    );
  }
  return undefined;
}

interface SkillCopyRequest {
  readonly workspace: Workspace;
  readonly staged: StagedSkill | undefined;
  readonly code: string;
  readonly run: string;
  readonly signal: AbortSignal | undefined;
}

/** Where skills are mounted read-only, a program that may write files gets a copy of its skill. Elsewhere skills are copies already. */
export async function skillCopyFor(request: SkillCopyRequest): Promise<WritableSkill | undefined> {
  const { workspace, staged, code, run, signal } = request;
  const { place, attached, identity } = workspace;
  const { isolation } = attached.capabilities;
  if (staged === undefined || !COVERING.has(isolation) || !mayWriteFiles(code)) return undefined;
  return await writableSkill({ place, attached, identity, skill: staged, run, signal });
}
