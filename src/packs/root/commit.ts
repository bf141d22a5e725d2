/**
 * Commits a change of any number of skills atomically. Checks the staged folders again and syncs them to disk, then writes the journal.
 * Once the journal exists, the change is completed even after a crash.
 */
import { renameSync } from 'node:fs';
import path from 'node:path';

import { quoted } from '#core';
import { isSystemError, pause, TreeFingerprint, writeFileAtomically } from '#platform';
import { recordFolders, planFolderChanges } from '../agents/lock-places.ts';
import type { FolderChange, FolderOutcome, Unplaced } from '../agents/place-skills.ts';
import { findDrift, hasDrift, lockFileText, type LockFile, type LockedSkill } from '../lock/lock-file.ts';
import { findRefusal, isRefusal, refused, systemRefusal, type PackRefusal } from '../problems.ts';
import { applySteps, lockAfter, placeSkills, undoSteps, type OnStep, type StepOutcome } from './apply.ts';
import { syncPath, syncPaths, type BackgroundSync } from './sync.ts';
import { removeJournal, writeJournal, type Step, type Transaction } from './journal.ts';
import { RECORD_NAME } from './skill-backups.ts';
import {
  lockPath,
  refuseReplaced,
  rootPath,
  displayPath,
  statePath,
  type RootHandle,
  type RootLock,
} from './root-paths.ts';
import { storeOriginals } from './originals.ts';
import { planSteps, refuseChanges, type PlannedChange, type PutChange } from './plan.ts';
import { fingerprintFolder, pathsIn, presentBuffer, presentFiles, type PresentTree } from './present-files.ts';

export interface CommitProgress {
  /** `check`: the staged folders are compared. `write`: they are synced to disk. `apply`: they are moved into the root. */
  readonly phase: 'check' | 'write' | 'apply';
  readonly done: number;
  readonly total: number;
}

export interface CommitOptions {
  /** Takes effect until the journal is written. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CommitProgress) => void;
  /** Result of `startSync`. When it is done, the staged folders are on disk. */
  readonly backgroundSync?: BackgroundSync;
  /** The time to record (default: now). */
  readonly at?: Date;
  /** Links and copies in the folders of agents, beside those that follow from the lock. */
  readonly places?: readonly FolderChange[];
  /** Called right before the change becomes final: a process that is killed later leaves what was stored here, too. */
  readonly beforeCommit?: BeforeCommit;
  /** For tests: called after every change that other processes can see. */
  readonly onStep?: OnStep;
}

/** A staged skill, and the folders that will have its files: the one in the root and copies for agents. */
export interface ArrivingSkill {
  readonly name: string;
  readonly from: string;
  readonly folders: readonly string[];
  readonly lock: LockedSkill;
}

export type BeforeCommit = (skills: readonly ArrivingSkill[]) => Promise<void>;

export interface Work {
  readonly handle: RootHandle;
  readonly rootLock: RootLock;
  readonly lock: LockFile;
  /** The staging folder of this session, relative to the state folder. */
  readonly staging: string;
}

export interface CommitDone {
  readonly type: 'done';
  readonly lock: LockFile;
  readonly steps: readonly Step[];
  readonly notes: readonly string[];
  readonly unplaced: readonly Unplaced[];
}

/**
 * Makes all changes or none. `staged` lists the changes whose folders must match their lock entries. If the commit and its rollback both
 * fail, the journal remains, and the next process that opens the root completes the change.
 */
export async function commitChanges(
  work: Work,
  changes: readonly PlannedChange[],
  staged: readonly PutChange[],
  options: CommitOptions = {},
): Promise<CommitDone | PackRefusal> {
  const { handle } = work;
  try {
    refuseChanges(handle, work.lock, changes);
    await checkStaged(staged, options);
    const originals = await storeOriginals(handle, staged);
    const steps = planSteps(handle, work.lock, { changes, staging: work.staging, at: options.at ?? new Date() });
    const places = planFolderChanges(work.lock, changes, options.places);
    const lock = recordFolders(lockAfter(work.lock, steps.map(asDone)), places.map(asPlaced));
    const nextLock = writeNextLock(work, lock);
    await syncBefore(work, { steps, staged, originals }, options);
    await options.beforeCommit?.(
      staged.map(({ name, from, lock }) => {
        const copies = places.filter(({ kind, add }) => kind === 'copy' && add.includes(name));
        const parents = [handle.path, ...copies.map(({ folder }) => path.resolve(handle.path, folder))];
        return { name, from, folders: parents.map((parent) => path.join(parent, name)), lock };
      }),
    );
    options.signal?.throwIfAborted();
    refuseReplaced(handle);
    work.rootLock.refuseLost();
    options.onStep?.('prepared');
    writeJournal(handle, { steps, places }, work.staging);
    return await applyAll(work, { steps, places, lock, nextLock }, options);
  } catch (error) {
    const refusal = findRefusal(error);
    if (refusal !== undefined) return refusal;
    return systemRefusal(error, `${quoted(handle.path, 200)} cannot be changed`);
  }
}

const asDone = (step: Step): StepOutcome => ({ step, isDone: true });
const asPlaced = (change: FolderChange) => ({ change, kind: change.kind, added: change.add });

/** Folders to check before yielding to the event loop. */
const CHECKED_AT_ONCE = 32;

/** Throws a refusal if a staged folder differs from what was inspected. */
async function checkStaged(staged: readonly PutChange[], { signal, onProgress }: CommitOptions): Promise<void> {
  const buffer = presentBuffer();
  for (const [done, change] of staged.entries()) {
    onProgress?.({ phase: 'check', done, total: staged.length });
    if (done % CHECKED_AT_ONCE === 0) await pause(signal);
    const reason = whyChanged(change, buffer);
    if (reason !== undefined) throw refused('source/changed', `${quoted(change.name)} ${reason}`, change.from);
  }
}

const CHANGED = 'changed after the inspection';

function whyChanged({ from, lock, looks }: PutChange, buffer: Buffer): string | undefined {
  if (looks instanceof TreeFingerprint) return looks.isCurrent(from) ? undefined : CHANGED;
  if (looks !== undefined) {
    const seen = orThrow(fingerprintFolder(from));
    return whyLeftOut(seen) ?? (seen.looks === looks ? undefined : CHANGED);
  }
  const tree = orThrow(presentFiles(from, { buffer, locked: lock.files }));
  const drift = findDrift(lock.files, tree.files);
  const [file = ''] = [...drift.changed, ...drift.missing, ...drift.added];
  if (hasDrift(drift)) return `differs from what was inspected: ${quoted(file)}`;
  return whyLeftOut(tree) ?? (tree.digest === lock.digest ? undefined : 'has different folders than at the inspection');
}

function whyLeftOut({ leftOut: [file] }: Pick<PresentTree, 'leftOut'>): string | undefined {
  return file === undefined ? undefined : `has ${quoted(file)}, which is never installed`;
}

/** A folder that can no longer be read has changed since the inspection. */
function orThrow<T extends object>(value: T | PackRefusal): T {
  if (isRefusal(value)) throw refused('source/changed', value.message, value.path);
  return value;
}

/** Writes the next lock before the commit, so that a full disk is detected early. Later it is only renamed. */
function writeNextLock({ handle, staging }: Work, lock: LockFile): string {
  const file = statePath(handle, `${staging}/next-lock.json`);
  writeFileAtomically(file, Buffer.from(lockFileText(lock)), { mode: 0o644, sync: true });
  return file;
}

async function syncBefore(
  { handle, staging }: Work,
  {
    steps,
    staged,
    originals,
  }: Readonly<{ steps: readonly Step[]; staged: readonly PutChange[]; originals: readonly string[] }>,
  { backgroundSync, onProgress }: CommitOptions,
): Promise<void> {
  onProgress?.({ phase: 'write', done: 0, total: staged.length });
  const isSettled = (await backgroundSync?.isDone()) ?? false;
  const unsettled = isSettled ? [] : staged;
  const kept = backupFolders(steps).map((below) => statePath(handle, below));
  // Everything that the journal names existed when the background sync started. The originals need not be on disk: a merge does without
  // those that a power failure takes.
  if (isSettled && kept.length === 0) return;
  const files = unsettled.reduce((sum, { lock }) => sum + Object.keys(lock.files).length, 0);
  await syncPaths({
    count: files + originals.length + 2 * kept.length,
    places: () => [
      ...originals,
      ...unsettled.flatMap(({ from }) => pathsIn(from)),
      ...kept.flatMap((place) => [`${place}/${RECORD_NAME}`, place]),
      ...[staging, 'staging', ...listChangedFolders(steps)].map((below) => statePath(handle, below)),
      rootPath(handle),
    ],
    within: handle.path,
  });
}

/** Folders of the state folder in which entries are added or removed. */
function listChangedFolders(steps: readonly Step[]): readonly string[] {
  const kept = backupFolders(steps).map((below) => path.posix.dirname(below));
  const from = steps.flatMap((step) => (step.type === 'put' ? [path.posix.dirname(step.from)] : []));
  return [...new Set([...kept, ...from])];
}

function backupFolders(steps: readonly Step[]): readonly string[] {
  return steps
    .flatMap((step) => (step.type === 'put' ? step.old : step.to) ?? [])
    .filter((below) => !below.startsWith('staging/'))
    .map((below) => path.posix.dirname(below));
}

interface Journaled extends Transaction {
  readonly lock: LockFile;
  readonly nextLock: string;
}

async function applyAll(
  work: Work,
  { steps, places, lock, nextLock }: Journaled,
  options: CommitOptions,
): Promise<CommitDone | PackRefusal> {
  const onStep: OnStep = (what) => options.onStep?.(what);
  onStep('journal written');
  options.onProgress?.({ phase: 'apply', done: 0, total: steps.length });
  const { handle } = work;
  let written = lock;
  let notes: readonly string[] = [];
  let placed: readonly FolderOutcome[] = [];
  try {
    const outcomes = await applySteps(handle, steps, onStep);
    notes = outcomes.flatMap(({ note }) => note ?? []);
    placed = await placeSkills(work, places, outcomes);
    if (placed.length > 0) onStep('linked');
    await syncAfter(work, steps);
    if (outcomes.some(({ isDone }) => !isDone) || placed.some(isPartial)) {
      written = recordFolders(lockAfter(work.lock, outcomes), placed);
      writeFileAtomically(nextLock, Buffer.from(lockFileText(written)), { mode: 0o644, sync: true });
    }
    renameSync(nextLock, lockPath(handle));
  } catch (error) {
    return undone(work, { steps, placed }, systemRefusal(error, `${quoted(handle.path, 200)} cannot be changed`));
  }
  try {
    syncPath(rootPath(handle));
    onStep('lock written');
    removeJournal(handle);
    onStep('journal removed');
  } catch (error) {
    return unfinished(work, systemRefusal(error, `${quoted(handle.path, 200)} cannot be changed`));
  }
  options.onProgress?.({ phase: 'apply', done: steps.length, total: steps.length });
  return { type: 'done', lock: written, steps, notes, unplaced: placed.flatMap(({ unplaced }) => unplaced) };
}

/** Whether the lock must be written again, because it expects something else. */
function isPartial({ change, kind, added, digests }: FolderOutcome): boolean {
  return kind !== change.kind || added.length < change.add.length || digests.size > 0;
}

async function syncAfter({ handle }: Work, steps: readonly Step[]): Promise<void> {
  const folders = [...backupFolders(steps), ...listChangedFolders(steps)];
  await syncPaths({
    count: folders.length,
    places: () => [...folders.map((below) => statePath(handle, below)), rootPath(handle)],
    within: handle.path,
  });
}

/** Restores the old state. The lock is still the old one, because it is replaced last. */
function undone(
  work: Work,
  { steps, placed }: { readonly steps: readonly Step[]; readonly placed: readonly FolderOutcome[] },
  refusal: PackRefusal,
): PackRefusal {
  try {
    for (const { undo } of placed) undo();
    undoSteps(work.handle, steps);
    syncPath(rootPath(work.handle));
    removeJournal(work.handle);
    return refusal;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return unfinished(work, refusal);
  }
}

function unfinished({ handle }: Work, refusal: PackRefusal): PackRefusal {
  const message = `${refusal.message}; the change was started and will be completed when the root is used next`;
  const hint = 'resolve the reason, then run a command that changes the root: it completes the change first';
  return { ...refusal, message, hint, path: displayPath(handle, '') };
}
