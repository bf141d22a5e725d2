import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { explainSkills, hookStates, planActivation } from '#activation';
import { CLAUDE_CODE } from '../../src/activation/agents/claude-code.ts';

let top: string;
beforeEach(() => {
  top = mkdtempSync(path.join(os.tmpdir(), 'blocked-'));
  mkdirSync(path.join(top, '.claude'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

test.each([
  [[], undefined],
  [[{ disableAllHooks: true }], 'disableAllHooks is true in its settings'],
  [[{ disableAllHooks: false }], undefined],
  [[{ disableAllHooks: 'true' }], undefined],
  // A file nearer to the project decides.
  [[{ disableAllHooks: true }, { disableAllHooks: false }], undefined],
  [[{}, undefined, { disableAllHooks: true }], 'disableAllHooks is true in its settings'],
  // Only administrators can allow their own hooks alone.
  [[{ allowManagedHooksOnly: true }], undefined],
  [[undefined, undefined, undefined, { allowManagedHooksOnly: true }], expect.stringContaining('allows no hooks')],
  [[undefined, undefined, undefined, { disableAllHooks: true }], expect.stringContaining('allows no hooks')],
] as const)('the settings %j of Claude Code block hooks: %s', (files, reason) => {
  const all = CLAUDE_CODE.settings.map((_, at) => files[at]);
  expect(CLAUDE_CODE.hook.blockedBy?.(all)).toEqual(reason);
});

test('why, doctor and activate say that the agent runs no hooks', async () => {
  const surroundings = { cwd: top, home: top, env: {}, osHome: top };
  const plan = () => planActivation({ surroundings, agents: ['claude-code'], isRemoving: false });
  await plan().apply();
  expect(hookStates(surroundings).map(({ agent, status }) => [agent, status])).toEqual([['claude-code', 'active']]);
  mkdirSync(path.join(top, '.claude'), { recursive: true });
  writeFileSync(path.join(top, '.claude/settings.local.json'), '// mine\r\n{ "disableAllHooks": true, }\r\n');
  expect(hookStates(surroundings)).toEqual([
    { agent: 'claude-code', status: 'blocked', detail: 'it runs no hooks: disableAllHooks is true in its settings' },
  ]);
  expect(plan().remarks).toEqual(['claude-code runs no hooks: disableAllHooks is true in its settings']);
  const { agents } = await explainSkills({ surroundings, agents: ['claude-code'] });
  expect(agents[0]?.notes).toContain(
    'it runs no hooks, so skillwright activate has no effect: disableAllHooks is true in its settings',
  );
});
