import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { ApprovalAnswer, ApprovalRequest } from '../../../src/core/approval.ts';
import { openApprovals, type ApprovalsOptions, type Asker } from '../../../src/policy/approval/approver.ts';
import { answerPending, listPending } from '../../../src/policy/approval/pending-approvals.ts';
import { openStoredApprovals } from '../../../src/policy/approval/stored-approvals.ts';
import { DIGEST, requestOf } from '../approval-request.ts';
import { scratch } from '../../skills/registry/support.ts';
import { verifies } from '../../conformance/verifies.ts';

/** Gives these answers in turn and remembers what was asked; `nobody` when there are no more. */
function saying(...answers: readonly unknown[]): Asker & { readonly asked: ApprovalRequest[] } {
  const left = [...answers];
  const asked: ApprovalRequest[] = [];
  return {
    by: 'callback',
    asked,
    async ask(request) {
      asked.push(request);
      return left.length === 0 ? 'nobody' : left.shift();
    },
  };
}

const answer = (request: ApprovalRequest, options: ApprovalsOptions): Promise<ApprovalAnswer | 'nobody' | 'pending'> =>
  openApprovals(options).approve(request, {});
const yes = (scope: string): unknown => ({ verdict: 'yes', scope });
const idOf = (digit: string): string => `sha256:${digit.repeat(64)}`;

describe('a question', () => {
  test('goes to the available person, if there is one', async () => {
    const asker = saying(yes('once'));
    expect(await answer(requestOf(), { home: undefined, asker })).toEqual({
      verdict: 'yes',
      scope: 'once',
      by: 'callback',
    });
    expect(asker.asked).toEqual([requestOf()]);
    expect(await answer(requestOf(), { home: undefined })).toBe('nobody');
  });

  test('answered once is asked again; answered for the run it is not, whether yes or no', async () => {
    const asker = saying(yes('once'), yes('run'), { verdict: 'no', scope: 'run' });
    const { approve } = openApprovals({ home: undefined, asker });
    const other = requestOf({ coverage: 'other' });
    const verdicts: unknown[] = [];
    for (const request of [requestOf(), requestOf(), requestOf(), other, other])
      verdicts.push(await approve(request, {}));
    expect(verdicts).toEqual([
      { verdict: 'yes', scope: 'once', by: 'callback' },
      { verdict: 'yes', scope: 'run', by: 'callback' },
      { verdict: 'yes', scope: 'run', by: 'callback' },
      { verdict: 'no', scope: 'run', by: 'callback' },
      { verdict: 'no', scope: 'run', by: 'callback' },
    ]);
    expect(asker.asked.length).toBe(3);
  });

  test('for the run covers neither less isolation nor more risk nor another state of the skill', async () => {
    const asker = saying(yes('run'));
    const { approve } = openApprovals({ home: undefined, asker });
    await approve(requestOf(), {});
    const others: Partial<ApprovalRequest>[] = [
      { isolation: 'none' },
      { risk: 'high' },
      { skill: { id: 'project/release', name: 'release', digest: DIGEST.replace(/b$/, 'c') } },
      { tool: 'other' },
      { scopes: ['once'] },
    ];
    for (const more of others) expect(await approve(requestOf(more), {})).toBe('nobody');
  });

  verifies(
    'POL-3',
    'answered for the skill holds in the next run, until a byte of the skill changes or it is revoked',
    async () => {
      const home = scratch();
      await answer(requestOf(), { home, asker: saying(yes('skill')) });
      expect(await answer(requestOf(), { home })).toEqual({ verdict: 'yes', scope: 'skill', by: 'stored' });
      const changed = { id: 'project/release', name: 'release', digest: DIGEST.replace(/b$/, 'c') };
      expect(await answer(requestOf({ skill: changed }), { home })).toBe('nobody');
      const { approve } = openApprovals({ home });
      await openStoredApprovals(home).revoke('all');
      expect(await approve(requestOf(), {})).toBe('nobody');
    },
  );

  test('cannot be stored without a home folder, and a warning says so', async () => {
    const warnings: string[] = [];
    const asker = saying(yes('skill'));
    const { approve } = openApprovals({ home: undefined, asker, onWarning: (message) => warnings.push(message) });
    await approve(requestOf(), {});
    expect(await approve(requestOf(), {})).toEqual({ verdict: 'yes', scope: 'run', by: 'callback' });
    expect(warnings).toEqual(['there is no home folder, so the answer lasts only for this run']);
  });

  test('is answered for this run where the store cannot be written', async () => {
    const home = path.join(scratch(), 'home');
    writeFileSync(home, '');
    const warnings: string[] = [];
    const { approve } = openApprovals({ home, asker: saying(yes('skill')), onWarning: (text) => warnings.push(text) });
    await approve(requestOf(), {});
    expect((await approve(requestOf(), {})) as ApprovalAnswer).toMatchObject({ verdict: 'yes', scope: 'run' });
    expect(warnings.length).toBe(1);
  });
});

describe('what was said on the command line', () => {
  test('--approve answers the very question, whatever its risk, and no other', async () => {
    const risky = requestOf({ risk: 'high', isolation: 'none' });
    const option = { verdict: 'yes', scope: 'once', by: 'option', reason: '--approve' };
    expect(await answer(risky, { home: scratch(), approved: [risky.id] })).toEqual(option);
    expect(await answer(risky, { home: scratch(), approved: [risky.id.slice(7)] })).toEqual(option);
    for (const id of [risky.id.slice(0, 19), risky.id.slice(7, 19), idOf('1'), ''])
      expect(await answer(risky, { home: scratch(), approved: [id] })).toBe('nobody');
  });

  test('--yes covers what is of low or medium risk', async () => {
    const withYes = (more: Partial<ApprovalRequest>): Promise<unknown> =>
      answer(requestOf(more), { home: undefined, yes: true });
    const { isolation: _, ...noProgram } = requestOf();
    expect(await withYes({})).toEqual({ verdict: 'yes', scope: 'once', by: 'option', reason: '--yes' });
    expect(await answer(noProgram, { home: undefined, yes: true })).toMatchObject({ verdict: 'yes' });
    expect(await withYes({ risk: 'high' })).toBe('nobody');
    expect(await withYes({ isolation: 'none', risk: 'high' })).toBe('nobody');
  });

  test('counts for less than what was said about the same before', async () => {
    const home = scratch();
    await answer(requestOf(), { home, asker: saying({ verdict: 'no', scope: 'skill' }) });
    expect(await answer(requestOf(), { home, yes: true, approved: [requestOf().id] })).toEqual({
      verdict: 'no',
      scope: 'skill',
      by: 'stored',
    });
  });
});

describe('a callback', () => {
  test.each([
    ['nothing', undefined, 'returned undefined instead of an answer'],
    ['a word', 'yes', 'returned a string instead of an answer'],
    ['pending', 'pending', 'returned a string instead of an answer'],
    ['another verdict', { verdict: 'maybe', scope: 'once' }, 'returned an object whose verdict is neither yes nor no'],
    ['another scope', { verdict: 'yes', scope: 'forever' }, 'approved with a scope that was not offered'],
    ['a scope that was not offered', { verdict: 'yes', scope: 'skill' }, 'approved with a scope that was not offered'],
  ])('that gives %s says no', async (_, said, reason) => {
    expect(await answer(requestOf({ scopes: ['once', 'run'] }), { home: undefined, asker: saying(said) })).toEqual({
      verdict: 'no',
      scope: 'once',
      by: 'callback',
      reason: `the approval callback ${reason}`,
    });
  });

  test('that throws says no, and names the kind of error without its message', async () => {
    const asker: Asker = {
      by: 'callback',
      ask: () => Promise.reject(new Error('no\x1b[0m connection')),
    };
    const thrower: Asker = {
      by: 'callback',
      ask: () => {
        throw new TypeError('at once');
      },
    };
    const no = { verdict: 'no', scope: 'once', by: 'callback' };
    expect(await answer(requestOf(), { home: undefined, asker })).toEqual({
      ...no,
      reason: 'the approval callback failed (Error)',
    });
    expect(await answer(requestOf(), { home: undefined, asker: thrower })).toEqual({
      ...no,
      reason: 'the approval callback failed (TypeError)',
    });
  });

  test('that never answers is ended by the deadline, or by the signal', async () => {
    const asker: Asker = { by: 'callback', ask: () => new Promise(() => undefined) };
    expect(await answer(requestOf(), { home: undefined, asker, deadlineMs: 10 })).toMatchObject({
      verdict: 'no',
      reason: 'no answer within 10 ms',
    });
    const stop = new AbortController();
    const asking = openApprovals({ home: undefined, asker }).approve(requestOf(), { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
  });

  test.each([2 ** 31 - 1, 2 ** 31, 3_000_000_000, Infinity])(
    'has time with a deadline of %d ms',
    async (deadlineMs) => {
      const asker: Asker = { by: 'callback', ask: () => new Promise((resolve) => setTimeout(resolve, 20, true)) };
      expect(await answer(requestOf(), { home: undefined, asker, deadlineMs })).toMatchObject({ verdict: 'yes' });
    },
  );

  test.each([0, -1, NaN, -Infinity])('cannot have a deadline of %d ms', (deadlineMs) => {
    expect(() => openApprovals({ home: undefined, deadlineMs })).toThrow(`deadlineMs is ${String(deadlineMs)}`);
  });

  test('refuses a time to wait that is not a number of milliseconds', () => {
    for (const waitMs of [-1, NaN])
      expect(() => openApprovals({ home: undefined, pending: { folder: 'x', waitMs } })).toThrow('pending.waitMs');
  });
});

describe('two questions at once', () => {
  test('are asked one after the other, and one answer may do for both', async () => {
    const open: ((said: unknown) => void)[] = [];
    const asker: Asker = { by: 'callback', ask: () => new Promise((resolve) => open.push(resolve)) };
    const { approve } = openApprovals({ home: undefined, asker });
    const [first, second, third] = [requestOf(), requestOf(), requestOf({ coverage: 'third' })].map((request) =>
      approve(request, {}),
    );
    await settled();
    expect(open.length).toBe(1);
    open[0]?.(yes('run'));
    expect([await first, await second]).toEqual([
      { verdict: 'yes', scope: 'run', by: 'callback' },
      { verdict: 'yes', scope: 'run', by: 'callback' },
    ]);
    await settled();
    expect(open.length).toBe(2);
    open[1]?.(yes('once'));
    expect(await third).toMatchObject({ verdict: 'yes', scope: 'once' });
  });

  test('one that is given up lets the others go on, in their order', async () => {
    const open: ((said: unknown) => void)[] = [];
    const asker: Asker = { by: 'callback', ask: () => new Promise((resolve) => open.push(resolve)) };
    const { approve } = openApprovals({ home: undefined, asker });
    const stops = [new AbortController(), new AbortController()];
    const asking = [
      approve(requestOf(), { signal: stops[0]?.signal }),
      approve(requestOf({ coverage: 'b' }), { signal: stops[1]?.signal }),
      approve(requestOf({ coverage: 'c' }), {}),
    ];
    stops[1]?.abort(new Error('not this one'));
    await expect(asking[1]).rejects.toThrow('not this one');
    await settled();
    // The third waits for the first, although the second is gone.
    expect(open.length).toBe(1);
    stops[0]?.abort(new Error('nor this'));
    await expect(asking[0]).rejects.toThrow('nor this');
    await settled();
    expect(open.length).toBe(2);
    open[1]?.(yes('once'));
    expect(await asking[2]).toMatchObject({ verdict: 'yes' });
  });
});

describe('a question that is left for later', () => {
  test('is pending, and its answer is found by the next run and kept as far as it reaches', async () => {
    const home = scratch();
    const pending = { folder: path.join(home, 'later'), waitMs: 0 };
    expect(await answer(requestOf(), { home, pending })).toBe('pending');
    const place = { home, folder: pending.folder };
    expect(listPending(place).questions.map(({ request }) => request)).toEqual([requestOf()]);
    answerPending(place, requestOf().id, { verdict: 'yes', scope: 'skill' });
    expect(await answer(requestOf(), { home, pending })).toEqual({ verdict: 'yes', scope: 'skill', by: 'file' });
    expect(await answer(requestOf(), { home, pending })).toEqual({ verdict: 'yes', scope: 'skill', by: 'stored' });
  });

  test('is waited for', async () => {
    const home = scratch();
    const folder = path.join(home, 'later');
    const asking = answer(requestOf(), { home, pending: { folder, waitMs: 50_000 } });
    await settled();
    answerPending({ home, folder }, requestOf().id, { verdict: 'no', scope: 'run' });
    expect(await asking).toEqual({ verdict: 'no', scope: 'run', by: 'file' });
  });

  test('does not hold up another: both are written out', async () => {
    const home = scratch();
    const folder = path.join(home, 'later');
    const { approve } = openApprovals({ home, pending: { folder, waitMs: 50_000 } });
    const other = requestOf({ id: idOf('1'), coverage: 'other' });
    const asking = [approve(requestOf(), {}), approve(other, {})];
    await settled();
    expect(listPending({ home, folder }).questions.length).toBe(2);
    for (const { id } of [requestOf(), other]) answerPending({ home, folder }, id, { verdict: 'yes', scope: 'once' });
    expect(await Promise.all(asking)).toEqual([
      { verdict: 'yes', scope: 'once', by: 'file' },
      { verdict: 'yes', scope: 'once', by: 'file' },
    ]);
  });

  test('is asked interactively first, and left for later if no person answers', async () => {
    const home = scratch();
    const asker = saying('nobody');
    expect(await answer(requestOf(), { home, asker, pending: { folder: path.join(home, 'later'), waitMs: 0 } })).toBe(
      'pending',
    );
    expect(asker.asked.length).toBe(1);
  });

  test('reaches no further than is offered when the answer is taken', async () => {
    const home = scratch();
    const pending = { folder: path.join(home, 'later'), waitMs: 0 };
    await answer(requestOf(), { home, pending });
    answerPending({ home, folder: pending.folder }, requestOf().id, { verdict: 'yes', scope: 'skill' });
    expect(await answer(requestOf({ scopes: ['once'] }), { home, pending })).toEqual({
      verdict: 'yes',
      scope: 'once',
      by: 'file',
    });
    expect(openStoredApprovals(home).list().approvals).toEqual([]);
  });

  test('is unanswered if it cannot be written', async () => {
    const home = scratch();
    const folder = path.join(home, 'file');
    writeFileSync(folder, '');
    const warnings: string[] = [];
    const onWarning = (message: string): number => warnings.push(message);
    expect(await answer(requestOf(), { home, pending: { folder, waitMs: 0 }, onWarning })).toBe('nobody');
    expect(await answer(requestOf(), { home: undefined, pending: { folder, waitMs: 0 }, onWarning })).toBe('nobody');
    expect(warnings.length).toBe(2);
  });
});

test('stored answers that do not count are told once', async () => {
  const home = scratch();
  mkdirSync(path.join(home, '.agent'));
  writeFileSync(path.join(home, '.agent/approvals.json'), 'x');
  const warnings: string[] = [];
  const { approve } = openApprovals({ home, yes: true, onWarning: (message) => warnings.push(message) });
  for (let round = 0; round < 3; round += 1) await approve(requestOf(), {});
  expect(warnings).toEqual([`${path.join(home, '.agent/approvals.json')} is ignored: it is not JSON`]);
  rmSync(path.join(home, '.agent'), { recursive: true });
});

/** All that can go on without time passing has gone on. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

describe('a question that a terminal and a folder share', () => {
  const shared = (home: string, asker: Asker): ApprovalsOptions => ({
    home,
    asker,
    pending: { folder: path.join(home, 'pending'), isShared: true },
  });

  test('is answered in the folder while the terminal still asks; then nobody asks', async () => {
    const home = scratch();
    let aborted = false;
    const asker: Asker = {
      by: 'terminal',
      ask: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(new Error('aborted'));
          });
        }),
    };
    const answered = answer(requestOf(), shared(home, asker));
    const place = { home, folder: path.join(home, 'pending') };
    await expect.poll(() => listPending(place).questions.length).toBe(1);
    answerPending(place, requestOf().id, { verdict: 'no', scope: 'once', reason: 'not this folder' });
    expect(() => answerPending(place, requestOf().id, { verdict: 'yes', scope: 'once' })).toThrow(/already|waiting/);
    expect(await answered).toEqual({ verdict: 'no', scope: 'once', by: 'file', reason: 'not this folder' });
    expect([aborted, listPending(place).questions]).toEqual([true, []]);
  });

  test('is answered at the terminal; then it waits nowhere', async () => {
    const home = scratch();
    expect(await answer(requestOf(), shared(home, saying(yes('once'))))).toMatchObject({ verdict: 'yes' });
    expect(await answer(requestOf(), shared(home, saying()))).toBe('nobody');
    expect(listPending({ home, folder: path.join(home, 'pending') }).questions).toEqual([]);
  });
});
