import { describe, expect, test } from 'vitest';

import { verifyRun } from '../../src/journal/verify.ts';
import { acting, allText, eventsOf, ofType, played, world, type Line } from './support.ts';

const TEN_MEGABYTES = 10 * 1024 * 1024;
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('malformed answers', () => {
  test.each<readonly [string, Line, toolCalls: number]>([
    ['ten megabytes of prose', { text: 'x'.repeat(TEN_MEGABYTES) }, 0],
    ['an object of ten megabytes', acting('final_answer', { answer: 'x'.repeat(TEN_MEGABYTES) }), 0],
    ['a hundred thousand brackets', { text: `{"action": ${deep(100_000)}}` }, 0],
    ['two objects and noise', { text: 'Sure!\n```json\n{"plan": 1}\n```\n{"action": 2}' }, 0],
    ['an action without a payload', { text: '{"action": {"type": "select_skills"}}' }, 1],
    ['a list of actions', { text: '{"action": [{"type": "final_answer"}]}' }, 0],
    ['an answer without content', acting('final_answer', { answer: '  ' }), 1],
    ['nothing', { text: '' }, 0],
  ])('%s: asked for again, and what is sent back is short', async (_name, line, toolCalls) => {
    const { agent } = await world();
    const model = played([line, acting('final_answer', { answer: 'ok' })]);
    const result = await agent({ model, protocol: 'actions', budget: { tokens: 100_000_000 } });
    expect(result).toMatchObject({ outcome: 'done', answer: 'ok', used: { turns: 2, toolCalls } });
    expect(allText(model.requests[1] ?? expect.fail()).length).toBeLessThan(60_000);
    expect(verifyRun(result.path ?? '').status).toBe('intact');
  });

  test.each<readonly [string, string, unknown]>([
    ['ten megabytes of input', 'load_skill', { skill: 'x'.repeat(TEN_MEGABYTES) }],
    ['input that is no JSON', 'load_skill', '{"skill": report}'],
    ['input as deep as it goes', 'update_plan', `{"steps": ${deep(100_000)}}`],
    ['a path that leaves the skill', 'read_resource', { skill: 'report', path: '../other/SKILL.md' }],
    ['a tool of nobody', '__proto__', {}],
  ])('%s: the call is answered, nothing is done, and the run goes on', async (_name, tool, input) => {
    const { agent } = await world();
    const model = played([{ calls: [[tool, input]] }, { text: 'ok' }]);
    const result = await agent({ model, budget: { tokens: 100_000_000 } });
    expect(result).toMatchObject({ outcome: 'done', answer: 'ok' });
    const worked = ofType(eventsOf(result), 'observation').filter(({ observation: { type } }) => type !== 'failed');
    expect(worked.map(({ observation: { type } }) => type)).toEqual(['answered']);
    const sent = model.requests[1]?.messages.find(({ role }) => role === 'assistant');
    expect(JSON.stringify(sent).length).toBeLessThan(300_000);
    expect(verifyRun(result.path ?? '').status).toBe('intact');
  });

  test('the same call again and again is done five times, and no more', async () => {
    const { agent } = await world();
    const model = played(
      Array.from({ length: 12 }, () => ({ calls: [['search_skills', { query: 'report' }]] }) as const),
    );
    expect(await agent({ model })).toMatchObject({ outcome: 'failed', used: { turns: 5, toolCalls: 5 } });
  });
});
