import type { Access, Decision } from '../core/access.ts';
import { isOfKind } from '../core/action.ts';
import type { Action } from '../core/action.ts';
import type { Isolation } from '../core/execution.ts';
import type { AskedBy } from '../core/session.ts';
import type { SkillEntry } from '../core/skill.ts';
import { accessesOf } from '../policy/action-access.ts';
import { decide, narrowPolicy, skillGrants, skillLayer } from '../policy/policy.ts';
import type { Policy } from '../policy/policy.ts';
import { activeSkills } from './action-context.ts';
import type { ActionContext, ActionSettings } from './action-context.ts';
import type { Execution } from './execution/execution.ts';
import type { ActionTarget } from './find-target.ts';

export interface ActionDecision {
  readonly decision: Decision;
  /** Everything that the action does, as rules see it. */
  readonly accesses: readonly Access[];
  /** The policy with all involved skills; it also decides about what the action does later, such as redirects. */
  readonly policy: Policy;
  /** The isolation of a program; absent where no program runs. */
  readonly isolation?: Isolation;
  /** Host folders that the program may change. */
  readonly writes?: readonly string[];
}

function writtenFolders({ mounts }: Execution): readonly string[] {
  return mounts.flatMap(({ source, access }) => (access === 'write' ? [source] : []));
}

/** Decides about one action (POL-2, POL-7). */
export function decideAction(
  action: Action,
  { skill, path, isIgnored = false }: ActionTarget,
  { askedBy, execution, ...context }: ActionContext,
  lock?: string,
): ActionDecision {
  const active = activeSkills(context);
  const isLoaded = active.some(({ id }) => id === skill?.id);
  // A restricted execution runs nothing but built-in scripts, which are as trusted as this program.
  const isolation =
    isOfKind(action, 'program') && execution !== undefined && execution.restriction === undefined
      ? { isolation: execution.isolation, writes: writtenFolders(execution) }
      : {};
  const accesses = accessesOf(action, {
    isLoaded,
    ...(skill === undefined ? {} : { skill }),
    ...(path === undefined ? {} : { place: { shown: path.shown, absolute: path.absolute, isIgnored } }),
    ...(lock === undefined ? {} : { lock }),
    ...isolation,
  });
  const policy = policyWithSkills(context, skill === undefined || isLoaded ? active : [...active, skill]);
  return { decision: allowOwnRequest(decide(policy, accesses), askedBy), accesses, policy, ...isolation };
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
      ...(disallowedTools === undefined ? {} : { disallowedTools }),
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
  if (askedBy === 'model' || decision.effect !== 'ask' || decision.rule !== 'by risk' || decision.risk === 'high')
    return decision;
  const rule = askedBy === 'person' ? 'a person asked for it' : 'the program asked for it';
  return { ...decision, effect: 'allow', rule, reason: `${decision.tool} is allowed: ${rule}` };
}
