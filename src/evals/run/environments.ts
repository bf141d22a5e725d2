/** The skill sets and runtimes of a suite. */
import path from 'node:path';

import { stableJson } from '#core';
import { makeFolders, sha256 } from '#platform';
import { createRuntime, type Runtime } from '#runtime';
import type { EvalCase } from '../cases/case.ts';
import { readInstalledSkills, type InstalledSkill } from '../subjects/installed-skills.ts';
import { makeSkillSet, type SkillSet, type SkillSetOptions } from './skill-set.ts';
import type { Job } from './suite-jobs.ts';

/** Copies each skill set once and opens one isolated runtime per set and configuration: own home, no cache, no environment. */
export function openEnvironments(work: string, options: Omit<SkillSetOptions, 'to'>) {
  const sets = new Map<string, Promise<SkillSet>>();
  const runtimes = new Map<string, Promise<Runtime>>();
  const once = <T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> => {
    const known = map.get(key) ?? make();
    map.set(key, known);
    return known;
  };
  const setKey = ({ folders }: Job): string => sha256(folders.join('\n')).slice(0, 16);
  const openSet = (job: Job): Promise<SkillSet> => {
    const key = setKey(job);
    return once(sets, key, () => makeSkillSet(job.folders, { ...options, to: path.join(work, 'sets', key) }));
  };
  const installed = new Map<SkillSet, readonly InstalledSkill[]>();
  return {
    openSet,
    /** The skills of a set as another agent sees them. */
    installed(set: SkillSet) {
      const known = installed.get(set) ?? readInstalledSkills(set.folder);
      installed.set(set, known);
      return known;
    },
    async open(job: Job) {
      const { config } = job.evalCase;
      const set = await openSet(job);
      const key = sha256(`${setKey(job)} ${stableJson(config ?? {})}`).slice(0, 16);
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
