import { scriptPath, type SkillEntry, type ProgramAction } from '#core';
import { inConfined, type ConfinedDirectory } from '#platform';
import type { PreparedPackages } from '../environments/layer-mounts.ts';
import { findMissing, type MissingRequirement, type ProgramMachine } from './preflight.ts';
import { scriptRequirements, skillRequirements, type Requirement } from './skill-requirements.ts';
import type { StagedSkill } from '../program-types.ts';

interface MissingRequirements {
  /** Requirements that this program cannot run without. */
  readonly blocking: readonly MissingRequirement[];
  /** Everything that the skill is missing; evaluated on demand, possibly while the program runs. */
  readonly all: () => Promise<readonly MissingRequirement[]>;
}

/** What a program gets besides its packages. */
interface Provided {
  readonly env: Readonly<Record<string, string>>;
  readonly network: readonly string[];
}

export type FindMissingFor = (
  skill: SkillEntry,
  staged: StagedSkill,
  action: ProgramAction,
  packages: PreparedPackages,
  provided: Provided,
) => Promise<MissingRequirements>;

/** Checks the requirements of a skill with its first program (EXEC-10) and caches the result by digest. */
export function openRequirements(machine: ProgramMachine): FindMissingFor {
  const examined = new Map<string, readonly MissingRequirement[]>();
  return async (skill, { digest, snapshot }, action, packages, { env, network }) => {
    const hasPackages = packages.layers.length > 0 || packages.venv !== undefined;
    const known = hasPackages ? undefined : examined.get(digest);
    const check = (some: readonly Requirement[]): Promise<readonly MissingRequirement[]> =>
      findMissing(
        some.filter(({ kind }) => !isInstalled(kind, packages)),
        { ...machine, variables: Object.keys(env), hasNetwork: network.length > 0 },
      );
    const read = (from: (directory: ConfinedDirectory) => readonly Requirement[]): readonly Requirement[] =>
      inConfined(snapshot, from, () => []);
    // What this script states itself, also where another file of the skill states the same.
    const own =
      action.type === 'run_script' ? read((directory) => scriptRequirements(directory, scriptPath(action))) : [];
    if (known !== undefined)
      return { blocking: known.length === 0 ? [] : await check(own), all: () => Promise.resolve(known) };
    const needs = (): readonly Requirement[] => {
      const { controls, compatibility } = skill;
      return read((directory) => skillRequirements({ directory, requires: controls.requires, compatibility }));
    };
    const all = async (): Promise<readonly MissingRequirement[]> => {
      const missing = await check(needs());
      if (!hasPackages) examined.set(digest, missing);
      return missing;
    };
    // The program waits for its own requirements; the others are checked while it runs.
    if (machine.inspect === undefined) return { blocking: await check(own), all };
    // These checks run programs in the sandbox, so they must finish before this program starts.
    const missing = await all();
    return { blocking: missing.length === 0 ? [] : await check(own), all: () => Promise.resolve(missing) };
  };
}

/** Packages of a layer were resolved for the program as a whole; the user knows what is in a virtual environment. */
function isInstalled(kind: Requirement['kind'], { layers, venv }: PreparedPackages): boolean {
  if (kind === 'python-package' && venv !== undefined) return true;
  return layers.some(({ ecosystem }) => kind === `${ecosystem}-package`);
}
