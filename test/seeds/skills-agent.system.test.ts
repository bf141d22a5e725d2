/** The parts of the skills-agent designs that start programs or install packs. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, onTestFinished, test } from 'vitest';

import { acting, eventsOf, ofType, played, world } from '../agent/support.ts';
import { runCli } from '../cli/run-cli.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import type { RunOptions } from '../../src/runtime/start-run.ts';
import { scratch } from '../skills/registry/support.ts';
import { place } from './skills-agent-place.ts';

const SKILL = { name: 'report' };
const START = acting('select_skills', { skills: [SKILL] });
const script = (relative_path: string, args: readonly string[] = []): ReturnType<typeof acting> =>
  acting('run_script', { skill: SKILL, relative_path, args });
const ANSWER = acting('final_answer', { answer: 'done' });
const FILES = {
  report: {
    description: 'Counts rows.',
    body: '# Report\n',
    files: {
      'scripts/aggregate.sh': '#!/bin/sh\necho "aggregated $*"\n',
      'scripts/fail.sh': '#!/bin/sh\necho broken >&2\nexit 3\n',
      'scripts/slow.sh': '#!/bin/sh\nsleep 30\n',
    },
  },
};

interface Recorded {
  readonly outcome: string;
  readonly programs: readonly { readonly program: string; readonly exitCode: number | null; readonly reason: string }[];
}

function recorded(folder = ''): Recorded {
  return JSON.parse(readFileSync(path.join(folder, 'run.json'), 'utf8')) as Recorded;
}

describe('scripts by the design', () => {
  test('run.json has the exit code and the start of the output of each program', async () => {
    const { agent } = await world(FILES);
    const model = played([
      START,
      script('scripts/aggregate.sh', ['--input', '...']),
      script('scripts/fail.sh'),
      ANSWER,
    ]);
    const result = await agent({ model, protocol: 'actions' });
    expect(recorded(result.path)).toMatchObject({
      outcome: 'done',
      programs: [
        {
          tool: 'run_script',
          skill: 'report',
          program: 'scripts/aggregate.sh --input ...',
          exitCode: 0,
          reason: 'exited',
          stdout: 'aggregated --input ...\n',
          stderr: '',
        },
        { program: 'scripts/fail.sh', exitCode: 3, stderr: 'broken\n' },
      ],
    });
  });

  test('the budget of script runs and max_script_runs of the plan end a run', async () => {
    const { agent } = await world(FILES);
    const plan_update = { mode: 'patch', constraints: { max_script_runs: 1 } };
    const planned = acting('select_skills', { skills: [SKILL] }, { plan_update });
    for (const [first, budget] of [[planned, {}] as const, [START, { scriptRuns: 1 }] as const]) {
      const lines = [first, script('scripts/aggregate.sh', ['1']), script('scripts/aggregate.sh', ['2'])];
      const result = await agent({ model: played(lines), protocol: 'actions', budget });
      expect(result).toMatchObject({ outcome: 'degraded', used: { scriptRuns: 1 } });
    }
    for (const name of ['max_script_runs', 'max_tool_calls']) {
      const none = { plan_update: { mode: 'patch', constraints: { [name]: 0 } } };
      const lines = [acting('select_skills', { skills: [SKILL] }, none), script('scripts/aggregate.sh', ['1'])];
      const result = await agent({ model: played(lines), protocol: 'actions' });
      expect(result).toMatchObject({ outcome: 'degraded', used: { scriptRuns: 0 } });
      expect(result.reason).toContain('0');
    }
  });

  test('a script that does not exist is reported before approval, and uses no budget of script runs', async () => {
    const { agent } = await world(FILES);
    const lines = [START, script('scripts/agregate.sh'), script('scripts/aggregate.sh'), ANSWER];
    const asked: string[] = [];
    const approve: NonNullable<RunOptions['approve']> = async ({ action }) => {
      asked.push(action.type === 'run_script' ? action.script : action.type);
      return { verdict: 'yes', scope: 'once', by: 'callback' };
    };
    const result = await agent({
      model: played(lines),
      protocol: 'actions',
      budget: { scriptRuns: 1 },
      run: { execution: { executor: 'local', artifacts: false, opens: false }, approve },
    });
    expect(result).toMatchObject({ outcome: 'done', used: { scriptRuns: 1, toolCalls: 3 } });
    expect(asked).toEqual(['scripts/aggregate.sh']);
    const failed = ofType(eventsOf(result), 'observation').find(({ observation }) => observation.type === 'failed');
    expect(failed?.observation).toMatchObject({ code: 'script/unknown', nearest: ['scripts/aggregate.sh'] });
  });

  test('an interrupted script is recorded as interrupted', async () => {
    const { agent } = await world(FILES);
    const stop = new AbortController();
    const sinks = [
      ({ event }: { event: { type: string; action?: { type?: string } } }) => {
        if (event.type === 'action' && event.action?.type === 'run_script') setTimeout(() => stop.abort(), 1_000);
      },
    ];
    const result = await agent({
      model: played([START, script('scripts/slow.sh')]),
      protocol: 'actions',
      signal: stop.signal,
      run: { execution: { executor: 'local', artifacts: false }, sinks },
    });
    expect(result.outcome).toBe('cancelled');
    const observed = ofType(eventsOf(result), 'observation').map(({ observation }) => observation);
    const run = observed.find(({ action }) => action === 'run_script');
    expect(run).toMatchObject({ type: 'failed', code: 'run/interrupted' });
    expect(recorded(result.path).programs).toMatchObject([{ exitCode: null, reason: 'run/interrupted' }]);
  });
});

test('user-invocable: false is marked in the list, and every way to call the skill is refused alike', async () => {
  const { project } = place({
    '.agent/skills/model-only/SKILL.md': '---\nname: model-only\ndescription: x\nuser-invocable: false\n---\n\nBody\n',
    '.agent/skills/model-only/scripts/run.sh': 'echo ran\n',
  });
  await runCli(project, ['trust', '.', '--yes']);
  expect((await runCli(project, ['list'])).out).toMatch(/^ {2}model-only +project, trusted, model only {2}x$/m);
  const agent = ['--model', 'rules', '--executor', 'none'];
  for (const words of [
    ['exec', 'model-only', 'scripts/run.sh'],
    ['run', '/model-only', ...agent],
    ['run', 'x', '--skill', 'model-only', ...agent],
    ['chat', '--skill', 'model-only', ...agent],
  ]) {
    const { status, err } = await runCli(project, words);
    expect([words[0], status, err]).toEqual([
      words[0],
      3,
      expect.stringMatching(/the skill \\?"model-only\\?" cannot be invoked by a person/),
    ]);
  }
});

test('a case with input, expected and constraints passes by its skills, steps and keywords, and fails without them', async () => {
  const skill = { name: 'pdf-form-filler' };
  const select = { type: 'select_skills', skills: [skill] };
  const load = { type: 'load_resource', skill, relative_path: 'reference/kpi.md' };
  const answer = (text: string): unknown => ({ type: 'final_answer', answer: text });
  const expected = {
    skills: ['pdf-form-filler'],
    steps: ['must_occur select_skills before load_resource'],
    output: { keywords: ['完成'] },
  };
  const constraints = { max_tool_calls: 2, forbidden_tools: ['write_file'] };
  const cases = [
    { id: 'all', input: '填写表单', expected, constraints, mock: { turns: [select, load, answer('完成')] } },
    { id: 'nothing', input: '填写表单', expected, constraints, mock: { turns: [answer('不')] } },
    { id: 'no-skill', input: '你好', expected: { skills: [] }, mock: { turns: [answer('好')] } },
  ];
  const { project } = place({
    '.agent/config.json': '{"vocabulary": "skills-agent"}',
    '.agent/evals/cases.json': JSON.stringify(cases),
  });
  await runCli(project, ['trust', '.', '--yes']);
  const { out } = await runCli(project, ['eval', '.agent/evals', '--json']);
  const { results } = JSON.parse(out) as { results: { case: string; checks: { id: string; status: string }[] }[] };
  const ids = ['skills.all_of', 'actions.before[0]', 'forbid_tools[0]', 'limits.toolCalls', 'output[0]'];
  expect(results.map(({ case: name, checks }) => [name, ...checks.map(({ id, status }) => `${id} ${status}`)])).toEqual(
    [
      ['all', ...ids.map((id) => `${id} passed`)],
      ['nothing', ...ids.map((id) => `${id} ${/forbid|limits/.test(id) ? 'passed' : 'failed'}`)],
      ['no-skill', 'skills.only passed'],
    ],
  );
});

test('a write is of high risk in a repository too, and no flag that answers for edits approves it', async () => {
  const project = scratch();
  const file = path.join(project, 'a.txt');
  writeFileSync(file, 'one\n');
  for (const words of [['init'], ['add', 'a.txt']])
    execFileSync('git', words, { cwd: project, stdio: 'ignore', env: { ...process.env, HOME: project } });
  const turns = [
    { type: 'write_file', path: 'a.txt', content: 'two\n' },
    { type: 'final_answer', answer: 'ok' },
  ];
  writeFileSync(path.join(project, 'turns.json'), JSON.stringify({ turns }));
  const run = (...words: readonly string[]): ReturnType<typeof runCli> =>
    runCli(project, ['run', 'x', '--model', 'scripted:turns.json', '--executor', 'none', ...words]);
  for (const answer of [['--yes'], ['--accept', 'edits'], ['--project', 'write', '--yes']]) {
    const { status, err } = await run('--vocabulary', 'skills-agent', ...answer);
    expect([status, /write_file a\.txt .*high risk/.test(err), readFileSync(file, 'utf8')]).toEqual([3, true, 'one\n']);
    expect(err.includes('warning: --accept edits has no effect')).toBe(answer.includes('--accept'));
  }
  mkdirSync(path.join(project, '.agent'), { recursive: true });
  writeFileSync(path.join(project, '.agent/config.json'), '{"vocabulary": "skills-agent"}');
  expect([(await run('--yes')).status, readFileSync(file, 'utf8')]).toEqual([3, 'one\n']);
});

test('a file in work/ of the workspace is written without a question', async () => {
  const { runtime } = place({ '.agent/skills/a/SKILL.md': '---\nname: a\ndescription: x\n---\n' });
  const execution = { executor: 'local', artifacts: false } as const;
  const { call, session } = await openSkillTools({
    vocabulary: 'skills-agent',
    runtime: await runtime(),
    execution,
    host: {},
  });
  onTestFinished(() => session.close());
  const write = async (to: string): Promise<unknown> => (await call('write_file', { path: to, content: 'x' })).value;
  expect(await write('workspace://work/n.txt')).toMatchObject({ ok: true, bytes: 1 });
  expect(await write('n.txt')).toMatchObject({ ok: false, error: { code: 'approval/needed' } });
});

describe('packs by the design', () => {
  test('a folder without SKILL.md is reported, one without a description is refused, the rest is installed', async () => {
    const project = scratch();
    mkdirSync(path.join(project, '.agent/skills'), { recursive: true });
    const pack = path.join(project, 'skills-pack.zip');
    const head = (name: string, more: string): Uint8Array => strToU8(`---\nname: ${name}\n${more}---\n\nBody\n`);
    writeFileSync(
      pack,
      zipSync({
        'skill-one/SKILL.md': head('skill-one', 'description: One.\n'),
        'skill-two/SKILL.md': head('skill-two', ''),
        'skill-three/readme.txt': strToU8('x'),
      }),
    );
    const verified = await runCli(project, ['verify', pack, '--lenient']);
    expect(verified.out).toContain('left out skill-three/: it has no SKILL.md');
    expect(verified.out).toMatch(/skill-one {2}- {2}sha256-tree:[0-9a-f]{64}/);
    const installed = await runCli(project, ['install', pack, '--yes', '--json']);
    expect(installed.out).toContain('description');
    const { out } = await runCli(project, ['verify', '--json']);
    const { skills } = JSON.parse(out) as { skills: { name: string; status: string }[] };
    expect(skills.map(({ name, status }) => [name, status])).toEqual([['skill-one', 'same']]);
    const removed = await runCli(project, ['uninstall', 'skill-one', '--source', 'project', '--yes']);
    expect(removed.status).toBe(0);
  });

  test('a SKILL.md at the top of a pack, or in a deeper folder, is installed by its name', async () => {
    const project = scratch();
    const pack = path.join(project, 'pack.zip');
    const skill = strToU8('---\nname: pack-name\ndescription: One.\n---\n\nBody\n');
    for (const place of ['SKILL.md', 'group/deep/other/SKILL.md']) {
      writeFileSync(pack, zipSync({ [place]: skill }));
      const { out } = await runCli(project, ['install', pack, '--yes', '--set', 'vocabulary=skills-agent']);
      expect([place, out]).toEqual([place, 'installed pack-name\n']);
      expect(existsSync(path.join(project, '.agent/skills/pack-name/SKILL.md'))).toBe(true);
      await runCli(project, ['uninstall', 'pack-name', '--yes', '--set', 'vocabulary=skills-agent']);
    }
  });

  test('in the vocabulary skills-agent a skill without a name is refused, and the rest goes to .agent/skills', async () => {
    const project = scratch();
    mkdirSync(path.join(project, '.agent'), { recursive: true });
    writeFileSync(path.join(project, '.agent/config.json'), '{"vocabulary": "skills-agent"}');
    const pack = path.join(project, 'skills-pack.zip');
    writeFileSync(
      pack,
      zipSync({
        'skill-name-1/SKILL.md': strToU8('---\nname: skill-name-1\ndescription: One.\nversion: 1.0.0\n---\n\nBody\n'),
        'skill-name-2/SKILL.md': strToU8('---\ndescription: Two.\n---\n\nBody\n'),
        'folder/SKILL.md': strToU8('---\nname: other\ndescription: Three.\n---\n\nBody\n'),
      }),
    );
    const { out, err } = await runCli(project, ['install', pack, '--yes']);
    expect(`${out}${err}`).toContain('name/missing');
    const at = (name: string): boolean => existsSync(path.join(project, '.agent/skills', name, 'SKILL.md'));
    expect(['skill-name-1', 'skill-name-2', 'folder', 'other'].map(at)).toEqual([true, false, false, true]);
  });
});
