import type { Access, Decision, Subject } from '../core/access.ts';
import { accessesOf } from '../policy/action-access.ts';
import type { AccessFacts } from '../policy/action-access.ts';
import type { Action } from '../core/action.ts';
import type { ApprovalDetail, ApprovalRequest, ApprovalScope, Approve, ApprovedSkill } from '../core/approval.ts';
import { hazardsOf } from '../policy/command/command-hazards.ts';
import { failure } from '../core/failure-codes.ts';
import type { Failure } from '../core/failure-codes.ts';
import type { RunEvent } from '../core/run-events.ts';
import type { AllowedToolsUse } from '../core/config/policy-config.ts';
import { decide, narrowPolicy, skillGrants, skillLayer } from '../policy/policy.ts';
import type { Policy } from '../policy/policy.ts';
import type { AskedBy } from '../core/session.ts';
import type { SkillEntry } from '../core/skill.ts';
import { stableJson } from '../core/json/stable-json.ts';
import { sha256 } from '../platform/hash.ts';

export interface GuardParts {
  /** Configuration, project, run; without skills. */
  readonly policy: Policy;
  readonly allowedTools: AllowedToolsUse;
  readonly approve: Approve;
  /** Of the whole tree; or why it has none. */
  readonly digestOf: (skill: SkillEntry, signal: AbortSignal | undefined) => Promise<string | Failure>;
}

/** An action with all that is known about it before it is done. */
export interface GuardedAction {
  readonly call: number;
  readonly action: Action;
  readonly askedBy: AskedBy;
  /** The skill that it names. */
  readonly skill: SkillEntry | undefined;
  /** Skills whose instructions are in the conversation. */
  readonly active: readonly SkillEntry[];
  readonly facts: Omit<AccessFacts, 'skill' | 'isLoaded'>;
  /** What a person is shown, made only where one is asked. */
  readonly detail: () => ApprovalDetail;
  readonly journal: { record(event: RunEvent): void; flush(): void };
  readonly signal: AbortSignal | undefined;
}

export interface Allowed {
  readonly type: 'allowed';
  readonly decision: Decision;
  /** What else this action may do on its way. */
  readonly policy: Policy;
  /** The bytes that were judged: others must not run. */
  readonly digest?: string;
  /** A person saw exactly this and said yes. */
  readonly isApproved: boolean;
}

export type Verdict = Allowed | { readonly type: 'refused'; readonly failure: Failure };

/** Decides about one action, asks where a rule wants that, and records both (POL-2, POL-3, POL-7). */
export async function guard(guarded: GuardedAction, parts: GuardParts): Promise<Verdict> {
  const { action, skill, call, journal } = guarded;
  const isLoaded = guarded.active.some(({ id }) => id === skill?.id);
  const accesses = accessesOf(action, { ...guarded.facts, isLoaded, ...(skill === undefined ? {} : { skill }) });
  const policy = policyWith(parts, involved(guarded));
  const decision = byWhoAsks(decide(policy, accesses), guarded.askedBy);
  journal.record({ type: 'decision', call, decision });
  if (decision.effect === 'allow') return { type: 'allowed', decision, policy, isApproved: false };
  if (decision.effect === 'deny') return refused(failure('policy/denied', decision.reason));
  return ask({ decision, accesses, policy }, guarded, parts);
}

/**
 * A policy with the skills that are at work: each of them narrows it by its list, where that is read as a restriction, and by what
 * it forbids, however its list is read.
 */
export function policyWith(
  { policy, allowedTools }: Pick<GuardParts, 'policy' | 'allowedTools'>,
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

function involved({ skill, active }: GuardedAction): readonly SkillEntry[] {
  return skill === undefined || active.some(({ id }) => id === skill.id) ? active : [...active, skill];
}

/** Who asks for something themselves need not be asked about it; what a rule wants asked, and what is dangerous, is asked all the same. */
function byWhoAsks(decision: Decision, askedBy: AskedBy): Decision {
  if (askedBy === 'model' || decision.effect !== 'ask' || decision.rule !== 'by risk' || decision.risk === 'high')
    return decision;
  const rule = askedBy === 'person' ? 'a person asked for it' : 'the program asked for it';
  return { ...decision, effect: 'allow', rule, reason: `${decision.tool} is allowed: ${rule}` };
}

interface Question {
  readonly decision: Decision;
  readonly accesses: readonly Access[];
  readonly policy: Policy;
}

async function ask(
  { decision, accesses, policy }: Question,
  guarded: GuardedAction,
  { approve, digestOf }: GuardParts,
): Promise<Verdict> {
  const { call, journal, signal, skill } = guarded;
  const digest = skill === undefined ? undefined : await digestOf(skill, signal);
  if (typeof digest === 'object') return refused(digest);
  const request = approvalRequest(decision, accesses, guarded, digest);
  journal.record({ type: 'approval-ask', call, request });
  journal.flush();
  const answer = await approve(request, signal === undefined ? {} : { signal });
  journal.record({ type: 'approval-answer', call, request: request.id, answer });
  const id = request.id.replace(/^sha256:/, '');
  if (answer === 'nobody')
    return refused(
      failure('approval/needed', `${decision.reason}, and nobody is there to give it`, {
        hint: `tell the person what it was for; they can allow exactly this with --approve ${id}`,
      }),
    );
  if (answer === 'pending')
    return refused(
      failure('approval/pending', `${decision.reason}; the question waits for an answer`, {
        hint: `a person answers with: skillwright approvals answer ${id.slice(0, 12)} yes; then ask again`,
      }),
    );
  if (answer.verdict === 'no') return refused(failure('approval/refused', `${decision.tool} was refused by a person`));
  return { type: 'allowed', decision, policy, isApproved: true, ...(digest === undefined ? {} : { digest }) };
}

function approvalRequest(
  decision: Decision,
  accesses: readonly Access[],
  { action, skill, facts, detail }: GuardedAction,
  digest: string | undefined,
): ApprovalRequest {
  const approved: ApprovedSkill | undefined =
    skill === undefined || digest === undefined ? undefined : { id: skill.id, name: skill.name, digest };
  const shown = detail();
  const { isolation } = facts;
  const bound = { action, skill: approved, detail: shown, isolation, accesses };
  return {
    id: `sha256:${sha256(stableJson(bound))}`,
    tool: decision.tool,
    risk: decision.risk,
    action,
    rule: decision.rule,
    origin: decision.origin,
    ...(approved === undefined ? {} : { skill: approved }),
    detail: shown,
    affects: accesses.flatMap(affectedBy),
    ...(isolation === undefined ? {} : { isolation }),
    scopes: scopesFor(decision, approved, isolation === 'none'),
    coverage: stableJson([
      decision.tool,
      approved?.id ?? '',
      approved?.digest ?? '',
      accesses.map((access) => coveredBy(access, action)),
    ]),
  };
}

/** What is dangerous is answered for the same thing again at most; what no sandbox holds, one by one. */
function scopesFor({ risk }: Decision, skill: ApprovedSkill | undefined, isUnsafe: boolean): readonly ApprovalScope[] {
  if (isUnsafe) return ['once'];
  return skill === undefined || risk === 'high' ? ['once', 'run'] : ['once', 'run', 'skill'];
}

function affectedBy({ subject }: Access): readonly string[] {
  if (subject.kind === 'path') return [subject.path];
  return subject.kind === 'host' ? [`${subject.host?.name ?? ''}:${String(subject.port)}`] : [];
}

/**
 * What a yes for longer than once is about: any script of the skill, the same programs, the same file, the same host. Where it cannot be
 * told which programs a line runs it is about that line alone, with its variables.
 */
function coveredBy({ tool, subject }: Access, action: Action): unknown {
  switch (subject.kind) {
    case 'script':
    case 'none':
      return [tool];
    case 'command':
      return isTransparent(subject) ? [tool, subject.programs.toSorted()] : [tool, action];
    case 'path':
      return [tool, subject.absolute ?? subject.path];
    case 'host':
      return [tool, subject.method, subject.host?.name, subject.port];
    case 'skill':
      return [tool, subject.id];
  }
}

/** Its programs are all that it runs: `git log` is, `git -c core.pager=… log` may run anything. */
function isTransparent({ line, hasVariables }: Extract<Subject, { kind: 'command' }>): boolean {
  if (line.type === 'unclear' || hasVariables) return false;
  return line.commands.every((command) => hazardsOf(command).every(({ runs }) => runs !== 'hidden'));
}

function refused(cause: Failure): Verdict {
  return { type: 'refused', failure: cause };
}
