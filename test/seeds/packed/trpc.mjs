// The example of document 002: skill_load, skill_select_docs, skill_run with the command of python-math.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSkillTools, trpcState } from 'skillwright/tools';

const root = path.resolve('trpc/skills');
mkdirSync(path.join(root, 'python_math/scripts'), { recursive: true });
const body =
  'Overview\n\nExamples\n\n1) Print the first N Fibonacci numbers\n\n   Command:\n   python3 scripts/fib.py 10 > out/fib.txt\n';
writeFileSync(
  path.join(root, 'python_math/SKILL.md'),
  `---\nname: python-math\ndescription: Small Python utilities for math and text files.\n---\n\n${body}`,
);
writeFileSync(path.join(root, 'python_math/USAGE.md'), 'Usage.\n');
writeFileSync(
  path.join(root, 'python_math/scripts/fib.py'),
  'import sys\na, b = 0, 1\nfor _ in range(int(sys.argv[1])):\n    print(a)\n    a, b = b, a + b\n',
);
const { call, tools, session, instructions } = await openSkillTools({
  vocabulary: 'trpc',
  runtime: { env: { SKILLS_ROOT: root, PATH: process.env.PATH }, home: path.resolve('home'), builtin: false },
  execution: { executor: 'local', artifacts: path.resolve('artifacts') },
});
for (const name of ['skill_load', 'skill_select_docs', 'skill_list_docs', 'skill_run'])
  assert.ok(tools.some((tool) => tool.name === name));
assert.match(instructions, /- python-math: Small Python utilities for math and text files\./);
const skill = 'python-math';
assert.match((await call('skill_load', { skill })).text, /python3 scripts\/fib\.py 10 > out\/fib\.txt/);
assert.deepEqual((await call('skill_list_docs', { skill })).value, ['USAGE.md']);
await call('skill_select_docs', { skill, docs: ['USAGE.md'], mode: 'add' });
assert.equal(trpcState(session.state)['temp:skill:loaded:python-math'], '1');
assert.equal(trpcState(session.state)['temp:skill:docs:python-math'], '["USAGE.md"]');
const { value: ran } = await call('skill_run', {
  skill,
  command: 'python3 scripts/fib.py 10 > out/fib.txt',
  env: { N: 5 },
  outputs: { globs: ['$OUTPUT_DIR/**'], inline: true, save: true, name_template: 'pref/' },
});
assert.equal(ran.exit_code, 0);
assert.deepEqual(
  ran.output_files.map(({ name, content, mime_type }) => [name, content, mime_type]),
  [['out/fib.txt', '0\n1\n1\n2\n3\n5\n8\n13\n21\n34\n', 'text/plain']],
);
assert.deepEqual(
  ran.artifact_files.map(({ name, version }) => [name, version]),
  [['pref/out/fib.txt', 0]],
);
const again = await call('skill_run', {
  skill,
  command: 'tail -1 inputs/fib.txt; basename "$PWD"; echo $SKILL_NAME',
  inputs: [{ from: 'artifact://pref/out/fib.txt@0' }],
});
assert.equal(again.value.stdout, '34\npython-math\npython-math\n');
assert.match((await call('skill_load', { skill: 'pdf' })).text, /^unknown skill: pdf/);
await session.close();
