import { inConfined, openConfined } from '#platform';
import { inspectMachine, type ProgramMachine } from '../programs/preflight.ts';
import { packageOfModule } from './import-names.ts';
import { importedModules, type ImportedModules } from './import-scan.ts';
import { readSkillText } from './skill-text.ts';
import { PROGRAM_FOLDERS } from '../process/program-environment.ts';

/** A package that a skill probably needs. Nothing installs it until a person or a rule says so. */
export interface SuggestedPackage {
  /** As on the command line; absent where the package of a module is not known. */
  readonly package?: string;
  readonly module: string;
  readonly neededBy: string;
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
  machine: ProgramMachine,
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
      return { package: findPackage(module, mentioned), module, neededBy: python.get(module) ?? '' };
    });
    const packages = [...node].map(([name, neededBy]) => ({ package: `npm:${name}`, module: name, neededBy }));
    return [...suggested, ...packages].filter(
      (one) => !declared.has(one.module) && !declared.has((one.package ?? '').replace(/^npm:/, '')),
    );
  } finally {
    directory.close();
  }
}

/** The package of a module, where it is listed, or the skill itself names one like the module. */
export function findPackage(module: string, mentioned: ImportedModules): string | undefined {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_.]/g, '');
  return packageOfModule(module) ?? mentioned.python.find((name) => plain(name) === plain(module));
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
  { inspect, programFolders }: ProgramMachine,
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const ask = inspect ?? inspectMachine([...programFolders, ...PROGRAM_FOLDERS]);
  return ((await ask(['python3', '-I', '-c', FIND_MODULES, ...names])) ?? '').split('\n').filter((name) => name !== '');
}

const PIP =
  /\b(?:(?:pip3?|uv pip|uv) (?:install|add)|(?:conda|mamba) install(?: -y| -c [\w-]{1,50})*) ([^\n`'"|&;#]{1,300})/g;
const NPM = /\b(?:npm (?:install|i|add)|yarn add|pnpm add) ([^\n`'"|&;#]{1,300})/g;

/** The packages that a text tells its reader to install. */
export function mentionedPackages(text: string): ImportedModules {
  const words = (pattern: RegExp): readonly string[] => [
    ...new Set(
      [...text.matchAll(pattern)]
        .flatMap(([, list = '']) => list.trim().split(/\s+/))
        .filter((word) => /^@?[a-zA-Z0-9][\w./[\],<>=~!-]{0,99}$/.test(word) && !/\.(?:txt|toml|json|whl)$/.test(word))
        .map((word) => /^@?[\w./-]*\w/.exec(word)?.[0] ?? ''),
    ),
  ];
  return { python: words(PIP), node: words(NPM) };
}
