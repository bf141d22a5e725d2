/** The figures of the first request of a run, counted on what a server receives. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { runAgent } from '../../src/agent/agent.ts';
import { requestCost } from '../../src/agent/request-cost.ts';
import { isObject } from '../../src/core/json/json-schema.ts';
import { estimateTokens } from '../../src/core/tokens.ts';
import { openModel } from '../../src/model/auto.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { projectText } from '../../src/project/project-text.ts';
import { VOCABULARY_NAMES, type VocabularyName } from '../../src/core/vocabulary-names.ts';
import { PROJECT } from '../files-below.ts';
import { sendJson, serve } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { eventsOf, ofType } from './support.ts';

const REQUEST = 'What is in this CSV file?';

/** The body that a provider receives first, of a run over the three built-in skills with programs and project files. */
async function firstBody(
  vocabulary: VocabularyName,
  provider: 'anthropic' | 'openai-compatible',
  { execution = true, host = true, request = REQUEST, facts = undefined as string | undefined } = {},
): Promise<{ readonly body: unknown; readonly counted: number; readonly recorded: number }> {
  const server = await serve((response) => sendJson(response, { error: { message: 'enough' } }, 400));
  try {
    const cwd = path.join(scratch(), 'project');
    mkdirSync(cwd, { recursive: true });
    const runtime = await createRuntime({
      cwd,
      home: undefined,
      env: {},
      roots: [path.join(PROJECT, 'skills')],
      onlyRoots: true,
      cache: false,
    });
    const result = await runAgent({
      runtime,
      model: await openModel({ provider, model: 'm', baseUrl: server.url, apiKey: 'key-12345678' }),
      request,
      vocabulary,
      projectInstructions: facts,
      run: {
        ...(execution ? { execution: { executor: 'local', artifacts: false } } : {}),
        ...(host ? { host: {} } : {}),
      },
    });
    const session = await runtime.startSession({
      vocabulary,
      ...(execution ? { execution: { executor: 'local' } } : {}),
    });
    const recorded = ofType(eventsOf(result), 'model-call')[0]?.tokens ?? 0;
    const variant = requestCost(session).variants.find((one) => one.execution === execution && one.host === host);
    const counted = variant?.tokens ?? 0;
    return { body: server.requests[0]?.body, counted, recorded };
  } finally {
    await server.close();
  }
}

test.each([
  ['skillwright', 2_000],
  ['trpc', 2_500],
] as const)('the first request of a run with %s has at most %i tokens', async (vocabulary, most) => {
  for (const provider of ['anthropic', 'openai-compatible'] as const) {
    const { body, counted, recorded } = await firstBody(vocabulary, provider);
    const sent = estimateTokens(JSON.stringify(body));
    expect(sent).toBeGreaterThan(1_000);
    expect(sent).toBeLessThanOrEqual(most);
    // `cost` and the record of the run count the same request, up to its envelope.
    expect(Math.abs(counted - recorded)).toBeLessThanOrEqual(20);
    expect(Math.abs(sent - recorded) / sent).toBeLessThan(0.1);
  }
});

test('with path, system, git state and first level of the project, it has at most 2,000 tokens', async () => {
  const facts = projectText(PROJECT, { home: undefined, env: {}, hasInstructions: false });
  expect(facts).toContain('package.json');
  for (const provider of ['anthropic', 'openai-compatible'] as const) {
    const { body } = await firstBody('skillwright', provider, { facts });
    expect(JSON.stringify(body)).toContain('The project you work in');
    expect(estimateTokens(JSON.stringify(body))).toBeLessThanOrEqual(2_000);
  }
});

const WITHOUT = [
  [true, false],
  [false, true],
  [false, false],
] as const;

test.each([
  ...(['skillwright', 'trpc'] as const).flatMap((name) => WITHOUT.map((features) => [name, ...features] as const)),
  ...VOCABULARY_NAMES.slice(1).map((name) => [name, true, true] as const),
])('cost counts what a run with %s sends, execution %s, project files %s', async (vocabulary, execution, host) => {
  const { body, counted, recorded } = await firstBody(vocabulary, 'openai-compatible', { execution, host });
  const sent = estimateTokens(JSON.stringify(body));
  expect(Math.abs(counted - recorded)).toBeLessThanOrEqual(20);
  expect(Math.abs(sent - recorded) / sent).toBeLessThan(0.15);
});

const namesIn = (body: unknown): readonly unknown[] => {
  const tools = isObject(body) && Array.isArray(body['tools']) ? body['tools'] : [];
  return tools.map((tool: unknown) => (isObject(tool) ? tool['name'] : undefined));
};

test('only tools that the first request needs are sent', async () => {
  const { body } = await firstBody('skillwright', 'anthropic');
  expect(namesIn(body)).toEqual([
    'search_skills',
    'load_skill',
    'list_resources',
    'read_resource',
    'run_script',
    'run_command',
    'read_file',
    'list_files',
    'search_files',
    'write_file',
    'edit_file',
    'delete_file',
  ]);
});

test.each([
  ['Read a.csv, then write a summary.', true],
  ['- count the rows\n- find the missing values', true],
  ['先统计行数，然后写报告', true],
  ['word '.repeat(60), true],
  ['add a test for src/x and make it pass', false],
  ['这个文件里有什么？', false],
])('the tool for the plan is sent where there is something to plan: %s', async (request, isSent) => {
  const { body } = await firstBody('skillwright', 'anthropic', { request });
  expect(namesIn(body).includes('update_plan')).toBe(isSent);
});
