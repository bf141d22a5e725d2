import {
  actionFailed,
  failure,
  listHostInputs,
  interruptedText,
  isOfKind,
  isSkillError,
  quoted,
  type Action,
  type ActionFailed,
  type ActionProblem,
  type Observation,
  type OfType,
} from '#core';
import { decide, deniedReads, mayReach } from '#policy';
import type { PlannedEdit } from '#project';
import { redacted } from './secrets/redact-value.ts';
import { resolveSkill } from '#skills';
import { activeSkills, type ActionContext } from './action-context.ts';
import { askApproval, type Approval } from './ask-approval.ts';
import { decideAction, type ActionDecision } from './decide-action.ts';
import type { ProgramAction } from '#sandbox';
import type { packagesFor } from './packages/install-packages.ts';
import { skillDigest } from './skill-digest.ts';
import { findTarget, type ActionTarget } from './find-target.ts';
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
    if (recalled !== undefined && 'packages' in action) recallPackages(action, recalled.observation, context);
    const observation = recalled?.observation ?? redacted(await untilInterrupted(action, call, context), redactor);
    journal.record({ type: 'observation', call, observation });
    return observation;
  } catch (error) {
    return recordFailed(action, error);
  }
}

/** Performs an action. Where the signal ends it in the middle, also while a person is asked, the observation says so. */
async function untilInterrupted(action: Action, call: number, context: ActionContext): Promise<Observation> {
  const { signal } = context;
  try {
    const observation = await perform(action, call, context);
    const isEnded = signal?.aborted === true && observation.type === 'failed' && ENDED.has(observation.code);
    return isEnded ? interrupted(action) : observation;
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason) return interrupted(action);
    throw error;
  }
}

/** A program or a request that the signal ended did not fail by itself. */
function interrupted({ type }: Action): ActionFailed {
  return actionFailed(
    type,
    failure('run/interrupted', interruptedText(type), {
      hint: 'it was stopped from outside and may be partly done; do not repeat it unless the request needs it',
    }),
  );
}

/** A resumed session has the packages that programs asked for before. Whether they may be installed is decided again. */
function recallPackages(action: Action, observation: Observation, { execution, index, askedBy }: ActionContext): void {
  if (!isStarting(action) || observation.type === 'failed') return;
  const skill = resolveSkill(index, action.skill ?? '', action.source);
  if (skill !== undefined) execution?.packages.remember(action, skill, askedBy);
}

function isStarting(action: Action): action is Extract<Action, ProgramAction> {
  return action.type === 'run_script' || action.type === 'run_command' || action.type === 'start_command';
}

const ENDED: ReadonlySet<ActionProblem['code']> = new Set(['execution/failed', 'network/failed', 'server/failed']);

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
    const { performInstall } = await import('./packages/install-packages.ts');
    return performInstall(action, call, { skill: target.skill, digest: undefined }, context);
  }
  const decided = await decideAction(action, target, context);
  const { effect, reason } = decided.decision;
  journal.record({ type: 'decision', call, decision: decided.decision });
  if (effect !== 'allow' && effect !== 'ask') return actionFailed(action.type, failure('policy/denied', reason));

  const edit = action.type === 'edit_file' ? await planEdit(action, target, decided) : undefined;
  if (edit !== undefined && 'code' in edit) return actionFailed(action.type, edit);
  const wanted = edit?.write ?? action;

  const { skill } = target;
  const needsDigest = skill !== undefined && (effect === 'ask' || journal.isKept);
  const digest = needsDigest ? await skillDigest(skill, context) : undefined;
  if (typeof digest === 'object') return actionFailed(action.type, digest);
  const approval =
    effect === 'allow'
      ? undefined
      : await askApproval(wanted, call, { ...target, digest, preview: edit?.preview }, decided, context);
  if (approval !== undefined && 'code' in approval) return actionFailed(action.type, approval);
  if (skill !== undefined && digest !== undefined) {
    const { id, name, source } = skill;
    journal.record({ type: 'skill-use', call, skill: { id, name, source, digest } });
  }
  return doAction(wanted, call, { target, decided, approval, edit, digest }, context);
}

/** Whether a passage occurs tells about the content, so only files that may be read without a question can be edited. */
async function planEdit(
  action: OfType<Action, 'edit_file'>,
  { path }: ActionTarget,
  { policy, accesses }: ActionDecision,
): Promise<PlannedEdit | ActionProblem> {
  if (path === undefined) throw new TypeError('edit_file needs a path');
  const reads = accesses.filter(({ tool }) => tool === 'read_file');
  if (decide(policy, reads).effect !== 'allow')
    return failure(
      'policy/denied',
      `${quoted(path.shown, 200)} must not be read without approval, so it cannot be edited`,
      {
        hint: 'read it, which asks the user, and then write the whole file',
      },
    );
  const { planEdit: plan } = await import('#project/edit-file');
  return plan(action, path);
}

/** A skill that is untrusted or not offered was refused before any rule was asked; the record says so (POL-7). */
function recordRefusal(
  action: Action,
  call: number,
  { code, message }: ActionProblem,
  { journal }: ActionContext,
): void {
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
  readonly edit: PlannedEdit | undefined;
  /** The digest of the skill that was approved or recorded. */
  readonly digest: string | undefined;
}

async function doAction(
  action: Action,
  call: number,
  { target: { skill, path }, decided: { policy }, approval, edit, digest }: AllowedAction,
  context: ActionContext,
): Promise<Observation> {
  const { journal, execution, servers, signal } = context;
  if (action.type === 'final_answer') return { type: 'answered', action: action.type, answer: action.answer };
  if (action.type === 'search_skills') return searchSkills(action, context);
  if (isOfKind(action, 'skill') && skill !== undefined) return readSkill(action, skill, context);
  journal.flush();
  await context.settle?.();
  if (isOfKind(action, 'server') && servers !== undefined) {
    const called = await servers(action, signal);
    return 'code' in called ? actionFailed(action.type, called) : called;
  }
  if (isOfKind(action, 'host')) {
    const { performAllowed } = await import('./host-actions.ts');
    const active = activeSkills(context);
    const isClosed = (place: { readonly absolute: string; readonly shown: string }): boolean =>
      context.askedBy === 'model' && context.host?.closed.refusal(place, active) !== undefined;
    const preview = edit?.preview ?? approval?.preview;
    const rights = { policy, isApproved: approval !== undefined, preview, isClosed, signal };
    return performAllowed(action, path, rights);
  }
  if (isOfKind(action, 'program') && execution !== undefined) {
    const packages = isStarting(action)
      ? await programPackages(action, call, { skill, digest }, { ...context, execution })
      : undefined;
    if (packages !== undefined && 'code' in packages) return actionFailed(action.type, packages);
    const isDenied = deniedReads(policy, execution.project);
    const given = {
      isDenied,
      hostInputs: listHostInputs(action),
      mayReach: (host: string) => mayReach(policy, host),
      packages,
    };
    return execution.perform(action, skill, { signal, askedBy: context.askedBy, digest, call, ...given });
  }
  throw new TypeError(`no stage performs ${action.type}`);
}

/** Loaded only where programs run. */
const programPackages: typeof packagesFor = async (...given) =>
  (await import('./packages/install-packages.ts')).packagesFor(...given);

async function searchSkills(
  action: OfType<Action, 'search_skills'>,
  { index, askedBy, signal, search }: ActionContext,
): Promise<Observation> {
  const results = await search(index, action.query, action.n ?? 5, {
    forModel: askedBy === 'model',
    signal,
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
