/** What a process that ended in the middle left in a root: finished where it had committed, removed where it had not. */
import { readdirSync, renameSync } from 'node:fs';

import type { LockFile } from '../lock/lock.ts';
import { lockFileText } from '../lock/lock-file.ts';
import { PackRefused, isRefusal, packRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { writeFileAtomically } from '../../platform/fs/atomic-replace.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { lockAfter, reapplySteps } from './apply.ts';
import type { OnStep } from './apply.ts';
import { syncPlace } from './durable.ts';
import { isExchangeOver } from './exchange.ts';
import { readJournal, refuseLinkedWay, removeJournal, setJournalAside } from './journal.ts';
import type { Step } from './journal.ts';
import { removeEmptyKept } from './kept.ts';
import { lockPlace, rootPlace, statePlace, timedName } from './places.ts';
import type { HeldRoot } from './places.ts';
import { readLockAt } from './read-lock.ts';

/**
 * `finished`: a change that had been committed is now done. `cleared`: one that had not is as if it had never begun. `set-aside`: a journal
 * cannot be read and is kept under another name. `message` is lower case and safe to print.
 */
export interface Recovered {
  readonly type: 'finished' | 'cleared' | 'set-aside';
  /** Of the skills it was about. */
  readonly names: readonly string[];
  readonly message: string;
}

/** Brings a root to rest; the lock of the root is held. Throws `PackRefused` and what the system says: then it can be tried again. */
export async function recoverHeld(
  held: HeldRoot,
  {
    onRecovered,
    onStep = () => undefined,
  }: { readonly onRecovered?: (what: Recovered) => void; readonly onStep?: OnStep },
): Promise<void> {
  const journal = readJournal(held);
  if (journal.type === 'unreadable') {
    const place = setJournalAside(held, new Date());
    const message = `a journal that cannot be read (${journal.reason}) is now ${quoted(place, 200)}: verify the root`;
    onRecovered?.({ type: 'set-aside', names: [], message });
  } else if (journal.type === 'steps') {
    const finished = await finish(held, journal.steps, onStep);
    onRecovered?.(finished);
  }
  // Nobody else works here while we hold the lock: whatever lies there is left over.
  const left = readdirSync(statePlace(held, 'staging'));
  if (left.length === 0 && journal.type === 'absent') return;
  for (const name of left) await removeTree(statePlace(held, `staging/${name}`));
  await removeEmptyKept(held);
  if (journal.type === 'absent')
    onRecovered?.({ type: 'cleared', names: [], message: 'what an interrupted change had prepared was removed' });
}

async function finish(held: HeldRoot, steps: readonly Step[], onStep: OnStep): Promise<Recovered> {
  for (const step of steps)
    for (const place of step.type === 'put' ? [step.from, step.old] : [step.to])
      if (place !== undefined) refuseLinkedWay(held, place);
  if (!(await isExchangeOver(held)))
    throw new PackRefused(packRefusal('install/busy', `folders of ${quoted(held.path, 200)} are still being moved`));
  // First: folders move only where the lock can follow.
  const lock = readLockAt(lockPlace(held));
  if (isRefusal(lock)) throw new PackRefused(lock);
  const outcomes = await reapplySteps(held, steps, onStep);
  syncPlace(rootPlace(held));
  writeLock(held, lockAfter(lock, outcomes));
  onStep('lock written');
  removeJournal(held);
  onStep('journal removed');
  const names = steps.map(({ name }) => name);
  const notes = outcomes.flatMap(({ note }) => note ?? []);
  const what = `an interrupted change of ${names.map((name) => quoted(name)).join(', ')} was finished`;
  return { type: 'finished', names, message: [what, ...notes].join('; ') };
}

/** By way of the staging folder, where nothing is left of a file that was not finished. */
function writeLock(held: HeldRoot, lock: LockFile): void {
  const file = statePlace(held, `staging/${timedName(new Date(), 'lock')}`);
  writeFileAtomically(file, Buffer.from(lockFileText(lock)), { mode: 0o644, sync: true });
  renameSync(file, lockPlace(held));
  syncPlace(rootPlace(held));
}
