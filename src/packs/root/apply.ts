/**
 * The steps of a journal, done and undone. Each looks at what stands where before it moves anything, so that it can be done again after any
 * interruption, at any place, and changes nothing where it was done already.
 */
import { renameSync } from 'node:fs';
import path from 'node:path';

import type { LockFile, LockedSkill } from '../lock/lock.ts';
import { quoted } from '../../core/text/text.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { exchangeFolders } from './exchange.ts';
import type { Step } from './journal.ts';
import { prepareBackup } from './skill-backups.ts';
import { STATE_FOLDER, identityAt, displayPath, skillPath, statePath } from './root-paths.ts';
import type { RootHandle } from './root-paths.ts';
import { presentFiles } from './present-files.ts';

/** What came of a step. `isDone`: the lock follows it. `note`: the world was not as the journal had it, and this was done about it. */
export interface StepOutcome {
  readonly step: Step;
  readonly isDone: boolean;
  readonly note?: string;
}

/** Told after everything that is visible to others: tests end the process there. */
export type OnStep = (what: string) => void;

type Put = Extract<Step, { type: 'put' }>;
type Remove = Extract<Step, { type: 'remove' }>;

/** Does all steps. Throws the system's error; then some are done. */
export async function applySteps(
  handle: RootHandle,
  steps: readonly Step[],
  onStep: OnStep,
): Promise<readonly StepOutcome[]> {
  const replaced = steps.filter((step): step is Put => step.type === 'put' && isToExchange(handle, step));
  await exchangeFolders(
    handle,
    replaced.map(({ name, from }) => [name, `${STATE_FOLDER}/${from}`]),
  );
  if (replaced.length > 0) onStep('exchanged');
  return steps.map((step) => {
    const outcome = step.type === 'put' ? put(handle, step, onStep) : remove(handle, step, onStep);
    onStep(`applied ${step.name}`);
    return outcome;
  });
}

/** The same where the world may have changed since: a step that cannot be done is told and passed over, unless it may work later. */
export async function reapplySteps(
  handle: RootHandle,
  steps: readonly Step[],
  onStep: OnStep,
): Promise<readonly StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  for (const step of steps)
    try {
      outcomes.push(...(await applySteps(handle, [step], onStep)));
    } catch (error) {
      if (!isSystemError(error) || MAY_WORK_LATER.has(error.code)) throw error;
      outcomes.push({ step, isDone: false, note: `${quoted(step.name)} could not be moved (${error.code})` });
    }
  return outcomes;
}

const MAY_WORK_LATER: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EACCES',
  'EPERM',
  'EMFILE',
  'ENFILE',
]);

/** Undoes steps, the last first, also half of one. Whatever ends it, doing the steps again is still possible. Throws the system's error. */
export function undoSteps(handle: RootHandle, steps: readonly Step[]): void {
  for (const step of steps.toReversed()) {
    const target = skillPath(handle, step.name);
    if (step.type === 'put') undoPut(handle, step, target);
    else if (step.to !== undefined && isThere(statePath(handle, step.to)) && !isThere(target))
      move(statePath(handle, step.to), target);
  }
}

function undoPut(handle: RootHandle, step: Put, target: string): void {
  const from = statePath(handle, step.from);
  const old = step.old === undefined ? undefined : statePath(handle, step.old);
  if (identityAt(target) === step.identity) {
    if (old !== undefined && isThere(from) && !isThere(old)) move(from, old);
    move(target, from);
  }
  if (old !== undefined && isThere(old) && !isThere(target)) move(old, target);
}

/** The lock after the steps that were done. */
export function lockAfter(lock: LockFile, outcomes: readonly StepOutcome[]): LockFile {
  const skills = new Map<string, LockedSkill>(lock.skills);
  for (const { step, isDone } of outcomes) {
    if (!isDone) continue;
    if (step.type === 'put' && step.lock !== undefined) skills.set(step.name, step.lock);
    else skills.delete(step.name);
  }
  return { ...lock, skills };
}

function isToExchange(handle: RootHandle, { name, from, identity, old }: Put): boolean {
  // Most are new: nothing stood there when the journal was written.
  if (old === undefined) return false;
  const target = identityAt(skillPath(handle, name));
  const isNew = identityAt(statePath(handle, from)) === identity;
  return target !== undefined && target !== identity && isNew && !isThere(statePath(handle, old));
}

function put(handle: RootHandle, step: Put, onStep: OnStep): StepOutcome {
  const target = skillPath(handle, step.name);
  const from = statePath(handle, step.from);
  const old = step.old === undefined ? undefined : statePath(handle, step.old);
  const stands = locateSkill(step, target, from);
  if (stands === 'nowhere') return restorePrevious(step, target, old);
  if (stands === 'target') {
    // They were exchanged, and the old one lies where the new one did.
    if (old !== undefined && isThere(from) && !isThere(old)) move(from, old);
    return { step, isDone: true };
  }
  let note: string | undefined;
  if (isThere(target)) {
    if (old !== undefined && !isThere(old)) move(target, old);
    else note = moveForeign(handle, step.name, target);
    onStep(`moved away ${step.name}`);
  }
  move(from, target);
  return { step, isDone: true, ...(note === undefined ? {} : { note }) };
}

/** By identity; where a root was copied to another disk in between, by what is in the folders. */
function locateSkill(step: Put, target: string, from: string): 'target' | 'staging' | 'nowhere' {
  if (identityAt(target) === step.identity) return 'target';
  if (identityAt(from) === step.identity) return 'staging';
  const isIt = (place: string): boolean => {
    const tree = step.lock !== undefined && isThere(place) ? presentFiles(place) : undefined;
    return tree?.type === 'present' && tree.digest === step.lock?.digest;
  };
  if (isIt(target)) return 'target';
  return isIt(from) ? 'staging' : 'nowhere';
}

/** The new one was taken away by hand: what was there before comes back, and the lock goes on to say so. */
function restorePrevious(step: Put, target: string, old: string | undefined): StepOutcome {
  const note = `the new ${quoted(step.name)} is gone from the staging folder`;
  if (old === undefined || !isThere(old) || isThere(target)) return { step, isDone: false, note };
  move(old, target);
  return { step, isDone: false, note: `${note}; the version before is back` };
}

/** Somebody put a folder where ours belongs, since we looked. Theirs is not lost. */
function moveForeign(handle: RootHandle, name: string, target: string): string {
  const below = prepareBackup(handle, { part: 'trash', name, at: new Date() });
  move(target, statePath(handle, below));
  return `what somebody put at ${quoted(name)} meanwhile is in ${quoted(displayPath(handle, below), 200)}`;
}

function remove(handle: RootHandle, step: Remove, onStep: OnStep): StepOutcome {
  const target = skillPath(handle, step.name);
  const to = step.to === undefined ? undefined : statePath(handle, step.to);
  if (to === undefined || !isThere(target)) return { step, isDone: true };
  if (isThere(to)) return { step, isDone: true, note: `somebody put another folder at ${quoted(step.name)}: it stays` };
  move(target, to);
  onStep(`moved away ${step.name}`);
  return { step, isDone: true };
}

function isThere(place: string): boolean {
  return identityAt(place) !== undefined;
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    // Somebody removed the folder that was made for it.
    makeFolders(path.dirname(to), 0o700);
    renameSync(from, to);
  }
}
