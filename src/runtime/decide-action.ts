import path from 'node:path';

import { defined, startsProgram, type Action, type Decision, type RunResult, type SkillEntry } from '#core';
import { decideAccesses, listAccesses, mayReach, type Policy, type Access } from '#policy';
import { activeSkills, policyInUse, type ActionContext } from './action-context.ts';
import type { Execution } from '#sandbox';
import type { ActionTarget } from './find-target.ts';
import { realPath } from '#platform';
import { openLinkedNames } from '#project';
import { listResourcePlaces, openSkillPlaces } from './skill-places.ts';

export type ProgramFacts = Parameters<typeof decideAccesses>[2]['program'];

export interface ActionDecision {
  readonly decision: Decision;
  /** Everything that the action does, as rules see it. */
  readonly accesses: readonly Access[];
  /** The policy with all involved skills; it also decides about what the action does later, such as redirects. */
  readonly policy: Policy;
  /** The isolation of a program; absent where no program runs. */
  readonly isolation?: RunResult['isolation'];
}

/** What a started program may reach; nothing for actions that start none. */
function programFacts(
  action: Action,
  skill: SkillEntry | undefined,
  policy: Policy,
  execution: Execution | undefined,
): ProgramFacts {
  // A restricted execution runs nothing but built-in scripts, which are as trusted as this program.
  if (execution === undefined || execution.restriction !== undefined || !startsProgram(action)) return {};
  const { isolation, mounts, network, secretNames } = execution;
  return {
    isolation,
    writes: mounts.flatMap(({ source, access }) => (access === 'write' ? [source] : [])),
    // A denied host is not granted.
    hosts: network.filter((host) => mayReach(policy, host)),
    secrets: skill === undefined ? [] : secretNames(skill),
  };
}

/** Decides about one action (POL-2, POL-7, POL-12). */
export async function decideAction(
  action: Action,
  { skill, path: target, isIgnored = false, isUndoable }: ActionTarget,
  { askedBy, execution, sandboxed, ...context }: ActionContext,
  lock?: string,
): Promise<ActionDecision> {
  const active = activeSkills(context);
  const isLoaded = active.some(({ id }) => id === skill?.id);
  const policy = policyInUse(context, skill === undefined || isLoaded ? active : [...active, skill]);
  const program = programFacts(action, skill, policy, execution);
  const project = context.host?.project ?? execution?.project;
  const named = await listAccesses(action, {
    project,
    isLoaded,
    skill,
    files: skill === undefined ? undefined : listResourcePlaces(action, skill, project),
    place: target && {
      shown: target.shown,
      absolute: target.absolute,
      isIgnored,
      ...defined({ isUndoable }),
      ...openSkillPlaces(active, project)({ absolute: target.absolute, isInProject: target.place === 'project' }),
    },
    lock,
    ...program,
  });
  const accesses = project === undefined ? named : [...named, ...otherNames(named, realPath(project))];
  const decision = decideAccesses(policy, accesses, { program, askedBy, sandboxed });
  const { isolation } = program;
  return { decision, accesses, policy, isolation };
}

const READING: ReadonlySet<string> = new Set(['read_file', 'grep', 'host_input']);

/** The same access by the other names of a file with hard links. */
export function otherNames(accesses: readonly Access[], project: string): readonly Access[] {
  const linked = openLinkedNames(project);
  return accesses.flatMap(({ tool, subject }) => {
    if (!READING.has(tool) || subject.kind !== 'path' || subject.absolute === undefined) return [];
    return linked(subject.absolute).map((absolute): Access => ({
      tool,
      subject: { kind: 'path', path: path.relative(project, absolute), absolute },
    }));
  });
}
