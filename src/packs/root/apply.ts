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
import { prepareKept } from './skill-backups.ts';
import { STATE_FOLDER, identityAt, shownPlace, skillPlace, statePlace } from './root-paths.ts';
import type { HeldRoot } from './root-paths.ts';
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
  held: HeldRoot,
  steps: readonly Step[],
  onStep: OnStep,
): Promise<readonly StepOutcome[]> {
  const replaced = steps.filter((step): step is Put => step.type === 'put' && isToExchange(held, step));
  await exchangeFolders(
    held,
    replaced.map(({ name, from }) => [name, `${STATE_FOLDER}/${from}`]),
  );
  if (replaced.length > 0) onStep('exchanged');
  return steps.map((step) => {
    const outcome = step.type === 'put' ? put(held, step, onStep) : remove(held, step, onStep);
    onStep(`applied ${step.name}`);
    return outcome;
  });
}

/** The same where the world may have changed since: a step that cannot be done is told and passed over, unless it may work later. */
export async function reapplySteps(
  held: HeldRoot,
  steps: readonly Step[],
  onStep: OnStep,
): Promise<readonly StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  for (const step of steps)
    try {
      outcomes.push(...(await applySteps(held, [step], onStep)));
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
export function undoSteps(held: HeldRoot, steps: readonly Step[]): void {
  for (const step of steps.toReversed()) {
    const target = skillPlace(held, step.name);
    if (step.type === 'put') undoPut(held, step, target);
    else if (step.to !== undefined && isThere(statePlace(held, step.to)) && !isThere(target))
      move(statePlace(held, step.to), target);
  }
}

function undoPut(held: HeldRoot, step: Put, target: string): void {
  const from = statePlace(held, step.from);
  const old = step.old === undefined ? undefined : statePlace(held, step.old);
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

function isToExchange(held: HeldRoot, { name, from, identity, old }: Put): boolean {
  // Most are new: nothing stood there when the journal was written.
  if (old === undefined) return false;
  const target = identityAt(skillPlace(held, name));
  const isNew = identityAt(statePlace(held, from)) === identity;
  return target !== undefined && target !== identity && isNew && !isThere(statePlace(held, old));
}

function put(held: HeldRoot, step: Put, onStep: OnStep): StepOutcome {
  const target = skillPlace(held, step.name);
  const from = statePlace(held, step.from);
  const old = step.old === undefined ? undefined : statePlace(held, step.old);
  const stands = whereItStands(step, target, from);
  if (stands === 'nowhere') return putBack(step, target, old);
  if (stands === 'target') {
    // They were exchanged, and the old one lies where the new one did.
    if (old !== undefined && isThere(from) && !isThere(old)) move(from, old);
    return { step, isDone: true };
  }
  let note: string | undefined;
  if (isThere(target)) {
    if (old !== undefined && !isThere(old)) move(target, old);
    else note = moveStranger(held, step.name, target);
    onStep(`moved away ${step.name}`);
  }
  move(from, target);
  return { step, isDone: true, ...(note === undefined ? {} : { note }) };
}

/** By identity; where a root was copied to another disk in between, by what is in the folders. */
function whereItStands(step: Put, target: string, from: string): 'target' | 'staging' | 'nowhere' {
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
function putBack(step: Put, target: string, old: string | undefined): StepOutcome {
  const note = `the new ${quoted(step.name)} is gone from the staging folder`;
  if (old === undefined || !isThere(old) || isThere(target)) return { step, isDone: false, note };
  move(old, target);
  return { step, isDone: false, note: `${note}; the version before is back` };
}

/** Somebody put a folder where ours belongs, since we looked. Theirs is not lost. */
function moveStranger(held: HeldRoot, name: string, target: string): string {
  const below = prepareKept(held, { part: 'trash', name, at: new Date() });
  move(target, statePlace(held, below));
  return `what somebody put at ${quoted(name)} meanwhile is in ${quoted(shownPlace(held, below), 200)}`;
}

function remove(held: HeldRoot, step: Remove, onStep: OnStep): StepOutcome {
  const target = skillPlace(held, step.name);
  const to = step.to === undefined ? undefined : statePlace(held, step.to);
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
