/** An agent works on the files of a project: reads, edits with diffs, runs the tests in the sandbox, and everything can be undone. */
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { spawnCli, temporaryFolder } from './run-cli.ts';
import { needs } from '../needs.ts';

const FILES = {
  'AGENTS.md': 'Tests live in test/ and use node:test. canary-agents-md',
  '.gitignore': 'secret.local\n',
  'secret.local': 'canary-ignored',
  'src/add.mjs': 'export const add = (a, b) => a - b;\n',
  'package.json': '{"type": "module"}\n',
} as const;

const TEST_FILE = `import assert from 'node:assert';
import { test } from 'node:test';
import { add } from '../src/add.mjs';
test('adds', () => assert.equal(add(2, 3), 5));
`;

/** Outside of the project: a project that contains the home folder is not shown to programs. */
const home = temporaryFolder();

function call(name: string, input: object, expected: readonly string[] = []): object {
  return { ...(expected.length === 0 ? {} : { expect: { contains: expected } }), toolCalls: [{ name, input }] };
}

function project(turns: readonly object[]): string {
  const folder = temporaryFolder();
  // Under root, programs run as another user, who must be able to read the project.
  chmodSync(folder, 0o755);
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  writeFileSync(path.join(folder, 'script.json'), JSON.stringify({ turns }));
  return folder;
}

/** Every file of the project, without the data of this program. */
function filesIn(folder: string, below = ''): Readonly<Record<string, string>> {
  const entries = readdirSync(path.join(folder, below), { withFileTypes: true });
  return Object.assign(
    {},
    ...entries.map((entry) => {
      const name = below === '' ? entry.name : `${below}/${entry.name}`;
      if (name === '.agent' || name === 'home') return {};
      return entry.isDirectory() ? filesIn(folder, name) : { [name]: readFileSync(path.join(folder, name), 'utf8') };
    }),
  );
}

describe('a run on a project', () => {
  test(
    'adds a test, makes it pass in the sandbox, and runs undo restores every byte',
    needs('bubblewrap'),
    async () => {
      const run = { command: 'node --test test/add.test.mjs' };
      const folder = project([
        call('list_files', { depth: 2 }, ['canary-agents-md', 'AGENTS.md']),
        call('read_file', { path: 'src/add.mjs' }, ['src/add.mjs']),
        call('write_file', { path: 'test/add.test.mjs', content: TEST_FILE }, ['a - b']),
        call('run_command', run, ['created test/add.test.mjs']),
        call('edit_file', { path: 'src/add.mjs', old_text: 'a - b', new_text: 'a + b' }, ['fail 1']),
        call('run_command', run, ['changed src/add.mjs']),
        { expect: { contains: ['pass 1'], lacks: ['canary-ignored', 'secret.local'] }, text: 'The test passes.' },
      ]);
      const before = filesIn(folder);
      const words = [
        'run',
        'add a test for src/add and make it pass',
        '--model',
        'scripted:script.json',
        '--yes',
        '--json',
      ];
      const done = await spawnCli(
        folder,
        [...words, '--set', 'policy.allow=["write_file(src/**)","write_file(test/**)"]'],
        { HOME: home },
      );
      expect([done.status, done.out.includes('The test passes.')], done.out + done.err).toEqual([0, true]);
      expect(filesIn(folder)).toEqual({
        ...before,
        'src/add.mjs': 'export const add = (a, b) => a + b;\n',
        'test/add.test.mjs': TEST_FILE,
      });
      const undone = await spawnCli(folder, ['runs', 'undo', 'last'], { HOME: home });
      expect(undone).toMatchObject({
        status: 0,
        out: 'removed     test/add.test.mjs\nrestored    src/add.mjs\n2 files as before the run\n',
      });
      expect(filesIn(folder)).toEqual(before);
      writeFileSync(path.join(folder, 'src/add.mjs'), 'mine');
      expect(await spawnCli(folder, ['runs', 'undo', 'last'], { HOME: home })).toMatchObject({
        status: 1,
        out: expect.stringContaining('left alone  src/add.mjs: it changed after the run'),
      });
    },
  );

  verifies(
    'AGT-12',
    'asks about a write with a diff, about ignored files, and shows no AGENTS.md with --no-agents-md',
    async () => {
      const folder = project([
        call('read_file', { path: 'secret.local' }),
        { ...call('edit_file', { path: 'src/add.mjs', old_text: 'a - b', new_text: 'a + b' }) },
        { expect: { lacks: ['canary-agents-md', 'canary-ignored'] }, text: 'Both need approval.' },
      ]);
      const words = ['run', 'fix it', '--model', 'scripted:script.json', '--no-agents-md', '--keep-going', '--json'];
      const { out, err } = await spawnCli(folder, [...words, '--executor', 'none'], { HOME: home });
      expect(out, err).toContain('Both need approval.');
      const asked = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).event)
        .filter((event) => event?.type === 'approval-ask')
        .map(({ request }) => [request.tool, request.risk, request.detail]);
      expect(asked).toEqual([
        ['read_file', 'medium', expect.anything()],
        [
          'write_file',
          'high',
          {
            kind: 'write',
            path: 'src/add.mjs',
            before: FILES['src/add.mjs'],
            after: 'export const add = (a, b) => a + b;\n',
          },
        ],
      ]);
    },
  );
});
