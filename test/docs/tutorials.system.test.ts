import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { describe, expect, onTestFinished, test } from 'vitest';

import { missingTerminal } from '../cli/pseudo-terminal.ts';
import { PROJECT } from '../files-below.ts';
import { hasBubblewrap } from '../sandbox/sandbox.ts';
import { POSTGRES, freePort, openPostgres } from '../server/fleet/postgres.ts';
import { installPackages, runSteps } from './run-page.ts';
import type { PageOptions } from './run-page.ts';
import { readSteps, rewritten, withFences, wrongOutputs } from './shown-commands.ts';

const missing = missingTerminal();

async function expectTutorial(name: string, options?: PageOptions): Promise<void> {
  const file = path.join(PROJECT, 'docs/tutorials', name);
  const page = readFileSync(file, 'utf8');
  const steps = readSteps(page);
  const results = await runSteps(steps, options);
  if (process.env['UPDATE_DOCS'] === '1') {
    const today = rewritten(page, steps, results);
    const translation = file.replace('tutorials', 'zh/tutorials');
    writeFileSync(file, today);
    writeFileSync(translation, withFences(readFileSync(translation, 'utf8'), today));
  }
  expect(wrongOutputs(readSteps(readFileSync(file, 'utf8')), results)).toEqual([]);
}

if (missing !== undefined) console.log(`skipped: runs of the tutorials, because ${missing}`);

describe.skipIf(missing !== undefined || !hasBubblewrap())('tutorials: each command prints what the page shows', () => {
  test.each(['first-skill.md', 'safe-skills.md', 'prove-it-helps.md'])('%s', (name) => expectTutorial(name), 600_000);

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

  test.skipIf(POSTGRES === undefined)(
    'team.md, with PostgreSQL',
    async () => {
      const postgres = await openPostgres();
      onTestFinished(() => postgres.close());
      await expectTutorial('team.md', {
        prepare: installPackages,
        replace: ['8787', String(await freePort())],
        env: { SKILLWRIGHT_DATABASE_URL: postgres.url },
      });
    },
    600_000,
  );
});
