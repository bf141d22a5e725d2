/**
 * Applies and undoes the steps of a journal. Each step checks the current state before it moves a folder, so that it can be repeated after
 * any interruption and has no effect if it was already applied.
 */
import { renameSync, existsSync } from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';

import { quoted } from '#core';
import { isSystemError, makeFolders } from '#platform';
import { keepLockedFolders } from '../agents/lock-places.ts';
import { applyFolderChanges, type FolderChange, type FolderOutcome } from '../agents/place-skills.ts';
import type { LockFile, LockedSkill } from '../lock/lock-file.ts';
import type { Step } from './journal.ts';
import { prepareBackup } from './skill-backups.ts';
import { STATE_FOLDER, identityAt, displayPath, skillPath, statePath, type RootHandle } from './root-paths.ts';
import { presentFiles } from './present-files.ts';

/** Result of a step. `isDone`: the lock must follow it. `note`: what was done because the folders were not as the journal expected. */
export interface StepOutcome {
  readonly step: Step;
  readonly isDone: boolean;
  readonly note?: string;
}

/** Called after every change that other processes can see. Tests end the process there. */
export type OnStep = (what: string) => void;

type Put = Extract<Step, { type: 'put' }>;
type Remove = Extract<Step, { type: 'remove' }>;

/** Applies all steps. If it throws a system error, some steps are applied. */
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

/** Applies steps after a crash, when folders may have changed since. Reports and skips a step that fails, unless a retry may succeed. */
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

const MAY_WORK_LATER = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE']);

/**
 * Undoes steps in reverse order, including partly applied ones. After a failure, the steps can still be applied again. Throws system
 * errors.
 */
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

export function lockAfter(lock: LockFile, outcomes: readonly StepOutcome[]): LockFile {
  const skills = new Map<string, LockedSkill>(lock.skills);
  for (const { step, isDone } of outcomes) {
    if (!isDone) continue;
    if (step.type === 'put' && step.lock !== undefined)
      skills.set(step.name, keepLockedFolders(step.lock, lock.skills.get(step.name)));
    else skills.delete(step.name);
  }
  return { ...lock, skills };
}

function isToExchange(handle: RootHandle, { name, from, identity, old }: Put): boolean {
  // Usually there was no folder to replace.
  if (old === undefined) return false;
  const target = identityAt(skillPath(handle, name));
  const isNew = identityAt(statePath(handle, from)) === identity;
  return target !== undefined && target !== identity && isNew && !isThere(statePath(handle, old));
}

function put(handle: RootHandle, step: Put, onStep: OnStep): StepOutcome {
  const target = skillPath(handle, step.name);
  const from = statePath(handle, step.from);
  const old = step.old === undefined ? undefined : statePath(handle, step.old);
  const present = identityAt(target);
  const stands = locateSkill(step, { target, present, from });
  if (stands === 'nowhere') return restorePrevious(step, target, old);
  if (stands === 'target') {
    // The folders were exchanged: the old one is in the staging folder.
    if (old !== undefined && isThere(from) && !isThere(old)) move(from, old);
    return { step, isDone: true };
  }
  let note: string | undefined;
  if (present !== undefined) {
    if (old !== undefined && !isThere(old)) move(target, old);
    else note = moveForeign(handle, step.name, target);
    onStep(`moved away ${step.name}`);
  }
  move(from, target);
  return { step, isDone: true, note };
}

/** Compares by identity. If the root was copied to another disk in between, compares by content. */
function locateSkill(
  step: Put,
  { target, present, from }: { readonly target: string; readonly present: string | undefined; readonly from: string },
): 'target' | 'staging' | 'nowhere' {
  if (present === step.identity) return 'target';
  if (identityAt(from) === step.identity) return 'staging';
  const isIt = (place: string): boolean => {
    const tree =
      step.lock !== undefined && isThere(place) ? presentFiles(place, { locked: step.lock.files }) : undefined;
    return tree?.type === 'present' && tree.digest === step.lock?.digest;
  };
  if (isIt(target)) return 'target';
  return isIt(from) ? 'staging' : 'nowhere';
}

/** The new folder was deleted by hand. Restores the previous version, which the lock still describes. */
function restorePrevious(step: Put, target: string, old: string | undefined): StepOutcome {
  const note = `the new ${quoted(step.name)} was deleted from the staging folder`;
  if (old === undefined || !isThere(old) || isThere(target)) return { step, isDone: false, note };
  move(old, target);
  return { step, isDone: false, note: `${note}; the previous version was restored` };
}

/** Another process created a folder at the target in the meantime. Moves it to the trash instead of deleting it. */
function moveForeign(handle: RootHandle, name: string, target: string): string {
  const below = prepareBackup(handle, { part: 'trash', name, at: new Date() });
  move(target, statePath(handle, below));
  return `another process created ${quoted(name)} in the meantime; it was moved to ${quoted(displayPath(handle, below), 200)}`;
}

function remove(handle: RootHandle, step: Remove, onStep: OnStep): StepOutcome {
  const target = skillPath(handle, step.name);
  const to = step.to === undefined ? undefined : statePath(handle, step.to);
  if (to === undefined || !isThere(target)) return { step, isDone: true };
  if (isThere(to))
    return { step, isDone: true, note: `another process created a folder ${quoted(step.name)}, which was kept` };
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
    // The folder for the backup was deleted in the meantime.
    makeFolders(path.dirname(to), 0o700);
    renameSync(from, to);
  }
}

const CALLS: Readonly<Record<string, number>> = { x64: 316, arm64: 276, riscv64: 276, loong64: 276 };
const PROGRAM = '/usr/bin/perl';
const MAX_MS = 20_000;

/**
 * -100 is AT_FDCWD, 2 is RENAME_EXCHANGE. Names come in pairs, each followed by NUL. The parent process may be killed while this runs: the
 * lock on the state folder lets the next process wait for it, and an orphan that starts late does nothing.
 */
const TEXT = `
  my ($call, $parent) = @ARGV; local $/; my @names = split /\\0/, <STDIN>;
  open(my $state, '<', '${STATE_FOLDER}') && flock($state, 2) or exit 1;
  getppid() == $parent or exit 1;
  while (@names) { my ($a, $b) = splice @names, 0, 2; syscall($call + 0, -100, $a, -100, $b, 2) == 0 or exit 1 }`;

type Pair = readonly [string, string];

/** Exchanges pairs in one process. Pairs that cannot be exchanged are left as they are. */
async function exchangeFolders(handle: RootHandle, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length > 0) await run(handle, pairs);
}

/** Waits for an exchange whose parent process died. Returns false on timeout. */
export async function isExchangeOver(handle: RootHandle): Promise<boolean> {
  return (await run(handle, [])) !== 'killed';
}

function run(handle: RootHandle, pairs: readonly Pair[]): Promise<'ended' | 'killed'> {
  const call = process.platform === 'linux' ? CALLS[process.arch] : undefined;
  if (call === undefined || !existsSync(PROGRAM)) return Promise.resolve('ended');
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ['-e', TEXT, String(call), String(process.pid)], {
      cwd: toOwnPath(handle),
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: MAX_MS,
    });
    child.on('error', () => resolve('ended'));
    child.on('close', (_code, signal) => resolve(signal === null ? 'ended' : 'killed'));
    // The program may exit before reading all names. The caller checks the result.
    child.stdin.on('error', () => undefined);
    child.stdin.end(pairs.map(([a, b]) => `${a}\0${b}\0`).join(''));
  });
}

/** `/proc/self` would be the child process. */
function toOwnPath({ place }: RootHandle): string {
  return place.replace('/proc/self/', `/proc/${String(process.pid)}/`);
}

/** Makes the changes in the folders of agents, except for skills that did not arrive. */
export function placeSkills(
  { handle, lock, staging }: Readonly<{ handle: RootHandle; lock: LockFile; staging: string }>,
  places: readonly FolderChange[],
  outcomes: readonly StepOutcome[],
): Promise<readonly FolderOutcome[]> {
  const failed = new Set(outcomes.filter(({ isDone }) => !isDone).map(({ step }) => step.name));
  const locks = new Map(
    outcomes.flatMap(({ step }) => (step.type === 'put' && step.lock !== undefined ? [[step.name, step.lock]] : [])),
  );
  return applyFolderChanges(
    places.map((place) => ({ ...place, add: place.add.filter((name) => !failed.has(name)) })),
    {
      root: handle.path,
      staging: displayPath(handle, `${staging}/copies`),
      locks(name) {
        const before = lock.skills.get(name);
        return { before, after: locks.get(name) ?? before };
      },
    },
  );
}
