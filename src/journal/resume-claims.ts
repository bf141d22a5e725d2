/** Which runs continue which, as the records of those runs tell. The chain may have lost its lines; the records are untrusted. */
import { closeSync } from 'node:fs';
import path from 'node:path';

import { readField } from '#core';
import { isPresent, ownerState, thisProcess, type LockOwner } from '#platform';
import { LineReader, openJournal, parseLine } from './journal-lines.ts';
import { listRuns, readRunAt, runLife, type RunLife } from './run-folder.ts';
import { readChainLines, type ChainKeys } from './chain-lines.ts';
import { appendToChain } from './run-chain.ts';
import { isProcess } from './shape.ts';

export interface Continuation {
  readonly run: string;
  /** The folder of its record. */
  readonly path: string;
  /** When it began. */
  readonly at: string;
}

/** A chat names the chat that it continues before its first message, which follows a few events of the session. */
const MAX_LINES = 32;

/**
 * The runs of a directory by the run that they continue, oldest first. A fork continues no run. A record without a chain is one of several
 * attempts whose order something else decides.
 */
export function recordedContinuations(directory: string): ReadonlyMap<string, readonly Continuation[]> {
  const found = new Map<string, readonly Continuation[]>();
  for (const { id, path } of listRuns(directory).toReversed()) {
    const { of, at } = readOrigin(path);
    if (of !== undefined) found.set(of, [...(found.get(of) ?? []), { run: id, path, at }]);
  }
  return found;
}

/** The run that a record continues. */
function readOrigin(folder: string): { readonly of?: string; readonly at: string } {
  const opened = openJournal(folder);
  if (opened.type !== 'open') return { at: '' };
  let at = '';
  let isChained = false;
  let count = 0;
  try {
    for (const piece of new LineReader(opened.descriptor).lines()) {
      count += 1;
      const parsed = piece.type === 'line' ? parseLine(piece.bytes) : undefined;
      if (parsed?.type !== 'line' || count > MAX_LINES) break;
      const { event, time } = parsed.line;
      const [type, chain, agent, chat] = ['type', 'chain', 'agent', 'event'].map((name) => readField(event, name));
      if (type === 'run-start') {
        at = time;
        isChained = typeof chain === 'string';
        const resumes = readField(agent, 'resumes');
        const run = readField(resumes, 'run');
        if (!isChained || readField(resumes, 'fork') === true) break;
        if (typeof run === 'string') return { of: run, at };
      }
      if (type !== 'chat' || !isChained) continue;
      const run = readField(chat, 'type') === 'carry' ? readField(chat, 'run') : undefined;
      return typeof run === 'string' ? { of: run, at } : { at };
    }
    return { at };
  } finally {
    closeSync(opened.descriptor);
  }
}

interface ResumeClaim {
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
    return [{ by, folder: place, life: by === '' ? 'unknown' : readLife(place, isProcess(owner) ? owner : undefined) }];
  });
  const known = new Set(claimed.map(({ by }) => by));
  const recorded = (recordedContinuations(directory).get(run) ?? []).filter((one) => !known.has(one.run));
  return [
    ...claimed,
    ...recorded.map((one) => ({ by: one.run, folder: one.path, life: readLife(one.path, undefined) })),
  ];
}

/** Before its first `run.json`, the process of the claim tells whether a run lives. */
function readLife(folder: string, owner: LockOwner | undefined): ResumeClaim['life'] {
  const reading = readRunAt(folder);
  if (reading.type === 'run') return runLife(reading.info);
  if (reading.type !== 'absent' || !isPresent(folder)) return 'unknown';
  return owner === undefined || ownerState(owner) === 'dead' ? 'killed' : 'running';
}

interface ClaimOptions extends ChainKeys {
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
  const isElsewhere = path.resolve(directory) !== path.resolve(own);
  const event = {
    type: 'run-resume',
    run: path.basename(folder),
    by,
    directory: isElsewhere ? path.resolve(directory) : undefined,
    process: thisProcess(),
    again,
  } as const;
  return appendToChain(own, event, { ...options, isValid: () => resumeClaims(folder).length === known }) !== undefined;
}
