import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { ExecutorName } from '../../../src/core/execution.ts';
import type { RunResult } from '../../../src/core/outputs.ts';
import type { Session } from '../../../src/runtime/session.ts';
import { EXECUTORS } from '../../sandbox/sandbox.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { knownExecutor } from '../../sandbox/known-executor.ts';
import { runtimeOver } from '../support.ts';
import { needs } from '../../needs.ts';

const BESIDE = `import pathlib, os
here = pathlib.Path(__file__).parent
(here / 'state.json').write_text('{}')
with open('report.txt', 'w') as report: report.write('done')
skill = here.parent / 'SKILL.md'
skill.write_text(skill.read_text() + 'changed')
os.symlink('/etc/passwd', here / 'stolen.txt')
print((here / 'state.json').read_text())
`;

/** A package, a script without an extension, and a script that calls another one. */
const LAYOUT: Readonly<Record<string, string>> = {
  'scripts/__init__.py': '',
  'scripts/helper.py': 'VALUE = "imported"\n',
  'scripts/tool.py': 'from helper import VALUE\nprint(VALUE)\n',
  'scripts/relative.py': 'from .helper import VALUE\nprint("relative", VALUE)\n',
  'scripts/calls.sh': 'set -e\ncd "$(dirname "$0")"\npython3 tool.py\n./tool.py 2>/dev/null || python3 ./tool.py\n',
  'scripts/beside.py': BESIDE,
  'assets/template.py': 'print("a template")\n',
};

async function open(executor: ExecutorName): Promise<Session> {
  const root = scratch();
  writeSkill(path.join(root, 'writer'), { body: '# Writer\n' });
  for (const [name, text] of Object.entries(LAYOUT)) {
    const file = path.join(root, 'writer', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o644 });
  }
  const session = await (
    await runtimeOver(root)
  ).startSession({
    execution: { executor: knownExecutor(executor), artifacts: false },
  });
  onTestFinished(() => session.close());
  return session;
}

async function run(session: Session, action: Parameters<Session['perform']>[0]): Promise<RunResult> {
  const observation = await session.perform(action);
  if (observation.type !== 'program-ran') throw new Error(JSON.stringify(observation));
  return observation.result;
}

describe.each(EXECUTORS)('a skill in %s', needs('python3'), (_title, executor) => {
  verifies(
    'ENV-2',
    'may write beside itself; new files are kept, and the next program sees the skill unchanged',
    async () => {
      // Without isolation the staged copy itself is written, if it belongs to the user of programs.
      if (executor === 'local' && process.getuid?.() === 0) return;
      const session = await open(executor);
      const beside = {
        type: 'run_script',
        skill: 'writer',
        script: 'beside.py',
        args: [],
        outputs: { output_files: ['out/**'] },
      } as const;
      const { stdout, stderr, output_files: files, warnings } = await run(session, beside);
      expect([stdout, stderr]).toEqual(['{}\n', '']);
      if (executor === 'local') return;
      expect(files.map(({ name }) => name)).toEqual(['out/report.txt', 'out/scripts/state.json']);
      expect(warnings).toEqual(
        expect.arrayContaining([
          'written into the folder of writer and moved to out/: report.txt, scripts/state.json',
          expect.stringContaining('changed in a copy of writer that is discarded: SKILL.md;'),
        ]),
      );
      const next = await run(session, {
        type: 'run_command',
        skill: 'writer',
        command: 'ls scripts; tail -n 1 SKILL.md',
      });
      expect(next.stdout).toBe('__init__.py\nbeside.py\ncalls.sh\nhelper.py\nrelative.py\ntool.py\n# Writer\n');
    },
  );

  test('may be written into by any program that starts in its folder', async () => {
    // Without isolation the staged copy itself is written, if it belongs to the user of programs.
    if (executor === 'local') return;
    const session = await open(executor);
    const commands = [
      '$EDITOR edited.txt; cat edited.txt',
      'sort -o sorted.txt SKILL.md',
      'dd if=SKILL.md of=copied.txt status=none',
      'python3 -m zipfile -c packed.zip SKILL.md',
      'cd scripts; python3 -c "from pathlib import Path as P; P.touch(P(\'made.txt\'))"',
    ];
    const results = [];
    for (const command of commands)
      results.push(await run(session, { type: 'run_command', skill: 'writer', command, editorText: 'E' }));
    expect(results.map(({ stdout, stderr, exit_code: code }) => [stdout, stderr, code])).toEqual(
      commands.map((_, place) => [place === 0 ? 'E' : '', '', 0]),
    );
    const names = ['edited.txt', 'sorted.txt', 'copied.txt', 'packed.zip', 'scripts/made.txt'];
    for (const [place, name] of names.entries())
      expect(results[place]?.warnings).toContain(`written into the folder of writer and moved to out/: ${name}`);
  });

  test('a program cannot put a link to a folder of the host where the next one has its files', async () => {
    const secret = scratch();
    // Of root, programs have another user.
    chmodSync(secret, 0o777);
    writeFileSync(path.join(secret, 'key'), 'of-the-host');
    const session = await open(executor);
    for (const place of ['work/inputs', 'work/sub', 'out/sub', 'home/sub']) {
      const links = `cd "$WORKSPACE_DIR"; rm -rf ${place}; ln -s ${secret} ${place}; ln -s ${secret} skills/writer/inputs`;
      await run(session, { type: 'run_command', skill: 'writer', command: links });
      const reads = `for at in inputs scripts/inputs "$WORKSPACE_DIR/${place}"; do cat "$at/key"; echo in >"$at/new"; done`;
      const { stdout } = await run(session, { type: 'run_command', skill: 'writer', command: reads });
      expect([place, executor === 'local' ? '' : stdout, readdirSync(secret)]).toEqual([
        place,
        '',
        executor === 'local' ? expect.anything() : ['key'],
      ]);
    }
  });

  test('a program that removes the folders of its workspace does not end the session', async () => {
    const session = await open(executor);
    const removes = 'cd "$WORKSPACE_DIR"; rm -rf work/* out/*; rm -rf work out runs home; sleep 1; echo removed';
    const { stdout } = await run(session, { type: 'run_command', skill: 'writer', command: removes });
    const writes =
      'echo hi >"$OUTPUT_DIR/a.txt"; echo hi >"$WORK_DIR/a.txt"; cat "$OUTPUT_DIR/a.txt" "$WORK_DIR/a.txt"';
    const next = await run(session, { type: 'run_command', skill: 'writer', command: writes });
    expect([stdout, next.stdout, next.stderr]).toEqual(['removed\n', 'hi\nhi\n', '']);
  });

  test('a program that puts a file where a folder of its workspace was still has its result', async () => {
    const session = await open(executor);
    const replaces = 'cd "$WORKSPACE_DIR"; (rm -rf home out; touch home out) 2>/dev/null; echo replaced';
    const { stdout } = await run(session, { type: 'run_command', skill: 'writer', command: replaces });
    expect(stdout).toBe('replaced\n');
  });

  test('has an editor that is one word', async () => {
    const session = await open(executor);
    const command = [
      '$EDITOR out/a',
      '"$EDITOR" out/b',
      'sh -c "$EDITOR out/c"',
      `python3 -c "import os, subprocess as s; s.check_call([os.environ['VISUAL'], 'out/d'])"`,
      'cat out/a out/b out/c out/d',
    ].join(' && ');
    const { stdout, stderr } = await run(session, {
      type: 'run_command',
      skill: 'writer',
      command,
      editorText: "it's\n",
    });
    expect([stdout, stderr]).toEqual(["it's\n".repeat(4), '']);
  });

  verifies('ENV-2', 'may be a package, import its neighbours and call scripts without execute permission', async () => {
    const session = await open(executor);
    const outputs = await Promise.all([
      run(session, { type: 'run_script', skill: 'writer', script: 'tool.py', args: [] }),
      run(session, { type: 'run_script', skill: 'writer', script: 'calls.sh', args: [] }),
      run(session, { type: 'run_command', skill: 'writer', command: 'python3 -m scripts.relative' }),
    ]);
    expect(outputs.map(({ stdout }) => stdout)).toEqual(['imported\n', 'imported\nimported\n', 'relative imported\n']);
  });
});
