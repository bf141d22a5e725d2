/**
 * Which runs continue a run. The claims are lines of the chain, written under its lock, so that of two resumes at once one is first. A run
 * whose line is lost still names in its own record what it continues.
 */
import path from 'node:path';

import { readField } from '#core';
import { isPresent, ownerState, thisProcess, type LockOwner } from '#platform';
import type { ChainKeys } from './chain-head.ts';
import { readChainLines } from './chain-lines.ts';
import { recordedContinuations } from './continuations.ts';
import { appendToChain } from './run-chain.ts';
import { readRunAt, runLife, type RunLife } from './run-folder.ts';
import { isProcess } from './shape.ts';

export interface ResumeClaim {
  /** The run that continues; empty if it is not recorded. */
  readonly by: string;
  /** The folder of its record. */
  readonly folder: string;
  /** `unknown`: it has no record, or the record is gone or cannot be read. */
  readonly life: RunLife | 'unknown';
}

/** The runs that continue a run, in order, without those that could not begin. */
export function resumeClaims(folder: string): readonly ResumeClaim[] {
  const directory = path.dirname(folder);
  const run = path.basename(folder);
  const read = readChainLines(directory, undefined);
  const events = 'reason' in read ? [] : read.flatMap((piece) => (piece.type === 'line' ? [piece.event] : []));
  const notBegun = new Set(
    events.filter((event) => readField(event, 'reason') === 'not-begun').map((event) => readField(event, 'run')),
  );
  const claimed = events.flatMap((event) => {
    const [type, of, by, where, owner] = ['type', 'run', 'by', 'directory', 'process'].map((name) =>
      readField(event, name),
    );
    if (type !== 'run-resume' || of !== run || typeof by !== 'string' || notBegun.has(by)) return [];
    const place = path.join(typeof where === 'string' ? where : directory, by);
    return [{ by, folder: place, life: by === '' ? 'unknown' : lifeOf(place, isProcess(owner) ? owner : undefined) }];
  });
  const known = new Set(claimed.map(({ by }) => by));
  const recorded = (recordedContinuations(directory).get(run) ?? []).filter((one) => !known.has(one.run));
  return [...claimed, ...recorded.map((one) => ({ by: one.run, folder: one.path, life: lifeOf(one.path, undefined) }))];
}

/** Before its first `run.json`, the process of the claim tells whether a run lives. */
function lifeOf(folder: string, owner: LockOwner | undefined): ResumeClaim['life'] {
  const reading = readRunAt(folder);
  if (reading.type === 'run') return runLife(reading.info);
  if (reading.type !== 'absent' || !isPresent(folder)) return 'unknown';
  return owner === undefined || ownerState(owner) === 'dead' ? 'killed' : 'running';
}

export interface ClaimOptions extends ChainKeys {
  /** The claims that the caller knows of. */
  readonly known: number;
  readonly again: boolean;
  readonly now: Date;
  /** Where `by` is recorded. */
  readonly directory: string;
}

/** Claims a run. Returns false, and writes nothing, if there is another claim since the caller looked. Throws like `appendToChain`. */
export function claimRun(folder: string, by: string, { known, again, directory, ...options }: ClaimOptions): boolean {
  const own = path.dirname(folder);
  const moved = new ClaimedMeanwhile();
  try {
    appendToChain(
      own,
      {
        type: 'run-resume',
        run: path.basename(folder),
        by,
        ...(path.resolve(directory) === path.resolve(own) ? {} : { directory: path.resolve(directory) }),
        process: thisProcess(),
        again,
      },
      {
        ...options,
        check() {
          if (resumeClaims(folder).length !== known) throw moved;
        },
      },
    );
    return true;
  } catch (error) {
    if (error === moved) return false;
    throw error;
  }
}

class ClaimedMeanwhile extends Error {}
