import {
  actionFailed,
  failure,
  listHostInputs,
  interruptedText,
  isOfKind,
  isProblem,
  isSkillError,
  startsProgram,
  withToolName,
  type Action,
  type ActionFailed,
  type ActionProblem,
  type Observation,
  type OfType,
} from '#core';
import { deniedReads, mayReach } from '#policy';
import { resolveSkill } from '#skills';
import { redacted } from './secrets/redact-value.ts';
import { activeSkills, type ActionContext } from './action-context.ts';
import { whenAllowed, type AllowedAction } from './allow-action.ts';
import { findTarget } from './find-target.ts';
import { readyFiles } from './server-files.ts';
import { readSkill, toSkillIdentity } from './skill-actions.ts';
import { openSkillPlaces } from './skill-places.ts';

/** Takes one action through all stages: find, decide, ask, do, observe, record. Expected failures are observations too. */
export async function performAction(action: Action, context: ActionContext): Promise<Observation> {
  const { journal, askedBy, tool, recall, redactor } = context;
  context.signal?.throwIfAborted();
  const call = journal.nextCall();
  try {
    journal.record({ type: 'action', call, action, askedBy, tool });
    const recalled = recall?.({ call, action, askedBy });
    for (const event of recalled?.events ?? []) journal.record(event);
    if (recalled !== undefined && 'packages' in action) recallPackages(action, recalled.observation, context);
    const observed = recalled?.observation ?? redacted(await untilInterrupted(action, call, context), redactor);
    const observation = observed.type === 'failed' ? withToolName(tool, observed) : observed;
    journal.record({ type: 'observation', call, observation, tool });
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
  if (!startsProgram(action) || observation.type === 'failed') return;
  const skill = resolveSkill(index, action.skill ?? '', action.source);
  if (skill !== undefined || action.skill === undefined) execution?.packages.remember(action, skill, askedBy);
}

const ENDED: ReadonlySet<ActionProblem['code']> = new Set(['execution/failed', 'network/failed', 'server/failed']);

/** An action that cannot be recorded ends the run. Every other error is thrown on. */
export function recordFailed({ type }: Action, error: unknown): ActionFailed {
  if (!isSkillError(error) || error.code !== 'record/failed') throw error;
  return { ...actionFailed(type, failure('record/failed', error.message, { hint: error.hint })), isTerminal: true };
}

async function perform(action: Action, call: number, context: ActionContext): Promise<Observation> {
  const target = await findTarget(action, context);
  if ('code' in target) {
    recordRefusal(action, call, target, context);
    return actionFailed(action.type, target);
  }

  const done = await whenAllowed(action, call, target, context, (allowed) => doAction(allowed, call, context));
  return 'code' in done && !('type' in done) ? actionFailed(action.type, done) : done;
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

async function doAction(
  { action, target: { skill: located, indexed, path }, policy, approval, edit, packages, digest }: AllowedAction,
  call: number,
  context: ActionContext,
): Promise<Observation | ActionProblem> {
  const { journal, execution, servers, signal } = context;
  if (action.type === 'final_answer') return { type: 'answered', action: action.type, answer: action.answer };
  if (action.type === 'search_skills') return searchSkills(action, context);
  const skill = await readyFiles(action, { indexed, skill: located }, context);
  if (isProblem(skill)) return skill;
  if (isOfKind(action, 'skill') && skill !== undefined) return readSkill(action, skill, context);
  journal.flush();
  await context.settle?.();
  if (isOfKind(action, 'server') && servers !== undefined) return servers.call(action, signal);
  if (isOfKind(action, 'host')) {
    const { performAllowed } = await import('./host-actions.ts');
    const active = activeSkills(context);
    const isClosed = (place: { readonly absolute: string; readonly shown: string }): boolean =>
      context.askedBy === 'model' && context.host?.closed.refusal(place, active) !== undefined;
    const preview = edit?.preview ?? approval?.preview;
    const skillPlace = openSkillPlaces(active, context.host?.project);
    const rights = { policy, isApproved: approval !== undefined, preview, isClosed, skillPlace, signal };
    return performAllowed(action, path, rights);
  }
  if (isOfKind(action, 'program') && execution !== undefined) {
    const prepared = startsProgram(action)
      ? await (
          await import('./install-packages.ts')
        ).packagesFor(action, call, { skill, digest }, { ...context, execution })
      : undefined;
    if (isProblem(prepared)) return prepared;
    return execution.perform(action, skill, {
      signal,
      askedBy: context.askedBy,
      digest,
      call,
      isDenied: deniedReads(policy, execution.project),
      hostInputs: listHostInputs(action),
      mayReach: (host) => mayReach(policy, host),
      packages: prepared,
    });
  }
  if (action.type === 'install_packages' && skill !== undefined && packages !== undefined) {
    const { buildLayer } = await import('./install-packages.ts');
    const installed = await buildLayer(packages);
    if (isProblem(installed)) return installed;
    const { ecosystem, key, lockDigest, layerDigest, packages: versions } = installed;
    return {
      type: 'packages-installed',
      action: action.type,
      skill: toSkillIdentity(skill),
      isCached: packages.status === 'cached',
      layer: { ecosystem, key, lockDigest, layerDigest, packages: versions },
    };
  }
  throw new TypeError(`no stage performs ${action.type}`);
}

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
