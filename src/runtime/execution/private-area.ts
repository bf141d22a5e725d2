import path from 'node:path';

import { failure, quoted, type ActionProblem, type Action, type OfType, type RunResult } from '#core';
import { isDirectory } from '#platform';
import { openPrivateArea, otherAuthors, type PrivateArea, type RunFolder, type Workspace } from '#sandbox';

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
