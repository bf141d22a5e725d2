/**
 * One change of a root, of any number of skills: all of it or nothing. What is staged is looked at once more and written to the disk, then the
 * journal is, and from that moment on the new state is the one that will be, whatever happens.
 */
import { renameSync } from 'node:fs';
import path from 'node:path';

import type { LockFile } from '../lock/lock.ts';
import { driftOf, hasDrift, lockFileText } from '../lock/lock-file.ts';
import { PackRefused, isRefusal, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { writeFileAtomically } from '../../platform/fs/atomic-replace.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { pause } from '../../platform/fs/tree-digest.ts';
import { systemRefusal } from '../system-refusal.ts';
import { applySteps, lockAfter, undoSteps } from './apply.ts';
import type { OnStep, StepOutcome } from './apply.ts';
import { syncPlace, syncPlaces } from './durable.ts';
import type { Settling } from './durable.ts';
import { removeJournal, writeJournal } from './journal.ts';
import type { Step } from './journal.ts';
import { RECORD_NAME } from './kept.ts';
import { lockPlace, refuseReplaced, rootPlace, shownPlace, statePlace } from './places.ts';
import type { HeldRoot } from './places.ts';
import { planSteps, refuseChanges } from './plan.ts';
import type { PlannedChange, PutChange } from './plan.ts';
import { looksOf, placesIn, presentBuffer, presentFiles } from './present-files.ts';
import type { PresentTree } from './present-files.ts';
import type { RootLock } from './root-lock.ts';

export interface CommitProgress {
  /** `check`: staged folders are looked at. `write`: they go to the disk. `apply`: they go to their places. */
  readonly phase: 'check' | 'write' | 'apply';
  readonly done: number;
  readonly total: number;
}

export interface CommitOptions {
  /** Heeded until the commit counts. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CommitProgress) => void;
  /** Of `settle`: the staged folders are on the disk when it is done. */
  readonly settling?: Settling;
  /** When it is done; now. */
  readonly at?: Date;
  /** For tests: told after everything that others can see. */
  readonly onStep?: OnStep;
}

export interface Work {
  readonly held: HeldRoot;
  readonly rootLock: RootLock;
  readonly lock: LockFile;
  /** Our folder of the staging part, below the state folder. */
  readonly staging: string;
}

export type CommitEnd =
  | {
      readonly type: 'done';
      readonly lock: LockFile;
      readonly steps: readonly Step[];
      readonly notes: readonly string[];
    }
  /** Nothing was changed. */
  | PackRefusal
  /** The system failed us twice: the journal stands, and whoever opens the root next does the rest. */
  | { readonly type: 'unfinished'; readonly refusal: PackRefusal };

/** Does all changes or none. `staged` are those whose folders have to be what their entries say. */
export async function commitChanges(
  work: Work,
  changes: readonly PlannedChange[],
  staged: readonly PutChange[],
  options: CommitOptions = {},
): Promise<CommitEnd> {
  const { held } = work;
  try {
    refuseChanges(held, work.lock, changes);
    await checkStaged(staged, options);
    const steps = planSteps(held, work.lock, { changes, staging: work.staging, at: options.at ?? new Date() });
    const lock = lockAfter(work.lock, steps.map(asDone));
    const nextLock = writeNextLock(work, lock);
    await syncBefore(work, steps, staged, options);
    options.signal?.throwIfAborted();
    refuseReplaced(held);
    work.rootLock.refuseLost();
    options.onStep?.('prepared');
    writeJournal(held, steps, work.staging);
    return await applyAll(work, { steps, lock, nextLock }, options);
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    return systemRefusal(error, `${quoted(held.path, 200)} cannot be changed`);
  }
}

const asDone = (step: Step): StepOutcome => ({ step, isDone: true });

/** Throws `PackRefused` where a staged folder is not what was inspected. */
async function checkStaged(staged: readonly PutChange[], { signal, onProgress }: CommitOptions): Promise<void> {
  const buffer = presentBuffer();
  for (const [done, change] of staged.entries()) {
    onProgress?.({ phase: 'check', done, total: staged.length });
    await pause(signal);
    const reason = whyChanged(change, buffer);
    if (reason !== undefined)
      throw new PackRefused(packRefusal('source/changed', `${quoted(change.name)} ${reason}`, change.from));
  }
}

function whyChanged({ from, lock, looks }: PutChange, buffer: Buffer): string | undefined {
  if (looks !== undefined) {
    const seen = orThrow(looksOf(from));
    return whyLeftOut(seen) ?? (seen.looks === looks ? undefined : 'was changed after it was inspected');
  }
  const tree = orThrow(presentFiles(from, { buffer }));
  const drift = driftOf(lock, tree.files);
  const [file = ''] = [...drift.changed, ...drift.missing, ...drift.added];
  if (hasDrift(drift)) return `is not what was inspected: see ${quoted(file)}`;
  return whyLeftOut(tree) ?? (tree.digest === lock.digest ? undefined : 'has other folders than were inspected');
}

function whyLeftOut({ leftOut: [file] }: Pick<PresentTree, 'leftOut'>): string | undefined {
  return file === undefined ? undefined : `has ${quoted(file)}, which is never installed`;
}

/** What can no longer be read as it was is another thing than was inspected. */
function orThrow<T extends object>(value: T | PackRefusal): T {
  if (isRefusal(value)) throw new PackRefused(packRefusal('source/changed', value.message, value.path));
  return value;
}

/** The next lock is written while there still may be no room for it: later it only gets its name. */
function writeNextLock({ held, staging }: Work, lock: LockFile): string {
  const file = statePlace(held, `${staging}/next-lock.json`);
  writeFileAtomically(file, Buffer.from(lockFileText(lock)), { mode: 0o644, sync: true });
  return file;
}

async function syncBefore(
  { held, staging }: Work,
  steps: readonly Step[],
  staged: readonly PutChange[],
  { settling, onProgress }: CommitOptions,
): Promise<void> {
  onProgress?.({ phase: 'write', done: 0, total: staged.length });
  const isSettled = (await settling?.isDone()) ?? false;
  const unsettled = isSettled ? [] : staged;
  const kept = keptFolders(steps).map((below) => statePlace(held, below));
  const files = unsettled.reduce((sum, { lock }) => sum + Object.keys(lock.files).length, 0);
  await syncPlaces({
    count: files + 2 * kept.length,
    places: () => [
      ...unsettled.flatMap(({ from }) => placesIn(from)),
      ...kept.flatMap((place) => [`${place}/${RECORD_NAME}`, place]),
      ...partsOf(steps, staging).map((below) => statePlace(held, below)),
      rootPlace(held),
    ],
    within: held.path,
  });
}

/** Folders of the state that get or lose a skill. */
function partsOf(steps: readonly Step[], staging: string): readonly string[] {
  const kept = keptFolders(steps).map((below) => path.posix.dirname(below));
  const from = steps.flatMap((step) => (step.type === 'put' ? [path.posix.dirname(step.from)] : []));
  return [...new Set([staging, 'staging', ...kept, ...from])];
}

/** Folders that were made for what goes out of the root, with a record in each. */
function keptFolders(steps: readonly Step[]): readonly string[] {
  return steps
    .flatMap((step) => (step.type === 'put' ? step.old : step.to) ?? [])
    .filter((below) => !below.startsWith('staging/'))
    .map((below) => path.posix.dirname(below));
}

interface Journaled {
  readonly steps: readonly Step[];
  readonly lock: LockFile;
  readonly nextLock: string;
}

async function applyAll(work: Work, { steps, lock, nextLock }: Journaled, options: CommitOptions): Promise<CommitEnd> {
  const onStep: OnStep = (what) => options.onStep?.(what);
  onStep('journal written');
  options.onProgress?.({ phase: 'apply', done: 0, total: steps.length });
  const { held } = work;
  let written = lock;
  let notes: readonly string[] = [];
  try {
    const outcomes = await applySteps(held, steps, onStep);
    notes = outcomes.flatMap(({ note }) => note ?? []);
    await syncAfter(work, steps);
    if (outcomes.some(({ isDone }) => !isDone)) {
      written = lockAfter(work.lock, outcomes);
      writeFileAtomically(nextLock, Buffer.from(lockFileText(written)), { mode: 0o644, sync: true });
    }
    renameSync(nextLock, lockPlace(held));
  } catch (error) {
    return undone(work, steps, systemRefusal(error, `${quoted(held.path, 200)} cannot be changed`));
  }
  try {
    syncPlace(rootPlace(held));
    onStep('lock written');
    removeJournal(held);
    onStep('journal removed');
  } catch (error) {
    return unfinished(work, systemRefusal(error, `${quoted(held.path, 200)} cannot be changed`));
  }
  options.onProgress?.({ phase: 'apply', done: steps.length, total: steps.length });
  return { type: 'done', lock: written, steps, notes };
}

async function syncAfter({ held, staging }: Work, steps: readonly Step[]): Promise<void> {
  const folders = [...keptFolders(steps), ...partsOf(steps, staging)];
  await syncPlaces({
    count: folders.length,
    places: () => [...folders.map((below) => statePlace(held, below)), rootPlace(held)],
    within: held.path,
  });
}

/** The old state again: the lock is still the old one, because it is replaced last. */
function undone(work: Work, steps: readonly Step[], refusal: PackRefusal): CommitEnd {
  try {
    undoSteps(work.held, steps);
    syncPlace(rootPlace(work.held));
    removeJournal(work.held);
    return refusal;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return unfinished(work, refusal);
  }
}

function unfinished({ held }: Work, refusal: PackRefusal): CommitEnd {
  const message = `${refusal.message}; the change is begun, and is finished when the root is next used`;
  return { type: 'unfinished', refusal: { ...refusal, message, path: shownPlace(held, '') } };
}
