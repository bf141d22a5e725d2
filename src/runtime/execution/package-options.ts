import { defined, type LoadedConfig, type SkillEntry, type Surroundings } from '#core';
import type { PackageOptions } from '#sandbox';
import { isOfProject } from '../roots.ts';
import type { ExecutionOptions } from './parts.ts';

/** Packages of the configuration, with what the caller names. */
export function packageOptions(
  { config: { packages = {} }, forOwnSkills }: LoadedConfig,
  { packages: named = {} }: ExecutionOptions,
  surroundings: Surroundings,
): PackageOptions {
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
