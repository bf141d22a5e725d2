/**
 * A day in a project, with a model on a server that answers with tool calls: a failing test, an option with a test, a rename. Every key
 * that an approval costs is in the steps, so that one question more, or a key that does nothing, stops the chat.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { chunk, serve, startStream } from '../model/local-server.ts';
import { needs } from '../needs.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, temporaryFolder, writeFiles } from './run-cli.ts';

const PROGRAM = path.join(PROJECT, 'dist/command/skillwright.js');
const home = temporaryFolder();

const FILES = {
  'package.json': '{"type": "module", "scripts": {"test": "node --test test/"}}\n',
  'src/sum.js': 'export const sumOf = (numbers) => numbers.reduce((all, one) => all - one, 0);\n',
  'src/main.js':
    "import { sumOf } from './sum.js';\nexport const main = (words) => String(sumOf(words.map(Number)));\n",
  'test/main.test.js':
    "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { main } from '../src/main.js';\n\ntest('adds', () => assert.equal(main(['2', '3']), '5'));\n",
} as const;

interface Call {
  readonly name: string;
  readonly input: object;
}

const run = (command: string): Call => ({ name: 'run_command', input: { command } });
const read = (file: string): Call => ({ name: 'read_file', input: { path: file } });
const edit = (file: string, from: string, to: string): Call => ({
  name: 'edit_file',
  input: { path: file, old_text: from, new_text: to },
});

const TESTS = run('npm test');
const FIX = [TESTS, read('src/sum.js'), edit('src/sum.js', 'all - one', 'all + one'), TESTS];
const OPTION = [
  read('src/main.js'),
  edit('src/main.js', '(words) =>', '(words, { unit = "" } = {}) =>'),
  edit('src/main.js', 'String(sumOf(words.map(Number)))', '`${sumOf(words.map(Number))}${unit}`'),
  edit(
    'test/main.test.js',
    "test('adds'",
    "test('adds a unit', () => assert.match(main(['2'], { unit: 'm' }), /^-?2m$/));\ntest('adds'",
  ),
  run('node --test --test-name-pattern=unit test/main.test.js'),
];
const RENAME = [
  { name: 'search_files', input: { pattern: 'sumOf' } },
  edit('src/sum.js', 'sumOf', 'total'),
  edit('src/main.js', '{ sumOf }', '{ total }'),
  edit('src/main.js', 'String(sumOf', 'String(total'),
  run('node --check src/main.js'),
];

function project(): string {
  const folder = temporaryFolder();
  // Under root, programs run as another user, who must be able to read the project.
  chmodSync(folder, 0o755);
  writeFiles(folder, FILES);
  const git = (...words: readonly string[]): unknown =>
    execFileSync('git', words, { cwd: folder, stdio: 'ignore', env: { ...process.env, HOME: folder } });
  git('init');
  git('add', '.');
  return folder;
}

const text = (folder: string, file: string): string => readFileSync(path.join(folder, file), 'utf8');

const PAUSE = { seconds: 0.6 };
/** One question, and the key that answers it. */
const answer = (question: string, key: string): readonly Step[] => [
  { until: question },
  { until: '[d]etails > ' },
  PAUSE,
  { keys: key },
];
const RUN = 'run in project';
const EDIT = 'low risk: change';

interface Day {
  readonly calls: readonly Call[];
  readonly answers: readonly Step[];
  readonly columns?: number;
  readonly words?: readonly string[];
}

async function chat(folder: string, { calls, answers, columns = 80, words = [] }: Day): Promise<Screen> {
  const server = await serve((response, turn) => {
    const call = calls[turn];
    const body =
      call === undefined
        ? chunk({ content: 'All of it is done.' }) + chunk({}, 'stop')
        : chunk({
            tool_calls: [
              {
                index: 0,
                id: `call_${String(turn)}`,
                type: 'function',
                function: { name: call.name, arguments: JSON.stringify(call.input) },
              },
            ],
          }) + chunk({}, 'tool_calls');
    startStream(response).end(`${body}data: [DONE]\n\n`);
  });
  const sized = ['sh', '-c', `stty cols ${String(columns)} rows 40; exec "$@"`, 'sh'];
  try {
    return await atTerminal(
      [...sized, process.execPath, PROGRAM, 'chat', '--model', 'openai-compatible/m', ...words],
      [
        { until: '> ' },
        { keys: 'do it\r' },
        ...answers,
        { until: 'All of it is done.' },
        { until: 'done after' },
        { until: '> ' },
        { keys: '\u0004' },
      ],
      { cwd: folder, env: { HOME: home, ...SHARED_CACHE, OPENAI_BASE_URL: server.url } },
    );
  } finally {
    await server.close();
  }
}

describe('a day in a project', needs('bubblewrap', 'python3 with pty'), () => {
  test.each([80, 120])('a failing test is fixed with one key a question, at %i columns', async (columns) => {
    const folder = project();
    const answers = [...answer(RUN, 'y'), ...answer(EDIT, 'y'), ...answer(RUN, 'y')];
    const { status, text: screen } = await chat(folder, { calls: FIX, answers, columns });
    expect(status, screen).toBe(0);
    expect(screen).toContain('! run_command "npm test": exit 1');
    expect(screen).toContain('✓ edit_file src/sum.js +1 -1');
    expect(screen).toContain('✓ run_command "npm test": exit 0');
    expect(text(folder, 'src/sum.js')).toContain('all + one');
  });

  test('"rest of run" and "all edits" leave one key for the test command and one for the edits', async () => {
    const folder = project();
    const answers = [...answer(RUN, 'r'), ...answer(EDIT, 'a')];
    const { status, text: screen } = await chat(folder, { calls: FIX, answers });
    expect(status, screen).toBe(0);
    expect(screen).toContain('✓ run_command "npm test": exit 0');
  });

  test('an option with a test costs one key where edits are accepted, four where not', async () => {
    for (const [words, answers] of [
      [['--accept', 'edits'], answer(RUN, 'y')],
      [[], [...answer(EDIT, 'y'), ...answer(EDIT, 'y'), ...answer(EDIT, 'y'), ...answer(RUN, 'y')]],
    ] as const) {
      const folder = project();
      const { status, text: screen } = await chat(folder, { calls: OPTION, answers, words });
      expect(status, screen).toBe(0);
      expect(screen).toContain('exit 0');
      expect(text(folder, 'src/main.js')).toContain('unit = ""');
    }
  });

  test('a rename across files costs no key with --accept edits --auto', async () => {
    const folder = project();
    const words = ['--accept', 'edits', '--auto'];
    const { status, text: screen } = await chat(folder, { calls: RENAME, answers: [], words, columns: 120 });
    expect(status, screen).toBe(0);
    expect(text(folder, 'src/main.js')).toBe(
      "import { total } from './sum.js';\nexport const main = (words) => String(total(words.map(Number)));\n",
    );
  });

  test('a command that writes to the project says that it may not, and which flag lets it; with it, it works', async () => {
    const calls = [run('echo built > built.txt')];
    const folder = project();
    const refused = await chat(folder, { calls, answers: [], columns: 200 });
    expect(refused.text).toContain('programs cannot write to the project');
    expect(refused.text).toContain('skillwright chat --resume last --project write');
    const words = ['--resume', 'last', '--project', 'write'];
    const typed = [{ until: 'your files mounted for writing' }, { until: 'is no > ' }, PAUSE, { keys: 'yes\r' }];
    chmodSync(folder, 0o777);
    const done = await chat(folder, { calls, answers: typed, words, columns: 120 });
    expect(done.status, done.text).toBe(0);
    expect(text(folder, 'built.txt')).toBe('built\n');
  });

  test('a task of twenty steps is not cut short', async () => {
    const calls = Array.from({ length: 20 }, (_, at) => read(Object.keys(FILES)[at % 4] ?? ''));
    const { text: screen } = await chat(project(), { calls, answers: [] });
    expect(screen).not.toContain('budget exhausted');
    expect(screen).toContain('20 tool calls');
  });
});
