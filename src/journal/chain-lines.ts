/** The lines of `chain.jsonl`, and where the chain breaks. The file is untrusted. */
import { closeSync } from 'node:fs';

import { readField } from '#core';
import { FIRST_HASH, isLinked } from './chain.ts';
import { directoryId, type ChainHead, type RememberedHead } from './chain-head.ts';
import { LineReader, openJournal, parseLine } from './journal-lines.ts';
import { listRuns } from './run-folder.ts';
import { checkCode, computeCode, type SealState } from './seal.ts';

export const CHAIN_FILE = 'chain.jsonl';

/** `missing`: the folder was already gone, and the user knows. `not-begun`: its record could not be created. */
export const REMOVAL_REASONS = ['age', 'size', 'named', 'missing', 'not-begun'] as const;
export type RemovalReason = (typeof REMOVAL_REASONS)[number];

/** How a chain differs from the line that the home folder remembers. */
export const BREAK_CODES = ['chain/cut', 'chain/missing', 'chain/forged', 'chain/head-missing'] as const;

/** A break that the next line records for good: nothing else remembers it once the chain goes on. */
export interface ChainBreak {
  readonly type: 'chain-break';
  readonly code: (typeof BREAK_CODES)[number];
  /** The line that was remembered. For an edited memory: 0 and the digest of its bytes. Absent if nothing is remembered. */
  readonly expected?: ChainHead;
  /** The number of lines that were there. */
  readonly found: number;
}

export interface ChainLine {
  readonly line: number;
  readonly seq: number;
  readonly time: string;
  readonly hash: string;
  /** Without its code. */
  readonly event: object;
  readonly seal: SealState;
  /** Whether it follows from the line before it; true after a line that cannot be read. */
  readonly isLinked: boolean;
}

export type ChainPiece =
  | ({ readonly type: 'line' } & ChainLine)
  | { readonly type: 'bad'; readonly line: number; readonly reason: string };

/** Every whole line of a chain; a reason if the file is there and cannot be read. */
export function readChainLines(
  directory: string,
  sealKey: Uint8Array | undefined,
): readonly ChainPiece[] | { readonly reason: string } {
  const opened = openJournal(directory, CHAIN_FILE);
  if (opened.type === 'failed') return { reason: opened.reason };
  if (opened.type === 'absent') return [];
  const pieces: ChainPiece[] = [];
  // Undefined after a line that cannot be read: what follows it can neither be linked nor authenticated.
  let previous: ChainHead | undefined = { seq: 0, hash: FIRST_HASH };
  try {
    for (const piece of new LineReader(opened.descriptor).lines()) {
      const line = pieces.length + 1;
      const parsed =
        piece.type === 'line' ? parseLine(piece.bytes) : ({ type: 'bad', reason: 'it is too long' } as const);
      if (parsed.type === 'bad') {
        pieces.push({ type: 'bad', line, reason: parsed.reason });
        previous = undefined;
        continue;
      }
      const { seq, hash, time } = parsed.line;
      const { mac, ...event }: Record<string, unknown> = { mac: undefined, ...parsed.line.event };
      const before = previous;
      pieces.push({
        type: 'line',
        line,
        seq,
        time,
        hash,
        event,
        seal:
          before === undefined
            ? 'absent'
            : checkCode(typeof mac === 'string' ? mac : undefined, sealKey, (key) =>
                chainCode(key, before.hash, event),
              ),
        isLinked: before === undefined || (seq === before.seq + 1 && isLinked(before.hash, parsed.split)),
      });
      previous = { seq, hash };
    }
  } finally {
    closeSync(opened.descriptor);
  }
  return pieces;
}

/** The code of a line, which only the owner of the key can make. */
export function chainCode(key: Uint8Array, previous: string, event: object): string {
  return computeCode(key, `skillwright runs\n${previous}\n${JSON.stringify(event)}`);
}

/** How a chain differs from what is remembered of it; undefined if nothing differs, or if a line of the chain already says so. */
export function findBreak(
  directory: string,
  pieces: readonly ChainPiece[],
  remembered: RememberedHead,
): ChainBreak | undefined {
  const found = pieces.length;
  if (remembered.type === 'absent') return unrememberedBreak(directory, pieces);
  const expected = remembered.type === 'head' ? remembered.head : { seq: 0, hash: remembered.digest };
  if (pieces.some((piece) => isLine(piece, expected) || isRecorded(piece, expected))) return undefined;
  const code = remembered.type === 'invalid' ? 'chain/forged' : pieces.length === 0 ? 'chain/missing' : 'chain/cut';
  return { type: 'chain-break', code, expected, found };
}

function isLine(piece: ChainPiece, { seq, hash }: ChainHead): boolean {
  return piece.type === 'line' && piece.seq === seq && piece.hash === hash;
}

function isRecorded(piece: ChainPiece, { seq, hash }: ChainHead): boolean {
  const expected = piece.type === 'line' && isBreak(piece.event) ? piece.event.expected : undefined;
  return expected?.seq === seq && expected.hash === hash;
}

/** Nothing is remembered: as before the first run, or because both were deleted. */
function unrememberedBreak(directory: string, pieces: readonly ChainPiece[]): ChainBreak | undefined {
  const last = pieces.at(-1);
  if (last === undefined) {
    const isNamed = listRuns(directory).some(({ reading }) => reading.type === 'run' && reading.info.chain);
    return isNamed ? { type: 'chain-break', code: 'chain/missing', found: 0 } : undefined;
  }
  // A folder that was moved here is remembered under its old path.
  const wasRemembered =
    last.type === 'line' && last.seal === 'good' && readField(last.event, 'remembered') === directoryId(directory);
  return wasRemembered ? { type: 'chain-break', code: 'chain/head-missing', found: pieces.length } : undefined;
}

export function isBreak(event: object): event is ChainBreak {
  const [type, code, expected, found] = ['type', 'code', 'expected', 'found'].map((name) => readField(event, name));
  const isHead = typeof readField(expected, 'seq') === 'number' && typeof readField(expected, 'hash') === 'string';
  return (
    type === 'chain-break' &&
    BREAK_CODES.some((known) => known === code) &&
    (expected === undefined || isHead) &&
    typeof found === 'number'
  );
}

/** What a break means, for a line of output. */
export function breakText({ code, expected, found }: ChainBreak): string {
  const lines = `${String(found)} ${found === 1 ? 'line' : 'lines'}`;
  switch (code) {
    case 'chain/missing':
      return expected === undefined
        ? `${CHAIN_FILE} was gone, and runs that it announced were there`
        : `${CHAIN_FILE} was gone; it had ${String(expected.seq)} lines`;
    case 'chain/cut':
      return expected !== undefined && found < expected.seq
        ? `it had ${lines}; its last known line was ${String(expected.seq)}`
        : 'its last known line was not the one that was written';
    case 'chain/forged':
      return 'the newest line, remembered in the home folder, was edited';
    case 'chain/head-missing':
      return 'the newest line was no longer remembered in the home folder';
  }
}
