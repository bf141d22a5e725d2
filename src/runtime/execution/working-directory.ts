/** What a program starts with: the working directory, an editor, and its skill under a name that can be a folder. */
import { accessSync, chmodSync, constants, lstatSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { failure, quoted, toRelativePath, type ActionProblem, isProblem, type Executor } from '#core';
import type { RunFolder, Workspace } from '#sandbox';

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
  const inWorkspace = fromVariable(text, own) ?? fromRoot(text, root);
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
  return mounts.some((mount) => clean === mount || clean.startsWith(`${mount}/`)) ? clean : undefined;
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

/** Links to the workspace that every skill folder has inside the sandbox. */
const LINKED_FOLDERS: ReadonlySet<string> = new Set(['out', 'work', 'inputs']);

/** A failure if the folder does not exist; sandboxes would report it as a problem of their own. */
export function missingFolder(
  folder: string,
  { root, skills }: Parameters<Executor['attach']>[0],
): ActionProblem | undefined {
  const [first, name, ...rest] = folder.split('/');
  const staged = first === 'skills' ? skills.find((skill) => skill.name === name) : undefined;
  if (path.isAbsolute(folder) || (staged !== undefined && LINKED_FOLDERS.has(rest[0] ?? ''))) return undefined;
  const isThere = staged === undefined ? isFolder(root, folder) : isFolder(staged.snapshot, rest.join('/'));
  if (isThere) return undefined;
  return failure('path/outside', `the working directory ${quoted(folder)} does not exist`, {
    hint: 'use a folder of the skill, or one such as $WORK_DIR or $OUTPUT_DIR',
  });
}

/** Does not follow links that a program may have left: where they lead is the sandbox's concern. */
function isFolder(base: string, relative: string): boolean {
  let at = base;
  for (const segment of relative.split('/').filter((part) => part !== '')) {
    at = path.join(at, segment);
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink() === true) return true;
    if (stats?.isDirectory() !== true) return false;
  }
  return true;
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
