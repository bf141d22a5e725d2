/** Verifies the runs of a directory against `chain.jsonl`: none is missing, exchanged, added or shortened. */
import { closeSync, lstatSync } from 'node:fs';
import path from 'node:path';

import { readField } from '#core';
import { isPresent, realPath } from '#platform';
import {
  rememberedHead,
  CHAIN_FILE,
  REMOVAL_REASONS,
  breakText,
  findBreak,
  isBreak,
  readChainLines,
  type ChainHead,
  type ChainKeys,
  type RememberedHead,
  type ChainBreak,
  type ChainLine,
  type RemovalReason,
} from './chain-lines.ts';
import { recordedContinuations } from './resume-claims.ts';
import { LineReader, openJournal, parseLine } from './journal-lines.ts';
import { REMOVED_PREFIX, listRuns, startOfId, type ListedRun } from './run-folder.ts';
import { hasBegun } from './run-units.ts';
import { verifyRun } from './verify.ts';

export interface ChainProblem {
  readonly code:
    | 'chain/unreadable'
    | 'chain/edited'
    | ChainBreak['code']
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

interface RemovedRun {
  readonly run: string;
  readonly at: string;
  readonly reason: RemovalReason;
}

/** A break that was found when the next line was written. It stays in the chain. */
interface FoundBreak {
  readonly code: ChainBreak['code'];
  readonly line: number;
  readonly at: string;
  readonly message: string;
  /** When the user said to know of it, with `runs prune --missing`. Others are problems. */
  readonly knownAt?: string;
}

/** A run that several runs continued, so that its later actions may have happened more than once. */
interface ResumedAgain {
  readonly run: string;
  readonly by: readonly { readonly run: string; readonly at: string }[];
}

export interface ChainVerification {
  /** `absent`: there is no chain. `unsealed`: complete, but without a valid code of this user. */
  readonly status: 'intact' | 'unsealed' | 'tampered' | 'absent';
  readonly problems: readonly ChainProblem[];
  /** The number of runs that the chain announces. */
  readonly runs: number;
  /** Runs of earlier versions, from before the chain began. Nothing shows whether one is missing. */
  readonly unchained: readonly string[];
  /** Runs of a chain that was lost, of which the user said to know, with `runs prune --missing`. */
  readonly unannounced: readonly { readonly run: string; readonly knownAt: string }[];
  readonly removed: readonly RemovedRun[];
  readonly breaks: readonly FoundBreak[];
  readonly resumedAgain: readonly ResumedAgain[];
}

const MAX_PROBLEMS = 1_000;

/**
 * Finds runs of a directory that are missing, exchanged or added; with `only`, what the chain beside this run says about it. A copy that is
 * not in the directory has nothing to be compared with if there is no chain beside it and none is remembered.
 */
export function verifyChain(directory: string, keys: ChainKeys = {}, only?: string): ChainVerification {
  const beside = only === undefined ? directory : path.dirname(only);
  const { isSealed, hasLines, ...whole } = compareRuns(beside, keys);
  const isMeant = ({ run }: { readonly run?: string }): boolean => only === undefined || run === path.basename(only);
  const isCopy =
    !hasLines &&
    only !== undefined &&
    rememberedHead(beside, keys).type === 'absent' &&
    realPath(beside) !== realPath(directory);
  const problems = isCopy ? [] : whole.problems.filter(isMeant);
  const status = problems.length > 0 ? 'tampered' : !hasLines ? 'absent' : isSealed ? 'intact' : 'unsealed';
  return { ...whole, status, problems, resumedAgain: whole.resumedAgain.filter(isMeant) };
}

function compareRuns(
  directory: string,
  keys: ChainKeys,
): Omit<ChainVerification, 'status'> & { readonly isSealed: boolean; readonly hasLines: boolean } {
  // In this order: runs that begin or end meanwhile write to the chain before what is listed here changes.
  const remembered = rememberedHead(directory, keys);
  const listed = listRuns(directory);
  const chain = readChain(directory, keys);
  const found = unrecordedBreak(directory, chain, { remembered, keys });
  const breaks = chain.breaks.map((one) => ({
    ...one,
    knownAt: one.line < chain.known.line ? chain.known.at : undefined,
  }));
  const problems = [
    ...chain.problems,
    ...breaks.flatMap(({ code, line, at, message, knownAt }) =>
      knownAt === undefined ? [{ code, line, message: `${message} (found at ${at})` }] : [],
    ),
    ...(found === undefined ? [] : [{ code: found.code, message: breakText(found) }]),
    ...[...chain.runs.values()].flatMap((run) => missingProblem(directory, run)),
    ...listed.flatMap((run) => runProblem(run, chain)),
  ].slice(0, MAX_PROBLEMS);
  const removed = [...chain.runs.values()].flatMap(({ removed: gone }) =>
    gone === undefined || gone.reason === 'not-begun' ? [] : [gone],
  );
  const unchained = listed.filter((run) => !chain.runs.has(run.id) && hasBegun(run)).map(({ id }) => id);
  const unannounced = [...chain.runs.values()].flatMap(({ run, knownAt, removed: gone }) =>
    knownAt === undefined || gone !== undefined ? [] : [{ run, knownAt }],
  );
  const resumedAgain = [...allResumes(chain.resumes, recordedContinuations(directory))]
    .map(([run, by]) => ({ run, by: by.filter((one) => chain.runs.get(one.run)?.removed?.reason !== 'not-begun') }))
    .filter(({ by }) => by.length > 1);
  const { isSealed, pieces } = chain;
  return {
    problems,
    runs: chain.runs.size,
    unchained,
    unannounced,
    removed,
    breaks,
    resumedAgain,
    isSealed,
    hasLines: pieces.length > 0,
  };
}

/** How the chain differs now from what is remembered of it, unless one of its lines already says so. */
function unrecordedBreak(
  directory: string,
  chain: ReadChain,
  { remembered, keys }: { readonly remembered: RememberedHead; readonly keys: ChainKeys },
): ChainBreak | undefined {
  const found = chain.isReadable ? findBreak(directory, chain.pieces, remembered) : undefined;
  // The first line may have been remembered after the first look.
  const isNew = found !== undefined && remembered.type === 'absent' && rememberedHead(directory, keys).type === 'head';
  return isNew ? undefined : found;
}

/** The lines of the chain, and the records of runs whose lines were lost. */
function allResumes(
  resumes: ReadChain['resumes'],
  recorded: ReturnType<typeof recordedContinuations>,
): ReadChain['resumes'] {
  const all = new Map(resumes);
  for (const [run, continued] of recorded) {
    const known = all.get(run) ?? [];
    const lost = continued.filter((one) => !known.some((line) => line.run === one.run));
    all.set(run, [...known, ...lost.map((one) => ({ run: one.run, at: one.at }))]);
  }
  return all;
}

/**
 * Why the chain may have lost lines about a run, so that nothing tells whether it was resumed; undefined if nothing shows that. A break
 * that the user knows of, or from before the run began, does not count.
 */
export function findLostLines(folder: string, keys: ChainKeys): string | undefined {
  const directory = path.dirname(folder);
  const remembered = rememberedHead(directory, keys);
  const chain = readChain(directory, keys);
  const found = unrecordedBreak(directory, chain, { remembered, keys });
  if (found !== undefined) return breakText(found);
  const from = chain.runs.get(path.basename(folder))?.line ?? 0;
  const breaks = chain.breaks.filter(({ line }) => line > chain.known.line);
  return [...chain.problems, ...breaks].find(({ line = Number.POSITIVE_INFINITY }) => line > from)?.message;
}

/** Runs whose removal is recorded and whose folders are still there, because the removal was interrupted. */
export function unfinishedRemovals(directory: string, keys: ChainKeys): readonly string[] {
  return [...readChain(directory, keys).runs.values()]
    .filter(({ run, folder }) => folder !== undefined && folderId(path.join(directory, run)) === folder)
    .map(({ run }) => run);
}

/** Identifies a folder, also after its number was given to another one. Undefined if it is gone: a file or link of its name is not the run. */
export function folderId(place: string): string | undefined {
  const stats = lstatSync(place, { throwIfNoEntry: false, bigint: true });
  return stats?.isDirectory() === true ? `${String(stats.ino)}-${String(stats.birthtimeNs)}` : undefined;
}

/** Why a record must not be continued or repeated; undefined if nothing shows a change. */
export function recordProblem(folder: string, keys: ChainKeys): string | undefined {
  const { status } = verifyRun(folder, { sealKey: keys.sealKey });
  if (status === 'tampered' || status === 'unreadable') return `the record is ${status}: see skillwright runs verify`;
  const found = verifyChain(path.dirname(folder), keys).problems.find(({ run }) => run === path.basename(folder));
  return found === undefined ? undefined : `the record does not fit the chain of runs: ${found.message}`;
}

interface ChainedRun {
  readonly run: string;
  readonly line: number;
  readonly startedAt: string;
  /** Hash of the line of its start; undefined if only its end or removal is left. */
  readonly start: string | undefined;
  readonly end?: ChainHead;
  /** When the user said to know of it: the line of its start was lost with the chain. */
  readonly knownAt?: string;
  readonly removed?: RemovedRun;
  /** Identifies the folder whose removal was recorded and may not be finished. */
  readonly folder?: string;
}

interface ReadChain {
  readonly problems: readonly ChainProblem[];
  readonly pieces: Exclude<ReturnType<typeof readChainLines>, { readonly reason: string }>;
  readonly isReadable: boolean;
  readonly runs: ReadonlyMap<string, ChainedRun>;
  readonly breaks: readonly FoundBreak[];
  /** Runs by the run that they continue. */
  readonly resumes: ReadonlyMap<string, ResumedAgain['by']>;
  /** Breaks in earlier lines are known. */
  readonly known: { readonly line: number; readonly at: string };
  readonly isSealed: boolean;
}

function readChain(directory: string, { sealKey }: ChainKeys): ReadChain {
  const problems: ChainProblem[] = [];
  const runs = new Map<string, ChainedRun>();
  const breaks: FoundBreak[] = [];
  const resumes = new Map<string, ResumedAgain['by']>();
  let known = { line: 0, at: '' };
  let isSealed = true;
  const read = readChainLines(directory, sealKey);
  const isReadable = !('reason' in read);
  if (!isReadable) problems.push({ code: 'chain/unreadable', message: `${CHAIN_FILE} cannot be read: ${read.reason}` });
  const pieces = isReadable ? read : [];
  for (const piece of pieces) {
    const { line } = piece;
    if (piece.type === 'bad') {
      problems.push({ code: 'chain/unreadable', line, message: piece.reason });
      continue;
    }
    const { event, time, seal } = piece;
    if (!piece.isLinked)
      problems.push({ code: 'chain/edited', line, message: 'it does not follow from the line before it' });
    if (seal === 'bad')
      problems.push({ code: 'chain/forged', line, message: 'it was not written with the key of this user' });
    isSealed &&= seal === 'good';
    if (isBreak(event)) breaks.push({ code: event.code, line, at: time, message: breakText(event) });
    // Only the owner of the key says what is known.
    const isOwn = seal === 'good' || sealKey === undefined;
    if (readField(event, 'type') === 'breaks-known' && isOwn) known = { line, at: time };
    noteResume(resumes, event, time);
    if (readField(event, 'type') !== 'run-known' || isOwn) note(runs, event, piece);
  }
  return { problems, pieces, isReadable, runs, breaks, resumes, known, isSealed };
}

function noteResume(resumes: Map<string, ResumedAgain['by']>, event: object, at: string): void {
  const [type, run, by] = ['type', 'run', 'by'].map((name) => readField(event, name));
  if (type !== 'run-resume' || typeof run !== 'string' || typeof by !== 'string') return;
  resumes.set(run, [...(resumes.get(run) ?? []), { run: by, at }]);
}

function note(runs: Map<string, ChainedRun>, event: object, { line, time, hash }: ChainLine): void {
  const [type, run, head, count, removal, folder] = ['type', 'run', 'head', 'count', 'reason', 'folder'].map((name) =>
    readField(event, name),
  );
  if (typeof run !== 'string' || type === 'run-resume') return;
  const known = runs.get(run) ?? { run, line, startedAt: time, start: undefined };
  if (type === 'run-start') runs.set(run, { ...known, start: hash });
  const end = typeof head === 'string' && typeof count === 'number' ? { end: { hash: head, seq: count } } : {};
  if (type === 'run-end') runs.set(run, { ...known, ...end });
  if (type === 'run-known') runs.set(run, { ...known, ...end, knownAt: time });
  const reason = REMOVAL_REASONS.find((each) => each === removal);
  if (type === 'run-remove' && reason !== undefined)
    runs.set(run, {
      ...known,
      removed: { run, at: time, reason },
      folder: typeof folder === 'string' ? folder : undefined,
    });
}

function missingProblem(directory: string, chained: ChainedRun): readonly ChainProblem[] {
  const { run, line, startedAt, removed, folder } = chained;
  const found = folderId(path.join(directory, run));
  if (found !== undefined && removed !== undefined && found !== folder)
    return [{ code: 'chain/run-returned', run, line, message: `it was removed at ${removed.at} and is here again` }];
  if (found !== undefined || removed !== undefined) return [];
  const fate = isPresent(path.join(directory, REMOVED_PREFIX + run))
    ? `was renamed to ${REMOVED_PREFIX}${run}`
    : isPresent(path.join(directory, run))
      ? 'is gone: a file or a link has its name'
      : 'is gone without skillwright runs prune';
  return [{ code: 'chain/run-missing', run, line, message: `it began at ${startedAt}, and its folder ${fate}` }];
}

function runProblem(listed: ListedRun, chain: ReadChain): readonly ChainProblem[] {
  const { id, path: place, reading } = listed;
  const chained = chain.runs.get(id);
  const info = reading.type === 'run' ? reading.info : undefined;
  if (chained === undefined) {
    const [first] = chain.runs.values();
    const isOlder = first === undefined || startOfId(id) <= Date.parse(first.startedAt);
    if (info?.chain === undefined && isOlder) return [];
    // A run that is just beginning, or was killed then: it has recorded nothing.
    if (!hasBegun(listed)) return [];
    return [
      {
        code: 'chain/run-unlisted',
        run: id,
        message: 'the chain does not announce it: it was copied here, or the chain was edited',
      },
    ];
  }
  const { line, start, end, knownAt } = chained;
  const exchanged = (message: string): readonly ChainProblem[] => [
    { code: 'chain/run-exchanged', run: id, line, message },
  ];
  if (info !== undefined && info.chain !== start && knownAt === undefined)
    return exchanged('it is not the run that the chain announces');
  if (end === undefined)
    return info?.endedAt === undefined ? [] : exchanged('it has an end that the chain does not know');
  const last = readLastLine(place);
  if (last?.hash === end.hash && last.seq === end.seq) return [];
  return exchanged(`it ended with line ${String(end.seq)} and another hash than its last line has now`);
}

/** The last line of a journal; undefined if it has none that can be read. */
export function readLastLine(place: string): ChainHead | undefined {
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
