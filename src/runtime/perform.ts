import type { Redactor } from '../journal/redact/redact.ts';
import { grantAccess } from '../policy/action-access.ts';
import { isOfKind } from '../core/action.ts';
import type { Action, ActionType, SearchSkills } from '../core/action.ts';
import { isSkillError } from '../core/errors.ts';
import { failure } from '../core/failure-codes.ts';
import type { Failure } from '../core/failure-codes.ts';
import type { RunEvent } from '../core/run-events.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed, Observation } from '../core/observation.ts';
import { decide, grantedHosts } from '../policy/policy.ts';
import { resolveSkill } from '../registry/resolve-skill.ts';
import type { AskedBy } from '../core/session.ts';
import type { SkillEntry } from '../core/skill.ts';
import type { BodyLimits } from '../loader/load-body.ts';
import { detailOf } from './approval-detail.ts';
import type { ExecutionAction } from './execution/execution-action.ts';
import type { Execution } from './execution/execution.ts';
import { findSkill } from './find-skill.ts';
import type { SkillFinder } from './find-skill.ts';
import { guard } from './guard.ts';
import type { Allowed, GuardParts } from './guard.ts';
import type { HostFiles, HostRights, PlacedAction } from './host-files.ts';
import { redacted } from '../policy/secrets/without-secrets.ts';
import { readSkill } from './skill-actions.ts';
import type { SearchOptions, SearchResult } from './search/skill-search.ts';

/** What an action is performed on: one snapshot of skills, and the session it belongs to where there is one. */
export interface ActionContext extends SkillFinder {
  readonly limits: BodyLimits;
  readonly signal: AbortSignal | undefined;
  readonly guard: GuardParts;
  /** Takes secrets out of all that is shown or recorded. */
  readonly redactor: Redactor;
  /** Absent: nothing is run. */
  readonly execution: Execution | undefined;
  /** Absent: no file but those of skills, and no network. */
  readonly host: HostFiles | undefined;
  readonly search: (query: string, n: number, options: SearchOptions) => Promise<readonly SearchResult[]>;
  readonly journal: CallJournal;
  /** Absent: everything is done. */
  readonly recall?: Recall | undefined;
}

/** What a run before this one recorded of an action that is asked for again; nothing where it is to be done. */
export type Recall = (asked: {
  readonly call: number;
  readonly action: Action;
  readonly askedBy: AskedBy;
}) => RecalledAction | undefined;

export interface RecalledAction {
  /** What was decided, asked and used, as it was recorded. */
  readonly events: readonly RunEvent[];
  readonly observation: Observation;
}

/** Where what happens is written down before it happens. */
export interface CallJournal {
  /** Somebody keeps what is recorded. */
  readonly isKept: boolean;
  /** A number for the next action. */
  nextCall(): number;
  /** Throws where it cannot be written: then nothing is done. */
  record(event: RunEvent): void;
  /** What was recorded is written now: something is about to be done that others can see. Throws as `record` does. */
  flush(): void;
}

/**
 * One action through the line: find what it means, decide, ask, do, observe; each step is recorded. What can be expected to go wrong
 * is an observation too.
 */
export async function performAction(action: Action, context: ActionContext): Promise<Observation> {
  context.signal?.throwIfAborted();
  const call = context.journal.nextCall();
  try {
    context.journal.record({ type: 'action', call, action, askedBy: context.askedBy });
    const recalled = context.recall?.({ call, action, askedBy: context.askedBy });
    for (const event of recalled?.events ?? []) context.journal.record(event);
    const observation = recalled?.observation ?? redacted(await perform(action, call, context), context.redactor);
    context.journal.record({ type: 'observation', call, observation });
    return observation;
  } catch (error) {
    return notRecorded(action, error);
  }
}

/** What cannot be recorded ends the run: whoever performs is told so, and nothing more is done. Every other error flies on. */
export function notRecorded({ type }: Action, error: unknown): ActionFailed {
  if (!isSkillError(error) || error.code !== 'record/failed') throw error;
  return { ...actionFailed(type, failure('record/failed', error.message, { hint: error.hint })), isTerminal: true };
}

async function perform(action: Action, call: number, context: ActionContext): Promise<Observation> {
  const { endedBy } = context.state ?? {};
  if (endedBy !== undefined && action.type !== 'final_answer')
    return actionFailed(action.type, runEnded(endedBy.action, endedBy.code));
  const found = await find(action, context);
  if ('code' in found) {
    recordRefusal(action, call, found, context);
    return actionFailed(action.type, found);
  }
  const { skill, placed } = found;
  const verdict = await guard(
    {
      call,
      action,
      askedBy: context.askedBy,
      skill,
      active: activeSkills(context),
      facts: {
        ...(placed?.place === undefined ? {} : { place: placed.place }),
        ...(isOfKind(action, 'program') && context.execution !== undefined
          ? { isolation: context.execution.isolation }
          : {}),
      },
      detail: () => detailOf(action, placed),
      journal: context.journal,
      signal: context.signal,
    },
    context.guard,
  );
  if (verdict.type === 'refused') return actionFailed(action.type, verdict.failure);
  if (placed !== undefined) {
    context.journal.flush();
    return placed.perform(rightsOf(verdict, context));
  }
  if (action.type === 'final_answer') return { type: 'answered', action: action.type, answer: action.answer };
  if (action.type === 'search_skills') return search(action, context);
  const used = skill === undefined ? undefined : await useSkill(skill, call, verdict, context);
  if (used !== undefined && typeof used !== 'string') return actionFailed(action.type, used);
  if (isOfKind(action, 'skill') && skill !== undefined) return readSkill(action, skill, context);
  if (isOfKind(action, 'program') && context.execution !== undefined) {
    context.journal.flush();
    return context.execution.perform(action, skill, {
      signal: context.signal,
      digest: used ?? verdict.digest,
      hostInputs: hostInputsOf(action),
      mayReach: (host) => decide(verdict.policy, [grantAccess(host)]).effect !== 'deny',
      call,
    });
  }
  throw new TypeError(`nothing performs ${action.type}`);
}

/** A skill that nobody may use yet, or not whoever asks, was decided about too: by trust, or by how it is offered. */
function recordRefusal(action: Action, call: number, { code, message }: Failure, { journal }: ActionContext): void {
  if (code !== 'skill/untrusted' && code !== 'skill/not-offered') return;
  const origin = code === 'skill/untrusted' ? ({ layer: 'trust', where: '' } as const) : OFFERED;
  const decision = { effect: 'deny', tool: action.type, risk: 'low', rule: code, origin, reason: message } as const;
  journal.record({ type: 'decision', call, decision });
}

const OFFERED = { layer: 'skill', where: 'user-invocable and disable-model-invocation' } as const;

/** Which bytes a skill consists of goes into the record before they count; nothing is read for it where there is none. */
async function useSkill(
  skill: SkillEntry,
  call: number,
  { digest }: Allowed,
  { journal, guard: { digestOf }, signal }: ActionContext,
): Promise<string | Failure | undefined> {
  if (!journal.isKept) return undefined;
  const found = digest ?? (await digestOf(skill, signal));
  if (typeof found !== 'string') return found;
  const { id, name, source } = skill;
  journal.record({ type: 'skill-use', call, skill: { id, name, source, digest: found } });
  return found;
}

function rightsOf({ policy, isApproved }: Allowed, { signal }: ActionContext): HostRights {
  return {
    signal,
    isApproved,
    effectOf: (access) => decide(policy, [access]).effect,
    grantedHosts: grantedHosts(policy),
  };
}

/** What an action is about, found before anything is decided: the skill it names, the place its path leads to. */
interface Found {
  readonly skill?: SkillEntry;
  readonly placed?: PlacedAction;
}

async function find(action: Action, context: ActionContext): Promise<Found | Failure> {
  if (isOfKind(action, 'program') && context.execution === undefined)
    return failure('execution/unavailable', 'running programs was not opened for this session');
  if (isOfKind(action, 'host')) {
    if (context.host === undefined)
      return failure('policy/denied', 'files and network of this machine were not opened for this session');
    const placed = await context.host.place(action, activeSkills(context));
    return 'code' in placed ? placed : { placed };
  }
  const name = 'skill' in action ? action.skill : undefined;
  if (name === undefined) return {};
  const source = 'source' in action ? action.source : undefined;
  const found = await findSkill({ skill: name, ...(source === undefined ? {} : { source }) }, context);
  return found.type === 'failed' ? found.failure : { skill: found.skill };
}

/** Decided about together with the action that wants them. */
function hostInputsOf(action: ExecutionAction): readonly string[] {
  const inputs = 'inputs' in action ? (action.inputs ?? []) : [];
  return inputs.flatMap(({ from }) => (from.startsWith('host://') ? [from.slice('host://'.length)] : []));
}

/** Skills whose instructions are in the conversation. */
export function activeSkills({ state, index }: Pick<ActionContext, 'state' | 'index'>): readonly SkillEntry[] {
  return (state?.loaded ?? []).flatMap(({ skill }) => resolveSkill(index, skill.id) ?? []);
}

async function search(
  action: SearchSkills,
  { index, askedBy, signal, search: find }: ActionContext,
): Promise<Observation> {
  const results = await find(action.query, action.n ?? 5, {
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

/** What is answered once one kind of failure came too often. */
export function runEnded(action: ActionType, code: string): Failure {
  return failure('run/ended', `${action} failed too often in the same way (${code}); no more actions in this turn`);
}
