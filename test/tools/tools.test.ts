import { describe, expect, test } from 'vitest';

import type { Action } from '../../src/core/action.ts';
import { failure } from '../../src/core/failure-codes.ts';
import type { ActionFailed } from '../../src/core/observation.ts';
import { skillsAgent } from '../../src/tools/actions.ts';
import { native } from '../../src/tools/native.ts';
import { buildTools, whyNotOffered } from '../../src/tools/tools.ts';
import { VOCABULARIES } from '../../src/tools/vocabularies.ts';
import { verifies } from '../conformance/verifies.ts';
import { LOADED, OFFER, failed, fake } from './fake-runtime.ts';

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => `skill-${String(place)}`);

describe('what is offered', () => {
  verifies('TOOL-5', 'names of skills are an enum up to 256 of them', () => {
    for (const vocabulary of Object.values(VOCABULARIES)) {
      const enums = (count: number): readonly unknown[] =>
        fake(vocabulary, {}, { skills: names(count) }).tools.flatMap(({ inputSchema }) =>
          [...JSON.stringify(inputSchema).matchAll(/"enum":(\[[^\]]*\])/g)].map(
            ([, list = '']) => JSON.parse(list).length,
          ),
        );
      const ofModes = enums(257);
      expect(enums(256).filter((length) => length === 256).length).toBeGreaterThan(0);
      expect(ofModes.filter((length) => length !== 3)).toEqual([]);
    }
  });

  verifies('TOOL-5', 'where there are no skills there are no tools and no guidance', () => {
    for (const vocabulary of Object.values(VOCABULARIES)) {
      // They answer without skills, too: with an empty list, or that there is no such skill.
      const always: Readonly<Record<string, readonly string[]>> = {
        openseed: [
          'search_skills',
          'load_skill',
          'load_skill_asset',
          'get_skill_script_path',
          'list_skill_assets',
          'list_skills',
        ],
        manusx: ['skill_request'],
        trpc: ['skill_load', 'skill_select_docs', 'skill_list_docs'],
      };
      const still = always[vocabulary.name] ?? [];
      expect(fake(vocabulary, {}, { skills: [] }).tools.map(({ name }) => name)).toEqual(still);
      expect(vocabulary.guidance([], { ...OFFER, skills: [] })).toBe('');
    }
  });

  test('a shell needs no skill', () => {
    const shells = { openseed: ['run_shell_command'], manusx: ['shell_exec', 'file_write'], trpc: ['skill_run'] };
    for (const [name, tools] of Object.entries(shells)) {
      const vocabulary = Object.values(VOCABULARIES).find((one) => one.name === name) ?? native;
      const offered = fake(vocabulary, {}, { skills: [], execution: { hasInteraction: true } }).tools;
      expect(offered.map((tool) => tool.name)).toEqual(expect.arrayContaining(tools));
      expect(whyNotOffered(tools[0] ?? '', vocabulary, { ...OFFER, skills: [] })).toContain(
        'the executor is not configured',
      );
    }
  });

  verifies('TOOL-5', 'a tool is offered whose row says that it can work', () => {
    for (const vocabulary of Object.values(VOCABULARIES)) {
      const offered = fake(
        vocabulary,
        {},
        { execution: { hasInteraction: true }, host: { hasNetwork: true } },
      ).tools.map(({ name }) => name);
      // A path on the host is of no use to programs in the workspace.
      const rows = vocabulary.tools.map(({ name }) => name).filter((name) => name !== 'get_script_path');
      expect(offered).toEqual(rows);
      expect(fake(vocabulary).tools.some(({ name }) => name === 'get_script_path')).toBe(vocabulary === native);
    }
  });
});

describe('a call', () => {
  verifies('TOOL-5', 'execute gives the value, call all there is to know', async () => {
    const [search] = fake(native).tools;
    const input = { query: 'forms' };
    const answer = await search?.call(input);
    expect(await search?.execute(input)).toEqual(answer?.value);
    expect(answer).toMatchObject({ isError: false, isTerminal: false, observations: [{ type: 'skills-found' }] });
    expect(answer?.text).toBe(JSON.stringify(answer?.value));
  });

  test('passes its signal on and stops between actions once it is aborted', async () => {
    const controller = new AbortController();
    const seen: (readonly [Action, AbortSignal | undefined])[] = [];
    const {
      tools: [select],
    } = buildTools({
      vocabulary: skillsAgent,
      offer: OFFER,
      perform: async (action, { signal }) => {
        seen.push([action, signal]);
        controller.abort(new Error('enough'));
        return LOADED;
      },
    });
    const call = select?.call({ skills: ['pdf', 'csv'] }, { signal: controller.signal });
    await expect(call).rejects.toThrow('enough');
    expect(seen).toEqual([[{ type: 'load_skill', skill: 'pdf' }, controller.signal]]);
  });

  verifies('TOOL-6', 'a call that is refused before it is an action is counted like a failed one', async () => {
    const counted: ActionFailed[] = [];
    const { find } = buildTools({
      vocabulary: native,
      offer: OFFER,
      perform: async ({ type }) => failed(type),
      fail: (observation) => {
        counted.push(observation);
        return { ...observation, isTerminal: counted.length === 2 };
      },
    });
    const read = find('read_resource');
    expect((await read?.call({ skill: 'pdf' }))?.isTerminal).toBe(false);
    const last = await read?.call('{"skill": ');
    expect(last).toMatchObject({ isError: true, isTerminal: true });
    expect(last?.text).toContain('this failure occurred several times in a row');
    expect(counted.map(({ action, code }) => [action, code])).toEqual([
      ['read_resource', 'input/invalid'],
      ['read_resource', 'input/invalid'],
    ]);
  });

  test('an observation of another action is a bug and flies', async () => {
    const { call } = fake(native, { get_script_path: () => LOADED });
    await expect(call('get_script_path', { skill: 'pdf', script: 'x' })).rejects.toThrow(TypeError);
  });
});

test('unknown parameters are ignored with a note in the text and none in the value', async () => {
  const { call } = fake(VOCABULARIES['skills-agent']);
  const note = 'ignored unknown parameters: "confidence"';
  const answer = await call('final_answer', { answer: 'ok', confidence: 1 });
  expect([answer.value, JSON.parse(answer.text)]).toEqual([
    { ok: true, answer: 'ok' },
    { ok: true, answer: 'ok', note },
  ]);
  const own = fake(VOCABULARIES.skillwright);
  const { value, text } = await own.call('get_script_path', { skill: 'pdf', script: 'fill.py', confidence: 1 });
  expect([value, text]).toEqual(['/skills/pdf/scripts/fill.py', `/skills/pdf/scripts/fill.py\n\n[note] ${note}`]);
  const list = await fake(VOCABULARIES.openseed).call('list_skills', { confidence: 1 });
  expect(JSON.parse(list.text)).toEqual(list.value);
});

describe('the words of a decision', () => {
  test.each([
    [
      'openseed',
      'run_shell_command',
      'run_command is not allowed because it is not in allowed-tools of skill (a)',
      'run_shell_command is not allowed because',
    ],
    [
      'trpc',
      'workspace_exec',
      'host_input needs approval by default',
      'a host:// input of workspace_exec needs approval by default',
    ],
    ['manusx', 'shell_exec', 'a person refused run_command: "no"', 'a person refused shell_exec: "no"'],
  ] as const)('%s: %s', async (vocabulary, tool, message, shown) => {
    const denied = (): ActionFailed => failed('run_command', failure('policy/denied', message));
    const { call } = fake(VOCABULARIES[vocabulary], { run_command: denied }, { execution: { hasInteraction: true } });
    const { text } = await call(tool, { command: 'true' });
    expect(text.replaceAll('\\"', '"')).toContain(shown);
    expect(text).not.toMatch(/run_command|host_input/);
  });
});
