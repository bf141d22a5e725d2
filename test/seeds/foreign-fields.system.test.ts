/** Fields of the frontmatter that other agents read and the systems do not know, in `run` with each vocabulary. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { VocabularyName } from '../../src/core/vocabulary-names.ts';
import { allText, eventsOf, ofType, played, world, type Line } from '../agent/support.ts';

const LOADS = {
  openseed: ['load_skill', (name: string) => ({ skill_name: name })],
  trpc: ['skill_load', (name: string) => ({ skill: name })],
  manusx: ['skill_request', (name: string) => ({ skill_name: name })],
  'skills-agent': ['select_skills', (name: string) => ({ skills: [{ name }] })],
} as const satisfies Partial<Record<VocabularyName, readonly [string, (name: string) => unknown]>>;

const load = (vocabulary: keyof typeof LOADS, name: string): Line => {
  const [tool, input] = LOADS[vocabulary];
  return { calls: [[tool, input(name)]] };
};

const skill = (field: string, body: string): { readonly fields: readonly string[]; readonly body: string } => ({
  fields: [field],
  body,
});
const SKILLS = {
  forked: skill('context: fork', 'canary-forked'),
  moded: skill('run-mode: subagent', 'canary-moded'),
  pathy: skill('paths: ["*.csv"]', 'canary-pathy'),
};

/** The tools of a record, by the names under which it has them. */
const toolsOf = (result: Parameters<typeof eventsOf>[0]): readonly string[] =>
  ofType(eventsOf(result), 'action').flatMap(({ tool, action }) =>
    action.type === 'final_answer' ? [] : [tool ?? action.type],
  );

describe.each(['openseed', 'trpc', 'manusx'] as const)('%s', (vocabulary) => {
  test('a skill with context: fork or run-mode: subagent is loaded into the conversation as any other', async () => {
    const { agent } = await world(SKILLS);
    const model = played([load(vocabulary, 'forked'), load(vocabulary, 'moded'), { text: 'ok' }]);
    const result = await agent({ model, vocabulary, protocol: 'tools' });
    expect([model.requests.length, result.outcome]).toEqual([3, 'done']);
    expect(allText(model.requests[1] ?? expect.fail())).toContain('canary-forked');
    expect(allText(model.requests[2] ?? expect.fail())).toContain('canary-moded');
    expect(ofType(eventsOf(result), 'subagent-start')).toEqual([]);
    expect(new Set(toolsOf(result))).toEqual(new Set([LOADS[vocabulary][0]]));
  });
});

test.each(['openseed', 'trpc', 'manusx'] as const)(
  '%s: a skill with paths is loaded when its model asks for it, whatever files there are',
  async (vocabulary) => {
    const { agent, project } = await world(SKILLS);
    const file = path.join(project, 'sales.csv');
    writeFileSync(file, 'x');
    const first = async (chosen: VocabularyName): Promise<boolean> => {
      const model = played([{ text: 'ok' }]);
      await agent({ model, vocabulary: chosen, protocol: 'tools', files: [file] });
      return allText(model.requests[0] ?? expect.fail()).includes('canary-pathy');
    };
    const shown = [await first('skillwright'), await first('skills-agent'), await first(vocabulary)];
    expect(shown).toEqual([true, true, false]);
  },
);

test('skills-agent: a subagent is recorded under the action that started it', async () => {
  const { agent } = await world(SKILLS);
  const model = played([load('skills-agent', 'moded'), { text: 'child' }, { text: 'ok' }]);
  const result = await agent({ model, vocabulary: 'skills-agent', protocol: 'tools' });
  expect(ofType(eventsOf(result), 'subagent-start')).toHaveLength(1);
  expect(toolsOf(result)).toEqual(['select_skills']);
});

test.each(['openseed', 'trpc', 'manusx'] as const)(
  '%s: a run offers and names the tools of the system, and update_plan for a request of several steps',
  async (vocabulary) => {
    const { agent } = await world(SKILLS);
    const offered = async (request: string): Promise<readonly (readonly string[])[]> => {
      const model = played([{ calls: [['zzz', {}]] }, { text: 'ok' }]);
      await agent({ model, vocabulary, protocol: 'tools', request });
      const [first = expect.fail(), second = expect.fail()] = model.requests;
      const [, named = ''] = /the tools are ([\w, ]+)/.exec(allText(second)) ?? [];
      return [first.tools?.map(({ name }) => name) ?? [], named.split(', ')];
    };
    const [tools = [], named] = await offered('Count the rows.');
    expect(tools).toContain(LOADS[vocabulary][0]);
    expect([tools.includes('update_plan'), tools.includes('recall_output'), named]).toEqual([false, false, tools]);
    const [more] = await offered('Count the rows, then write a report.');
    expect(more).toEqual([...tools, 'update_plan']);
  },
);
