import { scriptPath, toRelativePath, type SkillEntry, type ProgramAction, isProblem } from '#core';
import { openConfined, type ConfinedDirectory } from '#platform';
import { findMissing, type ProgramMachine } from '../programs/preflight.ts';
import { declaredPackages, type RequestedPackage } from './declared-packages.ts';
import { importedModules } from './import-scan.ts';
import { ECOSYSTEMS } from './ecosystems.ts';
import type { StagedSkill } from '../program-types.ts';

type Ecosystem = RequestedPackage['ecosystem'];

export interface DeclaringParts extends ProgramMachine {
  readonly stage: (skill: SkillEntry) => Promise<StagedSkill>;
}

/** The ecosystems whose declarations a program may need. */
export function listEcosystems(action: ProgramAction): readonly Ecosystem[] {
  if (action.type !== 'run_script') return ECOSYSTEMS;
  if (/\.py$/i.test(action.script)) return ['python'];
  if (/\.[cm]?[jt]sx?$/i.test(action.script)) return ['node'];
  return ECOSYSTEMS;
}

/** The packages of one ecosystem that a program needs. */
export interface PackageNeeds {
  readonly ecosystem: Ecosystem;
  readonly packages: readonly RequestedPackage[];
  /** Declared for the skill as a whole: a script that may not need them runs without them if they cannot be installed. */
  readonly isOptional: boolean;
  /** Declarations that cannot be installed. */
  readonly problems: readonly string[];
}

/** The declared packages that the machine lacks. If it has all of them, no layer is needed. */
export async function declaredBy(
  action: ProgramAction,
  skill: SkillEntry,
  languages: readonly Ecosystem[],
  parts: DeclaringParts,
): Promise<readonly PackageNeeds[]> {
  const { snapshot } = await parts.stage(skill);
  const script = action.type === 'run_script' ? scriptPath(action) : undefined;
  const opening = openConfined(snapshot);
  if (opening.type === 'failed') return [];
  const { directory } = opening;
  try {
    const declared = languages.flatMap((ecosystem): readonly PackageNeeds[] => {
      const { packages, problems } = declaredPackages(directory, ecosystem, script);
      const isOptional = packages.every(({ source }) => source !== 'script');
      // A list for the whole skill concerns only scripts that import something.
      if (packages.length === 0 || (isOptional && !importsAny(directory, script, ecosystem))) return [];
      return [{ ecosystem, packages, isOptional, problems }];
    });
    const isMissing = await Promise.all(declared.map((some) => lacksAny(some, directory, parts)));
    return declared.filter((_, place) => isMissing[place] === true);
  } finally {
    directory.close();
  }
}

/** A command line may run any script of the skill. */
function importsAny(directory: ConfinedDirectory, script: string | undefined, ecosystem: Ecosystem): boolean {
  return (
    script === undefined ||
    importedModules(directory, script)[ecosystem].length > 0 ||
    !/\.(?:py|[cm]?[jt]s)$/.test(script)
  );
}

async function lacksAny(
  { ecosystem, packages }: PackageNeeds,
  directory: ConfinedDirectory,
  { inspect, programFolders }: DeclaringParts,
): Promise<boolean> {
  if (ecosystem === 'node') return !packages.every(({ name }) => isInSkill(directory, name));
  const needs = packages
    // Whether a condition applies is decided by pip.
    .filter(({ text }) => !text.includes(';'))
    .map(({ name, text }) => {
      const range = text.slice(name.length).replace(/^\[[^\]]*\]/, '');
      return { kind: 'python-package' as const, name, neededBy: '', ...(range === '' ? {} : { range }) };
    });
  const missing = await findMissing(needs, { programFolders, inspect });
  return missing.length > 0;
}

function isInSkill(directory: ConfinedDirectory, name: string): boolean {
  return ['', 'scripts/'].some((folder) => {
    const asked = toRelativePath(`${folder}node_modules/${name}/package.json`);
    return !isProblem(asked) && directory.resolve(asked, { allowHardLinks: true }).type === 'found';
  });
}
