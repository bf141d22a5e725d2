/** The worked examples of trpc-agent-go's page, with its skill python-math, over real programs. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openSkillTools, type SkillToolsOptions } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { trpcState, trpcStateDelta } from '../../src/tools/trpc-state.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import { runtimeOver } from '../runtime/support.ts';
import { needs } from '../needs.ts';

const BODY = `Overview

Run short Python scripts inside the skill workspace...

Examples

1) Print the first N Fibonacci numbers

   Command:
   python3 scripts/fib.py 10 > out/fib.txt

Output Files

- out/fib.txt
`;

const FIB = `import sys
a, b = 0, 1
for _ in range(int(sys.argv[1])):
    print(a)
    a, b = b, a + b
`;

function skillsRoot(more: Readonly<Record<string, string>> = {}): string {
  const root = path.join(scratch(), 'skills');
  const files = {
    'python_math/SKILL.md': `---\nname: python-math\ndescription: Small Python utilities for math and text files.\n---\n\n${BODY}`,
    'python_math/USAGE.md': 'Use it.\n',
    'python_math/scripts/fib.py': FIB,
    ...more,
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

async function trpc(root = skillsRoot(), options: Omit<SkillToolsOptions, 'runtime'> = {}): Promise<SkillTools> {
  const tools = await openSkillTools({ vocabulary: 'trpc', runtime: await runtimeOver(root), ...options });
  onTestFinished(() => tools.session.close());
  return tools;
}

const LOCAL = { execution: { executor: 'local', artifacts: false } } as const;
const SKILL = { skill: 'python-math' };

describe('trpc-agent-go by its page', () => {
  verifies(
    'TOOL-2',
    'skill_load then skill_run gives the output file of the example',
    async () => {
      const { call, instructions } = await trpc(skillsRoot(), LOCAL);
      expect(instructions).toMatch(/skill_load[^]*skill_run/);
      expect((await call('skill_load', SKILL)).text).toContain('python3 scripts/fib.py 10 > out/fib.txt');
      const { value } = await call('skill_run', {
        ...SKILL,
        command: 'python3 scripts/fib.py 10 > out/fib.txt',
        output_files: ['out/fib.txt'],
      });
      expect(value).toMatchObject({
        stdout: '',
        stderr: '',
        exit_code: 0,
        timed_out: false,
        output_files: [{ name: 'out/fib.txt', content: '0\n1\n1\n2\n3\n5\n8\n13\n21\n34\n', mime_type: 'text/plain' }],
      });
    },
    needs('python3'),
  );

  test('without an executor skill_run says that none is configured', async () => {
    const { call, tools } = await trpc(skillsRoot(), { execution: false });
    expect(tools.map(({ name }) => name)).toEqual(['skill_load', 'skill_select_docs', 'skill_list_docs']);
    expect((await call('skill_run', { ...SKILL, command: 'ls' })).text).toContain('executor is not configured');
  });

  test('a command finds its folders and variables', async () => {
    const { call } = await trpc(skillsRoot(), LOCAL);
    const { value } = await call('skill_run', {
      ...SKILL,
      command:
        'test -d out && test -d work && test -d inputs && for v in WORKSPACE_DIR SKILLS_DIR WORK_DIR OUTPUT_DIR RUN_DIR; do test -d "${!v}" && echo $v; done; echo $SKILL_NAME $N',
      env: { N: 5 },
    });
    expect(value).toMatchObject({
      exit_code: 0,
      stdout: 'WORKSPACE_DIR\nSKILLS_DIR\nWORK_DIR\nOUTPUT_DIR\nRUN_DIR\npython-math 5\n',
    });
  });

  test('a run lists the files that it wrote, and no leftovers', async () => {
    const { call } = await trpc(skillsRoot(), LOCAL);
    const names = async (input: object): Promise<unknown> => {
      const value: unknown = (await call('skill_run', { ...SKILL, ...input })).value;
      return typeof value === 'object' && value !== null && 'output_files' in value ? value.output_files : value;
    };
    expect(await names({ command: 'echo one > out/one.txt' })).toMatchObject([{ name: 'out/one.txt' }]);
    expect(await names({ command: 'echo two > out/two.txt' })).toMatchObject([{ name: 'out/two.txt' }]);
    expect(await names({ command: 'true' })).toEqual([]);
    expect(await names({ command: 'true', output_files: ['out/*.txt'] })).toMatchObject([
      { name: 'out/one.txt', content: 'one\n' },
      { name: 'out/two.txt', content: 'two\n' },
    ]);
    const declined = await call('skill_run', {
      ...SKILL,
      command: 'true',
      outputs: { globs: ['out/*'], inline: false },
    });
    expect(declined.text).not.toContain('"content"');
    expect(declined.text).not.toContain('stdout_ref');
  });

  test('an editor that the command opens has the text', async () => {
    const { call } = await trpc(skillsRoot(), LOCAL);
    const command = '$EDITOR "$WORK_DIR/message"; cat "$WORK_DIR/message"';
    expect((await call('skill_run', { ...SKILL, command, editor_text: 'Fix it' })).value).toMatchObject({
      stdout: 'Fix it',
      exit_code: 0,
    });
  });

  test('a folder that does not exist is named, and workspace_exec starts in the workspace', async () => {
    const { call } = await trpc(skillsRoot(), LOCAL);
    expect((await call('skill_run', { ...SKILL, command: 'pwd', cwd: 'nope' })).text).toContain(
      'the working directory "skills/python-math/nope" does not exist',
    );
    expect((await call('workspace_exec', { command: 'ls -d work out skills' })).value).toMatchObject({
      output: 'out\nskills\nwork\n',
    });
    expect((await call('workspace_exec', { command: 'basename "$PWD"', cwd: 'out' })).value).toMatchObject({
      output: 'out\n',
    });
  });

  test('stdout_ref is a file of the workspace', async () => {
    const { call } = await trpc(skillsRoot(), LOCAL);
    const { value } = await call('skill_run', { ...SKILL, command: 'seq 1 20000' });
    expect(value).toMatchObject({ stdout_ref: 'workspace://runs/run-1/stdout.txt' });
    expect((await call('workspace_exec', { command: 'tail -n 1 runs/run-1/stdout.txt' })).value).toMatchObject({
      output: '20000\n',
    });
  });

  test('a skill with its own out/ and work/ has its results in those folders', needs('bubblewrap'), async () => {
    const root = skillsRoot({ 'python_math/out/example.txt': 'shipped\n', 'python_math/work/a.txt': 'shipped\n' });
    symlinkSync('/etc/hostname', path.join(root, 'python_math/outside.md'));
    const { call } = await trpc(root, { execution: { artifacts: false } });
    const command = 'test ! -e outside.md && cat out/example.txt && echo $RANDOM > out/new.txt; echo w > work/w.txt';
    for (const _ of [1, 2])
      expect(
        (await call('skill_run', { ...SKILL, command, output_files: ['out/*.txt', 'work/*.txt'] })).value,
      ).toMatchObject({
        stdout: 'shipped\n',
        exit_code: 0,
        output_files: [
          { name: 'out/example.txt' },
          { name: 'out/new.txt' },
          { name: 'work/a.txt' },
          { name: 'work/w.txt', content: 'w\n' },
        ],
      });
  });

  test('a body that is given again comes with the documents that were loaded', async () => {
    const { call } = await trpc(skillsRoot({ 'python_math/docs/a.md': 'about a\n' }), { execution: false });
    const first = (await call('skill_load', { ...SKILL, docs: ['docs/a.md'] })).text;
    expect(first).toContain('Docs loaded: docs/a.md\n\n[Doc] docs/a.md\n\nabout a');
    expect((await call('skill_load', SKILL)).text).toContain('already loaded and unchanged');
    expect((await call('skill_load', SKILL)).text).toBe(first);
  });

  test('an input of another skill names that skill', async () => {
    const { call } = await trpc(skillsRoot(), LOCAL);
    const input = { ...SKILL, command: 'true', inputs: [{ from: 'skill://other/x.txt' }] };
    expect((await call('skill_run', input)).text).toContain('the skill "other" of this input is not in the workspace');
  });

  test('the overview has names and descriptions and no body', async () => {
    const { instructions } = await trpc();
    expect(instructions).toContain('- python-math: Small Python utilities for math and text files.');
    expect(instructions).not.toContain('Fibonacci');
  });

  test('skill_run is there without an option, and runs isolated', needs('bubblewrap'), async () => {
    const { tools, call } = await trpc();
    expect((await call('skill_run', { ...SKILL, command: 'echo here' })).value).toMatchObject({
      stdout: 'here\n',
      isolation: expect.not.stringMatching('none'),
    });
    expect(tools.map(({ name }) => name)).toEqual([
      'skill_load',
      'skill_select_docs',
      'skill_list_docs',
      'skill_run',
      'skill_exec',
      'skill_write_stdin',
      'skill_poll_session',
      'skill_kill_session',
      'workspace_exec',
    ]);
  });

  test('inputs and outputs of the page', async () => {
    const root = skillsRoot({ 'python_math/sub/file.txt': 'x' });
    const host = path.join(scratch(), 'orders.csv');
    writeFileSync(host, 'a,b\n');
    const artifacts = path.join(scratch(), 'artifacts');
    const { call } = await trpc(root, { execution: { executor: 'local', hostInputs: [host], artifacts } });
    const run = async (input: object): Promise<unknown> => (await call('skill_run', { ...SKILL, ...input })).value;
    expect(
      await run({ command: 'basename "$PWD"; cat inputs/orders.csv', inputs: [{ from: `host://${host}` }] }),
    ).toMatchObject({
      stdout: 'python-math\na,b\n',
    });
    expect(await run({ command: 'basename "$PWD"', cwd: 'sub' })).toMatchObject({ stdout: 'sub\n' });
    expect(
      await run({ command: 'echo a > out/a.txt; echo b > out/b.md', output_files: ['$OUTPUT_DIR/*.txt'] }),
    ).toMatchObject({
      output_files: [{ name: 'out/a.txt', content: 'a\n', mime_type: 'text/plain' }],
    });
    const outputs = { globs: ['$OUTPUT_DIR/**'], inline: true, save: true, name_template: 'pref/' };
    expect(await run({ command: 'true', outputs })).toMatchObject({
      output_files: [{ name: 'out/a.txt' }, { name: 'out/b.md', content: 'b\n' }],
      artifact_files: [
        { name: 'pref/out/a.txt', version: 0 },
        { name: 'pref/out/b.md', version: 0 },
      ],
    });
    const saved = await run({
      command: 'true',
      output_files: ['out/a.txt'],
      save_as_artifacts: true,
      omit_inline_content: true,
      artifact_prefix: 'p/',
    });
    expect(saved).toMatchObject({
      output_files: [{ name: 'out/a.txt', mime_type: 'text/plain' }],
      artifact_files: [{ name: 'p/out/a.txt', version: 0 }],
    });
    expect(JSON.stringify(saved)).not.toContain('"content"');
  });

  const inWorkspace = async (executor: 'local' | 'bubblewrap'): Promise<void> => {
    const { call } = await trpc(skillsRoot(), { execution: { executor, artifacts: false } });
    const { value } = await call('skill_run', {
      ...SKILL,
      command: 'cat "$WORKSPACE_DIR/data/x.txt" "$WORKSPACE_DIR/top.txt"; echo y > ../../data/y.txt',
      inputs: [
        { from: 'skill://python-math/USAGE.md', to: 'data/x.txt' },
        { from: 'skill://python-math/USAGE.md', to: 'top.txt' },
      ],
      outputs: { globs: ['skills/python-math/*.md', 'data/**', '*.txt'], inline: true },
    });
    expect(value).toMatchObject({
      stdout: 'Use it.\nUse it.\n',
      stderr: '',
      output_files: [
        { name: 'data/x.txt', content: 'Use it.\n' },
        { name: 'data/y.txt', content: 'y\n' },
        { name: 'skills/python-math/SKILL.md' },
        { name: 'skills/python-math/USAGE.md', content: 'Use it.\n' },
        { name: 'top.txt', content: 'Use it.\n' },
      ],
    });
    const again = { ...SKILL, command: 'cat x.txt y.txt', cwd: '$WORKSPACE_DIR/data' };
    expect((await call('skill_run', again)).value).toMatchObject({ stdout: 'Use it.\ny\n' });
  };
  test('inputs and outputs are relative to the workspace', () => inWorkspace('local'));
  test('inputs and outputs are relative to the workspace in a sandbox', needs('bubblewrap'), () =>
    inWorkspace('bubblewrap'),
  );

  test('a call has a state delta in the documented shape', async () => {
    const { call, session } = await trpc();
    const delta = async (name: string, input: object): Promise<unknown> => {
      const before = session.state;
      await call(name, { ...SKILL, ...input });
      return trpcStateDelta(before, session.state);
    };
    expect(await delta('skill_load', { docs: ['USAGE.md'] })).toEqual({
      'temp:skill:loaded:python-math': '1',
      'temp:skill:docs:python-math': '["USAGE.md"]',
      'temp:skill:loaded_order:': '["python-math"]',
    });
    expect(await delta('skill_select_docs', { include_all_docs: true })).toEqual({
      'temp:skill:docs:python-math': '*',
    });
    expect(await delta('skill_select_docs', { mode: 'clear' })).toEqual({ 'temp:skill:docs:python-math': '[]' });
    expect(await delta('skill_list_docs', {})).toEqual({});
    const before = session.state;
    session.startTurn();
    expect(trpcStateDelta(before, session.state)).toEqual({
      'temp:skill:loaded:python-math': '',
      'temp:skill:loaded_order:': '',
    });
  });

  test('the state has the documented keys', async () => {
    const { call, session } = await trpc();
    await call('skill_load', { ...SKILL, docs: ['USAGE.md'] });
    expect(trpcState(session.state)).toMatchObject({
      'temp:skill:loaded:python-math': '1',
      'temp:skill:docs:python-math': '["USAGE.md"]',
    });
    await call('skill_select_docs', { ...SKILL, include_all_docs: true });
    expect(trpcState(session.state)).toMatchObject({ 'temp:skill:docs:python-math': '*' });
    await call('skill_select_docs', { ...SKILL, mode: 'clear' });
    expect(trpcState(session.state)).not.toHaveProperty('temp:skill:docs:python-math');
  });

  test('bad, missing and oversized documents are notes, and a later call shows what did not fit', async () => {
    const root = skillsRoot({
      'python_math/docs/a.md': 'a'.repeat(30_000),
      'python_math/docs/b.md': 'b'.repeat(30_000),
      'python_math/docs/huge.md': 'h'.repeat(3_000_000),
    });
    const { call, session } = await trpc(root);
    const loaded = (await call('skill_load', { ...SKILL, include_all_docs: true })).text;
    expect(loaded).toContain('Run short Python scripts');
    expect(loaded).toContain('[Doc] docs/a.md');
    expect(loaded).toContain('not shown, because the answer is full: docs/b.md');
    expect(loaded).toContain('"docs/huge.md" is not shown');
    expect(trpcState(session.state)).toMatchObject({ 'temp:skill:docs:python-math': '*' });
    const more = (await call('skill_select_docs', { ...SKILL, docs: ['docs/b.md', 'docs/none.md'], mode: 'add' }))
      .value;
    expect(more).toMatchObject({
      content: expect.stringMatching(/\[Doc\] docs\/b\.md\n\nb{30000}[^]*there is no document "docs\/none\.md"/),
    });
    // A repeated load does not send the same documents twice.
    const again = (await call('skill_load', { ...SKILL, docs: ['docs/a.md'] })).text;
    expect(again).not.toContain('aaaa');
  });

  test('security.max_documents_characters lets more documents into one answer', async () => {
    const root = skillsRoot({
      'python_math/docs/a.md': 'a'.repeat(30_000),
      'python_math/docs/b.md': 'b'.repeat(30_000),
    });
    const home = scratch();
    mkdirSync(path.join(home, '.agent'));
    const config = { security: { max_documents_characters: 100_000 } };
    writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify(config));
    const { call, session } = await openSkillTools({
      vocabulary: 'trpc',
      runtime: { cwd: root, home, env: {}, roots: [root], onlyRoots: true, cache: false },
    });
    onTestFinished(() => session.close());
    const { text } = await call('skill_load', { ...SKILL, include_all_docs: true });
    expect(text).toMatch(/\[Doc\] docs\/a\.md\n\na{30000}\n\n\[Doc\] docs\/b\.md\n\nb{30000}$/);
  });
});
