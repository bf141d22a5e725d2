import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { COMMANDS } from '../../src/cli/commands.ts';
import { VERSION } from '../../src/version.ts';
import { verifies } from '../conformance/verifies.ts';
import { cli, skillText, spawnCli, temporaryFolder, writeFiles } from './run-cli.ts';

const folder = temporaryFolder();
const NOTES = 'Writes release notes from git history.';
const only = ['--root', 'skills', '--only-root', '--no-cache'];

beforeAll(() => {
  writeFiles(folder, {
    'skills/pdf-forms/SKILL.md': skillText('pdf-forms', 'Fills in PDF forms. Use when a form must be filled.'),
    'skills/pdf-forms/scripts/fill.py': '#!/usr/bin/env python3\nprint("CANARY-SCRIPT")\n',
    'skills/git-notes/SKILL.md': skillText('git-notes', NOTES, 'metadata:\n  version: "1.2.0"\n'),
    'skills/broken/SKILL.md': 'no frontmatter\n',
  });
});

const json = async (words: readonly string[]): Promise<Record<string, unknown>> => {
  const { out } = await cli(folder, [...words, '--json', ...only]);
  return JSON.parse(out) as Record<string, unknown>;
};

describe('list', () => {
  verifies(['CLI-1', 'REG-4', 'REG-7'], 'prints one JSON value with the fields that others build on', async () => {
    const value = await json(['list']);
    expect(Object.keys(value)).toEqual(['schema', 'indexHash', 'skills', 'shadowed', 'diagnostics', 'report']);
    expect(value['skills']).toEqual([
      {
        name: 'git-notes',
        description: NOTES,
        source: 'option',
        dir: `${folder}/skills/git-notes`,
        controls: { disableModelInvocation: false, userInvocable: true, runMode: 'inline' },
        meta: { version: '1.2.0' },
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
        state: 'auto',
        id: 'option/git-notes@1.2.0',
        group: '',
        file: 'SKILL.md',
        agents: [],
        trusted: true,
      },
      expect.objectContaining({ name: 'pdf-forms', id: 'option/pdf-forms' }),
    ]);
    expect(value['diagnostics']).toEqual([
      {
        code: 'frontmatter/missing',
        severity: 'error',
        path: `${folder}/skills/broken/SKILL.md`,
        line: expect.any(Number) as number,
        column: expect.any(Number) as number,
        message: expect.any(String) as string,
        hint: expect.any(String) as string,
      },
    ]);
    expect(value['report']).toMatchObject({
      found: 3,
      valid: 2,
      leftOut: [{ code: 'frontmatter/missing' }],
      indexHash: value['indexHash'],
    });
  });

  test('names each skill and each left-out folder once, in plain text without colours', async () => {
    const { status, out } = await cli(folder, ['list', ...only]);
    expect(status).toBe(0);
    expect(out.match(/^. git-notes /gm)).toHaveLength(1);
    expect(out.match(/broken\/SKILL\.md|skills\/broken\b/g)).toHaveLength(1);
    expect(out).not.toContain('\u001B');
  });

  test('cuts descriptions to the width of a terminal and colours them there', async () => {
    const { out } = await cli(folder, ['list', ...only], { isTTY: true, columns: 60, env: { TERM: 'xterm' } });
    expect(out).toContain('\u001B[1m');
    expect(out).toContain('…');
    const noColour = await cli(folder, ['list', ...only], { isTTY: true, env: { TERM: 'xterm', NO_COLOR: '1' } });
    expect(noColour.out).not.toContain('\u001B');
  });

  test('--explain says about each folder what was decided', async () => {
    const { out } = await cli(folder, ['list', '--explain', ...only]);
    expect(out).toMatch(/skill {8}.*pdf-forms/);
    expect(out).toMatch(/left-out {5}.*broken/);
  });

  test('--source filters', async () => {
    const { status, err } = await cli(folder, ['list', '--source', 'user', ...only]);
    expect([status, err]).toEqual([2, expect.stringContaining('no skill root has the source "user"')]);
    expect((await json(['list', '--source', 'OPTION']))['skills']).toHaveLength(2);
  });
});

describe('search', () => {
  verifies(['SRCH-1', 'CLI-1'], 'ranks by name and description; prints name, source and score', async () => {
    expect(await json(['search', 'fill', 'a', 'form'])).toEqual({
      schema: 1,
      results: [
        {
          name: 'pdf-forms',
          source: 'option',
          description: 'Fills in PDF forms. Use when a form must be filled.',
          score: expect.any(Number) as number,
        },
      ],
      available: [],
    });
  });

  test('answers and scores a file of queries in one process', async () => {
    writeFiles(folder, {
      'queries.json': JSON.stringify([{ id: 'a', query: 'fill a form', relevant: ['pdf-forms'] }, 'release notes']),
    });
    const value = await json(['search', '--queries', path.join(folder, 'queries.json')]);
    expect(value).toMatchObject({
      queries: [
        { id: 'a', query: 'fill a form', relevant: ['pdf-forms'], results: [{ name: 'pdf-forms' }] },
        { query: 'release notes', results: [{ name: 'git-notes' }] },
      ],
      scores: { queries: 1, 'recall@1': 1, 'recall@5': 1, mrr: 1, 'ndcg@10': 1 },
    });
  });

  test('takes one query a line, and says what is wrong with a file that is none', async () => {
    writeFiles(folder, { 'lines.txt': 'fill a form\n\nrelease notes\n', 'bad.json': '[1]' });
    // Like every path of a command line it stands on the folder of --cwd.
    expect((await json(['search', '--queries', 'lines.txt']))['queries']).toHaveLength(2);
    expect(await cli(folder, ['search', '--queries', 'lines.txt', 'more', ...only])).toMatchObject({
      status: 2,
      err: expect.stringContaining('WORDS and --queries cannot be combined') as string,
    });
    expect((await json(['search', '--queries', path.join(folder, 'lines.txt')]))['queries']).toHaveLength(2);
    expect(await cli(folder, ['search', '--queries', path.join(folder, 'bad.json'), ...only])).toMatchObject({
      status: 1,
      err: expect.stringContaining('at position 1') as string,
    });
    expect(await cli(folder, ['search', '--queries', path.join(folder, 'none.json'), ...only])).toMatchObject({
      status: 1,
      err: expect.stringContaining('cannot be read') as string,
    });
  });

  test('finds nothing with status 1 and a way on', async () => {
    expect(await cli(folder, ['search', 'zzzzqqqq', ...only])).toEqual({
      status: 1,
      out: '',
      err: 'no match in 2 skills; try other words or --deep to search the instructions\n',
    });
  });

  test('--deep finds words of the body, in a background thread, and keeps the index', async () => {
    writeFiles(folder, {
      'deep/a/SKILL.md': `${skillText('a', 'Does one thing.')}\nquokka migration\n`,
      'deep/b/SKILL.md': skillText('b', 'Does another thing.'),
    });
    const words = ['search', 'quokka', 'migration', '--json', '--root', 'deep', '--only-root'];
    const plain = await spawnCli(folder, words);
    expect(JSON.parse(plain.out)).toMatchObject({ results: [], available: [] });
    for (const run of [1, 2]) {
      const deep = await spawnCli(folder, [...words, '--deep']);
      expect({ run, results: JSON.parse(deep.out) }).toMatchObject({ run, results: { results: [{ name: 'a' }] } });
    }
  });
});

describe('inspect', () => {
  verifies('CLI-2', 'shows fields and files and no body unless asked', async () => {
    const { out } = await cli(folder, ['inspect', 'PDF-Forms', ...only]);
    expect(out).toContain('scripts/fill.py');
    expect(out).not.toContain('Do it well');
    expect(out).not.toContain('CANARY-SCRIPT');
    const whole = await cli(folder, ['inspect', 'pdf-forms', '--body', ...only]);
    expect(whole.out).toContain('Do it well.');
    expect(whole.out).not.toContain('CANARY-SCRIPT');
  });

  test('takes a path too', async () => {
    const { status, out } = await cli(folder, ['inspect', './skills/git-notes', '--json']);
    expect({ status, skill: JSON.parse(out) as unknown }).toMatchObject({
      status: 0,
      skill: { skill: { name: 'git-notes' }, files: [{ path: 'SKILL.md' }] },
    });
  });

  test('an unknown name teaches the nearest', async () => {
    expect(await cli(folder, ['inspect', 'pdf-form', ...only])).toMatchObject({
      status: 1,
      err: expect.stringContaining('did you mean pdf-forms?') as string,
    });
    const { out } = await cli(folder, ['inspect', 'pdf-form', '--json', ...only]);
    expect(JSON.parse(out)).toEqual({
      schema: 1,
      error: {
        code: 'skill/unknown',
        message: 'there is no skill called "pdf-form"',
        hint: 'did you mean pdf-forms?',
        data: { name: 'pdf-form', nearest: ['pdf-forms'] },
      },
    });
  });
});

describe('catalog', () => {
  verifies(['DISC-1', 'CLI-1'], 'prints text, tokens and the four lists', async () => {
    expect(await json(['catalog', '--format', 'lines'])).toEqual({
      schema: 1,
      text: 'Available Skills:\n- name=git-notes | source=option | description=Writes release notes from git history.\n- name=pdf-forms | source=option | description=Fills in PDF forms. Use when a form must be filled.\n',
      tokens: expect.any(Number) as number,
      full: ['git-notes', 'pdf-forms'],
      shortened: [],
      nameOnly: [],
      omitted: [],
    });
  });

  test('--explain says why each skill is shown as it is', async () => {
    const { out } = await cli(folder, ['catalog', '--explain', '--budget', '60', ...only]);
    expect(out).toMatch(/git-notes.*(?:omitted|nameOnly|shortened)/);
  });
});

describe('new', () => {
  verifies('CLI-2', 'makes a skill that passes check, and touches nothing that is there', async () => {
    const made = await cli(folder, ['new', 'fresh', '--to', 'made', '--with', 'all', '--json']);
    expect(made.status).toBe(0);
    expect(statSync(path.join(folder, 'made/fresh/scripts/main.py')).mode & 0o111).not.toBe(0);
    expect(await cli(folder, ['check', 'made/fresh', '--json'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('"ok": true') as string,
    });
    const before = readFileSync(path.join(folder, 'made/fresh/SKILL.md'), 'utf8');
    expect(await cli(folder, ['new', 'fresh', '--to', 'made'])).toMatchObject({
      status: 1,
      err: expect.stringContaining('already') as string,
    });
    expect(readFileSync(path.join(folder, 'made/fresh/SKILL.md'), 'utf8')).toBe(before);
  });

  test('leaves nothing behind where it cannot write', async () => {
    writeFiles(folder, { 'a-file': '' });
    expect(await cli(folder, ['new', 'x', '--to', 'a-file'])).toMatchObject({
      status: 1,
      err: expect.stringContaining('cannot create the folder') as string,
    });
    expect(await cli(folder, ['new', '../evil'])).toMatchObject({ status: 1 });
    expect(existsSync(path.join(folder, '.agent'))).toBe(false);
  });
});

describe('doctor', () => {
  test('exits 1 when a skill was left out, and names it with what to do', async () => {
    const { status, out } = await cli(folder, ['doctor', '--no-probe', ...only]);
    expect(status).toBe(1);
    expect(out).toContain('frontmatter/missing');
  });
});

describe('the command line', () => {
  test('a folder to work in that is not there, or is a file, is wrong usage', async () => {
    writeFiles(folder, { 'a-file': '' });
    for (const [name, words] of [
      ['gone', ['check']],
      ['a-file', ['list', '--json']],
    ] as const) {
      const cwd = path.join(folder, name);
      const { status, err } = await cli(cwd, words);
      expect({ status, err }).toEqual({
        status: 2,
        err: `error: --cwd is not a folder: ${JSON.stringify(cwd)}\nhint: name an existing folder that you may enter\n`,
      });
    }
  });

  const wrong: readonly (readonly [words: readonly string[], message: string, hint: string])[] = [
    [['lsit'], 'unknown command "lsit"', 'did you mean list?'],
    [['list', '--jsno'], 'unknown flag --jsno for skillwright list', 'did you mean --json?'],
    [['list', '--root'], '--root needs a value', 'see skillwright list --help'],
    [['exec', 'a', 'b', '--in', ''], '--in needs a value, got an empty path', 'write . for the current folder'],
    [['exec', 'a', 'b', '--out='], '--out needs a value, got an empty path', 'write . for the current folder'],
    [['search', '-n', 'many', 'x'], '--limit must be a whole number from 1 to 10000', 'got "many"'],
    [['catalog', '--format', 'yaml'], '--format must be one of xml, markdown, lines, list, expertise', 'got "yaml"'],
    [
      ['list', 'extra'],
      'too many arguments: expected at most 0, got 1',
      'usage: skillwright list [--source NAME] [--explain] [--json]',
    ],
    [['inspect'], 'missing argument: expected at least 1, got 0', 'usage: skillwright inspect NAME|PATH [--body]'],
    [['check', '--dry-run'], '--dry-run needs --fix', 'skillwright check --fix --dry-run'],
    [['list', '--json=yes'], '--json takes no value', 'see skillwright list --help'],
    [['list', '--\u001B[31mx'], 'unknown flag --\\x1b[31mx for skillwright list', 'see skillwright list --help'],
  ];
  test.each(wrong)('%j is wrong usage: status 2 with a hint', async (words, message, hint) => {
    const { status, err } = await cli(folder, words);
    expect({ status, err }).toEqual({ status: 2, err: `error: ${message}\nhint: ${hint}\n` });
  });

  test('help is an answer, on stdout, for the program and for each command', async () => {
    for (const words of [[], ['--help'], ['help'], ['help', 'list'], ['list', '--help'], ['new', '-h']]) {
      const { status, out, err } = await cli(folder, words);
      expect({ words, status, err }).toEqual({ words, status: 0, err: '' });
      expect(out).toContain('Usage');
    }
  });

  test('--help groups the commands by task; help --all describes each of them', async () => {
    const [short, whole] = [await cli(folder, ['--help']), await cli(folder, ['help', '--all'])];
    for (const title of ['Most used', 'Use skills', 'Write skills', 'Install skills', 'Check', 'Govern'])
      expect(short.out).toContain(title);
    expect(short.out).not.toContain('--only-root');
    for (const { name, summary, aliases } of COMMANDS) {
      expect(short.out).toContain(name);
      expect(whole.out.replaceAll(/\s+/g, ' ')).toContain(`${name} ${summary}`);
      const { out } = await cli(folder, [name, '--help']);
      if (aliases.length > 0) expect(out).toContain(`Alias  ${aliases.join(', ')}`);
      expect(out).toContain('--only-root');
    }
  });

  test.each([60, 80, 120])('help fits %i columns', async (columns) => {
    for (const words of [['--help'], ['help', '--all'], ['run', '--help'], ['eval', '--help']]) {
      const { out } = await cli(folder, words, { columns });
      const [body = ''] = out.split('\nExamples\n');
      expect(body.split('\n').filter((line) => line.length > columns)).toEqual([]);
    }
  });

  test('a flag may stand before the command', async () => {
    const { out } = await cli(folder, [...only, 'list', '--json']);
    expect(JSON.parse(out)).toMatchObject({ skills: [{ name: 'git-notes' }, { name: 'pdf-forms' }] });
  });

  test('a large answer reaches a pipe whole', async () => {
    writeFiles(
      folder,
      Object.fromEntries(
        Array.from({ length: 600 }, (_, place) => [
          `many/s${String(place)}/SKILL.md`,
          skillText(`s${String(place)}`, 'Long. '.repeat(60)),
        ]),
      ),
    );
    const { out } = await spawnCli(folder, ['list', '--json', '--root', 'many', '--only-root']);
    expect(out.length).toBeGreaterThan(300_000);
    expect((JSON.parse(out) as { skills: unknown[] }).skills).toHaveLength(600);
  });

  test('works with no home folder, an unwritable cache and a folder that is a link', async () => {
    symlinkSync(path.join(folder, 'skills'), path.join(folder, 'linked'));
    writeFiles(folder, { 'no-cache/file': '' });
    const { status, out } = await spawnCli(folder, ['list', '--json', '--root', 'linked', '--only-root'], {
      HOME: '',
      SKILLWRIGHT_CACHE_DIR: path.join(folder, 'no-cache/file'),
    });
    expect({ status, value: JSON.parse(out) as unknown }).toMatchObject({
      status: 0,
      value: { skills: [{ name: 'git-notes' }, { name: 'pdf-forms' }], report: { cache: { status: 'unwritable' } } },
    });
  });

  test('--version prints the version alone', async () => {
    expect(await spawnCli(folder, ['--version'])).toEqual({ status: 0, out: `${VERSION}\n`, err: '' });
    expect(await cli(folder, ['list', '--version'])).toEqual({ status: 0, out: `${VERSION}\n`, err: '' });
  });

  test('nothing of a skill reaches a terminal raw', async () => {
    writeFiles(folder, {
      'evil/x/SKILL.md':
        '---\nname: x\ndescription: "Does \\e]0;title\\a\\e[2J \\u202E things"\n---\n\n\u001B[31mred\n',
    });
    for (const words of [
      ['list'],
      ['search', 'things'],
      ['inspect', 'x', '--body'],
      ['catalog'],
      ['doctor', '--no-probe'],
    ]) {
      const { out, err } = await cli(folder, [...words, '--root', 'evil', '--only-root', '--no-cache']);
      expect(out + err).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F\u202E]/);
    }
  });

  test('a file without read permission is named', async () => {
    if (process.getuid?.() === 0) {
      console.log('skipped: root may read everything');
      return;
    }
    writeFiles(folder, { 'locked/x/SKILL.md': skillText('x', 'Does x.') });
    chmodSync(path.join(folder, 'locked/x/SKILL.md'), 0);
    const { out } = await cli(folder, ['list', '--json', '--root', 'locked', '--only-root', '--no-cache']);
    expect(JSON.parse(out)).toMatchObject({ diagnostics: [{ code: 'file/unreadable' }] });
  });
});
