import { invalidInput, isProblem, isProjectSource, quoted, readPackage, type SkillEntry, type SkillError } from '#core';
import type { RequestedPackage } from './declared-packages.ts';

/** Lists of packages that the configuration names. */
export interface ConfiguredPackages {
  /** Named lists of packages of the configuration. */
  readonly environments?: Readonly<Record<string, readonly string[]>>;
  /** The environment of each skill, by its name. */
  readonly skills?: Readonly<Record<string, string>>;
  /** Environments of a project's file, and those of its skills. They apply only to its own skills, and where `skills` names none. */
  readonly ofProject?: Pick<ConfiguredPackages, 'environments' | 'skills'> & {
    /** Whether a skill with a source of the project is really one: it may be a link to a skill of the user. */
    readonly isOwn: (skill: Pick<SkillEntry, 'dir'>) => boolean;
  };
  /** The environment for every program; without it, the one that `skills` names. */
  readonly environment?: string;
}

/** What the configuration sets for the programs of a skill. Of a project only what it says about its own skills counts. */
export function configuredPackages(
  skill: Pick<SkillEntry, 'name' | 'source' | 'dir'> | undefined,
  options: ConfiguredPackages,
): readonly RequestedPackage[] {
  const { environment, skills, ofProject } = options;
  if (environment !== undefined) return environmentPackages(environment, withProject(options));
  const own = nameFor(skills, skill);
  if (own !== undefined) return environmentPackages(own, options);
  const isOwn = skill !== undefined && isProjectSource(skill.source) && ofProject?.isOwn(skill) === true;
  const byProject = isOwn ? nameFor(ofProject.skills, skill) : undefined;
  return byProject === undefined ? [] : environmentPackages(byProject, withProject(options));
}

function nameFor(
  skills: ConfiguredPackages['skills'] = {},
  skill: Pick<SkillEntry, 'name' | 'source'> | undefined,
): string | undefined {
  if (skill === undefined) return undefined;
  return [`${skill.source}/${skill.name}`, skill.name].flatMap((key) =>
    Object.hasOwn(skills, key) ? [skills[key]] : [],
  )[0];
}

/** The environments of the user hide those of a project with the same name. */
export function withProject({ environments, ofProject }: ConfiguredPackages): Pick<ConfiguredPackages, 'environments'> {
  return { environments: { ...ofProject?.environments, ...environments } };
}

export function environmentPackages(
  name: string,
  { environments = {} }: Pick<ConfiguredPackages, 'environments'>,
): readonly RequestedPackage[] {
  const packages = Object.hasOwn(environments, name) ? environments[name] : undefined;
  if (packages !== undefined) return packages.map((text) => requested(text, 'environment', `environment ${name}`));
  const known = Object.keys(environments).join(', ');
  throw invalid(
    `there is no environment ${quoted(name)}`,
    `add it to packages.environments (${known === '' ? 'none is defined' : `defined: ${known}`})`,
  );
}

export function requested(text: string, source: RequestedPackage['source'], neededBy: string): RequestedPackage {
  const read = readPackage(text);
  if (isProblem(read)) throw invalid(`${neededBy}: ${read.message}`, read.hint);
  return { ...read, source, neededBy };
}

export function invalid(message: string, hint: string): SkillError {
  return invalidInput(message, hint, hint);
}
