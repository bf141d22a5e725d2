import { setTimeout as sleep } from 'node:timers/promises';

import { ModelProblem } from './problem.ts';

export interface RetryPolicy {
  /** The first one included. */
  readonly maxAttempts: number;
  /** Before the second attempt; twice as long before each one after it. */
  readonly firstWaitMs: number;
  /** No wait is longer. A server that asks for more is not asked again. */
  readonly maxWaitMs: number;
  /** No attempt begins later than this after the first one. */
  readonly totalMs: number;
}

export const RETRY_POLICY: RetryPolicy = {
  maxAttempts: 4,
  firstWaitMs: 500,
  maxWaitMs: 30_000,
  totalMs: 120_000,
};

/** Time and chance, for tests. */
export interface RetrySurroundings {
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const REAL_SURROUNDINGS: RetrySurroundings = {
  now: () => Date.now(),
  random: () => Math.random(),
  wait: (ms, signal) => sleep(ms, undefined, { signal }),
};

export interface RetryOptions {
  readonly policy: RetryPolicy;
  readonly surroundings: RetrySurroundings;
  readonly signal: AbortSignal;
  /** Asked after each failure: something may have been told that cannot be taken back. */
  readonly mayRepeat: () => boolean;
}

export type Retried<T> =
  | { readonly type: 'done'; readonly value: T; readonly retries: number }
  | { readonly type: 'gave-up'; readonly problem: ModelProblem; readonly retries: number };

/**
 * Attempts until one succeeds, one fails for good, or the policy allows no further. Waits grow and are spread by chance, so that many
 * who were refused together do not come back together. Rejects with the reason of the signal, and with any error that is no
 * `ModelProblem`.
 */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<Retried<T>> {
  const { surroundings, signal } = options;
  const started = surroundings.now();
  for (let retries = 0; ; retries += 1) {
    signal.throwIfAborted();
    const result = await attempted(attempt);
    if (result.type === 'done') return { ...result, retries };
    signal.throwIfAborted();
    const wait = nextWait(result.problem, retries, surroundings.now() - started, options);
    if (wait === undefined) return { ...result, retries };
    await waited(wait, options);
  }
}

async function attempted<T>(
  attempt: () => Promise<T>,
): Promise<{ type: 'done'; value: T } | { type: 'gave-up'; problem: ModelProblem }> {
  try {
    return { type: 'done', value: await attempt() };
  } catch (error) {
    if (!(error instanceof ModelProblem)) throw error;
    return { type: 'gave-up', problem: error };
  }
}

async function waited(ms: number, { surroundings, signal }: RetryOptions): Promise<void> {
  try {
    await surroundings.wait(ms, signal);
  } catch (error) {
    // A timer ends with an error of its own; the caller's reason is the one that counts.
    signal.throwIfAborted();
    throw error;
  }
}

/** Nothing where there is no further attempt. */
function nextWait(
  problem: ModelProblem,
  retries: number,
  spentMs: number,
  { policy, surroundings, mayRepeat }: RetryOptions,
): number | undefined {
  if (!problem.isRetryable || retries + 1 >= policy.maxAttempts || !mayRepeat()) return undefined;
  const wait = waitBefore(retries, problem.retryAfterMs, surroundings.random(), policy);
  return wait === undefined || spentMs + wait > policy.totalMs ? undefined : wait;
}

/** Milliseconds before the attempt after `retries` repeated ones; nothing where the server asks for more than the policy allows. */
export function waitBefore(
  retries: number,
  retryAfterMs: number | undefined,
  chance: number,
  { firstWaitMs, maxWaitMs }: RetryPolicy,
): number | undefined {
  const full = Math.min(maxWaitMs, firstWaitMs * 2 ** Math.min(retries, 30));
  const own = full / 2 + (full / 2) * chance;
  if (retryAfterMs === undefined) return own;
  return retryAfterMs > maxWaitMs ? undefined : Math.max(retryAfterMs, own);
}

/** Past this a number of seconds is taken for nonsense. */
const MAX_SECONDS = 30 * 86_400;

/** What `Retry-After` says, as seconds or as a date, and OpenAI's `retry-after-ms`; nothing where it says nothing that makes sense. */
export function readRetryAfter(headers: Headers, now: number): number | undefined {
  const ms = readNumber(headers.get('retry-after-ms'));
  if (ms !== undefined) return ms;
  const said = headers.get('retry-after');
  const seconds = readNumber(said);
  if (seconds !== undefined) return seconds * 1000;
  // Dates have letters: `-5` would otherwise be a day in 2001.
  const date = said !== null && /[a-z]{3}/i.test(said) ? Date.parse(said) : Number.NaN;
  if (Number.isNaN(date) || date - now > MAX_SECONDS * 1000) return undefined;
  return Math.max(0, date - now);
}

function readNumber(text: string | null): number | undefined {
  const number = text !== null && /^\s*\d{1,10}(?:\.\d{1,6})?\s*$/.test(text) ? Number(text) : undefined;
  return number !== undefined && number <= MAX_SECONDS * 1000 ? number : undefined;
}
