import path from 'node:path';

import { defined, type Access, type Action, type Decision, type SkillEntry, type Config, type RunResult } from '#core';
import {
  listAccesses,
  BY_DEFAULT,
  listCapabilities,
  decide,
  grantAccess,
  isContained,
  isPossible,
  narrowPolicy,
  readCommand,
  skillGrants,
  skillLayer,
  type AccessFacts,
  type Policy,
} from '#policy';
import { activeSkills, type ActionContext, type ActionSettings, type AskedBy } from './action-context.ts';
import type { Execution } from './execution/execution.ts';
import type { ActionTarget } from './find-target.ts';
import { realPath } from '#platform';
import { openLinkedNames } from '#project';

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
  if (execution === undefined || execution.restriction !== undefined || !STARTING.has(action.type)) return {};
  const { isolation, mounts, network, secretNames } = execution;
  return {
    isolation,
    writes: mounts.flatMap(({ source, access }) => (access === 'write' ? [source] : [])),
    // A denied host is not granted.
    hosts: network.filter((host) => isPossible(decide(policy, [grantAccess(host)]))),
    secrets: skill === undefined ? [] : secretNames(skill),
  };
}

const STARTING: ReadonlySet<Action['type']> = new Set(['run_script', 'run_command', 'start_command']);

/** Decides about one action (POL-2, POL-7, POL-12). */
export async function decideAction(
  action: Action,
  { skill, path: target, isIgnored = false }: ActionTarget,
  { askedBy, execution, sandboxed, ...context }: ActionContext,
  lock?: string,
): Promise<ActionDecision> {
  const active = activeSkills(context);
  const isLoaded = active.some(({ id }) => id === skill?.id);
  const policy = policyWithSkills(context, skill === undefined || isLoaded ? active : [...active, skill]);
  const program = programFacts(action, skill, policy, execution);
  const isCommand = action.type === 'run_command' || action.type === 'start_command';
  const named = listAccesses(action, {
    isLoaded,
    skill,
    place: target === undefined ? undefined : { shown: target.shown, absolute: target.absolute, isIgnored },
    lock,
    ...(isCommand ? { line: await readCommand({ command: action.command, env: action.env, skill }) } : {}),
    ...program,
  });
  const project = context.host?.project ?? execution?.project;
  const accesses = project === undefined ? named : [...named, ...otherNames(named, realPath(project))];
  const decision = decideAccesses(policy, accesses, { program, askedBy, sandboxed });
  const { isolation } = program;
  return { decision, accesses, policy, isolation };
}

type ProgramFacts = Pick<AccessFacts, 'isolation' | 'writes' | 'hosts' | 'secrets'>;

/** The decision with what the program reaches, under the setting for contained programs. */
export function decideAccesses(
  policy: Policy,
  accesses: readonly Access[],
  {
    program,
    askedBy,
    sandboxed,
  }: {
    readonly program: ProgramFacts;
    readonly askedBy: AskedBy;
    readonly sandboxed: NonNullable<NonNullable<Config['policy']>['sandboxed']>;
  },
): Decision {
  const found = allowOwnRequest(decide(policy, accesses), askedBy);
  if (program.isolation === undefined) return found;
  const allowed = sandboxed === 'allow' && isContained(program) ? allowContained(found, policy, accesses) : found;
  return { ...allowed, capabilities: listCapabilities(program) };
}

/** `policy.sandboxed: allow`: what only its default asks about, and what reaches nothing, is allowed. */
function allowContained(decision: Decision, policy: Policy, accesses: readonly Access[]): Decision {
  if (decision.effect !== 'ask' || decision.rule !== BY_DEFAULT) return decision;
  const others = accesses.filter(({ tool }) => tool !== 'run_script' && tool !== 'run_command');
  if (others.length > 0 && decide(policy, others).effect !== 'allow') return decision;
  const rule = 'policy.sandboxed: allow';
  return {
    ...decision,
    effect: 'allow',
    rule,
    reason: `${decision.tool} is allowed: ${rule}, and it is fully contained`,
  };
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

/** Each skill narrows the policy by its `disallowed-tools`, and by its `allowed-tools` if these are used as a restriction. */
export function policyWithSkills(
  { policy, allowedTools }: Pick<ActionSettings, 'policy' | 'allowedTools'>,
  skills: readonly SkillEntry[],
): Policy {
  const isRestricting = allowedTools === 'restrict' || allowedTools === 'both';
  const isGranting = allowedTools === 'grant' || allowedTools === 'both';
  const layers = skills.flatMap(({ id, controls: { allowedTools: allowed, disallowedTools } }) => {
    const stated = {
      ...(isRestricting && allowed !== undefined ? { allowedTools: allowed } : {}),
      ...defined({ disallowedTools }),
    };
    return Object.keys(stated).length === 0 ? [] : [skillLayer(id, stated)];
  });
  const narrowed = layers.length === 0 ? policy : narrowPolicy(policy, layers);
  if (!isGranting) return narrowed;
  const grants = skills.flatMap(({ id, controls }) => skillGrants(id, controls.allowedTools ?? []));
  return { ...narrowed, grants: [...narrowed.grants, ...grants] };
}

/** A person or program that requests an action need not approve it again, unless a rule says `ask` or the risk is high. */
function allowOwnRequest(decision: Decision, askedBy: AskedBy): Decision {
  if (askedBy === 'model' || decision.effect !== 'ask' || decision.rule !== BY_DEFAULT || decision.risk === 'high')
    return decision;
  const rule = askedBy === 'person' ? 'a person asked for it' : 'the program asked for it';
  return { ...decision, effect: 'allow', rule, reason: `${decision.tool} is allowed: ${rule}` };
}
