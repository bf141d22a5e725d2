import { Worker } from 'node:worker_threads';

import {
  actionFailed,
  countText,
  printable,
  quoted,
  type ActionFailed,
  type ActionProblem,
  type Action,
  type OfType,
  type Observation,
} from '#core';
import { packageFile } from '#platform';
import { filesToSearch, type SearchLimits } from './files-to-search.ts';
import type { GrepAnswer, GrepRequest } from './grep-worker.ts';
import type { IsClosed } from './folder-entries.ts';
import { fileFailed, hostFailure } from './host-failure.ts';
import type { ResolvedPath } from './resolve-path.ts';

export interface GrepOptions extends Partial<SearchLimits> {
  /** Whether policy allows a file, by its path for `read_file`. Excluded files count as skipped. */
  readonly isAllowed?: (shown: string) => boolean;
  readonly isClosed?: IsClosed;
  readonly deadlineMs?: number;
  readonly maxFileBytes?: number;
  readonly maxBytes?: number;
  readonly maxLineCharacters?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_MATCHES = 200;
const MAX_MATCHES = 1000;
const MAX_PATTERN = 2000;
const MAX_WORKER_MEGABYTES = 256;

/**
 * Finds lines by a regular expression. The search runs in its own thread, because some expressions backtrack forever: the thread is
 * terminated at the deadline or by the signal.
 */
export async function grep(
  action: OfType<Action, 'grep'>,
  placed: ResolvedPath,
  options: GrepOptions = {},
): Promise<OfType<Observation, 'lines-found'> | ActionFailed> {
  const { deadlineMs = 5000, signal } = options;
  signal?.throwIfAborted();
  const flags = toRegexFlags(action);
  const problem = patternProblem(action, flags);
  if (problem !== undefined) return actionFailed(action.type, problem);
  const list = await filesToSearch(placed, { ...options, glob: action.glob });
  if (list.type === 'failed') return fileFailed(action.type, placed.shown, list);
  const answer = await searchInThread(
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
    skipped: list.excluded + notText + tooLarge + unreadable,
    isCut: list.isCut || answer.isCut,
    notes: [
      ...note(notText, 'not UTF-8 text'),
      ...note(tooLarge, 'too large'),
      ...note(list.excluded, 'excluded by policy'),
      ...note(unreadable, 'not readable'),
    ],
  };
}

/** `\\p{…}` and `\\u{…}` need the `u` flag, which rejects many unneeded escapes; so it is set only for them. */
function toRegexFlags({ pattern, ignoreCase = false }: OfType<Action, 'grep'>): string {
  return `${ignoreCase ? 'i' : ''}${/\\[pP]\{|\\u\{/.test(pattern) ? 'u' : ''}`;
}

/** Compiles the expression to report syntax errors early; only the worker runs it. */
function patternProblem(
  { pattern, glob = '', maxMatches = 1 }: OfType<Action, 'grep'>,
  flags: string,
): ActionProblem | undefined {
  if (!Number.isInteger(maxMatches) || maxMatches < 1)
    return hostFailure('input/invalid', `${String(maxMatches)} is not a valid number of matches`);
  if (pattern === '') return hostFailure('pattern/invalid', 'the pattern is empty');
  const long = [pattern, glob].find((text) => text.length > MAX_PATTERN);
  if (long !== undefined)
    return hostFailure('pattern/invalid', `${quoted(long)} has more than ${String(MAX_PATTERN)} characters`);
  try {
    void new RegExp(pattern, flags);
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return hostFailure(
      'pattern/invalid',
      `${quoted(pattern)} is not a valid regular expression: ${printable(error.message)}`,
    );
  }
}

interface Terminated {
  readonly type: 'terminated';
  readonly why: 'time' | 'memory';
}

function tooSlow(
  action: OfType<Action, 'grep'>,
  answer: Terminated | Extract<GrepAnswer, { readonly type: 'given-up' }>,
  deadlineMs: number,
): ActionFailed {
  const expression = quoted(action.pattern);
  const why =
    answer.type === 'given-up'
      ? `failed in the regular expression engine: ${quoted(answer.reason, 200)}`
      : answer.why === 'time'
        ? `exceeded the timeout of ${String(deadlineMs)} ms`
        : 'exceeded the memory limit';
  return actionFailed(action.type, hostFailure('pattern/too-slow', `the search for ${expression} ${why}`));
}

function note(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${countText(count, 'file was', 'files were')} skipped: ${what}`];
}

/** Resolves after the thread was terminated. */
async function searchInThread(
  request: GrepRequest,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<GrepAnswer | Terminated> {
  signal?.throwIfAborted();
  const worker = new Worker(packageFile('dist/command/grep-worker.js'), {
    workerData: request,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_WORKER_MEGABYTES },
  });
  let timer: NodeJS.Timeout | undefined;
  let cancel: (() => void) | undefined;
  try {
    return await new Promise<GrepAnswer | Terminated>((resolve, reject) => {
      timer = setTimeout(() => resolve({ type: 'terminated', why: 'time' }), deadlineMs);
      cancel = () => reject(signal?.reason);
      signal?.addEventListener('abort', cancel, { once: true });
      worker.once('message', (answer: GrepAnswer) => resolve(answer));
      worker.once('error', (error) => {
        const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        if (isMemory) resolve({ type: 'terminated', why: 'memory' });
        else reject(error);
      });
      worker.once('exit', () => reject(new Error('the search thread exited without a result')));
    });
  } finally {
    clearTimeout(timer);
    if (cancel !== undefined) signal?.removeEventListener('abort', cancel);
    await worker.terminate();
  }
}
