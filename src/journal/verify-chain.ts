/** Verifies the runs of a directory against `chain.jsonl`: none is missing, exchanged, added or shortened. */
import { closeSync } from 'node:fs';
import path from 'node:path';

import { isPresent } from '../platform/fs/paths.ts';
import { FIRST_HASH, isLinked } from './chain.ts';
import { LineReader, openJournal, parseLine } from './journal-lines.ts';
import { CHAIN_FILE, REMOVAL_REASONS, chainCode, rememberedHead } from './run-chain.ts';
import type { ChainHead, ChainKeys, RemovalReason } from './run-chain.ts';
import { REMOVED_PREFIX, listRuns, startOfId } from './run-folder.ts';
import type { ListedRun } from './run-folder.ts';
import { checkCode } from './seal.ts';
import { verifyRun } from './verify.ts';
import { fieldOf } from '../core/json/shape.ts';

export interface ChainProblem {
  readonly code:
    | 'chain/unreadable'
    | 'chain/edited'
    | 'chain/forged'
    | 'chain/cut'
    | 'chain/missing'
    | 'chain/run-missing'
    | 'chain/run-exchanged'
    | 'chain/run-unlisted'
    | 'chain/run-returned';
  /** The run, if the problem concerns one. */
  readonly run?: string;
  /** The line of `chain.jsonl`. */
  readonly line?: number;
  readonly message: string;
}

export interface RemovedRun {
  readonly run: string;
  readonly at: string;
  readonly reason: RemovalReason;
}

export interface ChainVerification {
  /** `absent`: no run was recorded with a chain. `unsealed`: complete, but without a valid code of this user. */
  readonly status: 'intact' | 'unsealed' | 'tampered' | 'absent';
  readonly problems: readonly ChainProblem[];
  /** The number of runs that the chain announces. */
  readonly runs: number;
  /** Runs of earlier versions, from before the chain began. Nothing shows whether one is missing. */
  readonly unchained: readonly string[];
  readonly removed: readonly RemovedRun[];
}

const MAX_PROBLEMS = 1_000;

/** Finds runs of a directory that are missing, exchanged or added. */
export function verifyChain(directory: string, keys: ChainKeys = {}): ChainVerification {
  // In this order: runs that begin or end meanwhile write to the chain before what is listed here changes.
  const head = rememberedHead(directory, keys);
  const listed = listRuns(directory);
  const chain = readChain(directory, keys);
  const problems = [
    ...chain.problems,
    ...headProblems(chain, head),
    ...[...chain.runs.values()].flatMap((run) => missingProblem(directory, run)),
    ...listed.flatMap((run) => runProblem(run, chain)),
  ].slice(0, MAX_PROBLEMS);
  const removed = [...chain.runs.values()].flatMap(({ removed: gone }) => gone ?? []);
  const unchained = listed.filter(({ id }) => !chain.runs.has(id)).map(({ id }) => id);
  const rest = { problems, runs: chain.runs.size, unchained, removed };
  if (problems.length > 0) return { status: 'tampered', ...rest };
  if (chain.runs.size === 0) return { status: 'absent', ...rest };
  return { status: chain.isSealed ? 'intact' : 'unsealed', ...rest };
}

/** Why a record must not be continued or repeated; undefined if nothing shows a change. */
export function recordProblem(folder: string, keys: ChainKeys): string | undefined {
  const { status } = verifyRun(folder, keys.sealKey === undefined ? {} : { sealKey: keys.sealKey });
  if (status === 'tampered' || status === 'unreadable') return `the record is ${status}: see skillwright runs verify`;
  const { problems } = verifyChain(path.dirname(folder), keys);
  const found = problems.find(({ run }) => run === path.basename(folder));
  return found === undefined ? undefined : `the record does not fit the chain of runs: ${found.message}`;
}

interface ChainedRun {
  readonly run: string;
  readonly line: number;
  readonly startedAt: string;
  /** Hash of the line of its start; undefined if only its end or removal is left. */
  readonly start: string | undefined;
  readonly end?: { readonly head: string; readonly count: number };
  readonly removed?: RemovedRun;
}

interface ReadChain {
  readonly problems: readonly ChainProblem[];
  readonly runs: ReadonlyMap<string, ChainedRun>;
  readonly hashes: readonly string[];
  readonly isSealed: boolean;
}

function readChain(directory: string, { sealKey }: ChainKeys): ReadChain {
  const problems: ChainProblem[] = [];
  const runs = new Map<string, ChainedRun>();
  const hashes: string[] = [];
  const opened = openJournal(directory, CHAIN_FILE);
  if (opened.type === 'failed')
    problems.push({ code: 'chain/unreadable', message: `${CHAIN_FILE} cannot be read: ${opened.reason}` });
  if (opened.type !== 'open') return { problems, runs, hashes, isSealed: false };
  let previous: string | undefined = FIRST_HASH;
  let isSealed = true;
  try {
    for (const piece of new LineReader(opened.descriptor).lines()) {
      const line = hashes.length + 1;
      const parsed =
        piece.type === 'line' ? parseLine(piece.bytes) : ({ type: 'bad', reason: 'it is too long' } as const);
      if (parsed.type === 'bad') {
        problems.push({ code: 'chain/unreadable', line, message: parsed.reason });
        hashes.push('');
        previous = undefined;
        continue;
      }
      const { seq, hash, event, time } = parsed.line;
      if (seq !== line || (previous !== undefined && !isLinked(previous, parsed.split)))
        problems.push({ code: 'chain/edited', line, message: 'it does not follow from the line before it' });
      const { mac, ...known }: Record<string, unknown> = { mac: undefined, ...event };
      const code = typeof mac === 'string' ? mac : undefined;
      const before = previous ?? '';
      const seal = checkCode(code, sealKey, (key) => chainCode(key, before, known));
      if (seal === 'bad')
        problems.push({ code: 'chain/forged', line, message: 'it was not written with the key of this user' });
      isSealed &&= seal === 'good';
      note(runs, known, { line, time, hash });
      hashes.push(hash);
      previous = hash;
    }
  } finally {
    closeSync(opened.descriptor);
  }
  return { problems, runs, hashes, isSealed };
}

function note(
  runs: Map<string, ChainedRun>,
  event: object,
  { line, time, hash }: { readonly line: number; readonly time: string; readonly hash: string },
): void {
  const [type, run, head, count, given] = ['type', 'run', 'head', 'count', 'reason'].map((name) =>
    fieldOf(event, name),
  );
  if (typeof run !== 'string') return;
  const known = runs.get(run) ?? { run, line, startedAt: time, start: undefined };
  if (type === 'run-start') runs.set(run, { ...known, start: hash });
  if (type === 'run-end' && typeof head === 'string' && typeof count === 'number')
    runs.set(run, { ...known, end: { head, count } });
  const reason = REMOVAL_REASONS.find((each) => each === given);
  if (type === 'run-remove' && reason !== undefined) runs.set(run, { ...known, removed: { run, at: time, reason } });
}

/** The home folder remembers the newest line, so lines that were cut off at the end are noticed. */
function headProblems({ hashes }: ReadChain, head: ChainHead | 'invalid' | undefined): readonly ChainProblem[] {
  if (head === undefined) return [];
  if (head === 'invalid')
    return [{ code: 'chain/forged', message: 'the newest line, remembered in the home folder, was edited' }];
  if (hashes[head.seq - 1] === head.hash) return [];
  if (hashes.length === 0)
    return [{ code: 'chain/missing', message: `${CHAIN_FILE} is gone; it had ${String(head.seq)} lines` }];
  const message =
    hashes.length < head.seq
      ? `it has ${String(hashes.length)} lines; its last known line is ${String(head.seq)}`
      : 'its last known line is not the one that was written';
  return [{ code: 'chain/cut', line: head.seq, message }];
}

function missingProblem(directory: string, chained: ChainedRun): readonly ChainProblem[] {
  const { run, line, startedAt, removed } = chained;
  const isThere = isPresent(path.join(directory, run));
  if (isThere && removed !== undefined)
    return [{ code: 'chain/run-returned', run, line, message: `it was removed at ${removed.at} and is here again` }];
  if (isThere || removed !== undefined) return [];
  const message = isPresent(path.join(directory, REMOVED_PREFIX + run))
    ? 'its removal was interrupted; run skillwright runs prune again'
    : `it began at ${startedAt}, and its folder is gone without skillwright runs prune`;
  return [{ code: 'chain/run-missing', run, line, message }];
}

function runProblem({ id, path: place, reading }: ListedRun, chain: ReadChain): readonly ChainProblem[] {
  const chained = chain.runs.get(id);
  const info = reading.type === 'run' ? reading.info : undefined;
  if (chained === undefined) {
    const [first] = chain.runs.values();
    const isOlder = first === undefined || startOfId(id) <= Date.parse(first.startedAt);
    if (info?.chain === undefined && isOlder) return [];
    // A run that is just beginning, or was killed then: it has recorded nothing.
    if (reading.type === 'absent' && lastLineOf(place) === undefined) return [];
    return [
      {
        code: 'chain/run-unlisted',
        run: id,
        message: 'the chain does not announce it: it was copied here, or the chain was edited',
      },
    ];
  }
  const { line, start, end } = chained;
  const exchanged = (message: string): readonly ChainProblem[] => [
    { code: 'chain/run-exchanged', run: id, line, message },
  ];
  if (info !== undefined && info.chain !== start) return exchanged('it is not the run that the chain announces');
  if (end === undefined)
    return info?.endedAt === undefined ? [] : exchanged('it has an end that the chain does not know');
  const last = lastLineOf(place);
  if (last?.hash === end.head && last.seq === end.count) return [];
  return exchanged(`it ended with line ${String(end.count)} and another hash than its last line has now`);
}

function lastLineOf(place: string): ChainHead | undefined {
  const opened = openJournal(place);
  if (opened.type !== 'open') return undefined;
  try {
    let last: Buffer | undefined;
    for (const piece of new LineReader(opened.descriptor).lines()) if (piece.type === 'line') last = piece.bytes;
    const parsed = last === undefined ? undefined : parseLine(last);
    return parsed?.type === 'line' ? { seq: parsed.line.seq, hash: parsed.line.hash } : undefined;
  } finally {
    closeSync(opened.descriptor);
  }
}
