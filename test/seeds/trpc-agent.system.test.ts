/** What trpc-agent-go's page says about agents, events and executors, over real programs and a real container engine. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { runAgent } from '../../src/agent/agent.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { openScripted, type ScriptedTurn } from '../../src/model/scripted/scripted.ts';
import { openSkillTools, type SkillToolsOptions } from '../../src/packs/open-runtime.ts';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { needs, skipUnless } from '../needs.ts';
import { sharedDockerEngine } from '../sandbox/docker-engine.ts';
import { scratch } from '../skills/registry/support.ts';

const started = await sharedDockerEngine();
const engine = typeof started === 'string' ? undefined : started;

/** The project of the page: a folder skills/ with demo-skill. */
function project(): string {
  const folder = scratch();
  chmodSync(folder, 0o755);
  const files = {
    'SKILL.md': '---\nname: demo-skill\ndescription: Builds a file.\n---\n\nRun scripts/build.sh.\n',
    'USAGE.md': 'Build first.\n',
    'scripts/build.sh': 'echo built > out/built.txt\n',
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, 'skills/demo-skill', file)), { recursive: true });
    writeFileSync(path.join(folder, 'skills/demo-skill', file), text);
  }
  return folder;
}

function open(cwd = project()): Promise<Runtime> {
  return createRuntime({ cwd, home: undefined, env: {}, roots: ['./skills'], onlyRoots: true, cache: false });
}

async function trpc(options: Omit<SkillToolsOptions, 'runtime'> = {}, cwd?: string): Promise<SkillTools> {
  const tools = await openSkillTools({ vocabulary: 'trpc', runtime: await open(cwd), ...options });
  onTestFinished(() => tools.session.close());
  return tools;
}

async function follow(turns: readonly ScriptedTurn[]): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  const { outcome, reason } = await runAgent({
    runtime: await open(),
    vocabulary: 'trpc',
    request: 'Build the file.',
    model: openScripted(turns),
    run: {
      execution: { executor: 'local', artifacts: false },
      directory: false,
      sinks: [({ event }) => void events.push(event)],
    },
  });
  expect([outcome, reason]).toEqual(['done', '']);
  return events;
}

const SKILL = { skill: 'demo-skill' };
const LOADED = { 'temp:skill:loaded:demo-skill': '1', 'temp:skill:loaded_order:': '["demo-skill"]' };

describe('an agent', () => {
  test('has the body in the system message of the next request, and an event tool.response for each call', async () => {
    const events = await follow([
      {
        expect: { lacks: ['Run scripts/build.sh.', 'Build first.'] },
        toolCalls: [{ name: 'skill_load', input: { ...SKILL, include_all_docs: true } }],
      },
      {
        expect: { contains: ['[Loaded] demo-skill', 'Run scripts/build.sh.', '[Doc] USAGE.md', 'Build first.'] },
        toolCalls: [{ name: 'skill_run', input: { ...SKILL, command: 'bash scripts/build.sh' } }],
      },
      { text: 'Built.' },
    ]);
    const responses = events.filter((event) => event.type === 'tool.response');
    expect(responses).toMatchObject([
      {
        turn: 1,
        tool: 'skill_load',
        text: 'loaded: demo-skill',
        isError: false,
        stateDelta: { ...LOADED, 'temp:skill:docs:demo-skill': '*' },
      },
      { turn: 2, tool: 'skill_run', text: expect.stringContaining('out/built.txt'), stateDelta: {} },
    ]);
    const ids = events.flatMap((event) => (event.type === 'model-answer' ? event.toolCalls : [])).map(({ id }) => id);
    expect(responses.map(({ id }) => id)).toEqual(ids);
  });

  test('sends the results of several calls of one answer together', async () => {
    const events = await follow([
      {
        toolCalls: [
          { name: 'skill_load', input: SKILL },
          { name: 'skill_list_docs', input: SKILL },
          { name: 'skill_load', input: { skill: 'pdf' } },
        ],
      },
      { expect: { contains: ['loaded: demo-skill', '["USAGE.md"]', 'unknown skill: pdf'] }, text: 'Seen.' },
    ]);
    expect(events.flatMap((event) => (event.type === 'tool.response' ? [[event.tool, event.stateDelta]] : []))).toEqual(
      [
        ['skill_load', LOADED],
        ['skill_list_docs', {}],
        ['skill_load', {}],
      ],
    );
  });
});

test('calls run at the same time: each program waits for a file of the other', async () => {
  const { call } = await trpc({ execution: { executor: 'local', artifacts: false } });
  const meet = (mine: string, other: string): string =>
    `touch work/${mine}; for i in $(seq 600); do test -e work/${other} && echo met && exit; sleep 0.1; done`;
  const both = [meet('a', 'b'), meet('b', 'a')].map((command) => call('skill_run', { ...SKILL, command }));
  expect((await Promise.all(both)).map(({ value }) => value)).toMatchObject([{ stdout: 'met\n' }, { stdout: 'met\n' }]);
});

/** What a command of `skill_run` reaches of a file beside the workspace, and of its own skill. */
async function reached(options: Omit<SkillToolsOptions, 'runtime'>): Promise<unknown> {
  const cwd = project();
  writeFileSync(path.join(cwd, 'beside.txt'), 'beside\n', { mode: 0o644 });
  const { call } = await trpc(options, cwd);
  const command = `cat ${cwd}/beside.txt; echo x > ${cwd}/left.txt; rm -f SKILL.md; echo ok > out/a.txt`;
  const { value } = await call('skill_run', { ...SKILL, command, output_files: ['out/*'] });
  expect(value).toMatchObject({ output_files: [{ name: 'out/a.txt', content: 'ok\n' }] });
  expect(readFileSync(path.join(cwd, 'skills/demo-skill/SKILL.md'), 'utf8')).toContain('Run scripts/build.sh.');
  return { value, hasWritten: existsSync(path.join(cwd, 'left.txt')) };
}

test('by default a command reaches its workspace alone, and cannot change the skill', needs('bubblewrap'), async () => {
  expect(await reached({ execution: { executor: 'auto', artifacts: false } })).toMatchObject({
    value: { stdout: '', isolation: expect.not.stringMatching('none') },
    hasWritten: false,
  });
});

test('without isolation the result says so', async () => {
  expect(await reached({ execution: { executor: 'local', artifacts: false } })).toMatchObject({
    value: { stdout: 'beside\n', warnings: expect.arrayContaining(['the program ran without isolation']) },
  });
});

test(
  'in a container a command reaches its workspace alone, has no network, and inputs and outputs work',
  skipUnless(engine !== undefined, 'dockerd'),
  async () => {
    const container = { socket: engine?.socket ?? '', rootFileSystem: engine?.rootFileSystem ?? '' };
    const execution = { executor: 'container', container, artifacts: false } as const;
    expect(await reached({ execution })).toMatchObject({
      value: { stdout: '', isolation: 'container' },
      hasWritten: false,
    });
    const { call } = await trpc({ execution });
    const { value } = await call('skill_run', {
      ...SKILL,
      command: 'cat ../../data/x.txt ../../top.txt; echo y > ../../data/y.txt; ls /sys/class/net',
      inputs: ['data/x.txt', 'top.txt'].map((to) => ({ from: 'skill://demo-skill/USAGE.md', to })),
      outputs: { globs: ['data/*', 'skills/demo-skill/*.md'] },
    });
    expect(value).toMatchObject({
      stdout: 'Build first.\nBuild first.\nlo\n',
      output_files: ['data/x.txt', 'data/y.txt', 'skills/demo-skill/SKILL.md', 'skills/demo-skill/USAGE.md'].map(
        (name) => ({ name }),
      ),
    });
  },
);

test('a folder of the project is the repository', async () => {
  const { instructions } = await trpc({ execution: false });
  expect(instructions).toContain('- demo-skill: Builds a file.');
});
