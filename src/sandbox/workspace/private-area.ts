/**
 * Folders for one program that gets secrets, in place of those that it would share with programs of other skills. Interpreters and tools
 * run files by their names (`sitecustomize.py`, `conftest.py`, `package.json`, `Makefile`, `.git/hooks`, ...), and no list of such names is
 * complete. So the program sees no file at all that another skill could have made.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { failure, quoted, toRelativePath, type Action, type ActionProblem, type OfType, isProblem } from '#core';
import { inConfined, isDirectory, realPath, removeTree, writeBeneath, type ConfinedDirectory } from '#platform';
import {
  AREAS_FOLDER,
  HOMES_FOLDER,
  WRITABLE_FOLDERS,
  isRoot,
  isSeparate,
  linkedFolders,
  makeInside,
} from './layout.ts';
import { copyOwnFolders } from './own-folders.ts';
import type { RunFolder, Workspace } from './workspace.ts';
import type { HostMount, StagedSkill } from '../program-types.ts';

export interface PrivateArea {
  /** Host folder with the program's own `work/`, which the skill keeps for its next program. */
  readonly root: string;
  /** The run folder as the program has it. */
  readonly run: RunFolder;
  /** Cover `work/`, `out/` and `runs/`. */
  readonly mounts: readonly HostMount[];
  /** Moves the files in `out/` and in the run folder to the shared ones. Returns what could not be moved, for a person. */
  finish(): Promise<readonly string[]>;
}

const LISTED = { maxFiles: 20_000, maxDepth: 32 };
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_NAMED = 5;

type InputRequest = NonNullable<OfType<Action, 'run_script'>['inputs']>[number];

type AreaForSecrets =
  | { readonly type: 'area'; readonly area?: PrivateArea; readonly warnings: readonly string[] }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

const BRING = 'bring a file with inputs from workspace://work/... or workspace://out/...';

/** The folders of a program that gets secrets: its own as soon as another skill has run a program in the workspace. */
export function areaForSecrets(
  workspace: Workspace,
  skill: StagedSkill | undefined,
  { home, run }: { readonly home: string; readonly run: RunFolder },
): AreaForSecrets {
  const { place, attached } = workspace;
  const others = readdirSync(path.join(place.root, HOMES_FOLDER))
    .filter((name) => name !== path.basename(home))
    .map((name) => name.replace(/-[0-9a-f]{8}$/, ''));
  if (others.length === 0) return { type: 'area', warnings: [] };
  const names = others.map((name) => (name === 'none' ? 'commands without a skill' : quoted(name))).join(', ');
  if (attached.capabilities.isolation === 'none') {
    const shares = `this program has secrets and shares work/ and out/ with ${names}`;
    return { type: 'area', warnings: [`${shares}: this executor cannot separate them`] };
  }
  if (!isSeparate(attached))
    return {
      type: 'refused',
      failure: failure(
        'execution/unavailable',
        `the program gets secrets, and this executor cannot hide files of ${names} from it`,
        { hint: 'run it in a session of its own, or with the executor bubblewrap, namespaces or container' },
      ),
    };
  return {
    type: 'area',
    area: openPrivateArea(workspace, skill, { home, run }),
    warnings: [`this program has secrets, so its work/ and out/ hold no files of ${names}; ${BRING}`],
  };
}

function openPrivateArea(
  { place, attached, identity }: Workspace,
  skill: StagedSkill | undefined,
  { home, run }: { readonly home: string; readonly run: RunFolder },
): PrivateArea {
  const name = path.basename(home);
  const owner = { mode: 0o700, owner: identity };
  // Programs of another user have to traverse these, but must not change them.
  const passage = { mode: isRoot() ? 0o711 : 0o700, owner: undefined };
  const root = path.join(place.root, AREAS_FOLDER, name);
  const once = path.join(root, run.name);
  makeInside(place.root, AREAS_FOLDER, passage);
  makeInside(path.dirname(root), name, passage);
  makeInside(root, 'work', owner);
  makeInside(path.join(root, 'work'), 'inputs', owner);
  makeInside(root, run.name, passage);
  makeInside(once, 'out', owner);
  makeInside(once, 'runs', owner);
  makeInside(path.join(once, 'runs'), run.name, owner);
  if (skill !== undefined) copyOwnFolders(skill, linkedFolders(once, root));
  const ownRun = path.join(once, 'runs', run.name);
  return {
    root,
    run: { ...run, host: ownRun },
    mounts: WRITABLE_FOLDERS.map((folder) => ({
      source: path.join(folder === 'work' ? root : once, folder),
      target: `${attached.root}/${folder}`,
      access: 'write',
    })),
    async finish() {
      try {
        const lost = [
          ...publish(path.join(once, 'out'), path.join(place.root, 'out')),
          ...publish(ownRun, path.join(place.root, run.path)),
        ];
        return lost.length === 0 ? [] : [`not kept: ${lost.slice(0, MAX_NAMED).join(', ')}`];
      } finally {
        await removeTree(once);
      }
    },
  };
}

/** Copies files without following any link. Returns the names of those that were not copied. */
function publish(from: string, to: string): readonly string[] {
  const copyAll = (folder: ConfinedDirectory): readonly string[] =>
    folder.list(LISTED).files.flatMap(({ path: name, type }) => {
      const relative = toRelativePath(name);
      if (type !== 'file' || isProblem(relative)) return [name];
      const file = folder.read(relative, { maxBytes: MAX_FILE_BYTES });
      if (file.type === 'failed') return [name];
      const mode = file.isExecutable ? 0o755 : 0o644;
      return writeBeneath(realPath(to), relative, file.bytes, { mode }).type === 'written' ? [] : [name];
    });
  return inConfined(from, copyAll, () => []);
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
