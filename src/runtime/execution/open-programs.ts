import { defined, isProblem, type Config, type LoadedConfig, type SkillEntry, type Surroundings } from '#core';
import { hiddenNames, isSecretPath, writeProtection } from '#policy';
import { openExecution, type Execution, type ExecutionOptions } from '#sandbox';
import { resolveSkill, type SkillIndex } from '#skills';
import type { ProgramPlaces, SessionServers } from '../action-context.ts';
import { isOfProject } from '../roots.ts';
import { locateFiles } from '../server-files.ts';
import type { Session } from '../session.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { SkillTrust } from '../skill-trust.ts';

interface ProgramSource {
  readonly loaded: LoadedConfig;
  readonly surroundings: Surroundings;
  readonly config: Config;
  readonly index: SkillIndex;
  readonly places: ProgramPlaces;
  readonly secrets: Secrets;
  readonly trust: SkillTrust;
}

/** Opens the programs of a session with the settings of the configuration and of the caller. */
export async function openPrograms(
  { loaded, surroundings, config, index, places, secrets, trust }: ProgramSource,
  options: ExecutionOptions,
  { parent, servers }: { readonly parent: Session | undefined; readonly servers: SessionServers | undefined },
): Promise<Execution> {
  const { executor = 'auto', allow_weaker: allowWeaker = false, network = [], image, runtime } = config.execution ?? {};
  const container = defined({ image, runtime });
  const configured: ExecutionOptions = {
    executor,
    allowWeaker,
    network,
    redactor: secrets.redactor,
    secrets: secrets.forSkill,
    secretNames: secrets.namesFor,
    container,
  };
  // Files of unusable skills must not reach programs either.
  const findSkill = async (name: string): Promise<SkillEntry | undefined> => {
    const skill = resolveSkill(index, name);
    const isUsable = skill !== undefined && skill.state !== 'disabled' && (await trust.distrust(skill)) === undefined;
    if (!isUsable) return undefined;
    const files = await locateFiles(skill, { servers, signal: undefined }, undefined);
    return isProblem(files) ? undefined : files.skill;
  };
  const settings = {
    ...configured,
    mounts: projectMounts(config, places),
    ...defined(options),
    container: { ...container, ...defined(options.container ?? {}) },
    packages: packageOptions(loaded, options, surroundings),
  };
  // A child cannot reach hosts that its parent cannot.
  const isReached = (host: string): boolean =>
    parent === undefined || parent.execution?.network.includes(host) === true;
  const guard = {
    names: hiddenNames(),
    isSecret: isSecretPath,
    isProtected: (relative: string, folder: string) => writeProtection(relative, folder) !== 'free',
  };
  return openExecution(
    { ...settings, network: (settings.network ?? []).filter(isReached) },
    { ...places, guard, findSkill },
  );
}

function projectMounts({ sandbox }: Config, { project }: ProgramSource['places']): ExecutionOptions['mounts'] {
  const { project: access = 'none' } = sandbox ?? {};
  return access === 'none' ? [] : [{ folder: project, access, isProject: true, isOptional: true }];
}

/** Packages of the configuration, with what the caller names. */
function packageOptions(
  { config: { packages = {} }, forOwnSkills }: LoadedConfig,
  { packages: named = {} }: ExecutionOptions,
  surroundings: Surroundings,
): NonNullable<ExecutionOptions['packages']> {
  const { environments, skills, offline, hosts } = packages;
  const ofProject = forOwnSkills.packages && {
    ...forOwnSkills.packages,
    isOwn: ({ dir }: Pick<SkillEntry, 'dir'>) => isOfProject(dir, surroundings),
  };
  return {
    ...defined({ environments, skills, hosts, ofProject }),
    ...named,
    ...(offline === true || named.isOffline === true ? { isOffline: true } : {}),
  };
}
