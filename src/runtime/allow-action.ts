import {
  failure,
  isProblem,
  quoted,
  readPackage,
  startsProgram,
  withToolName,
  type Action,
  type ActionProblem,
  type Decision,
  type OfType,
  type SkillEntry,
} from '#core';
import { decide, type Policy } from '#policy';
import type { planEdit as editPlanner } from '#project/edit-file';
import type { PackageNeeds, Packages } from '#sandbox';
import type { ActionContext } from './action-context.ts';
import { askApproval, type Approval } from './ask-approval.ts';
import { decideAction, type ActionDecision } from './decide-action.ts';
import type { ActionTarget } from './find-target.ts';

type PlannedEdit = Exclude<ReturnType<typeof editPlanner>, ActionProblem>;

/** Packages in exact versions. */
export type FoundPackages = Exclude<Awaited<ReturnType<Packages['find']>>, ActionProblem>;

/** What an action is decided about. */
export interface DecidedTarget extends ActionTarget {
  /** The packages of a program, which are installed with it; otherwise those that the action names. */
  readonly needs?: PackageNeeds;
  /** The digest of the skill, if its use is recorded already. */
  readonly digest?: string;
}

/** An action that may be performed now. An edit became a write. */
export interface AllowedAction {
  readonly action: Action;
  readonly target: ActionTarget;
  readonly policy: Policy;
  readonly approval: Approval | undefined;
  readonly edit: PlannedEdit | undefined;
  /** The exact versions that `install_packages` installs. */
  readonly packages: FoundPackages | undefined;
  /** The digest of the skill that was approved or recorded. */
  readonly digest: string | undefined;
}

/** Decides about an action, asks a person if a rule says so, records both, and performs it with `act`. */
export async function whenAllowed<Result>(
  action: Action,
  call: number,
  target: DecidedTarget,
  context: ActionContext,
  act: (allowed: AllowedAction) => Promise<Result>,
): Promise<Result | ActionProblem> {
  const { journal, execution } = context;
  const { skill } = target;
  const first = await decideAction(action, target, context);
  const packages = first.decision.effect === 'deny' ? undefined : await findPackages(action, target, context);
  if (isProblem(packages)) return packages;
  try {
    // The exact versions are part of the question and of what a rule or an earlier answer covers.
    const decided = packages === undefined ? first : await decideAction(action, target, context, packages.lockDigest);
    const { effect, reason } = decided.decision;
    const needsDigest = skill !== undefined && effect !== 'deny' && (effect === 'ask' || journal.isKept);
    const staged = needsDigest && startsProgram(action) ? await execution?.stagedDigest(skill) : undefined;
    const { listedDigest } = target;
    const digest =
      target.digest ?? staged ?? listedDigest ?? (needsDigest ? await skillDigest(skill, context) : undefined);
    const asker = skill === undefined ? SESSION : typeof digest === 'string' && { ...skill, digest };
    const question = packages === undefined || asker === false ? undefined : ([asker, packages.lockDigest] as const);
    const approved = question && execution?.packages.approved;
    const isApproved =
      effect === 'ask' &&
      question !== undefined &&
      (approved?.has(...question) === true || approved?.has(SESSION, question[1]) === true);
    const decision = isApproved ? approvedBefore(decided.decision) : decided.decision;
    const { message } = withToolName(context.tool, { code: 'policy/denied', message: decision.reason });
    journal.record({ type: 'decision', call, decision: { ...decision, reason: message } });
    if (effect === 'deny') return failure('policy/denied', reason);
    if (typeof digest === 'object') return digest;
    const edit = action.type === 'edit_file' ? await planEdit(action, target, decided) : undefined;
    if (isProblem(edit)) return edit;
    const performed = edit?.write ?? action;
    const approval =
      effect === 'allow' || isApproved
        ? undefined
        : await askApproval(performed, call, { ...target, digest, packages, preview: edit?.preview }, decided, context);
    if (isProblem(approval)) return approval;
    if (approval !== undefined && question !== undefined) approved?.add(...question);
    if (skill !== undefined && digest !== undefined && target.digest === undefined) {
      const { id, name, source } = skill;
      journal.record({ type: 'skill-use', call, skill: { id, name, source, digest } });
    }
    const { policy } = decided;
    return await act({ action: performed, target, policy, approval, edit, packages, digest });
  } finally {
    await packages?.close();
  }
}

/** Asks for packages of programs that belong to no skill; an answer covers every program of the session. */
const SESSION = { id: '', name: '', digest: '' };

/** The digest of all files of a skill, or why it cannot be computed. */
async function skillDigest(
  { name, dir }: SkillEntry,
  { digests, signal }: ActionContext,
): Promise<string | ActionProblem> {
  const read = await digests.of(dir, { signal });
  if (read.type === 'digest') return read.digest;
  return failure('skill/invalid', `the files of the skill ${quoted(name)} cannot be digested: ${read.message}`);
}

/** Resolves the packages of an installation to exact versions; undefined for other actions. */
async function findPackages(
  action: Action,
  { skill, needs }: DecidedTarget,
  { execution, signal }: ActionContext,
): Promise<FoundPackages | ActionProblem | undefined> {
  if (action.type !== 'install_packages') return undefined;
  if (execution === undefined)
    return failure('execution/unavailable', 'program execution is disabled for this session');
  const read = needs ?? readNeeds(action);
  return isProblem(read) ? read : execution.packages.find(read, skill?.name, signal);
}

function readNeeds({ packages, isDeclared }: OfType<Action, 'install_packages'>): PackageNeeds | ActionProblem {
  const read = packages.map(readPackage);
  const problem = read.find(isProblem);
  if (problem !== undefined) return failure('input/invalid', problem.message);
  const specs = read.flatMap((one) => (isProblem(one) ? [] : [one]));
  const [first] = specs;
  if (first === undefined || specs.some(({ ecosystem }) => ecosystem !== first.ecosystem))
    return failure('input/invalid', 'packages must be a list of Python packages, or a list of npm: packages');
  const source = isDeclared ? 'option' : 'model';
  const requested = specs.map((spec) => ({ ...spec, source, neededBy: 'install_packages' }) as const);
  return { ecosystem: first.ecosystem, packages: requested, isOptional: false, problems: [] };
}

/** The same packages for the same skill were approved earlier in the session. */
function approvedBefore(decision: Decision): Decision {
  const rule = 'approved earlier in this session';
  return { ...decision, effect: 'allow', rule, reason: `${decision.tool} is allowed: ${rule}` };
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
      { hint: 'read it, which asks the user, and then write the whole file' },
    );
  const { planEdit: plan } = await import('#project/edit-file');
  return plan(action, path);
}
