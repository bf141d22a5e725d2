import { scriptPath, type SkillEntry, type StagedSkill } from '#core';
import { findMissing, scriptRequirements, skillRequirements, type Requirement } from '#sandbox';
import { inConfined } from '#platform';
import type { PreparedPackages } from '../packages/layer-mounts.ts';
import type { ExecutionParts, MissingRequirement, ProgramAction } from './parts.ts';

export interface MissingRequirements {
  /** Requirements that this program cannot run without. */
  readonly blocking: readonly MissingRequirement[];
  /** Everything that the skill is missing; evaluated on demand, possibly while the program runs. */
  readonly all: () => Promise<readonly MissingRequirement[]>;
}

/**
 * Checks the requirements of a skill with its first program (EXEC-10) and caches the result by digest. Requirements of this program are
 * checked first.
 */
export async function missingFor(
  skill: SkillEntry,
  { digest, snapshot }: StagedSkill,
  action: ProgramAction,
  packages: PreparedPackages,
  parts: ExecutionParts,
): Promise<MissingRequirements> {
  const script = action.type === 'run_script' ? scriptPath(action) : undefined;
  const isOwn = ({ neededBy }: { readonly neededBy: string }): boolean => neededBy === script;
  const hasPackages = packages.layers.length > 0 || packages.venv !== undefined;
  const known = hasPackages ? undefined : parts.examined.get(digest);
  if (known !== undefined) return { blocking: known.filter(isOwn), all: () => Promise.resolve(known) };
  const { env, network, programFolders, inspect } = parts;
  const check = (some: readonly Requirement[]): Promise<readonly MissingRequirement[]> =>
    findMissing(
      some.filter(({ kind }) => !isInstalled(kind, packages)),
      {
        variables: Object.keys(env),
        hasNetwork: network.length > 0,
        programFolders,
        inspect,
      },
    );
  const all = async (): Promise<readonly MissingRequirement[]> => {
    const missing = await check(needsIn(snapshot, skill));
    if (!hasPackages) parts.examined.set(digest, missing);
    return missing;
  };
  if (inspect === undefined) {
    // The program waits for this check, so other requirements are checked only if something is missing, or while it runs.
    const isReady = script === undefined || (await check(ownNeeds(snapshot, script))).length === 0;
    return { blocking: isReady ? [] : await check(firstOfEach(needsIn(snapshot, skill)).filter(isOwn)), all };
  }
  // These checks run programs in the sandbox, so they must finish before this program starts.
  const missing = await all();
  return { blocking: missing.filter(isOwn), all: () => Promise.resolve(missing) };
}

/** Packages of a layer were resolved for the program as a whole; the user knows what is in a virtual environment. */
function isInstalled(kind: Requirement['kind'], { layers, venv }: PreparedPackages): boolean {
  if (kind === 'python-package' && venv !== undefined) return true;
  return layers.some(({ ecosystem }) => kind === `${ecosystem}-package`);
}

function needsIn(snapshot: string, { controls, compatibility = '' }: SkillEntry): readonly Requirement[] {
  const { requires = [] } = controls;
  return inConfined(
    snapshot,
    (directory) => skillRequirements({ directory, requires, compatibility }),
    () => [],
  );
}

function ownNeeds(snapshot: string, script: string): readonly Requirement[] {
  return inConfined(
    snapshot,
    (directory) => scriptRequirements(directory, script),
    () => [],
  );
}

/** A shared requirement is reported for the first file that needs it. */
function firstOfEach(needs: readonly Requirement[]): readonly Requirement[] {
  const isSame = (one: Requirement, other: Requirement): boolean =>
    one.kind === other.kind && one.name === other.name && one.range === other.range;
  return needs.filter((need, place) => needs.findIndex((other) => isSame(need, other)) === place);
}
