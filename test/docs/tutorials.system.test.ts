import { LLMock } from '@copilotkit/aimock';
import { describe, expect, onTestFinished, test } from 'vitest';

import { freePort, openPostgres } from '../fleet/postgres.ts';
import { prepareRecordedAgent } from './recorded-agent.ts';
import { installPackages, wrongCommands, type PageOptions } from './run-page.ts';
import { needs } from '../needs.ts';

async function expectTutorial(name: string, options?: PageOptions): Promise<void> {
  expect(await wrongCommands(`docs/tutorials/${name}`, `docs/zh/tutorials/${name}`, options)).toEqual([]);
}

describe('tutorials: each command prints what the page shows', needs('python3 with pty', 'bubblewrap'), () => {
  test.each(['first-skill.md', 'safe-skills.md', 'prove-it-helps.md'])('%s', (name) => expectTutorial(name), 600_000);

  test('learn-from-use.md, with recorded sessions and a program in place of the agent', async () => {
    await expectTutorial('learn-from-use.md', { prepare: prepareRecordedAgent, env: { ANTHROPIC_API_KEY: 'none' } });
  }, 600_000);

  test('own-agent.md, with a server that speaks the protocols of the vendors', async () => {
    const server = new LLMock({ port: 0, strict: true });
    await server.start();
    onTestFinished(() => server.stop());
    const call = { name: 'load_skill', arguments: JSON.stringify({ skill: 'text-diff' }), id: 'call-1' };
    server.on({ turnIndex: 0 }, { toolCalls: [call] });
    server.on(
      { turnIndex: 1, toolResultContains: 'scripts/diff.mjs' },
      { content: 'Run scripts/diff.mjs of the skill text-diff.' },
    );
    await expectTutorial('own-agent.md', {
      prepare: installPackages,
      env: {
        OPENAI_BASE_URL: `${server.url}/v1`,
        OPENAI_API_KEY: 'none',
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: 'none',
      },
    });
  }, 600_000);

  test('team.md, with PostgreSQL', { ...needs('postgresql'), timeout: 600_000 }, async () => {
    const postgres = await openPostgres();
    onTestFinished(() => postgres.close());
    await expectTutorial('team.md', {
      prepare: installPackages,
      replace: ['8787', String(await freePort())],
      env: { SKILLWRIGHT_DATABASE_URL: postgres.url },
    });
  });
});
