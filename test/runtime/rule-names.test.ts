import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { pocket } from '../../examples/fifth-vocabulary.ts';
import type { Vocabulary } from '../../src/core/tool.ts';
import { decide } from '../../src/policy/policy.ts';
import { VOCABULARIES } from '../../src/tools/vocabularies.ts';
import { explainPolicy } from '../../src/runtime/explain-policy.ts';
import { buildSkillTools } from '../../src/runtime/skill-tools.ts';
import { verifies } from '../conformance/verifies.ts';
import { layerOf, policyOf, type Written } from '../policy/policy-support.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { runtimeOver } from './support.ts';

/** Calls that find, load and read the skill `a`, in every vocabulary. */
const CALLS: readonly (readonly [vocabulary: keyof typeof VOCABULARIES, tool: string, input: object])[] = [
  ['skillwright', 'search_skills', { query: 'a' }],
  ['skillwright', 'load_skill', { skill: 'a' }],
  ['skillwright', 'list_resources', { skill: 'a' }],
  ['skillwright', 'read_resource', { skill: 'a', path: 'references/r.md' }],
  ['skillwright', 'get_script_path', { skill: 'a', script: 'x.sh' }],
  ['openseed', 'search_skills', { query: 'a' }],
  ['openseed', 'list_skills', {}],
  ['openseed', 'load_skill', { skill_name: 'a' }],
  ['openseed', 'load_skill_asset', { skill_name: 'a', relative_path: 'references/r.md' }],
  ['openseed', 'list_skill_assets', { skill_name: 'a' }],
  ['openseed', 'get_skill_script_path', { skill_name: 'a', script_name: 'x.sh' }],
  ['trpc', 'skill_load', { skill: 'a' }],
  ['trpc', 'skill_select_docs', { skill: 'a', docs: ['references/r.md'] }],
  ['trpc', 'skill_list_docs', { skill: 'a' }],
  ['manusx', 'skill_request', { skill_name: 'a' }],
  ['manusx', 'file_read', { file: 'a/references/r.md' }],
  ['skills-agent', 'select_skills', { skills: ['a'] }],
  ['skills-agent', 'load_resource', { skill: 'a', relative_path: 'references/r.md' }],
  ['skills-agent', 'read_file', { path: 'a/references/r.md' }],
  ['skills-agent', 'list_dir', { path: 'a' }],
];

const LOADED: ReadonlySet<string> = new Set(['read_file', 'list_dir']);

function writeA(): string {
  const root = scratch();
  writeSkill(path.join(root, 'a'), {
    name: 'a',
    description: 'Does a. Use it for a.',
    fields: ['allowed-tools: run_script'],
  });
  mkdirSync(path.join(root, 'a/references'));
  mkdirSync(path.join(root, 'a/scripts'));
  writeFileSync(path.join(root, 'a/references/r.md'), 'needle\n');
  writeFileSync(path.join(root, 'a/scripts/x.sh'), 'echo\n');
  writeFileSync(path.join(root, 'plain.txt'), 'needle\n');
  return root;
}

async function toolsUnder(config: object, vocabulary: keyof typeof VOCABULARIES | Vocabulary, root = writeA()) {
  const runtime = await runtimeOver(root, config);
  const session = await runtime.startSession({ vocabulary, host: {} });
  return buildSkillTools(session, runtime);
}

/** The codes of the failures, or `done`. */
async function outcomes(config: object, calls = CALLS): Promise<readonly string[]> {
  const root = writeA();
  const results: string[] = [];
  for (const [vocabulary, tool, input] of calls) {
    const { call } = await toolsUnder(config, vocabulary, root);
    // The tools for files read those of loaded skills only.
    if (LOADED.has(tool)) await call('select_skills', { skills: ['a'] });
    const { observations } = await call(tool, input);
    const failed = observations.find((one) => one.type === 'failed');
    results.push(`${tool} ${failed?.code ?? (observations.length > 0 ? 'done' : 'nothing')}`);
  }
  return results;
}

const expected = (code: string, calls = CALLS): readonly string[] => calls.map(([, tool]) => `${tool} ${code}`);

describe('a rule with the name of a tool', () => {
  test('is not needed to find, load and read skills', async () => {
    expect(await outcomes({ policy: { default: { low: 'deny', high: 'deny' } } })).toEqual(expected('done'));
  });

  verifies(
    'POL-2',
    'denies, and asks about, each tool of each vocabulary that finds, loads and reads skills',
    async () => {
      for (const one of CALLS) {
        const [, tool] = one;
        expect(await outcomes({ policy: { deny: [tool] } }, [one])).toEqual([`${tool} policy/denied`]);
        expect(await outcomes({ execution: { require_approval_for: [tool] } }, [one])).toEqual([
          `${tool} approval/needed`,
        ]);
      }
    },
  );

  test('covers every action that a tool of a vocabulary may do', () => {
    const missing = Object.values(VOCABULARIES).flatMap(({ tools }) =>
      tools.flatMap(({ name, action }) => {
        const tool = { start_command: 'run_command', edit_file: 'write_file' }[action as string] ?? action;
        const accesses = [{ tool, subject: { kind: 'none' } }] as const;
        return decide(policyOf({ deny: [name] }), accesses).effect === 'deny' ? [] : [name];
      }),
    );
    expect(missing).toEqual([]);
  });

  test('with a star reaches the tools whose names match, and `*` every tool but the answer', async () => {
    // Where no skill can be loaded, the tools for files read none.
    expect(await outcomes({ policy: { deny: ['*'] } })).toEqual(
      CALLS.map(([, tool]) => `${tool} ${LOADED.has(tool) ? 'skill/not-loaded' : 'policy/denied'}`),
    );
    const trpc = CALLS.filter(([vocabulary]) => vocabulary === 'trpc');
    expect(await outcomes({ policy: { deny: ['skill_*'] } }, trpc)).toEqual(expected('policy/denied', trpc));
    const { call } = await toolsUnder({ policy: { deny: ['*'] } }, 'skills-agent');
    expect((await call('final_answer', { answer: 'x' })).value).toEqual({ ok: true, answer: 'x' });
  });

  test('`Read` and `read_file` reach the files of skills, and a path names them in each of its spellings', async () => {
    const reads = CALLS.filter(([, tool]) =>
      ['read_resource', 'load_skill_asset', 'file_read', 'load_resource', 'read_file'].includes(tool),
    );
    for (const rule of [
      'Read',
      'read_file',
      'read_file(a/references/**)',
      'read_file(**/R.md)',
      'Read(r.md)',
      'read_file(skill://a/**)',
      'load_resource(a/references/r.md)',
    ])
      expect(await outcomes({ policy: { deny: [rule] } }, reads)).toEqual(expected('policy/denied', reads));
    expect(await outcomes({ policy: { deny: ['read_file(a/scripts/**)', 'Read(b/**)'] } }, reads)).toEqual(
      expected('done', reads),
    );
    const lists = CALLS.filter(([, , input]) => JSON.stringify(input) === '{"path":"a"}');
    expect(await outcomes({ policy: { deny: ['list_dir(a/**)'] } }, lists)).toEqual(expected('policy/denied', lists));
  });

  test('reaches documents by every tool that shows them', async () => {
    const config = { policy: { deny: ['read_file(a/references/r.md)'] } };
    const { call } = await toolsUnder(config, 'trpc');
    const denied = [
      await call('skill_load', { skill: 'a', docs: ['./references/r.md'] }),
      await call('skill_load', { skill: 'a', include_all_docs: true }),
      await call('skill_select_docs', { skill: 'a', docs: ['references/r.md'] }),
    ].map(({ isError }) => isError);
    expect(denied).toEqual([true, true, true]);
    expect((await call('skill_load', { skill: 'a' })).isError).toBe(false);
  });

  test('is one of a vocabulary of the program, too', async () => {
    const calls = [
      ['use', { skill: 'a' }],
      ['open', { file: 'a/references/r.md' }],
    ] as const;
    const { runtime } = await toolsUnder({}, pocket);
    const results = [];
    for (const [tool, input] of calls) {
      const session = await runtime.startSession({ vocabulary: pocket, policy: { deny: [tool] } });
      const { isError, text } = await buildSkillTools(session, runtime).call(tool, input);
      results.push([isError, text.includes(`by the rule "${tool}" of run`)]);
    }
    expect(results).toEqual([
      [true, true],
      [true, true],
    ]);
  });
});

describe('files of a loaded skill', () => {
  test('stay readable by every tool whatever `allowed-tools` says, and rules reach them by every tool', async () => {
    const root = writeA();
    writeSkill(path.join(root, 'b'), { name: 'b', description: 'Does b.' });
    const calls = [
      ['read_file', { path: 'a/references/r.md' }],
      ['read_file', { path: './a/references/r.md' }],
      ['read_file', { path: 'skill://a/references/r.md' }],
      ['list_dir', { path: 'a' }],
      ['grep', { pattern: 'needle', path: 'skill://a/' }],
      ['grep', { pattern: 'needle', path: 'a' }],
      ['read_file', { path: 'plain.txt' }],
      ['grep', { pattern: 'needle' }],
      ['read_file', { path: 'b/SKILL.md' }],
      ['list_dir', { path: 'b' }],
      ['grep', { pattern: 'b', path: 'b' }],
    ] as const;
    const results = async (written: Written): Promise<readonly boolean[]> => {
      const { call } = await toolsUnder({ policy: written }, 'skills-agent', root);
      expect((await call('select_skills', { skills: ['a'] })).isError).toBe(false);
      const answers = [];
      for (const [tool, input] of calls) answers.push(await call(tool, input));
      return answers.map(({ isError, text }) => !isError && text !== '' && !text.includes('"matches":[]'));
    };
    expect(await results({})).toEqual([...Array(6).fill(true), ...Array(5).fill(false)]);
    expect(await results({ deny: ['load_resource', 'skill_list_docs'] })).toEqual(calls.map(() => false));
    expect(await results({ deny: ['read_resource(a/references/r.md)'] })).toEqual(
      [
        [false, false, false, true],
        [false, false, false, false],
        [false, false, false],
      ].flat(),
    );
  });

  test('a skill with `allowed-tools: []` leaves the actions that load skills and answer, and no other tool', async () => {
    const root = writeA();
    writeSkill(path.join(root, 'none'), { name: 'none', description: 'Does none.', fields: ['allowed-tools: []'] });
    const { call } = await toolsUnder({}, 'skills-agent', root);
    const done = [];
    for (const [tool, input] of [
      ['select_skills', { skills: ['none'] }],
      ['load_resource', { skill: 'a', relative_path: 'references/r.md' }],
      ['read_file', { path: 'a/references/r.md' }],
      ['list_dir', { path: 'a' }],
      ['list_dir', { path: '.' }],
      ['read_file', { path: 'plain.txt' }],
      ['read_file', { path: 'none/SKILL.md' }],
      ['write_file', { path: 'x.txt', content: '' }],
      ['delete_file', { path: 'plain.txt' }],
      ['select_skills', { skills: ['a'] }],
      ['final_answer', { answer: 'x' }],
    ] as const)
      if (!(await call(tool, input)).isError) done.push(`${tool} ${JSON.stringify(input)}`);
    expect(done.map((one) => one.replace(/[{}"]/g, ''))).toEqual([
      'select_skills skills:[none]',
      'load_resource skill:a,relative_path:references/r.md',
      'read_file path:none/SKILL.md',
      'select_skills skills:[a]',
      'final_answer answer:x',
    ]);
  });
});

test('skillwright policy answers what a call does', async () => {
  const root = writeA();
  const explained = async (config: object, tool: string, subject?: string, loads = false): Promise<string> => {
    const runtime = await runtimeOver(root, config);
    const { decide: explain } = await explainPolicy(runtime, loads ? runtime.index.skills : []);
    const reach = { executor: undefined, writes: [], hosts: [] };
    const surroundings = { cwd: root, home: undefined, env: {} };
    return (await explain({ surroundings, tool, subject, reach })).effect;
  };
  const agent = { vocabulary: 'skills-agent' };
  expect([
    await explained({}, 'skill_load'),
    await explained({}, 'skill_load', 'a'),
    await explained({ policy: { deny: ['load_resource'] } }, 'load_resource'),
    await explained({ ...agent, policy: { deny: ['load_resource'] } }, 'read_file', 'a/references/r.md', true),
    await explained({ ...agent, policy: { deny: ['read_file(**/r.md)'] } }, 'load_resource', 'a/references/r.md'),
    await explained({ ...agent, policy: { deny: ['load_skill(a)'] } }, 'load_resource', 'a/references/r.md'),
    await explained({ policy: { deny: ['*'] } }, 'select_skills', 'a'),
    await explained({ policy: { deny: ['Skill(a)'] } }, 'skill_select_docs', 'a'),
    await explained(agent, 'read_file', 'a/references/r.md', true),
    await explained(agent, 'grep', 'a', true),
    await explained(agent, 'read_file', 'plain.txt', true),
    await explained({}, 'run_command', 'ls'),
    await explained({ vocabulary: 'manusx' }, 'file_write', 'x.py'),
  ]).toEqual(
    [
      ['allow', 'allow', 'deny', 'deny', 'deny', 'deny', 'deny', 'deny'],
      ['allow', 'allow', 'deny', 'ask', 'allow'],
    ].flat(),
  );
});

test('a rule with the name of another system also means a tool of the program with that name', () => {
  const accesses = [{ tool: 'WebFetch', subject: { kind: 'none' } }] as const;
  expect(layerOf({ deny: ['WebFetch'], allow: ['Read'] }).map(({ tools }) => tools)).toEqual([
    ['network_request', 'use_network', 'WebFetch'],
    ['read_file', 'list_dir', 'grep', 'Read'],
  ]);
  expect(decide(policyOf({ deny: ['WebFetch'] }), accesses).effect).toBe('deny');
});

test('`execution` of a program opens programs and the workspace that they write to, and rules still apply', async () => {
  const root = writeA();
  const effects = async (config: object): Promise<readonly string[]> => {
    const runtime = await runtimeOver(root, config);
    const session = await runtime.startSession({ execution: { executor: 'local' }, host: {} });
    const onPath = (file: string) => [{ tool: 'write_file', subject: { kind: 'path', path: file } }] as const;
    const decided = ['workspace://out/a.txt', 'a.txt'].map((file) => session.decide(onPath(file)).effect);
    await session.close();
    return decided;
  };
  expect(await effects({})).toEqual(['allow', 'ask']);
  expect(await effects({ policy: { ask: ['write_file'] } })).toEqual(['ask', 'ask']);
  expect(await effects({ policy: { deny: ['Write(workspace://**)'] } })).toEqual(['deny', 'ask']);
});

test('a path that is not one of the skill is refused before a person is asked', async () => {
  const runtime = await runtimeOver(writeA(), { policy: { ask: ['*'] } });
  const asked: string[] = [];
  const approve = ({ tool }: { readonly tool: string }) => {
    asked.push(tool);
    return false;
  };
  const session = await runtime.startSession({ execution: { executor: 'local' }, approve });
  const codes = [];
  for (const action of [
    { type: 'run_script', skill: 'a', script: '../x.sh', args: [] },
    { type: 'run_script', skill: 'a', script: '/bin/sh', args: [] },
    { type: 'run_script', skill: 'a', script: 'none.sh', args: [] },
    { type: 'read_resource', skill: 'a', path: '../plain.txt' },
    { type: 'run_script', skill: 'a', script: 'x.sh', args: [] },
  ] as const) {
    const observation = await session.perform(action);
    codes.push(observation.type === 'failed' ? observation.code : 'done');
  }
  await session.close();
  expect({ codes, asked }).toEqual({
    codes: ['path/parent', 'path/absolute', 'script/unknown', 'path/parent', 'approval/refused'],
    asked: ['run_script'],
  });
});
