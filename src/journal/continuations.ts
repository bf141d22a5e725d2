/** Which runs continue which, as the records of those runs tell. The chain may have lost its lines; the records are untrusted. */
import { closeSync } from 'node:fs';

import { readField } from '#core';
import { LineReader, openJournal, parseLine } from './journal-lines.ts';
import { listRuns } from './run-folder.ts';

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
      const [type, chain, agent, said] = ['type', 'chain', 'agent', 'event'].map((name) => readField(event, name));
      if (type === 'run-start') {
        at = time;
        isChained = typeof chain === 'string';
        const resumes = readField(agent, 'resumes');
        const run = readField(resumes, 'run');
        if (!isChained || readField(resumes, 'fork') === true) break;
        if (typeof run === 'string') return { of: run, at };
      }
      if (type !== 'chat' || !isChained) continue;
      const run = readField(said, 'type') === 'carry' ? readField(said, 'run') : undefined;
      return typeof run === 'string' ? { of: run, at } : { at };
    }
    return { at };
  } finally {
    closeSync(opened.descriptor);
  }
}
