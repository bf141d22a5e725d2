import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { runIds, runsDirectory, runsFolderState } from '#journal';
import { isPresent, isSystemError, checkSealKey } from '#platform';
import { openApprovalFiles, openTrust } from '#policy';
import type { Surroundings } from '#core';
import { projectTop, trustRemarks, type Runtime } from '#runtime';

export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly detail: string;
}

/** Checks trust, stored approvals, the seal key and the folder of runs. Creates no files. */
export async function rightsFindings(
  runtime: Runtime,
  { cwd, home }: Pick<Surroundings, 'cwd' | 'home'>,
): Promise<readonly Finding[]> {
  return [
    await projectFinding(runtime, { cwd, home }),
    ...(home === undefined ? [NO_HOME] : [keyFinding(home), trustFinding(home), approvalsFinding(home)]),
    runsFinding(runtime, cwd),
  ];
}

const NO_HOME: Finding = {
  name: 'home',
  status: 'warning',
  detail: 'HOME is not set: projects cannot be trusted, answers are not stored, runs are not sealed',
};

async function projectFinding(runtime: Runtime, { cwd, home }: Pick<Surroundings, 'cwd' | 'home'>): Promise<Finding> {
  const project = projectTop({ cwd, home });
  const trust = openTrust({ home, bind: 'path' });
  const untrusted = await runtime.distrust(runtime.index.all);
  const isTrusted = project !== undefined && trust.isTrusted({ source: 'project', dir: project }).trusted;
  const state = project === undefined ? 'not in a project' : `${project} is ${isTrusted ? '' : 'not '}trusted`;
  if (untrusted.size === 0) return { name: 'project', status: 'ok', detail: `${state}; no untrusted skills` };
  return { name: 'project', status: 'warning', detail: [state, ...trustRemarks(untrusted)].join('; ') };
}

function keyFinding(home: string): Finding {
  const { file, problem } = checkSealKey(home);
  if (problem !== undefined)
    return {
      name: 'seal key',
      status: 'warning',
      detail: `${problem}; runs are not sealed, and stored trust and answers are ignored`,
    };
  return { name: 'seal key', status: 'ok', detail: isPresent(file) ? file : `${file} (created on first use)` };
}

function trustFinding(home: string): Finding {
  const { folders, problems } = openTrust({ home, bind: 'path' }).list();
  return sealedFinding('trust', {
    file: path.join(home, '.agent/trust.json'),
    kept: `${String(folders.length)} trusted folders`,
    problems,
  });
}

function approvalsFinding(home: string): Finding {
  const { answers, problems } = openApprovalFiles(home).answers();
  return sealedFinding('approvals', {
    file: path.join(home, '.agent/approvals.json'),
    kept: `${String(answers.length)} stored answers`,
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

/** Runs that cannot be recorded do not start. */
function runsFinding({ config }: Runtime, cwd: string): Finding {
  const name = 'runs';
  if (config.runs?.enabled === false) return { name, status: 'ok', detail: 'not recorded (runs.enabled is false)' };
  const directory = runsDirectory(cwd, config.runs?.directory);
  const state = runsFolderState(directory, cwd);
  const reason = typeof state === 'object' ? state.problem : unwritable(nearestFolder(directory));
  if (reason !== undefined)
    return { name, status: 'warning', detail: `cannot use ${directory}: ${reason}; no run can start` };
  return {
    name,
    status: 'ok',
    detail: `${directory} (${String(state === 'absent' ? 0 : runIds(directory).length)} runs)`,
  };
}

function nearestFolder(place: string): string {
  return isPresent(place) || path.dirname(place) === place ? place : nearestFolder(path.dirname(place));
}

function unwritable(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    if (isSystemError(error)) return `${folder} is not writable (${error.code})`;
    throw error;
  }
}
