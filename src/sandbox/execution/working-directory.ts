/** What a program starts with: the working directory, an editor, and its skill under a name that can be a folder. */
import { accessSync, chmodSync, constants, lstatSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { failure, quoted, toRelativePath, type ActionProblem, isProblem, type Executor } from '#core';
import { isDirectory, isInside, realPath } from '#platform';
import type { RunFolder, Workspace } from '../workspace/workspace.ts';

export type WorkingDirectory =
  /** Relative to the workspace, with forward slashes; absolute for a folder of the host. */
  { readonly type: 'directory'; readonly path: string } | { readonly type: 'refused'; readonly failure: ActionProblem };

interface DirectoryContext {
  /** Where the program sees the workspace. */
  readonly root: string;
  /** Absent if the command belongs to no skill. */
  readonly skillName?: string;
  /** Host folders that the program sees, as absolute paths inside. */
  readonly mounts?: readonly string[];
  /** One of `mounts`. */
  readonly project?: string | undefined;
  readonly startsInProject?: boolean;
}

const FOLDERS: ReadonlySet<string> = new Set(['skills', 'work', 'out', 'runs']);

/**
 * Where a program starts: in the project, in the folder of its skill, or in `work`. A requested folder is relative to that, or starts
 * with a folder as programs name it (`$WORK_DIR/x`, `$PROJECT_DIR`, `/workspace/out`, `/work`, a mounted folder). Everything else is refused.
 */
export function workingDirectory(requested: string | undefined, place: DirectoryContext): WorkingDirectory {
  const { root, skillName, project } = place;
  const own = skillName === undefined ? 'work' : `skills/${skillName}`;
  const home = place.startsInProject === true && project !== undefined ? project : own;
  const text = (requested ?? '').trim();
  if (text === '' || text === '.' || text === './') return { type: 'directory', path: home };
  const mounted = inMount(text, home, place);
  if (mounted !== undefined) return { type: 'directory', path: mounted };
  const inWorkspace = withoutDots(fromVariable(text, own) ?? fromRoot(text, root));
  const relative = toRelativePath(inWorkspace ?? `${own}/${text}`);
  if (inWorkspace === '') return { type: 'directory', path: '.' };
  if (!isProblem(relative) && (inWorkspace !== undefined || !text.startsWith('/')))
    return { type: 'directory', path: relative };
  const cause = isProblem(relative) ? relative : undefined;
  return {
    type: 'refused',
    failure: failure(cause?.code ?? 'path/absolute', `the program cannot start in ${quoted(text)}`, {
      hint: 'use a folder of the skill, or one such as $WORK_DIR or $OUTPUT_DIR',
    }),
  };
}

/** The absolute path of a requested folder in a mount. */
function inMount(text: string, home: string, { mounts = [], project }: DirectoryContext): string | undefined {
  const named =
    project === undefined ? text : text.replace(/^\$(?:PROJECT_DIR|\{PROJECT_DIR\})(?=\/|$)/, () => project);
  const folder = named.startsWith('/')
    ? named
    : home.startsWith('/') && !named.startsWith('$')
      ? `${home}/${named}`
      : '';
  const parts = folder.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || folder.includes('\0')) return undefined;
  const clean = `/${parts.join('/')}`;
  // A project behind a link is mounted at its real path.
  return [clean, realPath(clean)].find((one) => isInMounts(one, mounts));
}

function isInMounts(folder: string, mounts: readonly string[]): boolean {
  return mounts.some((mount) => isInside(folder, mount));
}

/** `work/./x` without the dot; the workspace itself is empty. */
function withoutDots(text: string | undefined): string | undefined {
  return text
    ?.split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

function fromVariable(text: string, home: string): string | undefined {
  const found = /^\$(?:\{([A-Z_]+)\}|([A-Z_]+))(?:\/(.*))?$/s.exec(text);
  if (found === null) return undefined;
  const folder = VARIABLES.get(found[1] ?? found[2] ?? '') ?? (/SKILL_DIR/.test(text) ? home : undefined);
  const rest = found[3] ?? '';
  if (folder === undefined) return undefined;
  return [folder, rest].filter((part) => part !== '').join('/');
}

const VARIABLES: ReadonlyMap<string, string> = new Map([
  ['WORKSPACE_DIR', ''],
  ['SKILLS_DIR', 'skills'],
  ['WORK_DIR', 'work'],
  ['OUTPUT_DIR', 'out'],
]);

function fromRoot(text: string, root: string): string | undefined {
  if (text === root) return '';
  if (text.startsWith(`${root}/`)) return text.slice(root.length + 1);
  const [, first = ''] = text.split('/');
  return text.startsWith('/') && FOLDERS.has(first) ? text.slice(1) : undefined;
}

/** Where links lead that every skill folder has inside the sandbox. */
const LINKED_FOLDERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['out', ['out']],
  ['work', ['work']],
  ['inputs', ['work', 'inputs']],
]);

/** As many as Linux follows. */
const MAX_LINKS = 40;

type SeenFolders = Parameters<Executor['attach']>[0] & {
  /** Where the program sees the workspace. */
  readonly seenRoot: string;
  readonly mounts: readonly string[];
};

/**
 * A failure if the folder does not exist, which sandboxes would report as a problem of their own, or if links lead out of what the program
 * was given: without isolation it would start anywhere.
 */
export function unusableFolder(folder: string, place: SeenFolders): ActionProblem | undefined {
  const found = path.isAbsolute(folder) ? followMounted(folder, place.mounts) : followLinks(folder, place);
  if (found === 'usable') return undefined;
  const problem = found === 'missing' ? 'does not exist' : 'is a link that leads out of the workspace';
  return failure('path/outside', `the working directory ${quoted(folder)} ${problem}`, {
    hint: 'use a folder of the skill, or one such as $WORK_DIR or $OUTPUT_DIR',
  });
}

type Followed = 'usable' | 'missing' | 'outside';

function followMounted(folder: string, mounts: readonly string[]): Followed {
  if (!isInMounts(realPath(folder), mounts)) return 'outside';
  return isDirectory(folder) ? 'usable' : 'missing';
}

/** Follows links as the program sees them, each of which may be one that a program left. */
function followLinks(folder: string, { root, seenRoot, skills, mounts }: SeenFolders): Followed {
  const names = folder.split('/');
  let at: string[] = [];
  for (let links = 0; names.length > 0;) {
    const name = names.shift() ?? '';
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (at.pop() === undefined) return 'outside';
      continue;
    }
    at.push(name);
    const staged = at[0] === 'skills' ? skills.find((skill) => skill.name === at[1]) : undefined;
    const linked = staged !== undefined && at.length === 3 ? LINKED_FOLDERS.get(name) : undefined;
    if (linked !== undefined) {
      at = [...linked];
      continue;
    }
    const host = staged === undefined ? path.join(root, ...at) : path.join(staged.snapshot, ...at.slice(2));
    const stats = lstatSync(host, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink() !== true) {
      if (stats?.isDirectory() !== true) return 'missing';
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return 'missing';
    const target = readlinkSync(host);
    if (!target.startsWith('/')) at.pop();
    else if (isInside(target, seenRoot)) at = [];
    else return isInMounts(target, mounts) ? followMounted(path.join(target, ...names), mounts) : 'outside';
    names.unshift(...(target.startsWith('/') ? path.relative(seenRoot, target) : target).split('/'));
  }
  return 'usable';
}

/**
 * Creates an editor that has already written the text, for commands such as `git commit`. Its files are in the new run folder, so that no
 * link left by a program can redirect the write.
 */
export function editorFor(
  text: string | undefined,
  { workspace, run }: { readonly workspace: Workspace; readonly run: RunFolder },
): Readonly<Record<string, string>> {
  if (text === undefined) return {};
  const folder = run.host;
  const seen = `${workspace.attached.root}/${run.path}`;
  const script = path.join(folder, 'editor.sh');
  writeFileSync(path.join(folder, 'editor-text.txt'), text, { flag: 'wx', mode: 0o644 });
  writeFileSync(script, `#!/bin/sh\ncat '${seen}/editor-text.txt' > "$1"\n`, { flag: 'wx' });
  chmodSync(script, 0o755);
  // One word, so that programs can run `$EDITOR file` with and without quotes, and with and without a shell.
  const isOneWord = /^[\w/.:@-]+$/.test(seen);
  const word = isOneWord ? `${seen}/editor.sh` : `'${seen}/editor.sh'`;
  const editor = isOneWord && mayExecute(script) ? word : `sh ${word}`;
  return { EDITOR: editor, VISUAL: editor };
}

/** False on a file system that is mounted `noexec`. */
function mayExecute(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
