import {
  actionFailed,
  failure,
  packageArgument,
  readPackage,
  type Decision,
  type ActionProblem,
  type Observation,
  type RequestedPackage,
  type SkillEntry,
  type Action,
  type OfType,
  isProblem,
} from '#core';
import type { PackageNeeds, PreparedPackages, ProgramAction } from '#sandbox';
import { toSkillIdentity } from '../skill-identity.ts';
import type { ActionContext } from '../action-context.ts';
import { askApproval } from '../ask-approval.ts';
import { decideAction } from '../decide-action.ts';
import type { Execution } from '../execution/execution.ts';
import { executionFailure } from '../execution/parts.ts';
import { skillDigest } from '../skill-digest.ts';

type InstallPackages = OfType<Action, 'install_packages'>;

/** A layer for a program. */
interface Installed {
  readonly layer: PreparedPackages['layers'][number];
  readonly isCached: boolean;
}

/** The skill whose programs get the packages, as it was approved. */
interface InstallTarget {
  readonly skill: SkillEntry;
  readonly digest: string | undefined;
}

/** Installs the packages that an action names. */
export async function performInstall(
  action: InstallPackages,
  call: number,
  target: InstallTarget,
  context: ActionContext,
): Promise<Observation> {
  const needs = parseNeeds(action);
  if ('code' in needs) return actionFailed(action.type, needs);
  const installed = await install(action, needs, { call, ...target }, context);
  if ('code' in installed) return actionFailed(action.type, installed);
  const { ecosystem, key, lockDigest, layerDigest, packages } = installed.layer;
  return {
    type: 'packages-installed',
    action: action.type,
    skill: toSkillIdentity(target.skill),
    isCached: installed.isCached,
    layer: { ecosystem, key, lockDigest, layerDigest, packages },
  };
}

function parseNeeds({ packages, isDeclared }: InstallPackages): PackageNeeds | ActionProblem {
  const read = packages.map(readPackage);
  const problem = read.find(isProblem);
  const specs = read.flatMap((one) => (isProblem(one) ? [] : [one]));
  const [first] = specs;
  if (problem !== undefined) return failure('input/invalid', problem.message);
  if (first === undefined || specs.some(({ ecosystem }) => ecosystem !== first.ecosystem))
    return failure('input/invalid', 'packages must be a list of Python packages, or a list of npm: packages');
  const source = isDeclared ? 'option' : 'model';
  const requested: readonly RequestedPackage[] = specs.map((spec) => ({
    ...spec,
    source,
    neededBy: 'install_packages',
  }));
  return { ecosystem: first.ecosystem, packages: requested, isOptional: false, problems: [] };
}

/** Finds or installs the packages of a program. Each installation is decided, asked about and recorded like an action of its own. */
export async function packagesFor(
  action: ProgramAction,
  call: number,
  { skill, digest }: { readonly skill: SkillEntry | undefined; readonly digest: string | undefined },
  context: ActionContext & { readonly execution: Execution },
): Promise<PreparedPackages | ActionProblem> {
  const { packages } = context.execution;
  const layers: PreparedPackages['layers'][number][] = [];
  const warnings: string[] = [];
  let venv: PreparedPackages['venv'];
  try {
    const checked = await packages.venv(context.signal);
    if (checked !== undefined && 'code' in checked) return checked;
    venv = checked;
    if (skill === undefined && action.packages !== undefined)
      return failure('input/invalid', 'packages are installed for the programs of a skill', { hint: 'name the skill' });
    for (const needs of await packages.needsOf(action, skill, context.askedBy)) {
      warnings.push(...needs.problems);
      if (skill === undefined) {
        warnings.push('packages are installed only for the programs of a skill');
        continue;
      }
      const request: InstallPackages = {
        type: 'install_packages',
        skill: skill.name,
        source: skill.source,
        packages: needs.packages.map(packageArgument),
        isDeclared: needs.packages.every(({ source }) => source !== 'model'),
      };
      const installed = await install(request, needs, { call, skill, digest }, context);
      if (!('code' in installed)) layers.push(installed.layer);
      else if (needs.isOptional)
        warnings.push(
          `${request.packages.join(', ')} of ${neededBy(needs)} is not installed: ${installed.message}; ${installed.hint}`,
        );
      else if (installed.code !== 'packages/unavailable') return installed;
      else {
        const message = `the script needs ${request.packages.join(', ')} (${neededBy(needs)}): ${installed.message}`;
        return { ...installed, message };
      }
    }
    if (skill !== undefined) packages.remember(action, skill, context.askedBy);
  } catch (error) {
    return executionFailure(error);
  }
  return { layers, warnings, venv };
}

function neededBy({ packages }: PackageNeeds): string {
  return [...new Set(packages.map(({ neededBy: file }) => file))].join(', ');
}

async function install(
  action: InstallPackages,
  needs: PackageNeeds,
  { call, skill, digest }: InstallTarget & { readonly call: number },
  context: ActionContext,
): Promise<Installed | ActionProblem> {
  const { execution, journal, signal } = context;
  if (execution === undefined)
    return failure('execution/unavailable', 'program execution is disabled for this session');
  const first = await decideAction(action, { skill }, context);
  const denied = ({ decision }: typeof first): ActionProblem => {
    journal.record({ type: 'decision', call, decision });
    return failure('policy/denied', decision.reason);
  };
  if (first.decision.effect === 'deny') return denied(first);
  const found = await execution.packages.find(needs, skill.name, signal);
  if ('code' in found) return found;
  try {
    // The exact versions are part of the question and of what a rule or an earlier answer covers.
    const decided = await decideAction(action, { skill }, context, found.lockDigest);
    const { decision } = decided;
    // A rule may deny the versions that were found.
    if (decision.effect === 'deny') return denied(decided);
    if (decision.effect !== 'allow') {
      const current = digest ?? (await skillDigest(skill, context));
      if (typeof current === 'object') return current;
      const approved = { id: skill.id, name: skill.name, digest: current };
      const isApproved = execution.packages.approved.has(approved, found.lockDigest);
      journal.record({ type: 'decision', call, decision: isApproved ? approvedBefore(decision) : decision });
      if (!isApproved) {
        const answer = await askApproval(action, call, { skill, digest: current, packages: found }, decided, context);
        if ('code' in answer) return answer;
        execution.packages.approved.add(approved, found.lockDigest);
      }
    } else journal.record({ type: 'decision', call, decision });
    journal.flush();
    const layer = await found.build();
    if ('code' in layer) return layer;
    // Another process may have built the layer while this one asked.
    if (layer.lockDigest !== found.lockDigest)
      return failure('packages/unavailable', 'another process installed other versions meanwhile', {
        hint: 'try again',
      });
    return { layer, isCached: found.status === 'cached' };
  } finally {
    await found.close();
  }
}

/** The same packages for the same skill were approved earlier in the session. */
function approvedBefore(decision: Decision): Decision {
  const rule = 'approved earlier in this session';
  return { ...decision, effect: 'allow', rule, reason: `${decision.tool} is allowed: ${rule}` };
}
