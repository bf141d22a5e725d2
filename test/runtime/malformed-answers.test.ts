/** Random answers to a question: the action happens if and only if the answer is a well-formed yes. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { Approve } from '../../src/core/approval.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { decide, type PolicyLayer } from '../../src/policy/policy.ts';
import type { Session } from '../../src/runtime/session.ts';
import type { SessionPolicy } from '../../src/policy/session-policy.ts';
import { openApprovals } from '../../src/policy/approval/approver.ts';
import { openApprovalTable } from '../../src/fleet/approval-table.ts';
import { verifies } from '../conformance/verifies.ts';
import { otherTool, outcome, policyWorld, runtimeIn, sessionIn, trustedWorld, walledExecutor } from './policy-world.ts';

/** What a callback does, described so that each try makes a fresh value: getters and proxies are used up by a look at them. */
interface Answer {
  readonly name: string;
  readonly isYes: boolean;
  readonly give: () => unknown;
}

const no = (name: string, give: () => unknown): Answer => ({ name, isYes: false, give });
const yes = (name: string, give: () => unknown): Answer => ({ name, isYes: true, give });
const fail = (): never => {
  throw new Error('the getter failed');
};

const YES: readonly Answer[] = [
  yes('true', () => true),
  yes('a verdict', () => ({ verdict: 'yes' })),
  yes('a verdict and a scope', () => ({ verdict: 'yes', scope: 'once' })),
  yes('a verdict for the run', () => ({ verdict: 'yes', scope: 'run' })),
  yes('a whole answer', () => ({ verdict: 'yes', scope: 'once', by: 'terminal' })),
  yes('an answer from an unknown source', () => ({ verdict: 'yes', by: 'x' })),
  yes('a promise', () => Promise.resolve(true)),
  yes('a proxy of a verdict', () => new Proxy({ verdict: 'yes' }, {})),
];

const NO: readonly Answer[] = [
  ...['yes', 'yes ', 'YES', 'no', 'true', 'ok', 'y', 'allow', 'approved', ''].map((word) =>
    no(`the word ${JSON.stringify(word)}`, () => word),
  ),
  ...[undefined, null, false, 0, 1, -1, NaN, 1n, Symbol('yes'), [], [true], ['yes'], {}].map((value) =>
    no(`the value ${typeof value}`, () => value),
  ),
  ...['denied', 'YES', 'yes ', 'true', '', 'nobody', true, 1, null, ['yes'], { verdict: 'yes' }].map((verdict) =>
    no(`the verdict ${JSON.stringify(verdict)}`, () => ({ verdict, scope: 'once' })),
  ),
  ...['skill', 'forever', '', 'ONCE', null, true, 1, ['once']].map((scope) =>
    no(`the scope ${JSON.stringify(scope)}`, () => ({ verdict: 'yes', scope })),
  ),
  no('a refusal with a reason', () => ({ verdict: 'no', scope: 'once', reason: 'not now' })),
  no('another field', () => ({ approved: true, approve: true, answer: 'yes', action: 'accept' })),
  no('a function', () => () => true),
  no('a boxed true', () => Object(true)),
  no('a list with a verdict', () => Object.assign([], { verdict: 'yes' })),
  no('an inherited verdict', () => Object.create({ verdict: 'yes', scope: 'once' })),
  no('a getter that throws', () => Object.defineProperty({}, 'verdict', { get: fail, enumerable: true })),
  no('a scope that throws', () => Object.defineProperty({ verdict: 'yes' }, 'scope', { get: fail, enumerable: true })),
  no('a verdict that is yes at the second look', () => {
    let looks = 0;
    return {
      get verdict() {
        return (looks += 1) > 1 ? 'yes' : 'no';
      },
    };
  }),
  no('a proxy that throws', () => new Proxy({ verdict: 'yes' }, { get: fail, ownKeys: fail, has: fail })),
  no('a revoked proxy', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }),
  no('an error', () => new Error('yes')),
  no('a promise that is rejected', () => Promise.reject(new Error('offline'))),
  no('a promise that is rejected with nothing', () => Promise.reject(undefined)),
  no('a promise of no', () => Promise.resolve(false)),
  no('a thenable that throws', () => new Proxy({}, { get: (_, key) => (key === 'then' ? fail : undefined) })),
  no('a thrown error', fail),
  no('a thrown value without a text', () => {
    throw Object.create(null);
  }),
  no('a thrown proxy', () => {
    throw new Proxy(new Error('x'), { get: fail, getPrototypeOf: fail });
  }),
  no('nobody', () => 'nobody'),
];

/** Any JSON value; with `verdict` and `scope` among its fields more often than by chance. A boolean has its meaning. */
const anyValue = fc
  .oneof(
    fc.jsonValue(),
    fc.record({ verdict: fc.jsonValue(), scope: fc.constantFrom('once', 'run', 'skill', 'x') }),
    fc.anything({ withDate: true, withMap: true, withNullPrototype: true, withBoxedValues: true, withBigInt: true }),
  )
  .map((value): Answer => ({
    name: fc.stringify(value),
    isYes: value === true,
    give: () => value,
  }));

const anyAnswer = fc.oneof(fc.constantFrom(...YES, ...NO), anyValue);

interface Deletion {
  readonly isGone: boolean;
  /** What was recorded as the answer. */
  readonly answer: unknown;
  /** What the model reads. */
  readonly message: string;
}

/** Deletes one file after the other, in one session whose questions go to the given callback: an answer for the run covers one file. */
async function openDeletions(): Promise<(approve: Approve) => Promise<Deletion>> {
  const world = policyWorld();
  let files = 0;
  let current: Approve = () => 'nobody';
  let events: RunEvent[] = [];
  const session = await (
    await runtimeIn(world)
  ).startSession({
    host: {},
    approve: (...given) => current(...given),
    record: (event) => void events.push(event),
  });
  onTestFinished(() => session.close());
  return async (approve) => {
    const name = `old-${String((files += 1))}.md`;
    const file = path.join(world.project, name);
    writeFileSync(file, 'old\n');
    [current, events] = [approve, []];
    const observation = await session.perform({ type: 'delete_file', path: name });
    const recorded = events.flatMap((event) => (event.type === 'approval-answer' ? [event.answer] : []));
    const message = observation.type === 'failed' ? observation.message : '';
    return { isGone: !existsSync(file), answer: recorded.at(-1), message };
  };
}

// What JavaScript programs pass is not what the type says.
const rawCallback = (give: () => unknown): Approve => give as Approve;
const asker = (give: () => unknown): Approve =>
  openApprovals({ home: undefined, asker: { by: 'callback', ask: async () => give() } }).approve;

describe.each([
  ['the callback of a session', rawCallback],
  ['the asker of openApprovals', asker],
])('%s', (_, approveBy) => {
  verifies('POL-3', 'lets an action happen if and only if it answers with a well-formed yes', async () => {
    const deleteAfter = await openDeletions();
    const seen: unknown[] = [];
    for (const { name, give } of [...YES, ...NO]) seen.push([name, (await deleteAfter(approveBy(give))).isGone]);
    expect(seen).toEqual([...YES, ...NO].map(({ name, isYes }) => [name, isYes]));
    await fc.assert(
      fc.asyncProperty(anyAnswer, async ({ isYes, give }) => {
        const { isGone, answer } = await deleteAfter(approveBy(give));
        expect({ isGone, isRecorded: answer !== undefined }).toEqual({ isGone: isYes, isRecorded: true });
      }),
      { numRuns: 80 },
    );
  });

  test('that fails or is malformed is recorded with its kind, never with its content', async () => {
    const deleteAfter = await openDeletions();
    const secret = 'password-1234';
    const give: readonly (() => unknown)[] = [
      () => secret,
      () => ({ verdict: secret }),
      () => ({ verdict: 'yes', scope: secret }),
      () => [secret],
      () => undefined,
      () => Object.defineProperty({}, 'verdict', { get: fail, enumerable: true }),
    ];
    const answers: unknown[] = [];
    for (const one of give) answers.push((await deleteAfter(approveBy(one))).answer);
    const refused = (reason: string): unknown => ({ verdict: 'no', scope: 'once', by: 'callback', reason });
    expect(answers).toEqual([
      refused('the approval callback returned a string instead of an answer'),
      refused('the approval callback returned an object whose verdict is neither yes nor no'),
      refused('the approval callback approved with a scope that was not offered'),
      refused('the approval callback returned an array instead of an answer'),
      refused('the approval callback returned undefined instead of an answer'),
      refused('the approval callback returned an object that cannot be read'),
    ]);
  });

  test('that throws does not end the run: the action is refused and the model reads why', async () => {
    const reason = 'the approval callback failed (Error)';
    expect(await (await openDeletions())(approveBy(fail))).toEqual({
      isGone: false,
      answer: { verdict: 'no', scope: 'once', by: 'callback', reason },
      message: `delete_file was not approved: "${reason}"`,
    });
  });
});

describe('a callback', () => {
  test.each(['run', 'skill'] as const)(
    'that approves with the scope %s is asked once by a session and its children',
    async (scope) => {
      const world = await trustedWorld();
      const runtime = await runtimeIn(world);
      const asked: string[] = [];
      const approve: Approve = async ({ scopes, detail }) => {
        asked.push(detail.kind);
        return { verdict: 'yes', scope: scopes.includes(scope) ? scope : 'run' };
      };
      const open = async (parent?: Session): Promise<Session> => {
        const execution = { executor: walledExecutor(), opens: false, artifacts: false } as const;
        const session = await runtime.startSession({ host: {}, execution, approve, ...(parent && { parent }) });
        onTestFinished(() => session.close());
        return session;
      };
      const write = (file: string, content: string) => ({ type: 'write_file', path: file, content }) as const;
      const script = { type: 'run_script', skill: 'demo', script: 'go.sh', args: [] } as const;
      const session = await open();
      const child = await open(session);
      for (const [by, action, questions] of [
        [session, write('a.md', '1'), 1],
        [session, write('a.md', '2'), 1],
        [child, write('a.md', '3'), 1],
        [child, write('b.md', '1'), 2],
        [session, write('b.md', '2'), 2],
        [session, script, 3],
        [session, { ...script, args: ['x'] }, 3],
        // Another run.
        [await open(), write('a.md', '4'), 4],
      ] as const)
        expect([await outcome(by, action), asked.length]).toEqual(['done', questions]);
    },
  );

  test('may be anything in JavaScript: what is not a function approves nothing', async () => {
    const deleteAfter = await openDeletions();
    for (const value of [true, 'yes', {}, { verdict: 'yes' }])
      expect((await deleteAfter(value as unknown as Approve)).isGone).toBe(false);
  });

  test('that never answers is ended by the signal of the action', async () => {
    const runtime = await runtimeIn(policyWorld());
    const session = await runtime.startSession({ host: {}, approve: () => new Promise(() => undefined) });
    const stop = new AbortController();
    const deleting = session.perform({ type: 'delete_file', path: 'old.md' }, { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 20);
    expect(await deleting).toMatchObject({ type: 'failed', code: 'run/interrupted' });
    await session.close();
  });
});

describe('an answer from the table of a fleet', () => {
  const tableWith = (...rows: readonly unknown[]): Approve =>
    openApprovalTable({ query: async () => ({ rows }) } as unknown as Pool, 'run');

  verifies('POL-3', 'approves if and only if it is a well-formed yes', async () => {
    const deleteAfter = await openDeletions();
    const words = fc.constantFrom('yes', 'no', 'YES', 'yes ', 'true', '', 'once', 'run', 'skill');
    const value = fc.oneof(words, fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(value, value, fc.option(fc.string()), async (verdict, scope, note) => {
        const isYes = verdict === 'yes' && (scope === 'once' || scope === 'run');
        expect((await deleteAfter(tableWith({ verdict, scope, note }))).isGone).toBe(isYes);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a policy of a program', () => {
  test.each([
    ['otherwise', { otherwise: 'DENY' }],
    ['otherwise', { otherwise: false }],
    ['otherwise', { otherwise: null }],
    ['deny', { deny: 'delete_file' }],
    ['deny', { deny: { 0: 'delete_file' } }],
    ['deny', { deny: [false] }],
    ['ask', { ask: true }],
    ['opens', { opens: 'delete_file' }],
  ])('with a malformed %s is an error, not a permission', async (name, policy) => {
    const runtime = await runtimeIn(policyWorld());
    await expect(runtime.startSession({ host: {}, policy: policy as SessionPolicy })).rejects.toMatchObject({
      code: 'input/invalid',
      message: expect.stringContaining(`policy.${name} is not`),
    });
  });

  test('is not opened by a word in place of false', async () => {
    const world = await trustedWorld();
    for (const opens of ['false', 'no', 0, null] as unknown as readonly false[]) {
      const session = await sessionIn(world, { execution: { executor: walledExecutor(), opens, artifacts: false } });
      expect(await outcome(session, { type: 'run_command', command: 'ls' })).toBe('approval/needed');
    }
  });
});

describe('a layer of rules', () => {
  test('denies where its default is not an effect', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.constantFrom('DENY', 'Allow', 'allow ', 'refuse')), (word) => {
        const otherwise = { low: word, medium: word, high: word } as unknown as PolicyLayer['otherwise'];
        const origin = { layer: 'run', where: '' } as const;
        const { effect } = decide({ layers: [{ origin, rules: [], otherwise }], grants: [] }, otherTool('delete_file'));
        expect(effect).toBe(word === 'allow' || word === 'ask' ? word : 'deny');
      }),
    );
  });
});
