import { inConfined, openConfined, PROGRAM_FOLDERS, type ConfinedDirectory } from '#platform';
import {
  importedModules,
  inspectMachine,
  mentionedPackages,
  packageOfModule,
  readSkillText,
  remedyFor,
  type Inspect,
  type ImportedModules,
} from '#sandbox';
import { scriptPath, typedWord, type StagedSkill } from '#core';
import { mountsLayers } from './layer-mounts.ts';
import type { ExecutionCall, ExecutionParts, ProgramAction } from '../execution/parts.ts';

/** A package that a skill probably needs. Nothing installs it until a person or a rule says so. */
export interface SuggestedPackage {
  /** As on the command line; absent where the package of a module is not known. */
  readonly package?: string;
  readonly module: string;
  readonly neededBy: string;
}

interface Machine {
  readonly inspect: Inspect | undefined;
  readonly programFolders: readonly string[];
}

const MAX_SCRIPTS = 200;

export function scriptsIn(snapshot: string): readonly string[] {
  const { files } = inConfined(
    snapshot,
    (folder) => folder.list({ maxFiles: 5_000, maxDepth: 8 }),
    () => ({ files: [] }),
  );
  return files
    .map(({ path }) => path)
    .filter((path) => /^scripts\/.*\.(?:py|[cm]?[jt]s|sh|bash)$/.test(path) && !path.endsWith('/__init__.py'))
    .slice(0, MAX_SCRIPTS);
}

/** What scripts import beyond the declared packages. Names come from a fixed list or from the documents of the skill. */
export async function suggestedPackages(
  snapshot: string,
  scripts: readonly string[],
  declared: ReadonlySet<string>,
  machine: Machine,
): Promise<readonly SuggestedPackage[]> {
  const opening = openConfined(snapshot);
  if (opening.type === 'failed') return [];
  const { directory } = opening;
  try {
    const mentioned = mentionedPackages(readSkillText(directory, 'SKILL.md') ?? '');
    const python = new Map<string, string>();
    const node = new Map<string, string>();
    for (const script of scripts) {
      const imported = importedModules(directory, script);
      for (const module of imported.python) if (!python.has(module)) python.set(module, script);
      for (const name of imported.node) if (!node.has(name)) node.set(name, script);
    }
    const missing = await missingModules([...python.keys()], machine);
    const suggested = missing.map((module) => {
      const named = packageOfModule(module) ?? mentioned.python.find((name) => plain(name) === plain(module));
      return { package: named, module, neededBy: python.get(module) ?? '' };
    });
    const packages = [...node].map(([name, neededBy]) => ({ package: `npm:${name}`, module: name, neededBy }));
    return [...suggested, ...packages].filter(
      (one) => !declared.has(one.module) && !declared.has((one.package ?? '').replace(/^npm:/, '')),
    );
  } finally {
    directory.close();
  }
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]/g, '');
}

const FIND_MODULES = `
import sys
from importlib.util import find_spec
for name in sys.argv[1:]:
    if find_spec(name) is None:
        print(name)
`;

/** The modules that the Python of programs does not have. */
export async function missingModules(
  names: readonly string[],
  { inspect, programFolders }: Machine,
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const ask = inspect ?? inspectMachine([...programFolders, ...PROGRAM_FOLDERS]);
  return ((await ask(['python3', '-I', '-c', FIND_MODULES, ...names])) ?? '').split('\n').filter((name) => name !== '');
}

/** Explains why a program failed and names the command that fixes it, where its output shows a missing package, program or variable. */
export async function explainFailure(
  output: string,
  action: ProgramAction,
  staged: StagedSkill | undefined,
  parts: ExecutionParts & Pick<ExecutionCall, 'askedBy'>,
): Promise<string | undefined> {
  const again = commandAgain(action, staged);
  const plain = {
    stderr: output,
    again,
    canAsk: parts.askedBy === 'model' && mountsLayers(parts.executor),
    ...moduleCommand(action, staged),
    missing: { python: [], node: [] },
    mentioned: { python: [], node: [] },
  };
  // Reading the files of the skill is worth it only where the output shows a cause at all.
  if (staged === undefined || remedyFor(plain) === undefined) return remedyFor(plain);
  const opening = openConfined(staged.snapshot);
  if (opening.type === 'failed') return remedyFor(plain);
  const { directory } = opening;
  try {
    const imported: ImportedModules =
      action.type === 'run_script' ? importedModules(directory, scriptPath(action)) : { python: [], node: [] };
    return remedyFor({
      ...plain,
      missing: { python: await missingModules(imported.python, parts), node: imported.node },
      own: importableNames(directory),
      mentioned: mentionedPackages(readSkillText(directory, 'SKILL.md') ?? ''),
    });
  } finally {
    directory.close();
  }
}

/** `scripts` for a skill whose scripts import each other as `scripts.helper`. */
function importableNames(directory: ConfinedDirectory): readonly string[] {
  const { files } = directory.list({ maxFiles: 2_000, maxDepth: 3 });
  const names = files.flatMap(({ path }) => /^([A-Za-z_]\w*)(?:\.py$|\/)/.exec(path)?.[1] ?? []);
  return [...new Set(names)];
}

function commandAgain(action: ProgramAction, staged: StagedSkill | undefined): string {
  const skill = typedWord(staged?.name ?? 'SKILL');
  if (action.type === 'run_script')
    return `skillwright exec ${skill} ${typedWord(action.script.replace(/^scripts\//, ''))}`;
  return `skillwright exec ${skill} --command ${typedWord(action.command)}`;
}

/** Relative imports work where Python knows the package, which starts in the folder of the skill. */
function moduleCommand(action: ProgramAction, staged: StagedSkill | undefined): { readonly asModule?: string } {
  if (action.type !== 'run_script' || staged === undefined || !action.script.endsWith('.py')) return {};
  const module = scriptPath(action)
    .replace(/(?:\/__init__)?\.py$/, '')
    .replaceAll('/', '.');
  const line = typedWord(`python3 -m ${module}`);
  return { asModule: `skillwright exec ${typedWord(staged.name)} --command ${line}` };
}
