/**
 * One run continues another one. A second one would do again what the first one did after the recorded point, so the caller must ask for
 * it. A run that was killed before it did anything counts as none.
 */
import path from 'node:path';

import { describeAction, isSkillError, SkillError, stableJson, type Action } from '#core';
import { claimRun, findLostLines, listRuns, readRun, resumeClaims } from '#journal';
import type { RunOptions } from '#runtime';
import { effectsIn } from './replayed-run.ts';

type ResumeClaim = ReturnType<typeof resumeClaims>[number];

export interface ResumeCheck {
  readonly folder: string;
  /** Numbers of the recorded actions that are not performed again. */
  readonly settled?: ReadonlySet<number>;
  /** The caller wants another run to continue it (default: false). */
  readonly again?: boolean | undefined;
}

export interface ResumeVerdict {
  readonly problems: readonly string[];
  /** Actions of earlier resumes that may happen again. */
  readonly repeats: readonly Action[];
  readonly claims: number;
}

/** Checks whether a run may be continued, without claiming it. */
export function checkResume({ folder, settled = new Set(), again = false }: ResumeCheck): ResumeVerdict {
  const own = resumeClaims(folder);
  const earlier = allClaims(own, new Set([path.basename(folder)])).map((claim) => ({
    ...claim,
    actions: actionsAfter(claim, settled),
  }));
  const running = earlier.find(({ life }) => life === 'running');
  const started = earlier.filter(({ life, actions }) => life !== 'killed' || actions.length > 0);
  const repeats = distinct(started.flatMap(({ actions }) => actions));
  const claims = own.length;
  if (running !== undefined)
    return { problems: [`run ${running.by} continues it and is still in progress`], repeats, claims };
  if (again || started.length === 0) return { problems: [], repeats, claims };
  return { problems: refusal(started, repeats), repeats, claims };
}

/** Claims a run when the record of the run that continues it is created. Throws `run/resumed` if it must not be continued. */
export function openClaim(check: ResumeCheck): NonNullable<RunOptions['claim']> {
  return (by, { directory, ...keys }) => {
    const lost = check.again === true ? undefined : findLostLines(check.folder, keys);
    if (lost !== undefined) throw alreadyResumed(check.folder, [...checkResume(check).problems, ...lostLines(lost)]);
    for (;;) {
      const { problems, claims } = checkResume(check);
      if (problems.length > 0) throw alreadyResumed(check.folder, problems);
      if (claimRun(check.folder, by, { ...keys, directory, known: claims, again: claims > 0, now: new Date() })) return;
    }
  };
}

export function alreadyResumed(folder: string, problems: readonly string[]): SkillError<'run/resumed'> {
  return new SkillError({
    code: 'run/resumed',
    message: `cannot continue run ${path.basename(folder)}: ${problems.join('; ')}`,
    hint: 'continue the run that continued it, or ask for another one with --again',
    data: { path: folder, problems },
  });
}

export function isAlreadyResumed(error: unknown): error is SkillError<'run/resumed'> {
  return isSkillError(error) && error.code === 'run/resumed';
}

function lostLines(reason: string): readonly string[] {
  return [
    `the chain of runs has lost lines, so an earlier resume may not show: ${reason}`,
    'see skillwright runs verify; acknowledge the loss with skillwright runs prune --missing, or pass --again',
  ];
}

interface EarlierResume extends ResumeClaim {
  readonly actions: readonly Action[];
}

function refusal(started: readonly EarlierResume[], repeats: readonly Action[]): readonly string[] {
  const runs = started.map(({ by, life }) => (by === '' ? 'by a run without a record' : `as ${by} (${LIFE[life]})`));
  const last = started.findLast(({ by, life }) => by !== '' && life !== 'unknown')?.by;
  const isUnknown = started.some(({ life }) => life === 'unknown');
  return [
    `it was already resumed ${runs.join(', ')}`,
    ...repeats.map((action) => `may be repeated: ${describeAction(action)}`),
    ...(isUnknown ? ['what the run without a record did is unknown and may be repeated'] : []),
    `${last === undefined ? '' : `continue ${last} instead, or `}pass --again to resume it once more`,
  ];
}

const LIFE: Readonly<Record<ResumeClaim['life'], string>> = {
  ended: 'ended',
  running: 'in progress',
  killed: 'killed',
  unknown: 'its record is gone',
};

function allClaims(claims: readonly ResumeClaim[], seen: Set<string>): readonly ResumeClaim[] {
  return claims.flatMap((claim) => {
    if (seen.has(claim.by)) return [];
    if (claim.by === '') return [claim];
    seen.add(claim.by);
    return [claim, ...allClaims(resumeClaims(claim.folder), seen)];
  });
}

/** What a run did itself, and by its subagents: not what it took from the record that it continued. */
function actionsAfter({ by, folder, life }: ResumeClaim, settled: ReadonlySet<number>): readonly Action[] {
  if (life === 'unknown') return [];
  const children = listRuns(path.dirname(folder)).filter(
    ({ reading }) => reading.type === 'run' && reading.info.parent === by,
  );
  return [
    ...effects(folder, settled),
    ...children.flatMap((child) => actionsAfter({ by: child.id, folder: child.path, life: 'ended' }, new Set())),
  ];
}

/** Nothing for a run that was killed before its first line. */
function effects(folder: string, settled: ReadonlySet<number>): readonly Action[] {
  try {
    return effectsIn(readRun(folder, { content: 'start' }).lines, settled);
  } catch (error) {
    if (isSkillError(error) && error.code === 'run/invalid') return [];
    throw error;
  }
}

function distinct(actions: readonly Action[]): readonly Action[] {
  return [...new Map(actions.map((action) => [stableJson(action), action])).values()];
}
