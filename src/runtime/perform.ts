import { hostInputsOf, isOfKind } from '../core/action.ts';
import type { Action, SearchSkills } from '../core/action.ts';
import { isSkillError } from '../core/errors.ts';
import { failure } from '../core/failure-codes.ts';
import type { Failure, FailureCode } from '../core/failure-codes.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed, Observation } from '../core/observation.ts';
import { grantAccess } from '../policy/action-access.ts';
import { decide } from '../policy/policy.ts';
import { redacted } from './secrets/redact-value.ts';
import { resolveSkill } from '../registry/resolve-skill.ts';
import { activeSkills } from './action-context.ts';
import type { ActionContext } from './action-context.ts';
import { askApproval } from './ask-approval.ts';
import type { Approval } from './ask-approval.ts';
import { decideAction } from './decide-action.ts';
import type { ActionDecision } from './decide-action.ts';
import type { PreparedPackages } from './execution/parts.ts';
import type { packagesFor } from './install-packages.ts';
import { skillDigest } from './skill-digest.ts';
import { findTarget } from './find-target.ts';
import type { ActionTarget } from './find-target.ts';
import { readSkill } from './skill-actions.ts';

/** Takes one action through all stages: find, decide, ask, do, observe, record. Expected failures are observations too. */
export async function performAction(action: Action, context: ActionContext): Promise<Observation> {
  const { journal, askedBy, recall, redactor } = context;
  context.signal?.throwIfAborted();
  const call = journal.nextCall();
  try {
    journal.record({ type: 'action', call, action, askedBy });
    const recalled = recall?.({ call, action, askedBy });
    for (const event of recalled?.events ?? []) journal.record(event);
    const observation =
      recalled?.observation ?? redacted(interrupted(await perform(action, call, context), context), redactor);
    journal.record({ type: 'observation', call, observation });
    return observation;
  } catch (error) {
    return recordFailed(action, error);
  }
}

/** A program or a request that the signal ended did not fail by itself. */
function interrupted(observation: Observation, { signal }: ActionContext): Observation {
  if (signal?.aborted !== true || observation.type !== 'failed' || !ENDED.has(observation.code)) return observation;
  const { action } = observation;
  return actionFailed(action, failure('run/interrupted', `${action} was interrupted`));
}

const ENDED: ReadonlySet<FailureCode> = new Set(['execution/failed', 'network/failed']);

/** An action that cannot be recorded ends the run. Every other error is thrown on. */
export function recordFailed({ type }: Action, error: unknown): ActionFailed {
  if (!isSkillError(error) || error.code !== 'record/failed') throw error;
  return { ...actionFailed(type, failure('record/failed', error.message, { hint: error.hint })), isTerminal: true };
}

async function perform(action: Action, call: number, context: ActionContext): Promise<Observation> {
  const { journal } = context;
  const target = await findTarget(action, context);
  if ('code' in target) {
    recordRefusal(action, call, target, context);
    return actionFailed(action.type, target);
  }

  if (action.type === 'install_packages') {
    if (target.skill === undefined)
      return actionFailed(action.type, failure('skill/unknown', 'packages belong to a skill'));
    const { performInstall } = await import('./install-packages.ts');
    return performInstall(action, call, { skill: target.skill, digest: undefined }, context);
  }
  const decided = decideAction(action, target, context);
  const { effect, reason } = decided.decision;
  journal.record({ type: 'decision', call, decision: decided.decision });
  if (effect === 'deny') return actionFailed(action.type, failure('policy/denied', reason));

  const { skill } = target;
  const needsDigest = skill !== undefined && (effect === 'ask' || journal.isKept);
  const digest = needsDigest ? await skillDigest(skill, context) : undefined;
  if (typeof digest === 'object') return actionFailed(action.type, digest);
  const approval =
    effect === 'ask' ? await askApproval(action, call, { ...target, digest }, decided, context) : undefined;
  if (approval !== undefined && 'code' in approval) return actionFailed(action.type, approval);
  if (skill !== undefined && digest !== undefined) {
    const { id, name, source } = skill;
    journal.record({ type: 'skill-use', call, skill: { id, name, source, digest } });
  }
  return doAction(action, call, { target, decided, approval, digest }, context);
}

/** A skill that is untrusted or not offered was refused before any rule was asked; the record says so (POL-7). */
function recordRefusal(action: Action, call: number, { code, message }: Failure, { journal }: ActionContext): void {
  if (code !== 'skill/untrusted' && code !== 'skill/not-offered') return;
  const origin = code === 'skill/untrusted' ? ({ layer: 'trust', where: '' } as const) : OFFERED;
  const decision = { effect: 'deny', tool: action.type, risk: 'low', rule: code, origin, reason: message } as const;
  journal.record({ type: 'decision', call, decision });
}

const OFFERED = { layer: 'skill', where: 'user-invocable and disable-model-invocation' } as const;

interface AllowedAction {
  readonly target: ActionTarget;
  readonly decided: ActionDecision;
  readonly approval: Approval | undefined;
  /** The digest of the skill that was approved or recorded. */
  readonly digest: string | undefined;
}

async function doAction(
  action: Action,
  call: number,
  { target: { skill, path }, decided: { policy }, approval, digest }: AllowedAction,
  context: ActionContext,
): Promise<Observation> {
  const { journal, execution, signal } = context;
  if (action.type === 'final_answer') return { type: 'answered', action: action.type, answer: action.answer };
  if (action.type === 'search_skills') return searchSkills(action, context);
  if (isOfKind(action, 'skill') && skill !== undefined) return readSkill(action, skill, context);
  journal.flush();
  if (isOfKind(action, 'host')) {
    const { performHostAction } = await import('./host-actions.ts');
    const active = activeSkills(context);
    const isClosed = (place: { readonly absolute: string; readonly shown: string }): boolean =>
      context.askedBy === 'model' && context.host?.closed.refusal(place, active) !== undefined;
    const rights = { policy, isApproved: approval !== undefined, preview: approval?.preview, isClosed, signal };
    return performHostAction(action, path, rights);
  }
  if (isOfKind(action, 'program') && execution !== undefined) {
    const mayReach = (host: string): boolean => decide(policy, [grantAccess(host)]).effect !== 'deny';
    const isStarting = action.type === 'run_script' || action.type === 'run_command' || action.type === 'start_command';
    const packages = isStarting
      ? await programPackages(action, call, { skill, digest }, { ...context, execution })
      : NONE;
    if ('code' in packages) return actionFailed(action.type, packages);
    const given = { hostInputs: hostInputsOf(action), mayReach, packages };
    return execution.perform(action, skill, { signal, digest, call, ...given });
  }
  throw new TypeError(`no stage performs ${action.type}`);
}

const NONE: PreparedPackages = { layers: [], warnings: [] };

/** Loaded only where programs run. */
const programPackages: typeof packagesFor = async (...given) =>
  (await import('./install-packages.ts')).packagesFor(...given);

async function searchSkills(
  action: SearchSkills,
  { index, askedBy, signal, search }: ActionContext,
): Promise<Observation> {
  const results = await search(index, action.query, action.n ?? 5, {
    forModel: askedBy === 'model',
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    type: 'skills-found',
    action: action.type,
    query: action.query,
    results: results.flatMap(({ name, source, description, score }) => {
      const entry = resolveSkill(index, name, source);
      return entry === undefined ? [] : [{ id: entry.id, digest: entry.digest, name, source, description, score }];
    }),
  };
}
