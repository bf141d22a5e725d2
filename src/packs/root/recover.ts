/** Recovers a root after a crash: completes a committed change and clears an uncommitted one. */
import { readdirSync, renameSync } from 'node:fs';

import { quoted } from '#core';
import { removeTree, writeFileAtomically } from '#platform';
import { recordFolders } from '../agents/lock-places.ts';
import { lockFileText, readLockAt, type LockFile } from '../lock/lock-file.ts';
import { accepted, isRefusal, refused } from '../problems.ts';
import { isExchangeOver, lockAfter, placeSkills, reapplySteps, type OnStep } from './apply.ts';
import { syncPath } from './sync.ts';
import {
  readJournal,
  refuseLinkedWay,
  removeJournal,
  setJournalAside,
  type Step,
  type Transaction,
} from './journal.ts';
import { presentFiles } from './present-files.ts';
import { removeEmptyBackups } from './skill-backups.ts';
import { displayPath, identityAt, lockPath, rootPath, statePath, timedName, type RootHandle } from './root-paths.ts';

/**
 * `finished`: a committed change was completed. `cleared`: an uncommitted change was removed. `set-aside`: a journal could not be parsed
 * and was renamed. `message` starts in lower case and is safe to print.
 */
export interface Recovered {
  readonly type: 'finished' | 'cleared' | 'set-aside';
  /** Names of the changed skills. */
  readonly names: readonly string[];
  readonly message: string;
}

/** Recovers a root while holding its lock. Throws a refusal and system errors; it can then be tried again. */
export async function recoverOpenRoot(
  handle: RootHandle,
  {
    onRecovered,
    onStep = () => undefined,
  }: { readonly onRecovered?: (what: Recovered) => void; readonly onStep?: OnStep },
): Promise<void> {
  const journal = readJournal(handle);
  if (journal.type === 'unreadable') {
    const place = setJournalAside(handle, new Date());
    const message = `an unreadable journal (${journal.reason}) was renamed to ${quoted(place, 200)}: run verify on the root`;
    onRecovered?.({ type: 'set-aside', names: [], message });
  } else if (journal.type === 'steps') {
    const finished = await finish(handle, journal, onStep);
    onRecovered?.(finished);
  }
  // No other process works here while we hold the lock, so everything in the staging folder is left over.
  const left = readdirSync(statePath(handle, 'staging'));
  if (left.length === 0 && journal.type === 'absent') return;
  for (const name of left) await removeTree(statePath(handle, `staging/${name}`));
  await removeEmptyBackups(handle);
  if (journal.type === 'absent')
    onRecovered?.({ type: 'cleared', names: [], message: 'the files of an interrupted change were removed' });
}

async function finish(handle: RootHandle, { steps, places }: Transaction, onStep: OnStep): Promise<Recovered> {
  for (const step of steps)
    for (const place of step.type === 'put' ? [step.from, step.old] : [step.to])
      if (place !== undefined) refuseLinkedWay(handle, place);
  if (!(await isExchangeOver(handle)))
    throw refused('install/busy', `folders of ${quoted(handle.path, 200)} are still being moved`);
  // Reads the lock first, so that folders move only if the lock can follow.
  const lock = accepted(readLockAt(lockPath(handle)));
  const outcomes = await reapplySteps(handle, steps, onStep);
  const placed = await placeSkills(
    { handle, lock, staging: `staging/${timedName(new Date(), 'work')}` },
    places,
    outcomes,
  );
  if (placed.length > 0) onStep('linked');
  syncPath(rootPath(handle));
  writeLock(handle, recordFolders(lockAfter(lock, outcomes), placed));
  onStep('lock written');
  removeJournal(handle);
  onStep('journal removed');
  const names = [
    ...new Set([...steps.map(({ name }) => name), ...places.flatMap(({ add, remove }) => [...add, ...remove])]),
  ];
  const unplaced = placed.flatMap((outcome) => outcome.unplaced);
  const notes = [
    ...outcomes.flatMap(({ note }) => note ?? []),
    ...steps.flatMap((step) => editNote(handle, step, lock) ?? []),
    ...unplaced.map(({ message }) => message),
  ];
  const what = `an interrupted change of ${names.map((name) => quoted(name)).join(', ')} was completed`;
  return { type: 'finished', names, message: [what, ...notes].join('; ') };
}

/** Says where the replaced or removed files are if the user edited them, possibly after the interruption. */
function editNote(handle: RootHandle, step: Step, { skills }: LockFile): string | undefined {
  const below = step.type === 'put' ? step.old : step.to;
  const before = skills.get(step.name);
  if (below === undefined || before === undefined || identityAt(statePath(handle, below)) === undefined)
    return undefined;
  const tree = presentFiles(statePath(handle, below), { withoutLooks: true, locked: before.files });
  if (!isRefusal(tree) && tree.digest === before.digest) return undefined;
  return `the files of ${quoted(step.name)} were edited before that; they are in ${quoted(displayPath(handle, below), 200)}`;
}

/** Writes to the staging folder first, which is cleared after a crash. */
function writeLock(handle: RootHandle, lock: LockFile): void {
  const file = statePath(handle, `staging/${timedName(new Date(), 'lock')}`);
  writeFileAtomically(file, Buffer.from(lockFileText(lock)), { mode: 0o644, sync: true });
  renameSync(file, lockPath(handle));
  syncPath(rootPath(handle));
}
