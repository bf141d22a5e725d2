import { setTimeout as sleep } from 'node:timers/promises';

import { toProblem } from '#core';
import { isModelProblem, type ModelProblem } from './problem.ts';

export interface RetryPolicy {
  readonly maxAttempts: number;
  /** The delay before the second attempt; it doubles with each further attempt. */
  readonly firstWaitMs: number;
  /** The longest delay. If the server asks for a longer one, the request is not retried. */
  readonly maxWaitMs: number;
  /** No attempt starts later than this after the first one. */
  readonly totalMs: number;
}

export const RETRY_POLICY: RetryPolicy = {
  maxAttempts: 4,
  firstWaitMs: 500,
  maxWaitMs: 30_000,
  totalMs: 120_000,
};

/** Clock and random numbers, replaceable in tests. */
export interface RetrySurroundings {
  readonly now: () => number;
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
  /** Called after each failure: a retry is impossible once a part of the answer was reported. */
  readonly mayRepeat: () => boolean;
}

export type Retried<T> =
  | { readonly type: 'done'; readonly value: T; readonly retries: number }
  | { readonly type: 'gave-up'; readonly problem: ModelProblem; readonly retries: number };

/**
 * Retries until an attempt succeeds, fails permanently, or the policy allows no further attempt. Delays grow exponentially with
 * jitter, so that clients that were rejected together do not return together. Rejects with the reason of the signal, and with any
 * error other than `ModelProblem`.
 */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<Retried<T>> {
  const { surroundings, signal } = options;
  const started = surroundings.now();
  for (let retries = 0; ; retries += 1) {
    signal.throwIfAborted();
    const result = await attempt().then(
      (value) => ({ type: 'done', value, retries }) as const,
      (error: unknown) => ({ type: 'gave-up', problem: toProblem(error, isModelProblem), retries }) as const,
    );
    if (result.type === 'done') return result;
    signal.throwIfAborted();
    const wait = nextWait(result.problem, retries, surroundings.now() - started, options);
    if (wait === undefined) return result;
    // The timer rejects with its own error; the reason of the caller's signal takes precedence.
    await surroundings.wait(wait, signal).finally(() => signal.throwIfAborted());
  }
}

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

/** Returns the delay in milliseconds after `retries` retries, or undefined if the server asks for more than the policy allows. */
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

const MAX_SECONDS = 30 * 86_400;

/** Parses `Retry-After` (seconds or a date) and OpenAI's `retry-after-ms`. Returns undefined for anything else. */
export function readRetryAfter(headers: Headers, now: number): number | undefined {
  const ms = readNumber(headers.get('retry-after-ms'));
  if (ms !== undefined) return ms;
  const retryAfter = headers.get('retry-after');
  const seconds = readNumber(retryAfter);
  if (seconds !== undefined) return seconds * 1000;
  // Dates contain letters; without this check `-5` would be parsed as a date in 2001.
  const date = retryAfter !== null && /[a-z]{3}/i.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  if (Number.isNaN(date) || date - now > MAX_SECONDS * 1000) return undefined;
  return Math.max(0, date - now);
}

function readNumber(text: string | null): number | undefined {
  const number = text !== null && /^\s*\d{1,10}(?:\.\d{1,6})?\s*$/.test(text) ? Number(text) : undefined;
  return number !== undefined && number <= MAX_SECONDS * 1000 ? number : undefined;
}
