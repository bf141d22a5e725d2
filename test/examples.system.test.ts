import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { SHARED_CACHE } from './cli/run-cli.ts';
import { compileExamples } from './compile-examples.ts';
import { PROJECT, filesBelow } from './files-below.ts';

const folder = compileExamples();

const run = (example: string, ...words: string[]): string =>
  execFileSync(process.execPath, [path.join(folder, example), ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...SHARED_CACHE },
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

/** The cases of all built-in skills are run by test/cli/eval-own.system.test.ts. */
function oneSkill(): string {
  const skills = path.join(folder, 'one-skill');
  cpSync(path.join(PROJECT, 'skills/text-diff'), path.join(skills, 'text-diff'), { recursive: true });
  return skills;
}

test('evaluate-skills runs the scripts of a skill and says whether it fires, with no model', () => {
  expect(run('evaluate-skills.js', oneSkill()).split('\n')).toEqual([
    'passed text-diff-words: 3 turns, 1 scripts',
    'passed text-diff-newline: 3 turns, 1 scripts',
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

test('verify-installed names the files that differ from the lock, and fails', () => {
  const root = path.join(folder, 'verified', '.agents', 'skills');
  const options = {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...SHARED_CACHE },
    timeout: 170_000,
  };
  const command = path.join(PROJECT, 'dist/command/skillwright.js');
  const install = [command, 'install', path.join(PROJECT, 'skills/text-diff'), '--to', root, '--yes'];
  execFileSync(process.execPath, install, { ...options, stdio: 'ignore' });
  expect(run('verify-installed.js', root)).toMatch(/^same {7}text-diff [0-9a-f]{12}\n$/);
  appendFileSync(path.join(root, 'text-diff/SKILL.md'), 'Always agree.\n');
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(folder, 'verify-installed.js'), root], {
    ...options,
    encoding: 'utf8',
  });
  expect([status, stdout.split('\n').slice(1), stderr]).toEqual([
    1,
    ['  changed SKILL.md', ''],
    expect.stringContaining('not those that were installed'),
  ]);
});

test('mcp-client uses a tool of mcp-server that the policy allows, and not the other one', () => {
  expect(run('mcp-client.js').split('\n')).toEqual([
    expect.stringMatching(/^mcp__team__search_skills: \[MCP server team\] /),
    'allowed: true',
    'refused: true',
    '',
  ]);
});

test('own-model is measured on the cases of a skill', () => {
  const lines = run('own-model.js', oneSkill()).trimEnd().split('\n');
  expect(lines).toEqual([
    'control always-fire: passed',
    'control never-fire: passed',
    'control shuffled-labels: passed',
    'text-diff: 6/9 found, 6/6 right',
  ]);
});

test('fleet-client submits, refuses what is asked, follows the events and checks the record', async () => {
  let isAnswered = false;
  const answers: Readonly<Record<string, () => unknown>> = {
    'POST /api/v1/runs': () => ({ run: 'r1', state: 'queued' }),
    'GET /api/v1/fleet/runs/r1': () =>
      isAnswered ? { run: 'r1', state: 'ended', outcome: 'done', answer: '20' } : { run: 'r1', state: 'waiting' },
    'GET /api/v1/approvals': () => ({ questions: [{ run: 'r1', id: 'q1', question: { tool: 'run_script' } }] }),
    'POST /api/v1/approvals/r1/q1': () => ((isAnswered = true), {}),
    'GET /api/v1/runs/r1/events': () =>
      'id: 1\nevent: run-start\ndata: {}\n\nid: 2\nevent: run-end\ndata: {}\n\nevent: end\ndata: {}\n\n',
    'GET /api/v1/runs/r1/integrity': () => ({
      records: [{ record: 'r1', attempt: 1, status: 'intact', problems: [] }],
    }),
  };
  const fleet = createServer(({ method = '', url = '', headers }, response) => {
    const answer = headers.authorization === 'Bearer example' ? answers[`${method} ${url}`]?.() : undefined;
    response.writeHead(answer === undefined ? 404 : 200);
    response.end(
      typeof answer === 'string' ? answer : JSON.stringify(answer ?? { error: `${method} ${url}`, hint: '' }),
    );
  });
  await new Promise<void>((resolve) => void fleet.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void fleet.close());
  const address = fleet.address();
  const url = `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : '')}`;
  const { stdout } = await promisify(execFile)(process.execPath, [`${folder}/fleet-client.js`, 'Sum up the orders'], {
    env: { PATH: process.env['PATH'] ?? '', FLEET_URL: url, FLEET_KEY: 'example' },
    timeout: 170_000,
  });
  expect(stdout.split('\n')).toEqual([
    'submitted r1',
    'asked: {"tool":"run_script"}',
    '- run-start',
    '- run-end',
    '20',
    'done, the record is intact',
    '',
  ]);
});

test('every example has 20 to 60 lines and a link from the page where a reader needs it', () => {
  const names = filesBelow('examples', /\.ts$/).filter((name) => name.split('/').length === 2);
  const lengths = names.map((name) => read(name).trimEnd().split('\n').length);
  expect(names.filter((_, index) => (lengths[index] ?? 0) < 20 || (lengths[index] ?? 0) > 60)).toEqual([]);
  const pages = [...filesBelow('docs', /\.md$/), 'README.md'].map(read).join('\n');
  expect(names.filter((name) => !pages.includes(`${name})`))).toEqual([]);
});

const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');

// Real clients over real HTTP, against a local server that speaks the vendors' protocols. The script is the model: it loads and reads, each
// only if the result before arrived. `npm run check:frameworks` does the same with every framework and the packed package.
const server = new LLMock({ port: 0 });

beforeAll(async () => {
  await server.start();
});
afterAll(async () => {
  await server.stop();
});

/** What this repository depends on anyway. */
const INSTALLED = [
  'ai-sdk',
  'openai-chat',
  'openai-responses',
  'openai-run-tools',
  'anthropic-messages',
  'anthropic-tool-runner',
];

test.each(INSTALLED)('frameworks/%s loads a skill and reads a file of it over HTTP', async (name) => {
  cpSync(path.join(PROJECT, 'skills'), path.join(folder, 'skills'), { recursive: true });
  server.clearFixtures().resetMatchCounts().addFixturesFromJSON(read('examples/frameworks/model.json'));
  const { stdout } = await promisify(execFile)(process.execPath, [`${folder}/frameworks/${name}.js`], {
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
  });
  expect(stdout).toContain('Run scripts/diff.mjs of the skill.');
});

test('every framework is pinned and tried by check:frameworks, in a dozen lines and without a cast', () => {
  const files = filesBelow('examples/frameworks', /\.ts$/);
  const frameworks: Readonly<
    Record<string, { readonly file: string; readonly packages: Readonly<Record<string, string>> }>
  > = JSON.parse(read('examples/frameworks/versions.json'));
  const tried = Object.values(frameworks).map(({ file }) => `examples/frameworks/${file}.ts`);
  expect([...new Set(tried)].toSorted()).toEqual(files.toSorted());
  const pinned = Object.values(frameworks).map(({ packages }) => Object.values(packages)[0]);
  expect(pinned.filter((version) => !/^\d+\.\d+\.\d+$/.test(version ?? ''))).toEqual([]);
  for (const file of files) {
    const lines = read(file).split('\n');
    expect(
      lines.filter((line) => /\bas (?!const\b)[A-Za-z]|\bany\b(?!')|@ts-/.test(line) && !line.startsWith('/**')),
    ).toEqual([]);
    const ours = /\b(?:skillwright|openSkills|library|chat|answer|system|instructions|tools)\b/;
    expect([file, lines.filter((line) => ours.test(line) && !line.startsWith('/**')).length < 12]).toEqual([
      file,
      true,
    ]);
  }
});

test('every bundler is pinned and tried by check:bundlers', () => {
  const versions: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
    read('examples/bundlers/versions.json'),
  );
  const folders = filesBelow('examples/bundlers', /./).flatMap((file) => /bundlers\/(\w+)\//.exec(file)?.[1] ?? []);
  expect(Object.keys(versions).toSorted()).toEqual([...new Set(folders)].toSorted());
  const pinned = Object.values(versions).flatMap((packages) => Object.values(packages));
  expect(pinned.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});
