import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { PROJECT } from './files-below.ts';

const folder = compileExamples();

const run = (example: string, ...words: string[]): string =>
  execFileSync(process.execPath, [path.join(folder, example), ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    encoding: 'utf8',
    timeout: 170_000,
  });

test('catalog-for-a-prompt prints a prompt with every built-in skill', () => {
  expect(run('catalog-for-a-prompt.js').match(/^- \*\*[a-z-]+\*\* \(builtin\)/gm)).toEqual([
    '- **csv-report** (builtin)',
    '- **skill-author** (builtin)',
    '- **text-diff** (builtin)',
  ]);
});

test('search-as-a-tool finds the skill and teaches the nearest name', () => {
  const out = run('search-as-a-tool.js');
  expect(out).toContain('"name": "text-diff"');
  expect(out).toContain('did you mean csv-report?');
});

test('check-in-ci passes the built-in skills', () => {
  expect(run('check-in-ci.js', path.join(PROJECT, 'skills'))).toBe('3 skills, 0 diagnostics\n');
});

test('evaluate-skills runs the scripts of the built-in skills and says who fires, with no model', () => {
  const lines = run('evaluate-skills.js', path.join(PROJECT, 'skills')).split('\n');
  expect(lines.slice(0, 6).every((line) => line.startsWith('passed '))).toBe(true);
  expect(lines.slice(6)).toEqual([
    'csv-report fires for 9 of 9',
    'skill-author fires for 8 of 10',
    'text-diff fires for 6 of 9',
    '',
  ]);
});

test('own-loop searches, loads and reads with no model', () => {
  const out = run('own-loop.js');
  expect(out.split('\n').map((line) => line.slice(0, 60))).toMatchInlineSnapshot(`
    [
      "system: When a task fits a skill, call load_skill first and ",
      "tool: [{"name":"text-diff","description":"Compares two text ",
      "tool: <skill_content name="text-diff" source="builtin" dir="",
      "tool: <skill_file skill="text-diff" path="references/reading",
      "",
    ]
  `);
});

test('approve-and-record prints what was decided and answered, from a record that is intact', () => {
  expect(run('approve-and-record.js').split('\n')).toEqual([
    'allow: read_file is allowed by default, built-in',
    'ask: write_file needs approval by default, built-in',
    '  answered: yes',
    'ask: write_file needs approval by default, built-in',
    '  answered: no',
    'deny: delete_file is not allowed by the rule "delete_file" of run',
    'the record is intact',
    '',
  ]);
});

test('run-agent finds the skill, runs its script and answers with its figures, with no model', () => {
  const lines = run('run-agent.js').split('\n');
  expect(lines.slice(0, 5)).toEqual([
    'model rules: it was requested by name',
    '- search_skills',
    '- load_skill',
    '- run_script',
    '- final_answer',
  ]);
  expect(lines).toContain('- Rows: 3');
  expect(lines).toContain('| 2 | sum | integer | 2 | 1 | 2 |');
  expect(lines.at(-2)).toBe('done, the record is intact');
});

test('install-and-update signs, installs, finds an edit and keeps it through an update', () => {
  expect(run('install-and-update.js').split('\n')).toEqual([
    'installed tables 1.0.0',
    'added here notes.md',
    'looked tables outdated',
    'updated to 1.1.0 with notes.md kept',
    '',
  ]);
});

// Real clients over real HTTP, against a local server that speaks the vendors' protocols. The script is the model: it searches,
// loads and reads, and its last answer quotes what it was given, so that a lost tool result fails the test.
const server = new LLMock({ port: 0, strict: true });

beforeAll(async () => {
  await server.start();
});
afterAll(async () => {
  await server.stop();
});

interface Step {
  readonly tool: string;
  readonly input: object;
  /** A piece of the tool's result, which the next request must hold. */
  readonly result: string;
}

const SCRIPTS: Readonly<Record<string, readonly Step[]>> = {
  'ai-sdk': [
    { tool: 'search_skills', input: { query: 'what changed between two files' }, result: 'text-diff' },
    { tool: 'load_skill', input: { skill: 'text-diff' }, result: 'scripts/diff.mjs' },
    {
      tool: 'read_resource',
      input: { skill: 'text-diff', path: 'references/reading-a-diff.md', section: 'Counts' },
      result: '## Counts',
    },
  ],
  openai: [
    { tool: 'search_skills', input: { query: 'what changed between two files', n: 1 }, result: 'text-diff' },
    { tool: 'load_skill', input: { skill_name: 'text-diff' }, result: 'name: text-diff' },
    {
      tool: 'load_skill_asset',
      input: { skill_name: 'text-diff', relative_path: 'references/reading-a-diff.md' },
      result: '# Reading a diff',
    },
  ],
  anthropic: [
    { tool: 'skill_list_docs', input: { skill: 'text-diff' }, result: 'references/reading-a-diff.md' },
    { tool: 'skill_load', input: { skill: 'text-diff' }, result: '[Loaded] text-diff' },
    {
      tool: 'skill_select_docs',
      input: { skill: 'text-diff', docs: ['references/reading-a-diff.md'] },
      result: 'reading-a-diff.md',
    },
  ],
};

/** A model that walks through the steps, each only when the result of the one before is in the request. */
function play(name: string, steps: readonly Step[]): void {
  server.clearFixtures().resetMatchCounts();
  server.clearRequests();
  for (const [turn, { tool, input }] of steps.entries()) {
    const before = steps[turn - 1]?.result;
    server.on(
      { turnIndex: turn, ...(before === undefined ? {} : { toolResultContains: before }) },
      { toolCalls: [{ name: tool, arguments: JSON.stringify(input), id: `${name}-${String(turn)}` }] },
    );
  }
  server.on(
    { turnIndex: steps.length, toolResultContains: steps.at(-1)?.result ?? '' },
    { content: 'Run scripts/diff.mjs.' },
  );
}

describe.each(Object.keys(SCRIPTS))('examples/%s.ts', (name) => {
  test.each([[], ['--stream']])('searches, loads and reads over HTTP, and answers %j', async (...flags) => {
    const steps = SCRIPTS[name] ?? [];
    play(name, steps);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [`${folder}/${name}.js`, 'Which lines differ?', ...flags],
      {
        cwd: folder,
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          OPENAI_BASE_URL: `${server.url}/v1`,
          OPENAI_API_KEY: 'none',
          ANTHROPIC_BASE_URL: server.url,
          ANTHROPIC_API_KEY: 'none',
        },
        timeout: 170_000,
      },
    );
    expect(stdout).toContain('Run scripts/diff.mjs.');
    const requests = server.getRequests();
    expect(requests.length).toBe(steps.length + 1);
    // The prefix of the prompt is the same in every request: tools and system message.
    const prefixes = requests.map(({ body }) => JSON.stringify(prefixOf(body)));
    expect(new Set(prefixes).size).toBe(1);
    expect(prefixes[0]).toContain('text-diff');
  });
});

function prefixOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { tools, system, messages } = body as Record<string, unknown>;
  const [first] = Array.isArray(messages) ? messages : [];
  return { tools, system, first };
}

/**
 * The examples, compiled into a folder of the test's own, where they import `skillwright` as a stranger would: by name, through the
 * published doors, from the built package.
 */
function compileExamples(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-examples-'));
  beforeAll(() => {
    const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
    const flags = ['--outDir', folder, '--rootDir', path.join(PROJECT, 'examples'), '--noEmit', 'false'];
    execFileSync(process.execPath, [tsc, '-p', path.join(PROJECT, 'examples/tsconfig.json'), ...flags], {
      timeout: 120_000,
    });
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    const modules = path.join(folder, 'node_modules');
    mkdirSync(modules);
    symlinkSync(PROJECT, path.join(modules, 'skillwright'));
    for (const name of readdirSync(path.join(PROJECT, 'node_modules')))
      if (name !== 'skillwright' && !name.startsWith('.'))
        symlinkSync(path.join(PROJECT, 'node_modules', name), path.join(modules, name));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
