/** The skills, homes and runtimes of a suite: nothing of the user's machine is in them. */
import path from 'node:path';

import type { EvalCase } from '../cases/case.ts';
import { stableJson } from '#core';
import { makeFolders, sha256 } from '#platform';
import { createRuntime, type Runtime } from '#runtime';
import { readInstalledSkills, type InstalledSkill } from '../subjects/installed-skills.ts';
import { makeSkillSet, type SkillSet } from './skill-set.ts';
import type { Job } from './suite-jobs.ts';

export interface Environment {
  readonly set: SkillSet;
  readonly runtime: Runtime;
}

export interface Environments {
  open(job: Job): Promise<Environment>;
  openSet(job: Job): Promise<SkillSet>;
  /** The skills of a set as another agent sees them. */
  installed(set: SkillSet): readonly InstalledSkill[];
  sets(): Promise<readonly SkillSet[]>;
}

export interface EnvironmentOptions {
  readonly signal: AbortSignal;
  /** The source of a skill folder, such as `project`; its copy keeps it. */
  readonly sourceOf?: ((folder: string) => string | undefined) | undefined;
}

/** Copies each skill set once and opens one isolated runtime per set and configuration: own home, no cache, no environment. */
export function openEnvironments(work: string, { signal, sourceOf }: EnvironmentOptions): Environments {
  const sets = new Map<string, Promise<SkillSet>>();
  const runtimes = new Map<string, Promise<Runtime>>();
  const once = <T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> => {
    const known = map.get(key) ?? make();
    map.set(key, known);
    return known;
  };
  const setKeyOf = ({ folders }: Job): string => sha256(folders.join('\n')).slice(0, 16);
  const openSet = (job: Job): Promise<SkillSet> => {
    const key = setKeyOf(job);
    return once(sets, key, () => makeSkillSet(job.folders, { to: path.join(work, 'sets', key), sourceOf, signal }));
  };
  const installed = new Map<SkillSet, readonly InstalledSkill[]>();
  return {
    openSet,
    installed(set) {
      const known = installed.get(set) ?? readInstalledSkills(set.folder);
      installed.set(set, known);
      return known;
    },
    async open(job) {
      const { config } = job.evalCase;
      const [setKey, set] = [setKeyOf(job), await openSet(job)];
      const key = sha256(`${setKey} ${stableJson(config ?? {})}`).slice(0, 16);
      const runtime = await once(runtimes, key, () => isolatedRuntime(path.join(work, 'homes', key), set, config));
      return { set, runtime };
    },
    sets: () => Promise.all(sets.values()),
  };
}

function isolatedRuntime(place: string, set: SkillSet, config: EvalCase['config']): Promise<Runtime> {
  const [home, cwd] = [path.join(place, 'home'), path.join(place, 'project')];
  for (const folder of [home, cwd]) makeFolders(folder);
  return createRuntime({
    cwd,
    home,
    env: {},
    roots: set.roots.length === 0 ? [set.folder] : set.roots,
    onlyRoots: true,
    vouched: [set.folder],
    cache: false,
    config,
  });
}
