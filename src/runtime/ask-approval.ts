import { statSync } from 'node:fs';

import {
  failure,
  printable,
  quoted,
  shownTool,
  stableJson,
  startsProgram,
  type Action,
  type ApprovalAnswer,
  type ApprovalRequest,
  type Decision,
  type ActionProblem,
  type PackageLayer,
} from '#core';
import { sha256 } from '#platform';
import { askCallback, capabilityLine, type Access } from '#policy';
import { redacted } from './secrets/redact-value.ts';
import { previewWrite } from '#project';
import type { ActionContext } from './action-context.ts';
import type { ActionDecision } from './decide-action.ts';
import type { ActionTarget } from './find-target.ts';

type WritePreview = ReturnType<typeof previewWrite>;

type ApprovedSkill = NonNullable<ApprovalRequest['skill']>;
/** Packages with exact versions, and where they come from. */
type LockedPackages = Pick<PackageLayer, 'packages' | 'lockDigest'> & { readonly index: string };

export interface Approval {
  /** The file content that the person saw before a write; nothing else may be replaced. */
  readonly preview: WritePreview | undefined;
}

interface ApprovalTarget extends ActionTarget {
  readonly digest: string | undefined;
  /** What `install_packages` would install. */
  readonly packages?: LockedPackages;
  /** The file that an edit was computed from. */
  readonly preview?: WritePreview | undefined;
}

/** Asks whether an action may be performed, and records the question and the answer (POL-3). */
export async function askApproval(
  action: Action,
  call: number,
  { skill, path, digest, packages, preview: planned }: ApprovalTarget,
  decided: ActionDecision,
  context: ActionContext,
): Promise<Approval | ActionProblem> {
  const { journal } = context;
  const approved: ApprovedSkill | undefined =
    skill === undefined || digest === undefined ? undefined : { id: skill.id, name: skill.name, digest };
  const preview = planned ?? (action.type === 'write_file' && path !== undefined ? previewWrite(path) : undefined);
  const request = approvalRequest(
    action,
    decided,
    approved,
    context.project,
    packages === undefined ? toApprovalDetail(action, path, preview, decided) : packageDetail(action, packages),
    context,
  );
  journal.record({ type: 'approval-ask', call, request });
  journal.flush();
  const answer = await answerFor(request, context);
  journal.record({ type: 'approval-answer', call, request: request.id, answer });
  const id = request.id.replace(/^sha256:/, '');
  const { tool } = decided.decision;
  const reason = reasonText(decided.decision);
  if (answer === 'nobody')
    return failure('approval/needed', `${reason}, and no person is available to approve it`, {
      hint: `tell the user what it was for; they can approve exactly this action with --approve ${id}${switchFor(action, decided)}`,
    });
  if (answer === 'pending')
    return failure('approval/pending', `${reason}; the question waits for an answer`, {
      hint: `a person answers with: skillwright approvals answer ${id.slice(0, 12)} yes; then try again`,
    });
  if (answer.verdict === 'yes') return { preview };
  const { by, reason: why } = answer;
  if (why === undefined) return failure('approval/refused', `a person refused ${tool}`);
  // A callback that failed refuses too, without a person.
  const refused = by === 'file' ? `a person refused ${tool}` : `${tool} was not approved`;
  return failure('approval/refused', `${refused}: ${quoted(why, 500)}`);
}

/** What would have made the question unnecessary. */
function switchFor({ type }: Action, { isolation }: ActionDecision): string {
  if (type === 'install_packages')
    return ', or name the packages with --with of a new run (in a program: packages.with)';
  return isolation === 'none' ? UNATTENDED_LOCAL : '';
}

/** An earlier answer for the run, or that of the callback, which is kept for the scope that it has. */
async function answerFor(
  request: ApprovalRequest,
  { approve, redactor, signal, runAnswers }: ActionContext,
): ReturnType<typeof askCallback> {
  const earlier = runAnswers.find(request);
  if (earlier !== undefined || approve === undefined) return earlier ?? 'nobody';
  // The request may be shown to a model or kept in a file or a log, so secrets are removed. Its id still covers the exact action.
  const shown = redacted(request, redactor);
  const answer = await askCallback((options) => approve(shown, options), request, { signal });
  if (typeof answer === 'string') return answer;
  // Other answers for a skill are in the store, where they can be revoked during the run.
  const isKept = answer.scope === 'run' || (answer.scope === 'skill' && answer.by === 'callback');
  if (isKept) runAnswers.keep(request, answer);
  return answer;
}

/** The switch for programs without isolation. `policyRefusal` of the CLI keeps what follows the id. */
const UNATTENDED_LOCAL = ', or every program with --yes and "unsafe_local" in policy.allow of their configuration';

/** Why it is asked about, with what the program reaches. */
function reasonText({ reason, capabilities = [] }: Decision): string {
  return capabilities.length === 0 ? reason : `${reason}; it is ${printable(capabilityLine(capabilities))}`;
}

function approvalRequest(
  action: Action,
  { decision, accesses, isolation }: ActionDecision,
  skill: ApprovedSkill | undefined,
  project: string,
  detail: ApprovalRequest['detail'],
  { tool, execution }: ActionContext,
): ApprovalRequest {
  const given = startsProgram(action) ? execution?.given : undefined;
  const bound = { action, skill, project, detail, isolation, accesses, given };
  return {
    id: `sha256:${sha256(stableJson(bound))}`,
    tool: shownTool(tool, decision.tool),
    risk: decision.risk,
    action,
    rule: decision.rule,
    origin: decision.origin,
    skill,
    project,
    detail,
    affects: [...new Set(accesses.flatMap(affectedBy))],
    isolation,
    capabilities: decision.capabilities,
    scopes: scopesFor(decision, skill, isolation),
    coverage: stableJson([
      project,
      decision.tool,
      skill?.id ?? '',
      skill?.digest ?? '',
      accesses.map((access) => toCoverageKey(access, action)),
    ]),
  };
}

/** What a person sees of an action: its effect, not a description that the model or the skill wrote. */
function toApprovalDetail(
  action: Action,
  path: Parameters<typeof previewWrite>[0] | undefined,
  preview: WritePreview | undefined,
  { accesses }: ActionDecision,
): ApprovalRequest['detail'] {
  switch (action.type) {
    case 'run_command':
    case 'start_command':
      return { kind: 'command', command: action.command, programs: accesses.flatMap(listPrograms) };
    case 'run_script':
      return { kind: 'script', script: action.script, args: action.args };
    case 'write_file':
      return { kind: 'write', path: path?.shown ?? action.path, before: preview?.before, after: action.content };
    case 'delete_file': {
      const bytes = path === undefined ? 0 : (statSync(path.absolute, { throwIfNoEntry: false })?.size ?? 0);
      return { kind: 'delete', path: path?.shown ?? action.path, bytes };
    }
    case 'network_request':
      return { kind: 'request', method: action.method ?? 'GET', url: action.url, body: action.body ?? '' };
    case 'call_mcp_tool':
      return { kind: 'other', summary: `${action.name} ${JSON.stringify(action.input, undefined, 2)}` };
    default:
      return { kind: 'other', summary: JSON.stringify(action) };
  }
}

function packageDetail(action: Action, { packages, index, lockDigest }: LockedPackages): ApprovalRequest['detail'] {
  return {
    kind: 'packages',
    requested: action.type === 'install_packages' ? action.packages : [],
    packages: packages.map(({ name, version, hash }) => `${name} ${version} ${hash}`),
    index,
    lock: lockDigest,
  };
}

function listPrograms({ subject }: Access): readonly string[] {
  return subject.kind === 'command' ? subject.programs : [];
}

/** High-risk actions and programs without isolation cannot be approved for a skill. */
function scopesFor(
  { risk }: Decision,
  skill: ApprovedSkill | undefined,
  isolation: ActionDecision['isolation'],
): readonly ApprovalAnswer['scope'][] {
  return skill === undefined || risk === 'high' || isolation === 'none' ? ['once', 'run'] : ['once', 'run', 'skill'];
}

function affectedBy({ subject }: Access): readonly string[] {
  if (subject.kind === 'path') return [subject.path];
  if (subject.kind === 'command' && subject.line.type === 'commands') return subject.line.writes;
  return subject.kind === 'host' ? [`${subject.host?.name ?? ''}:${String(subject.port)}`] : [];
}

/**
 * What an approval for a run or a skill covers: every script of the skill, the same programs, the same file, the same host, the same
 * capabilities. A command line that may run something else, and every program without isolation, is covered only as exactly this action.
 */
function toCoverageKey({ tool, subject }: Access, action: Action): unknown {
  switch (subject.kind) {
    case 'script':
      return subject.isUnisolated === true ? [tool, action] : [tool];
    case 'none':
      return [tool];
    case 'command': {
      const { line, programs, isTransparent, isContained, isUnisolated } = subject;
      const isKnown =
        isTransparent && !isUnisolated && (isContained || (line.type === 'commands' && line.variables.length === 0));
      return isKnown ? [tool, programs.toSorted()] : [tool, action];
    }
    case 'path':
      return [tool, subject.absolute ?? subject.path];
    case 'host':
      return [tool, subject.method, subject.host?.name, subject.port];
    case 'skill':
      return [tool, subject.id];
    case 'secret':
      return [tool, subject.name];
    case 'packages':
      // Another version of a package is another question.
      return [tool, subject.names.toSorted(), subject.lock ?? ''];
  }
}
