import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import type { Grep } from '../core/action.ts';
import { SkillError } from '../core/errors.ts';
import type { Failure } from '../core/failure-codes.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed, LinesFound } from '../core/observation.ts';
import { printable, quoted } from '../core/text/text.ts';
import { filesToSearch } from './files-to-search.ts';
import type { SearchLimits } from './files-to-search.ts';
import type { GrepAnswer, GrepRequest } from './grep-worker.ts';
import { fileFailed, hostFailure } from './host-failure.ts';
import type { PlacedPath } from './places.ts';

export interface GrepOptions extends Partial<SearchLimits> {
  /** Whether a file may be searched, by the path that `read_file` would take. What is kept back counts as skipped. */
  readonly isAllowed?: (shown: string) => boolean;
  /** Until the engine is ended, and the search with it; 5,000. */
  readonly deadlineMs?: number;
  /** Of one file; 4 MiB. */
  readonly maxFileBytes?: number;
  /** Of all files; 64 MiB. */
  readonly maxBytes?: number;
  /** Of one line; 500. */
  readonly maxLineCharacters?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_MATCHES = 200;
const MAX_MATCHES = 1000;
const MAX_PATTERN = 2000;
/** The engine may not eat the memory of everything else. */
const MAX_WORKER_MEGABYTES = 256;

/**
 * Lines that an expression finds. It runs in a thread of its own, because there are expressions that never come to an end: the thread is
 * ended with the deadline or the signal, whatever the engine does, and the process goes on.
 */
export async function grep(
  action: Grep,
  placed: PlacedPath,
  options: GrepOptions = {},
): Promise<LinesFound | ActionFailed> {
  const { deadlineMs = 5000, signal } = options;
  signal?.throwIfAborted();
  const flags = flagsOf(action);
  const problem = patternProblem(action, flags);
  if (problem !== undefined) return actionFailed(action.type, problem);
  const list = await filesToSearch(placed, { ...options, glob: action.glob });
  if (list.type === 'failed') return fileFailed(action.type, placed.shown, list);
  const answer = await searchApart(
    {
      root: placed.root,
      files: list.files,
      pattern: action.pattern,
      flags,
      allowHardLinks: placed.place === 'project',
      maxMatches: Math.min(action.maxMatches ?? DEFAULT_MATCHES, MAX_MATCHES),
      maxFileBytes: options.maxFileBytes ?? 4 * 1024 * 1024,
      maxBytes: options.maxBytes ?? 64 * 1024 * 1024,
      maxLineCharacters: options.maxLineCharacters ?? 500,
    },
    deadlineMs,
    signal,
  );
  if (answer.type !== 'found') return tooSlow(action, answer, deadlineMs);
  const { matches, files, notText, tooLarge, unreadable } = answer;
  return {
    type: 'lines-found',
    action: action.type,
    pattern: action.pattern,
    matches: matches.map(({ file, line, text }) => ({ path: list.shownPath(file), line, text })),
    files,
    skipped: list.keptBack + notText + tooLarge + unreadable,
    isCut: list.isCut || answer.isCut,
    notes: [
      ...note(notText, 'not text in UTF-8'),
      ...note(tooLarge, 'too large'),
      ...note(list.keptBack, 'kept back by a rule'),
      ...note(unreadable, 'not readable'),
    ],
  };
}

/** Letters by property need the newer grammar, in which much of what people escape for safety is an error. */
function flagsOf({ pattern, ignoreCase = false }: Grep): string {
  return `${ignoreCase ? 'i' : ''}${/\\[pP]\{|\\u\{/.test(pattern) ? 'u' : ''}`;
}

/** The expression is read here, where a mistake costs nothing; it is run in the worker only. */
function patternProblem({ pattern, glob = '', maxMatches = 1 }: Grep, flags: string): Failure | undefined {
  if (!Number.isInteger(maxMatches) || maxMatches < 1)
    return hostFailure('input/invalid', `${String(maxMatches)} is no number of matches`);
  if (pattern === '') return hostFailure('pattern/invalid', 'the expression is empty');
  const long = [pattern, glob].find((text) => text.length > MAX_PATTERN);
  if (long !== undefined)
    return hostFailure('pattern/invalid', `${quoted(long)} has more than ${String(MAX_PATTERN)} characters`);
  try {
    void new RegExp(pattern, flags);
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return hostFailure('pattern/invalid', `${quoted(pattern)} is no regular expression: ${printable(error.message)}`);
  }
}

interface Ended {
  readonly type: 'ended';
  readonly why: 'time' | 'memory';
}

function tooSlow(
  action: Grep,
  answer: Ended | Extract<GrepAnswer, { readonly type: 'given-up' }>,
  deadlineMs: number,
): ActionFailed {
  const expression = quoted(action.pattern);
  const why =
    answer.type === 'given-up'
      ? `was given up by the engine: ${quoted(answer.reason, 200)}`
      : answer.why === 'time'
        ? `was not through after ${String(deadlineMs)} ms and was ended`
        : 'took too much memory and was ended';
  return actionFailed(action.type, hostFailure('pattern/too-slow', `the search for ${expression} ${why}`));
}

function note(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${String(count)} ${count === 1 ? 'file was' : 'files were'} left out: ${what}`];
}

/** Settles once the thread is gone. */
async function searchApart(
  request: GrepRequest,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<GrepAnswer | Ended> {
  signal?.throwIfAborted();
  const worker = new Worker(findWorker(), {
    workerData: request,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_WORKER_MEGABYTES },
  });
  let timer: NodeJS.Timeout | undefined;
  let cancel: (() => void) | undefined;
  try {
    return await new Promise<GrepAnswer | Ended>((resolve, reject) => {
      timer = setTimeout(() => resolve({ type: 'ended', why: 'time' }), deadlineMs);
      cancel = () => reject(signal?.reason);
      signal?.addEventListener('abort', cancel, { once: true });
      worker.once('message', (answer: GrepAnswer) => resolve(answer));
      worker.once('error', (error) => {
        const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        if (isMemory) resolve({ type: 'ended', why: 'memory' });
        else reject(error);
      });
      worker.once('exit', () => reject(new Error('the thread that searches ended without an answer')));
    });
  } finally {
    clearTimeout(timer);
    if (cancel !== undefined) signal?.removeEventListener('abort', cancel);
    await worker.terminate();
  }
}

/** By way of the folder above: the same from the library's modules and from the command's bundle; the built one from the sources. */
const WORKERS: readonly string[] = ['./grep-worker.js', '../../dist/project/grep-worker.js'];

function findWorker(): string {
  const places = WORKERS.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new SkillError({
    code: 'executor/failed',
    message: 'the worker that searches files is missing',
    hint: 'install skillwright again; in a clone, run npm run build',
    data: { executor: 'grep', cause: `none of ${places.join(', ')}` },
  });
}
