import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { foreignReason, runIds, runsDirectory } from '../../journal/run-folder.ts';
import { isPresent, isSystemError } from '../../platform/fs/paths.ts';
import { sealKeyFile, sealKeyProblem } from '../../platform/fs/seal-key.ts';
import { openStoredApprovals } from '../../policy/approval/stored-approvals.ts';
import type { Surroundings } from '../../core/config/loaded-config.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { projectTop } from '../../runtime/skill-trust.ts';
import { openTrust } from '../../policy/trust.ts';
import type { TrustStore } from '../../policy/trust.ts';
import { trustRemarks } from '../skills/show-trust.ts';

/** One thing that was looked at. */
export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly detail: string;
}

/** Whether what people said about trust and approval can be read and kept, and where runs are recorded. Nothing is made by looking. */
export async function rightsFindings(
  runtime: Runtime,
  { cwd, home }: Pick<Surroundings, 'cwd' | 'home'>,
): Promise<readonly Finding[]> {
  const trust = openTrust({ home, bind: 'path' });
  return [
    await projectFinding(runtime, trust, projectTop({ cwd, home })),
    ...(home === undefined ? [NO_HOME] : [keyFinding(home), trustFinding(home, trust), approvalsFinding(home)]),
    runsFinding(runtime, cwd),
  ];
}

const NO_HOME: Finding = {
  name: 'home',
  status: 'warning',
  detail: 'there is none: no project can be trusted, no answer is kept, no run is sealed',
};

async function projectFinding(runtime: Runtime, trust: TrustStore, project: string | undefined): Promise<Finding> {
  const untrusted = await runtime.distrust(runtime.index.all);
  const isTrusted = project !== undefined && trust.isTrusted({ source: 'project', dir: project }).trusted;
  const said = project === undefined ? 'this is no project' : `${project} is ${isTrusted ? '' : 'not '}trusted`;
  if (untrusted.size === 0) return { name: 'project', status: 'ok', detail: `${said}; no skill found waits for that` };
  return { name: 'project', status: 'warning', detail: [said, ...trustRemarks(untrusted)].join('; ') };
}

function keyFinding(home: string): Finding {
  const file = sealKeyFile(home);
  const problem = sealKeyProblem(home);
  if (problem !== undefined)
    return {
      name: 'seal key',
      status: 'warning',
      detail: `${problem}; runs are not sealed, and no trust and no stored answer counts`,
    };
  return { name: 'seal key', status: 'ok', detail: isPresent(file) ? file : `${file} (made when it is needed)` };
}

function trustFinding(home: string, trust: TrustStore): Finding {
  const { folders, problems } = trust.list();
  return sealedFinding('trust', {
    file: path.join(home, '.agent/trust.json'),
    kept: `${String(folders.length)} trusted folders`,
    problems,
  });
}

function approvalsFinding(home: string): Finding {
  const { approvals, problems } = openStoredApprovals(home).list();
  return sealedFinding('approvals', {
    file: path.join(home, '.agent/approvals.json'),
    kept: `${String(approvals.length)} stored answers`,
    problems,
  });
}

function sealedFinding(
  name: string,
  { file, kept, problems }: { readonly file: string; readonly kept: string; readonly problems: readonly string[] },
): Finding {
  const [first, ...others] = problems;
  if (first === undefined) return { name, status: 'ok', detail: `${file}: ${isPresent(file) ? kept : 'absent'}` };
  const more = others.length === 0 ? '' : `, and ${String(others.length)} more`;
  return { name, status: 'warning', detail: `${first}${more}` };
}

/** A run that cannot be recorded does not start. */
function runsFinding({ config }: Runtime, cwd: string): Finding {
  const name = 'runs';
  if (config.runs?.enabled === false) return { name, status: 'ok', detail: 'are not recorded (runs.enabled is false)' };
  const directory = runsDirectory(cwd, config.runs?.directory);
  const isThere = isPresent(directory);
  const reason = (isThere ? foreignReason(directory) : undefined) ?? unwritable(nearestFolder(directory));
  if (reason !== undefined)
    return { name, status: 'warning', detail: `${directory} cannot be used: ${reason}; no run can start` };
  return { name, status: 'ok', detail: `${directory} (${String(isThere ? runIds(directory).length : 0)} runs)` };
}

/** The folder that exists, or in which the missing ones would be made. */
function nearestFolder(place: string): string {
  return isPresent(place) || path.dirname(place) === place ? place : nearestFolder(path.dirname(place));
}

function unwritable(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    if (isSystemError(error)) return `nothing can be written to ${folder} (${error.code})`;
    throw error;
  }
}
