import { expect, test } from 'vitest';

import type { Decision } from '../../src/core/access.ts';
import type { ApprovalRequest } from '../../src/core/approval.ts';
import type { Config } from '../../src/core/config/config.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import type { ExecutionOptions } from '../../src/sandbox/execution/parts.ts';
import { groupExecutor } from '../sandbox/own-executor.ts';
import { verifies } from '../conformance/verifies.ts';
import {
  outcomeOf,
  runtimeIn,
  userPolicy,
  walledExecutor,
  watchedApprovals,
  worldWith,
  type PolicyWorld,
} from './policy-world.ts';

interface Asked {
  readonly result: string;
  readonly message: string;
  readonly decision: Decision | undefined;
  readonly asked: readonly ApprovalRequest[];
}

interface Conditions extends ExecutionOptions {
  readonly policy?: object;
  readonly config?: Config;
  readonly skill?: string;
}

/** Runs lines as a model would, with nobody there but `--yes`. */
async function ask(
  world: PolicyWorld,
  line: string,
  { policy = {}, config = {}, skill = 'demo', ...execution }: Conditions,
): Promise<Asked> {
  const settings = { ...userPolicy(policy).config, ...config };
  const runtime = await runtimeIn(world, { config: settings, env: { KEY_OF_USER: 'a-very-secret-value' } });
  const events: RunEvent[] = [];
  const { approve, asked } = watchedApprovals({ home: world.home, yes: true });
  const session = await runtime.startSession({
    execution: { executor: walledExecutor(), opens: false, artifacts: false, ...execution },
    approve,
    record: (event) => events.push(event),
  });
  const observation = await session.perform({ type: 'run_command', skill, command: line });
  await session.close();
  const failed = observation.type === 'failed' ? observation.message : '';
  const decision = events.find((event) => event.type === 'decision');
  return { result: outcomeOf(observation), message: failed, decision: decision?.decision, asked };
}

verifies('POL-12', 'each capability of a program is asked about, recorded and not answered by --yes', async () => {
  const own = await worldWith({ keyed: 'requires: env:API_KEY' });
  const contained = await ask(own, 'expr a', {});
  const network = await ask(own, 'expr a', { network: ['example.org', '*.example.net'] });
  const secrets = { keyed: { API_KEY: { env: 'KEY_OF_USER' } } };
  const secret = await ask(own, 'expr a', { config: { secrets }, skill: 'keyed' });
  const other = await ask(own, 'expr a', { config: { secrets } });
  const local = await ask(own, 'expr a', { executor: groupExecutor() });
  const seen = [contained, other, network, secret, local].map(({ result, decision, asked }) => ({
    result,
    effect: decision?.effect,
    risk: decision?.risk,
    capabilities: decision?.capabilities,
    shown: asked.map(({ capabilities }) => capabilities),
  }));
  const reached = [{ name: 'network', on: ['example.org', '*.example.net'] }];
  const given = [{ name: 'secrets', on: ['API_KEY'] }];
  const free = [{ name: 'no_isolation', on: [] }];
  expect(seen).toEqual([
    { result: 'done', effect: 'ask', risk: 'medium', capabilities: [], shown: [[]] },
    { result: 'done', effect: 'ask', risk: 'medium', capabilities: [], shown: [[]] },
    { result: 'approval/needed', effect: 'ask', risk: 'high', capabilities: reached, shown: [reached] },
    { result: 'approval/needed', effect: 'ask', risk: 'high', capabilities: given, shown: [given] },
    { result: 'approval/needed', effect: 'ask', risk: 'high', capabilities: free, shown: [free] },
  ]);
  expect(network.message).toBe(
    'run_command needs approval by default, built-in; it is not contained: may reach example.org, *.example.net, and no person is available to approve it',
  );
  // A rule that names the capability allows it; one for the command alone does not.
  const commands = ['Bash(expr:*)'];
  const effects = await Promise.all([
    ask(own, 'expr a', { network: ['example.org'], policy: { allow: commands } }),
    ask(own, 'expr a', { network: ['example.org'], policy: { allow: [...commands, 'use_network(example.org)'] } }),
    ask(own, 'expr a', { network: ['example.com'], policy: { allow: [...commands, 'use_network(example.org)'] } }),
    ask(own, 'expr a', { network: ['example.org'], policy: { allow: ['*'], deny: ['WebFetch(domain:example.org)'] } }),
  ]);
  expect(effects.map(({ decision }) => [decision?.effect, decision?.capabilities?.length])).toEqual([
    ['ask', 1],
    ['allow', 1],
    ['ask', 1],
    ['allow', 0],
  ]);
});

verifies('POL-12', 'policy.sandboxed: allow runs what is contained, and asks about everything else', async () => {
  const world = await worldWith({});
  const policy = { sandboxed: 'allow' };
  const runs = await Promise.all([
    ask(world, 'x=expr; $x a', { policy }),
    ask(world, 'expr a', { policy: { ...policy, deny: ['Bash(rm:*)'] } }),
    ask(world, 'x=rm; $x a', { policy: { ...policy, deny: ['Bash(rm:*)'] } }),
    ask(world, 'rm a', { policy: { ...policy, deny: ['Bash(rm:*)'] } }),
    ask(world, 'expr a', { policy: { ...policy, ask: ['Bash(expr:*)'] } }),
    ask(world, 'expr a', { policy, network: ['example.org'] }),
    ask(world, 'expr a', { policy, executor: groupExecutor() }),
    ask(world, 'expr a', { policy, executor: { ...groupExecutor(), name: 'landlock' } }),
  ]);
  expect(runs.map(({ decision }) => [decision?.effect, decision?.rule])).toEqual([
    ['allow', 'policy.sandboxed: allow'],
    ['allow', 'policy.sandboxed: allow'],
    ['ask', 'Bash(rm:*)'],
    ['deny', 'Bash(rm:*)'],
    ['ask', 'Bash(expr:*)'],
    ['ask', 'by risk'],
    ['ask', 'by risk'],
    ['ask', 'by risk'],
  ]);
});

test('without isolation a prefix allows nothing; the exact line does, and so does an answer for the run', async () => {
  const world = await worldWith({});
  const executor = groupExecutor();
  const effect = async (line: string, rule: string): Promise<unknown> =>
    (await ask(world, line, { executor, policy: { allow: [`Bash(${rule})`, 'unsafe_local'] } })).decision?.effect;
  expect([
    await effect('expr a', 'expr:*'),
    await effect('expr a', 'expr a'),
    await effect('expr a b', 'expr a'),
    await effect('A=1 expr a', 'expr a'),
  ]).toEqual(['ask', 'allow', 'ask', 'ask']);
  const runtime = await runtimeIn(world);
  const asked: string[] = [];
  const session = await runtime.startSession({
    execution: { executor, opens: false, artifacts: false },
    approve: async ({ detail, scopes }) => {
      asked.push(detail.kind === 'command' ? `${detail.command}: ${scopes.join(' ')}` : '');
      return { verdict: 'yes', scope: 'run', by: 'callback' };
    },
  });
  for (const command of ['expr a', 'expr b']) await session.perform({ type: 'run_command', command });
  await session.close();
  expect(asked).toEqual(['expr a: once run', 'expr b: once run']);
});
