/** Edits of files that git keeps: how they are asked about, and which modes answer. */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { needs } from '../needs.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, runCli, temporaryFolder, writeFiles } from './run-cli.ts';

const PROGRAM = path.join(PROJECT, 'dist/command/skillwright.js');
const home = temporaryFolder();
const SCRIPTED = ['--model', 'scripted:script.json', '--executor', 'none'];

interface Edit {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
}

const edit = (from: string, to: string, file = 'src/a.txt'): Edit => ({ path: file, old_text: from, new_text: to });

function project(turns: readonly (Edit | string | object)[], isRepository = true): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const script = turns.map((turn) => {
    if (typeof turn === 'string') return { text: turn };
    return { toolCalls: ['name' in turn ? turn : { name: 'edit_file', input: turn }] };
  });
  writeFiles(folder, { 'src/a.txt': 'one\n', Makefile: 'all:\n', 'script.json': JSON.stringify({ turns: script }) });
  if (!isRepository) return folder;
  const git = (...words: readonly string[]): unknown =>
    execFileSync('git', words, { cwd: folder, stdio: 'ignore', env: { ...process.env, HOME: folder } });
  git('init');
  git('add', 'src', 'Makefile');
  return folder;
}

const text = (folder: string, file = 'src/a.txt'): string => readFileSync(path.join(folder, file), 'utf8');

function chat(folder: string, steps: readonly Step[], words: readonly string[] = []): Promise<Screen> {
  return atTerminal([process.execPath, PROGRAM, 'chat', ...SCRIPTED, ...words], steps, {
    cwd: folder,
    env: { HOME: home, ...SHARED_CACHE },
  });
}

const PAUSE = { seconds: 0.6 };
const END = [{ until: '> ' }, { keys: '\u0004' }] as const;

describe('at a terminal', needs('python3 with pty'), () => {
  verifies(
    ['POL-3', 'AGT-13'],
    'an edit of a tracked file is low risk: its diff is shown and one key answers, also together with Enter',
    async () => {
      const folder = project([edit('one', 'two'), 'Done.']);
      const question = [{ until: '[d]etails > ' }, PAUSE, { keys: 'y\r' }, { until: 'Done.' }];
      const { text: screen } = await chat(folder, [{ until: '> ' }, { keys: 'go\r' }, ...question, ...END]);
      expect(screen).toContain('◆ low risk: change +1 -1: src/a.txt');
      expect(screen).toContain('  [y]es  [a]ll edits in this session  [n]o  [d]etails > yes, once');
      expect(screen).toMatch(/- one[\s\S]*\+ two/);
      expect(text(folder)).toBe('two\n');
    },
  );

  test('"all edits" answers the next edits, shows in the prompt, and does not cover build files', async () => {
    const folder = project([
      edit('one', 'two'),
      edit('two', 'three'),
      { name: 'write_file', input: { path: 'src/new.txt', content: 'new\n' } },
      edit('all:', 'all: x', 'Makefile'),
      'Done.',
    ]);
    const { text: screen } = await chat(folder, [
      { until: '> ' },
      { keys: 'go\r' },
      { until: '[d]etails > ' },
      PAUSE,
      { keys: 'a' },
      { until: 'type yes' },
      PAUSE,
      { keys: 'no\r' },
      { until: 'Done.' },
      { until: 'accept edits> ' },
      { keys: '\u0004' },
    ]);
    expect(screen).toContain('> yes, all edits in this session');
    // The prompt shows the mode, so that no line says so for each edit.
    expect(screen).not.toContain('approved once');
    expect([text(folder), text(folder, 'src/new.txt'), text(folder, 'Makefile')]).toEqual([
      'three\n',
      'new\n',
      'all:\n',
    ]);
  });

  test('Shift-Tab goes on to the next mode; in read only nothing is changed and nothing is asked', async () => {
    const folder = project([edit('one', 'two'), 'I could not.', edit('one', 'two'), 'Now I asked.']);
    const { text: screen } = await chat(folder, [
      { until: '> ' },
      { keys: '\u001B[Z' },
      { until: 'accept edits> ' },
      { keys: '\u001B[Z' },
      { until: 'read only> ' },
      { keys: 'go\r' },
      { until: 'I could not.' },
      { until: 'read only> ' },
      { keys: '\u001B[Z' },
      { until: '> ' },
      { keys: 'again\r' },
      { until: '[d]etails > ' },
      PAUSE,
      { keys: 'n' },
      { until: 'Now I asked.' },
      ...END,
    ]);
    expect(screen).toContain('edit_file is not allowed: this session is read only');
    expect(screen).toContain('denied by you');
    expect(text(folder)).toBe('one\n');
  });
});

describe('without a terminal', () => {
  const run = (folder: string, ...words: readonly string[]): ReturnType<typeof runCli> =>
    runCli(folder, ['run', 'go', ...SCRIPTED, ...words], { HOME: home });

  test('a run says beforehand what it refuses, and --yes or --accept edits do an edit of a tracked file', async () => {
    const refused = project([edit('one', 'two'), 'Done.']);
    const without = await run(refused);
    expect([without.status, text(refused)]).toEqual([3, 'one\n']);
    expect(without.err).toContain('no terminal: programs, edits and network requests are refused unless a rule allows');
    expect(without.err.indexOf('no terminal: ')).toBeLessThan(without.err.indexOf('edit_file'));
    for (const [words, by] of [
      [['--yes'], '--yes'],
      [['--accept', 'edits'], '--accept'],
    ] as const) {
      const folder = project([edit('one', 'two'), 'Done.']);
      const { status, err } = await run(folder, ...words);
      expect([status, text(folder)], err).toEqual([0, 'two\n']);
      expect(err).toContain(`approved once by ${by}`);
    }
  });

  test('without git, --project write --yes edits a file, and neither alone; build files stay', async () => {
    for (const [words, after] of [
      [['--yes'], 'one\n'],
      [['--accept', 'edits'], 'one\n'],
      [['--project', 'write'], 'one\n'],
      [['--project', 'write', '--yes'], 'two\n'],
    ] as const) {
      const folder = project([edit('one', 'two'), 'Done.'], false);
      await run(folder, ...words);
      expect([words, text(folder)]).toEqual([words, after]);
    }
    const folder = project([edit('all:', 'all: x', 'Makefile'), 'Done.'], false);
    const { status } = await run(folder, '--project', 'write', '--yes');
    expect([status, text(folder, 'Makefile')]).toEqual([3, 'all:\n']);
  });

  test('deleting, rules that ask, and protected names stay questions under --yes --accept edits', async () => {
    const deletes = { name: 'delete_file', input: { path: 'src/a.txt' } };
    for (const [turn, words] of [
      [deletes, []],
      [edit('one', 'two'), ['--set', 'policy.ask=["write_file(src/**)"]']],
      [{ name: 'write_file', input: { path: '.github/x.yml', content: 'x' } }, []],
      [{ name: 'write_file', input: { path: '.env', content: 'x' } }, []],
    ] as const) {
      const folder = project([turn, 'Done.']);
      const { status, err } = await run(folder, '--yes', '--accept', 'edits', ...words);
      expect([status, text(folder)], err).toEqual([3, 'one\n']);
    }
  });
});
