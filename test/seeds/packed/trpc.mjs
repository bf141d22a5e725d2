// Document 002 from its first section to its last: the project of its pages, its typical flow, its examples and its failures.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createRuntime } from 'skillwright';
import { runAgent } from 'skillwright/agent';
import { openScripted } from 'skillwright/testing';
import { openSkillTools, trpcState, trpcStateDelta } from 'skillwright/tools';

const root = path.resolve('trpc/skills');
const files = {
  'python_math/SKILL.md': `---
name: python-math
description: Small Python utilities for math and text files.
---

Overview

Run short Python scripts inside the skill workspace...

Examples

1) Print the first N Fibonacci numbers

   Command:
   python3 scripts/fib.py 10 > out/fib.txt

Output Files

- out/fib.txt
`,
  'python_math/scripts/fib.py':
    'import sys\na, b = 0, 1\nfor _ in range(int(sys.argv[1])):\n    print(a)\n    a, b = b, a + b\n',
  'demo-skill/SKILL.md': '---\nname: demo-skill\ndescription: Builds a file.\n---\n\nRun scripts/build.sh.\n',
  'demo-skill/USAGE.md': 'Build first.\n',
  'demo-skill/scripts/build.sh': 'echo built > out/built.txt\n',
};
for (const [file, text] of Object.entries(files)) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}
const runtime = await createRuntime({
  env: { SKILLS_ROOT: root, PATH: process.env.PATH },
  home: path.resolve('home'),
  builtin: false,
  vocabulary: 'trpc',
});
const execution = { executor: 'local', artifacts: path.resolve('artifacts') };
const { call, tools, session, instructions } = await openSkillTools({ vocabulary: 'trpc', runtime, execution });

// The tools are registered, and the system message has the overview and the guidance.
for (const name of ['skill_load', 'skill_select_docs', 'skill_list_docs', 'skill_run'])
  assert.ok(tools.some((tool) => tool.name === name));
assert.match(instructions, /- python-math: Small Python utilities for math and text files\./);
assert.match(instructions, /skill_load[^]*skill_run/);
assert.doesNotMatch(instructions, /Fibonacci/);

// Documents and the session keys.
const state = (key) => trpcState(session.state)[`temp:skill:${key}`];
const before = session.state;
await call('skill_load', { skill: 'demo-skill', include_all_docs: true });
const delta = trpcStateDelta(before, session.state);
assert.deepEqual([delta['temp:skill:loaded:demo-skill'], delta['temp:skill:docs:demo-skill']], ['1', '*']);
assert.deepEqual((await call('skill_list_docs', { skill: 'demo-skill' })).value, ['USAGE.md']);
await call('skill_select_docs', { skill: 'demo-skill', docs: ['USAGE.md'], mode: 'replace' });
assert.equal(state('docs:demo-skill'), '["USAGE.md"]');
await call('skill_select_docs', { skill: 'demo-skill', mode: 'clear' });
assert.equal(state('docs:demo-skill'), undefined);

// The typical flow: skill_load, then skill_run, collected in both ways.
const run = async (input) => (await call('skill_run', { skill: 'python-math', ...input })).value;
const shown = (outputs) => outputs.map(({ name, content, mime_type }) => [name, content, mime_type]);
const FIB = [['out/fib.txt', '0\n1\n1\n2\n3\n5\n8\n13\n21\n34\n', 'text/plain']];
assert.match((await call('skill_load', { skill: 'python-math' })).text, /python3 scripts\/fib\.py 10 > out\/fib\.txt/);
assert.equal(state('loaded:python-math'), '1');
const command = 'python3 scripts/fib.py 10 > out/fib.txt';
const listed = await run({ command, output_files: ['out/*.txt'] });
assert.deepEqual([listed.exit_code, listed.timed_out, listed.stdout, listed.stderr], [0, false, '', '']);
assert.deepEqual(shown(listed.output_files), FIB);
const declared = await run({
  command,
  env: { N: 5 },
  outputs: { globs: ['$OUTPUT_DIR/**'], inline: true, save: true, name_template: 'pref/' },
});
assert.deepEqual(shown(declared.output_files), FIB);
assert.deepEqual(
  declared.artifact_files.map(({ name, version }) => [name, version]),
  [['pref/out/fib.txt', 0]],
);

// Files of earlier steps come in, and paths are relative to the workspace.
const again = await run({
  command: 'tail -1 inputs/fib.txt; cat "$WORKSPACE_DIR/data/x.txt"; basename "$PWD"; echo $SKILL_NAME',
  inputs: [{ from: 'artifact://pref/out/fib.txt@0' }, { from: 'skill://demo-skill/USAGE.md', to: 'data/x.txt' }],
  outputs: { globs: ['data/*', 'skills/demo-skill/*.md', 'skills/python-math/*.md'], inline: true },
});
assert.equal(again.stdout, '34\nBuild first.\npython-math\npython-math\n');
assert.deepEqual(
  again.output_files.map(({ name }) => name),
  ['data/x.txt', 'skills/demo-skill/SKILL.md', 'skills/demo-skill/USAGE.md', 'skills/python-math/SKILL.md'],
);

// Its page on failures.
assert.match((await call('skill_load', { skill: 'pdf' })).text, /^unknown skill: pdf/);
assert.equal((await run({ command: 'sleep 60', timeout: 1 })).timed_out, true);
assert.equal((await run({ command: 'exit 3' })).exit_code, 3);
assert.match((await run({ command: 'true', output_files: ['out/*.pdf'] })).warnings.join(), /no file matches/);
await session.close();
const none = await openSkillTools({ vocabulary: 'trpc', runtime, execution: false });
assert.match((await none.call('skill_run', { skill: 'demo-skill', command: 'ls' })).text, /executor is not configured/);
await none.session.close();

// An agent: the results of several calls are in the next request, the body is in its system message, and each call is an event.
const events = [];
const { outcome } = await runAgent({
  runtime,
  vocabulary: 'trpc',
  request: 'Print the first 10 Fibonacci numbers.',
  model: openScripted([
    {
      toolCalls: [
        { name: 'skill_load', input: { skill: 'python-math' } },
        { name: 'skill_list_docs', input: { skill: 'demo-skill' } },
      ],
    },
    {
      expect: { contains: ['[Loaded] python-math', 'loaded: python-math', 'USAGE.md'] },
      toolCalls: [{ name: 'skill_run', input: { skill: 'python-math', command, output_files: ['out/fib.txt'] } }],
    },
    { expect: { contains: ['21\\n34\\n'] }, text: 'They are in out/fib.txt.' },
  ]),
  run: { execution, directory: false, sinks: [({ event }) => void events.push(event)] },
});
assert.equal(outcome, 'done');
assert.deepEqual(
  events.flatMap(({ type, tool, stateDelta }) => (type === 'tool.response' ? [[tool, stateDelta]] : [])),
  [
    ['skill_load', { 'temp:skill:loaded:python-math': '1', 'temp:skill:loaded_order:': '["python-math"]' }],
    ['skill_list_docs', {}],
    ['skill_run', {}],
  ],
);
