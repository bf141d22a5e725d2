import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Session } from '../../src/runtime/session.ts';
import { buildSkillTools } from '../../src/runtime/skill-tools.ts';
import { verifies } from '../conformance/verifies.ts';
import { runtimeIn, trustedWorld, userPolicy, walledExecutor, worldWith } from './policy-world.ts';

const OPEN = userPolicy({ allow: ['*'] });

describe('a list of commands, through the tools that run them', () => {
  const MARK = 'touch "$WORK_DIR/escaped"';
  const around = [
    `git --version; ${MARK}`,
    `git --version && ${MARK}`,
    `git --version | ${MARK}`,
    `git --version & ${MARK}`,
    `git --version $(${MARK})`,
    `git --version \`${MARK}\``,
    `git --version\n${MARK}`,
    `git --version <(${MARK})`,
    `GIT_PAGER=x git --version; ${MARK}`,
    `for x in 1; do git --version; ${MARK}; done`,
    `env git --version; env ${MARK}`,
    `x='${MARK}'; $x`,
    `sh -c '${MARK}'`,
    './git --version',
    '/tmp/git --version',
    'gitk',
    'git\u200b --version',
  ];

  async function results(session: Session, tool: (command: string) => Promise<string>): Promise<Set<string>> {
    const seen = new Set<string>();
    for (const command of around) {
      session.startTurn();
      seen.add(await tool(command));
    }
    return seen;
  }

  verifies(
    'POL-6',
    'as a rule of the configuration it opens git and no program that the line runs besides',
    async () => {
      const world = await trustedWorld();
      const runtime = await runtimeIn(world, userPolicy({ allow: ['Bash(git:*)'] }));
      const session = await runtime.startSession({
        execution: { executor: walledExecutor(), opens: false, artifacts: false },
      });
      const tools = buildSkillTools(session, runtime);
      const call = async (command: string): Promise<string> => {
        const { observations } = await tools.call('run_command', { command });
        return observations.map((each) => (each.type === 'failed' ? each.code : 'done')).join();
      };
      expect([await call('git --version'), await call('git --version && git --version')]).toEqual(['done', 'done']);
      expect([...(await results(session, call))]).toEqual(['approval/needed']);
      expect(await leftBehind(session)).toBe(false);
      await session.close();
    },
  );

  verifies(
    'POL-6',
    'as the list of a loaded skill it leaves git and nothing else, also where everything is open',
    async () => {
      const world = await worldWith({ history: 'allowed-tools: Bash(git:*)' });
      const runtime = await runtimeIn(world, OPEN);
      const session = await runtime.startSession({
        vocabulary: 'trpc',
        lifetime: 'session',
        execution: { executor: walledExecutor(), artifacts: false },
      });
      const tools = buildSkillTools(session, runtime);
      const call = async (command: string): Promise<string> => {
        const { observations } = await tools.call('skill_run', { skill: 'history', command });
        return observations.map((each) => (each.type === 'failed' ? each.code : 'done')).join();
      };
      expect(await call('git --version')).toBe('done');
      expect([...(await results(session, call))]).toEqual(['policy/denied']);
      expect(await leftBehind(session)).toBe(false);
      const own = await tools.call('skill_run', {
        skill: 'history',
        command: 'git --version',
        env: { GIT_PAGER: 'sh' },
      });
      expect(own.observations).toMatchObject([{ type: 'failed', code: 'input/invalid' }]);
      await session.close();
    },
  );

  async function leftBehind(session: Session): Promise<boolean> {
    const workspace = await session.execution?.openWorkspace();
    return existsSync(path.join(workspace?.place.root ?? '', 'work/escaped'));
  }
});

describe('input that no tool described', () => {
  test.each<readonly [string, string, unknown, string]>([
    [
      'a key twice: what is done is what was judged',
      'write_file',
      '{"path":"a.md","path":".git/hooks/x","content":"x"}',
      'policy/denied',
    ],
    ['a key more does not approve', 'write_file', { path: '.git/x', content: 'x', approved: true }, 'policy/denied'],
    [
      'a prototype does not approve',
      'write_file',
      '{"path":".git/x","content":"x","__proto__":{"approved":true}}',
      'policy/denied',
    ],
    ['a wrong type', 'write_file', { path: ['a.md'], content: { x: 1 } }, 'input/invalid'],
    ['too long a text', 'write_file', { path: 'a.md', content: 'x'.repeat(1_000_001) }, 'input/invalid'],
    [
      'too many arguments',
      'run_script',
      { skill: 'demo', relative_path: 'go.sh', args: Array.from({ length: 1_001 }, () => 'x') },
      'input/invalid',
    ],
    ['no JSON', 'write_file', '{"path":', 'input/invalid'],
    ['a path above', 'write_file', { path: '../a.md', content: 'x' }, 'path/parent'],
    ['a path elsewhere', 'write_file', { path: '/tmp/a.md', content: 'x' }, 'path/outside'],
    [
      'a script elsewhere',
      'run_script',
      { skill: 'demo', relative_path: '../../../../bin/id', args: [] },
      'path/parent',
    ],
    ['a skill that is a path', 'run_script', { skill: '../demo', relative_path: 'go.sh', args: [] }, 'skill/unknown'],
  ])('%s', async (_, tool, input, code) => {
    const world = await trustedWorld();
    const runtime = await runtimeIn(world, OPEN);
    const execution = { executor: walledExecutor(), artifacts: false } as const;
    const session = await runtime.startSession({ vocabulary: 'skills-agent', host: {}, execution });
    const { value, isError } = await buildSkillTools(session, runtime).call(tool, input);
    expect([isError, value]).toMatchObject([true, { ok: false, error: { code } }]);
    expect(existsSync(path.join(world.project, 'a.md'))).toBe(false);
    await session.close();
  });

  test('an unknown tool is reported to the model and does not end the loop', async () => {
    const world = await trustedWorld();
    const runtime = await runtimeIn(world, OPEN);
    const tools = buildSkillTools(await runtime.startSession({ vocabulary: 'skills-agent', host: {} }), runtime);
    expect(await tools.call('run_script', {})).toMatchObject({
      value: {
        error: {
          message: 'run_script is not available: the executor is not configured (pass `execution` or --executor)',
        },
      },
      isError: true,
    });
    for (const name of ['write_fil', 'constructor', '__proto__', ''])
      expect(await tools.call(name, {})).toMatchObject({
        value: {
          ok: false,
          error: { code: 'input/invalid', message: `there is no tool called ${JSON.stringify(name)}` },
        },
        isError: true,
        isTerminal: false,
        observations: [],
      });
  });
});
