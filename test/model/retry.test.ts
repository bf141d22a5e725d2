import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { problemError } from '../../src/core/errors.ts';
import { modelProblem, type ModelProblem } from '../../src/model/problem.ts';
import {
  REAL_SURROUNDINGS,
  RETRY_POLICY,
  readRetryAfter,
  waitBefore,
  withRetries,
  type RetryOptions,
} from '../../src/model/retry.ts';

const busy = modelProblem('busy', { isRetryable: true });

/** A clock that only waiting moves. */
function imagined(more: Partial<RetryOptions> = {}): {
  readonly options: RetryOptions;
  readonly waits: readonly number[];
} {
  const waits: number[] = [];
  let time = 0;
  const options: RetryOptions = {
    policy: RETRY_POLICY,
    signal: new AbortController().signal,
    mayRepeat: () => true,
    surroundings: {
      now: () => time,
      random: () => 0.5,
      wait: async (ms) => {
        waits.push(ms);
        time += ms;
      },
    },
    ...more,
  };
  return { options, waits };
}

const always = (problem: ModelProblem) => (): Promise<never> => Promise.reject(problemError(problem));

describe('attempts', () => {
  test('end with the first success', async () => {
    const { options, waits } = imagined();
    let attempts = 0;
    const attempt = async (): Promise<number> => {
      attempts += 1;
      if (attempts < 3) throw problemError(busy);
      return attempts;
    };
    expect(await withRetries(attempt, options)).toEqual({ type: 'done', value: 3, retries: 2 });
    expect(waits).toEqual([375, 750]);
  });

  test('end with what does not pass', async () => {
    const { options, waits } = imagined();
    const problem = modelProblem('no');
    expect(await withRetries(always(problem), options)).toEqual({ type: 'gave-up', problem, retries: 0 });
    expect(waits).toEqual([]);
  });

  test('end where something was told that cannot be taken back', async () => {
    const { options } = imagined({ mayRepeat: () => false });
    expect(await withRetries(always(busy), options)).toEqual({ type: 'gave-up', problem: busy, retries: 0 });
  });

  test('end when the time for all of them is over', async () => {
    const { options, waits } = imagined({ policy: { ...RETRY_POLICY, maxAttempts: 100, totalMs: 5_000 } });
    const result = await withRetries(always(busy), options);
    expect(result).toEqual({ type: 'gave-up', problem: busy, retries: 3 });
    expect(waits).toEqual([375, 750, 1_500]);
  });

  test('never number more than the policy says, nor take longer', async () => {
    const policies = fc.record({
      maxAttempts: fc.integer({ min: 1, max: 12 }),
      firstWaitMs: fc.integer({ min: 0, max: 10_000 }),
      maxWaitMs: fc.integer({ min: 1, max: 100_000 }),
      totalMs: fc.integer({ min: 0, max: 1_000_000 }),
    });
    await fc.assert(
      fc.asyncProperty(policies, fc.option(fc.nat(200_000), { nil: undefined }), async (policy, retryAfterMs) => {
        const { options, waits } = imagined({ policy });
        const problem = modelProblem('busy', { isRetryable: true, retryAfterMs });
        const { retries } = await withRetries(always(problem), options);
        expect(retries).toBe(waits.length);
        expect(retries).toBeLessThan(policy.maxAttempts);
        expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(policy.totalMs);
        expect(waits.every((wait) => wait <= policy.maxWaitMs && wait >= (retryAfterMs ?? 0))).toBe(true);
      }),
    );
  });

  test('a bug flies', async () => {
    const bug = new TypeError('x is undefined');
    await expect(withRetries(() => Promise.reject(bug), imagined().options)).rejects.toBe(bug);
  });

  test('the signal ends a real wait with its own reason', async () => {
    const stop = new AbortController();
    const { options } = imagined({
      signal: stop.signal,
      surroundings: REAL_SURROUNDINGS,
      policy: { ...RETRY_POLICY, firstWaitMs: 30_000 },
    });
    const call = withRetries(() => {
      setTimeout(() => stop.abort('enough'), 5);
      return Promise.reject(problemError(busy));
    }, options);
    await expect(call).rejects.toBe('enough');
  });

  test('nothing is attempted when it is over already', async () => {
    const { options } = imagined({ signal: AbortSignal.abort('before') });
    let attempts = 0;
    await expect(withRetries(async () => (attempts += 1), options)).rejects.toBe('before');
    expect(attempts).toBe(0);
  });
});

test('waits grow, are spread by chance, and are never shorter than the server asks', () => {
  const chance = fc.double({ min: 0, max: 0.999_999, noNaN: true });
  fc.assert(
    fc.property(fc.nat(2_000), chance, fc.option(fc.nat(60_000), { nil: undefined }), (retries, random, asked) => {
      const wait = waitBefore(retries, asked, random, RETRY_POLICY);
      if (asked !== undefined && asked > RETRY_POLICY.maxWaitMs) {
        expect(wait).toBeUndefined();
        return;
      }
      const full = Math.min(RETRY_POLICY.maxWaitMs, RETRY_POLICY.firstWaitMs * 2 ** retries);
      expect(wait).toBeGreaterThanOrEqual(Math.max(full / 2, asked ?? 0));
      expect(wait).toBeLessThanOrEqual(Math.max(full, asked ?? 0));
    }),
  );
});

describe('Retry-After', () => {
  const NOW = Date.UTC(2026, 10, 15, 11, 0, 0);
  const read = (value: string, name = 'retry-after'): number | undefined =>
    readRetryAfter(new Headers({ [name]: value }), NOW);

  test.each([
    ['7', 7_000],
    ['0', 0],
    [' 1.5 ', 1_500],
    ['Sun, 15 Nov 2026 11:00:30 GMT', 30_000],
    ['Sun, 15 Nov 2026 10:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    ['1e9', undefined],
    ['99999999999999999999', undefined],
    ['Sun, 15 Nov 9999 10:00:00 GMT', undefined],
    ['NaN', undefined],
  ])('%j', (value, expected) => {
    expect(read(value)).toBe(expected);
  });

  test('milliseconds count before seconds', () => {
    expect(readRetryAfter(new Headers({ 'retry-after-ms': '20', 'retry-after': '7' }), NOW)).toBe(20);
  });

  test('whatever is sent, it is a time or nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        const ms = read(text.replaceAll(/[^\x20-\x7e]/g, ''));
        expect(ms === undefined || (Number.isFinite(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});
