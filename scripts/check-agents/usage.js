/**
 * Lets a real agent CLI work on a few requests with a mock model, and compares what `skillwright usage` reads from its transcripts with what
 * the requests to the model show. With CHECK_AGENTS_TRANSCRIPTS=DIR the transcripts are kept as fixtures of the tests.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { startMockModel, USAGE } from './mock-model.js';
import { startAgent } from './start-agent.js';

const SKILLS = {
  'csv-report': 'Summarises a CSV file as a Markdown report. Use it when the user has a CSV file.',
  'text-diff': 'Compares two texts word by word. Use it when the user wants to compare two texts.',
  'slide-deck': 'Builds slides for a presentation from an outline. Use it when the user needs slides.',
};
const RULES = { 'csv-report': /\bcsv\b/i, 'text-diff': /\bcompare\b/i };
/** The model loads a skill for the first two; for the last it should have. */
const PROMPTS = [
  'Summarise my CSV file of sales',
  'Compare these two drafts',
  'Tell me a joke',
  'Build slides for a presentation from this outline',
];
const FOLDERS = { 'claude-code': '.claude/skills' };
/** As long as any folder of a test, which replaces it in place. */
const PLACEHOLDER = `/placeholder-of-the-project-${'x'.repeat(120)}`.slice(0, 120);

const bodyOf = (name) => `Answer that ${name} was loaded.`;

/** One row: what differs, or nothing. */
export async function checkUsage(id, { prefix, world, command, fixtures }) {
  const top = mkdtempSync(path.join(world, `usage-${id}-`));
  const [home, project, tools] = ['home', 'project', 'bin'].map((name) => path.join(top, name));
  for (const one of [path.join(home, 'tmp'), project, tools]) mkdirSync(one, { recursive: true });
  spawnSync('git', ['init', '-q'], { cwd: project });
  for (const [name, description] of Object.entries(SKILLS)) {
    const folder = path.join(project, FOLDERS[id] ?? '.agents/skills', name);
    mkdirSync(folder, { recursive: true });
    const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n# How ${name} works\n\n${bodyOf(name)}\n`;
    writeFileSync(path.join(folder, 'SKILL.md'), text);
  }
  addRipgrep(prefix, tools);
  const bin = [path.join(prefix, 'node_modules/.bin'), tools];
  const mock = await startMockModel({ rules: RULES });
  const expected = { requests: PROMPTS.length, skills: [] };
  try {
    for (const prompt of PROMPTS) {
      const before = mock.requests.length;
      const run = await startAgent(id, { home, project, url: mock.url, bin, prompt, keepsSession: true });
      if (run.status !== 0) return { id, problem: `exit code ${run.status}: ${run.output.trim().slice(-300)}` };
      const own = mock.requests.slice(before).filter(({ text }) => text.includes(prompt));
      // A skill was loaded if a later request shows its instructions to the model.
      for (const name of Object.keys(RULES).filter((one) => own.some(({ text }) => text.includes(bodyOf(one)))))
        expected.skills.push({
          name,
          fired: 1,
          missed: 0,
          tokens: own.filter(hasTools).length * (USAGE.input + USAGE.output),
        });
    }
    expected.skills.push({ name: 'slide-deck', fired: 0, missed: 1, tokens: 0 });
  } finally {
    mock.close();
  }
  const { stdout, stderr } = spawnSync(process.execPath, [command, 'usage', '--agent', id, '--json'], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: home },
    encoding: 'utf8',
  });
  if (fixtures !== undefined) keepTranscripts(id, { home, project, folder: path.join(fixtures, id) });
  rmSync(top, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  if (stdout === '') return { id, problem: stderr.trim() };
  const { agents, skills } = JSON.parse(stdout);
  const [{ requests, lines, unknown, damaged, problems } = {}] = agents;
  const real = {
    requests,
    skills: skills.map(({ name, fired, missed, tokens }) => ({
      name,
      fired,
      missed,
      tokens: tokens.input + tokens.output,
    })),
  };
  const left = { unknown, damaged, problems: problems?.length };
  const isEqual = JSON.stringify(real) === JSON.stringify(expected) && unknown + damaged + problems.length === 0;
  const isCurrent = skills.every(({ versions }) => versions.every(({ isInstalled }) => isInstalled));
  const problem =
    isEqual && isCurrent
      ? undefined
      : `mock ${JSON.stringify(expected)}, usage ${JSON.stringify({ ...real, ...left, isCurrent })}`;
  return { id, problem, requests, lines };
}

/** Requests for titles have no tools, and no agent counts them in a session. */
function hasTools({ text }) {
  return (JSON.parse(text).tools ?? []).length > 0;
}

/** Prints one row per agent; returns whether all agree. */
export function printUsage(rows) {
  console.log('\nWhat skillwright usage reads in transcripts, compared with the requests to the model:\n');
  console.log('| agent | requests | lines read | result |\n| --- | --- | --- | --- |');
  for (const { id, problem, requests = '-', lines = '-' } of rows)
    console.log(`| ${id} | ${requests} | ${lines} | ${problem ?? 'equal'} |`);
  return rows.every(({ problem }) => problem === undefined);
}

/** OpenCode needs ripgrep to list the files of a skill; the package of Qwen Code brings it. */
function addRipgrep(prefix, tools) {
  const folder = path.join(
    prefix,
    'node_modules/@qwen-code/qwen-code/vendor/ripgrep',
    `${process.arch}-${process.platform}`,
  );
  const program = path.join(folder, 'rg');
  if (!existsSync(program)) return;
  writeFileSync(path.join(tools, 'rg'), readFileSync(program));
  chmodSync(path.join(tools, 'rg'), 0o755);
}

const TRANSCRIPTS = {
  'claude-code': '.claude/projects',
  codex: '.codex/sessions',
  'gemini-cli': '.gemini/tmp',
  'github-copilot': '.copilot/session-state',
  pi: '.pi/agent/sessions',
  'qwen-code': '.qwen/projects',
  opencode: '.local/share/opencode',
};
const MAX_TEXT = 400;

/** Without the paths of this machine and without the long texts of the agents, which say nothing about skills. */
function keepTranscripts(id, { home, project, folder }) {
  rmSync(folder, { recursive: true, force: true });
  const top = path.join(home, TRANSCRIPTS[id]);
  if (id === 'opencode') return keepDatabase(top, project, path.join(folder, TRANSCRIPTS[id]));
  for (const name of readdirSync(top, { recursive: true })) {
    if (!name.endsWith('.jsonl') && !name.endsWith('.project_root')) continue;
    const lines = readFileSync(path.join(top, name), 'utf8').trimEnd().split('\n');
    const kept = name.endsWith('.jsonl')
      ? lines.flatMap((line) => (isOwn(JSON.parse(line)) ? [JSON.stringify(JSON.parse(line), shorten)] : []))
      : lines;
    const file = path.join(
      folder,
      TRANSCRIPTS[id],
      name
        .replaceAll(project.replaceAll('/', '-'), '-project-')
        .replaceAll(project.slice(1).replaceAll('/', '-'), 'project'),
    );
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${kept.join('\n').replaceAll(project, PLACEHOLDER).replaceAll(home, '/home')}\n`);
  }
}

/** Lines that only repeat the prompts and tools of the agent. */
function isOwn({ type, attachment, payload, message }) {
  const isPrompt = /^(?:api-request|system\.message|world_state)/.test(type ?? '') || message?.role === 'system';
  return !isPrompt && attachment === undefined && payload?.role !== 'developer';
}

function shorten(_, value) {
  return typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, 20)} (cut)` : value;
}

/** Only the tables that are read; the last rows stay in the write-ahead log. */
function keepDatabase(from, project, to) {
  mkdirSync(to, { recursive: true });
  const file = path.join(to, 'opencode.db');
  const tables = ['session', 'message', 'part'];
  const copy = (table, where) => `insert into ${table} select * from old.${table} where ${where};`;
  const copyAll = (sign) => {
    const of = `select id from old.session where time_created ${sign} (select max(time_created) from old.session)`;
    return [
      copy('session', `id in (${of})`),
      ...['message', 'part'].map((table) => copy(table, `session_id in (${of})`)),
    ];
  };
  const clean = (table, column) =>
    `update old.${table} set ${column} = replace(${column}, '${project}', '${PLACEHOLDER}');`;
  const script = [
    'pragma journal_mode=wal; pragma wal_autocheckpoint=0;',
    `attach '${path.join(from, 'opencode.db')}' as old;`,
    clean('session', 'directory'),
    clean('message', 'data'),
    clean('part', 'data'),
    ...tables.map(
      (table) =>
        `.once ${to}/${table}.sql\nselect sql || ';' from old.sqlite_master where type='table' and name='${table}';\n.read ${to}/${table}.sql`,
    ),
    ...copyAll('<'),
    'pragma main.wal_checkpoint(truncate);',
    ...copyAll('='),
    // A row that does not fit into a page.
    `insert into part select id || 'x', message_id, session_id, time_created, time_updated, json_object('type', 'reasoning', 'text', hex(zeroblob(6000))) from part limit 1;`,
    `.shell cp ${file} ${file}.kept; cp ${file}-wal ${file}-wal.kept`,
  ].join('\n');
  const { stderr } = spawnSync('sqlite3', [file], { input: script, encoding: 'utf8' });
  if (stderr !== '') console.error(stderr);
  for (const name of ['opencode.db', 'opencode.db-wal'])
    writeFileSync(path.join(to, name), readFileSync(path.join(to, `${name}.kept`)));
  for (const name of readdirSync(to))
    if (!['opencode.db', 'opencode.db-wal'].includes(name)) rmSync(path.join(to, name));
}
