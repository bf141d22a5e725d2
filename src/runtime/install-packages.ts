import {
  failure,
  packageArgument,
  type ActionProblem,
  type SkillEntry,
  type Action,
  type OfType,
  isProblem,
  type ProgramAction,
} from '#core';
import { executionFailure, type Execution, type PackageNeeds } from '#sandbox';
import type { ActionContext } from './action-context.ts';
import { whenAllowed, type FoundPackages } from './allow-action.ts';

type PreparedPackages = NonNullable<NonNullable<Parameters<Execution['perform']>[2]>['packages']>;
type StoredLayer = PreparedPackages['layers'][number];
type InstallPackages = OfType<Action, 'install_packages'>;

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
    for (const needs of await packages.needsOf(action, skill, context.askedBy)) {
      warnings.push(...needs.problems);
      const request: InstallPackages = {
        type: 'install_packages',
        skill: skill?.name,
        source: skill?.source,
        packages: needs.packages.map(packageArgument),
        isDeclared: needs.packages.every(({ source }) => source !== 'model'),
      };
      const installed = await whenAllowed(request, call, { skill, digest, needs }, context, async (allowed) => {
        context.journal.flush();
        return allowed.packages && buildLayer(allowed.packages);
      });
      if (!isProblem(installed)) layers.push(...(installed === undefined ? [] : [installed]));
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
    packages.remember(action, skill, context.askedBy);
  } catch (error) {
    return executionFailure(error);
  }
  return { layers, warnings, venv };
}

function neededBy({ packages }: PackageNeeds): string {
  return [...new Set(packages.map(({ neededBy: file }) => file))].join(', ');
}

/** Another process may have built the layer while this one asked. */
export async function buildLayer(found: FoundPackages): Promise<StoredLayer | ActionProblem> {
  const layer = await found.build();
  if (isProblem(layer) || layer.lockDigest === found.lockDigest) return layer;
  return failure('packages/unavailable', 'another process installed other versions meanwhile', { hint: 'try again' });
}
