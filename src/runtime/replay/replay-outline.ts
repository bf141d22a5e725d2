import { stableJson, type Observation, type RunResult, type Decision } from '#core';
import { sha256 } from '#platform';
import { shownBy } from '../loaded-contents.ts';

/** The reproducible part of an outcome: no times and no machine paths. */
export interface Outline {
  /** Absent if nothing was decided. */
  readonly effect?: Decision['effect'];
  /** Type of the observation, with the code of a failure. Absent if there was none. */
  readonly came?: string;
  /** Digests and counts of the shown content, by name. */
  readonly shown: Readonly<Record<string, string>>;
}

export function toOutline(effect: Decision['effect'] | undefined, observation: Observation | undefined): Outline {
  return {
    effect,
    came: observation === undefined ? undefined : toResultLabel(observation),
    shown: observation === undefined ? {} : digestObservation(observation),
  };
}

/** A command that was running then may have ended now, and the reverse. */
export function isSameOutline(a: Outline, b: Outline): boolean {
  const isLook = a.came === 'command-seen' && Object.keys(a.shown).length === 0;
  return stableJson(a) === stableJson(isLook ? { ...b, shown: {} } : b);
}

function toResultLabel(observation: Observation): string {
  return observation.type === 'failed' ? `failed: ${observation.code}` : observation.type;
}

function digestObservation(observation: Observation): Readonly<Record<string, string>> {
  switch (observation.type) {
    case 'skills-found':
      return { results: digestValue(observation.results.map(({ id, digest }) => [id, digest])) };
    case 'skill-loaded':
      return { status: observation.status, text: digestValue(observation.text), ...listContentDigests(observation) };
    case 'resources-listed':
    case 'documents-selected':
      return listContentDigests(observation);
    case 'resource-read':
      return { text: digestValue(observation.text), ...listContentDigests(observation) };
    case 'script-found':
      return { script: digestValue([observation.skill.id, observation.isExecutable]) };
    case 'packages-installed':
      return { lock: observation.layer.lockDigest };
    case 'program-ran':
      return digestRunResult(observation.result);
    case 'command-seen':
      // Partial output depends on timing; the exit code does not.
      return observation.status === 'running' ? {} : { status: 'exited', exit: String(observation.exitCode ?? -1) };
    case 'command-killed':
      return {};
    case 'file-read':
      return { file: observation.digest, text: digestValue(observation.text) };
    case 'directory-listed':
      return { entries: digestValue(observation.entries) };
    case 'lines-found':
      return { matches: digestValue(observation.matches) };
    case 'file-written':
      return { file: observation.digest, replaced: observation.replaced ?? '' };
    case 'file-deleted':
      return { path: observation.path };
    case 'response-received':
      return { status: String(observation.status), text: digestValue(observation.text) };
    case 'tool-called':
      return { text: digestValue(observation.text) };
    case 'answered':
      return { answer: digestValue(observation.answer) };
    case 'failed':
      return {};
  }
}

function listContentDigests(observation: Observation): Readonly<Record<string, string>> {
  return Object.fromEntries(
    shownBy(observation).map(({ reason, path, digest }) => [`${reason} ${path}`.trim(), digest]),
  );
}

function digestRunResult(result: RunResult): Readonly<Record<string, string>> {
  return {
    end: result.reason,
    exit: String(result.exit_code),
    stdout: result.stdout_digest ?? digestValue(result.stdout),
    stderr: result.stderr_digest ?? digestValue(result.stderr),
    ...Object.fromEntries(result.output_files.map(({ name, digest = '' }) => [`file ${name}`, digest])),
  };
}

function digestValue(value: unknown): string {
  return `sha256:${sha256(typeof value === 'string' ? value : stableJson(value))}`;
}
