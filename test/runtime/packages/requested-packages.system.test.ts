import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { runAgent } from '../../../src/agent/agent.ts';
import type { AgentResult } from '../../../src/agent/agent-options.ts';
import { resumeAgent } from '../../../src/agent/resume/resume.ts';
import type { Approve, ApprovalRequest } from '../../../src/core/approval.ts';
import type { ExecutionOptions } from '../../../src/sandbox/execution/parts.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import { replayRun } from '../../../src/runtime/replay/replay-run.ts';
import { allText, eventsOf, ofType, played, type PlayedModel } from '../../agent/support.ts';
import { verifies } from '../../conformance/verifies.ts';
import { knownExecutor } from '../../sandbox/known-executor.ts';
import { openIndex } from './package-index.ts';
import { BASE, USES_BASE, makeReader, readerRuntime } from './reader-skill.ts';
import { needs } from '../../needs.ts';

const SKILL = { skill: 'reader', script: 'use.py' } as const;
const FAILS = { calls: [['run_script', SKILL]] } as const;
const ASKS = { calls: [['run_script', { ...SKILL, packages: ['base-lib'] }]] } as const;
const LATER = { calls: [['run_command', { skill: 'reader', command: 'python3 scripts/use.py' }]] } as const;

interface Reading {
  readonly runtime: Runtime;
  readonly execution: ExecutionOptions;
  readonly run: (model: PlayedModel, approve?: Approve, budget?: { readonly turns: number }) => Promise<AgentResult>;
}

async function reading(index: string): Promise<Reading> {
  const home = makeReader({ 'use.py': USES_BASE });
  const env = { PIP_INDEX_URL: `${index}/simple` };
  const runtime = await readerRuntime(home, env, { home: path.join(home, 'home') });
  const execution = { artifacts: false, executor: knownExecutor('bubblewrap', home) } as const;
  return {
    runtime,
    execution,
    run: (model, approve, budget) =>
      runAgent({
        runtime,
        request: 'read the file',
        model,
        budget,
        run: { execution, approve },
      }),
  };
}

function answering(verdict: 'yes' | 'no'): { readonly asked: ApprovalRequest[]; readonly approve: Approve } {
  const asked: ApprovalRequest[] = [];
  return {
    asked,
    approve: (request) => {
      asked.push(request);
      return Promise.resolve({ verdict, scope: 'once', by: 'callback' });
    },
  };
}

describe('a model that asks for packages', needs('bubblewrap', 'pip'), () => {
  verifies(
    'ENV-1',
    'the model is told how to ask, the person sees the exact versions once, and later programs of the skill have them',
    async () => {
      const index = await openIndex({ 'base-lib': [BASE] });
      const { runtime, execution, run } = await reading(index.url);
      const { asked, approve } = answering('yes');
      const model = played([FAILS, ASKS, LATER, { text: 'The value is 42.' }]);
      const result = await run(model, approve);
      expect(result.outcome).toBe('done');
      expect(allText(model.requests[1] ?? expect.fail())).toContain(
        'find the package that provides it, then call the tool again with packages: [\\"PACKAGE\\"]',
      );
      expect(asked).toMatchObject([
        {
          tool: 'install_packages',
          risk: 'high',
          skill: { name: 'reader', digest: expect.stringMatching(/^sha256-tree:/) },
          detail: {
            kind: 'packages',
            requested: ['base-lib'],
            packages: [expect.stringMatching(/^base-lib 1\.4 sha256:[0-9a-f]{64}$/)],
            lock: expect.stringMatching(/^sha256:/),
          },
        },
      ]);
      const ran = ofType(eventsOf(result), 'observation').flatMap(({ observation }) =>
        observation.type === 'program-ran' ? [observation.result] : [],
      );
      expect(ran.map(({ exit_code: code, stdout }) => [code, stdout])).toEqual([
        [1, ''],
        [0, 'value 42\n'],
        [0, 'value 42\n'],
      ]);
      const [, first, second] = ran;
      expect(first?.packages).toMatchObject([
        {
          packages: ['base-lib 1.4'],
          lock_digest: expect.stringMatching(/^sha256:/),
          layer_digest: expect.stringMatching(/^sha256-tree:/),
        },
      ]);
      expect(second?.packages).toEqual(first?.packages);
      expect(ofType(eventsOf(result), 'decision').map(({ decision }) => [decision.tool, decision.effect])).toEqual([
        ['run_script', 'allow'],
        ['run_script', 'allow'],
        ['install_packages', 'ask'],
        ['run_command', 'allow'],
        ['install_packages', 'allow'],
        ['final_answer', 'allow'],
      ]);
      // The same actions, the same answers and the same layer.
      const { status, steps } = await replayRun({ runtime, path: result.path ?? '', isOwn: true, execution });
      expect([status, steps.filter(({ same }) => !same)]).toEqual(['same', []]);
    },
  );

  test('without a person it is refused with the flag that approves it, which then works', async () => {
    const index = await openIndex({ 'base-lib': [BASE] });
    const { run } = await reading(index.url);
    const model = played([ASKS, { text: 'I need base-lib.' }]);
    const result = await run(model);
    expect(result.outcome).toBe('refused');
    const [id] = /--approve [0-9a-f]{64}/.exec(allText(model.requests[1] ?? expect.fail())) ?? expect.fail();
    const { asked, approve } = answering('no');
    await run(played([ASKS, { text: 'no' }]), approve);
    expect(`--approve ${asked[0]?.id.replace('sha256:', '') ?? ''}`).toBe(id);
  });

  test('a package that a person named is not asked about, also where every command is', async () => {
    const index = await openIndex({ 'base-lib': [BASE] });
    const { runtime, execution } = await reading(index.url);
    const { asked, approve } = answering('yes');
    const model = played([
      { calls: [['shell_exec', { command: 'pip install base-lib' }]] },
      { text: 'It is installed.' },
    ]);
    const result = await runAgent({
      runtime,
      vocabulary: 'manusx',
      request: 'install it',
      model,
      run: { execution: { ...execution, opens: false, packages: { with: ['base-lib'] } }, approve },
    });
    expect([result.outcome, asked.map(({ tool }) => tool)]).toEqual(['done', ['shell_exec']]);
    expect(allText(model.requests[1] ?? expect.fail())).toContain('"exit_code":0');
  });

  test('a resumed run has them, and the person is asked again', async () => {
    const index = await openIndex({ 'base-lib': [BASE] });
    const { runtime, execution, run } = await reading(index.url);
    const ended = await run(played([ASKS]), answering('yes').approve, { turns: 1 });
    expect(ended.outcome).toBe('degraded');
    const { asked, approve } = answering('yes');
    const model = played([LATER, { text: 'done' }]);
    const resumed = await resumeAgent({
      runtime,
      model,
      path: ended.path ?? '',
      run: { execution, approve },
      budget: { turns: 9 },
    });
    expect(resumed).toMatchObject({ type: 'resumed', result: { outcome: 'done' } });
    expect(allText(model.requests[1] ?? expect.fail())).toContain('value 42');
    expect(asked).toHaveLength(1);
  });

  test('addresses and options are refused before anything is asked or requested', async () => {
    const index = await openIndex({});
    const { run } = await reading(index.url);
    const { asked, approve } = answering('yes');
    const calls = [
      ['run_script', { ...SKILL, packages: ['https://evil.example/x.whl'] }],
      ['run_script', { ...SKILL, packages: ['--index-url=http://evil.example'] }],
    ] as const;
    const model = played([{ calls }, { text: 'no' }]);
    await run(model, approve);
    const text = allText(model.requests[1] ?? expect.fail());
    for (const part of ['x.whl', '--index-url=http']) expect(text).toContain(part);
    expect(text.match(/URLs, paths and options are not accepted/g)).toHaveLength(2);
    expect([asked, index.requests]).toEqual([[], []]);
  });

  test('packages of a command without a skill are asked about once, and every later program of the session has them', async () => {
    const index = await openIndex({ 'base-lib': [BASE] });
    const { run } = await reading(index.url);
    const { asked, approve } = answering('yes');
    const command = 'pip install base-lib && python3 -c "import base_lib; print(base_lib.VALUE)"';
    const model = played([
      { calls: [['run_command', { command }]] },
      { calls: [['run_command', { command: 'python3 -c "import base_lib; print(base_lib.VALUE + 1)"' }]] },
      LATER,
      { text: 'done' },
    ]);
    await run(model, approve);
    expect(asked.filter(({ tool }) => tool === 'install_packages').map(({ skill }) => skill)).toEqual([undefined]);
    const text = allText(model.requests[3] ?? expect.fail());
    expect(text).toContain('Requirement already satisfied: base-lib');
    expect(text).toMatch(/42\\n"[^]*"43\\n"/);
    expect(text).not.toContain('ModuleNotFoundError');
  });
});
