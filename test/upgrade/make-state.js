// Makes the state that a version of skillwright leaves behind: `node test/upgrade/make-state.js COMMAND [DATABASE]`.
//
// COMMAND is dist/command/skillwright.js of a build of that version, DATABASE the URL of an empty PostgreSQL database. The folder
// /tmp/skillwright-0.1.0 gets `home`, `project`, `sources` and `database.sql`: trust and records name their folder, so the tests need
// the same one. Everything is made by the commands that a user types, with models that play turns. To keep it:
// `tar czf test/upgrade/state-0.1.0.tar.gz -C /tmp/skillwright-0.1.0 home project sources database.sql`.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const FOLDER = '/tmp/skillwright-0.1.0';
const [command, database] = process.argv.slice(2);
if (command === undefined) throw new Error('usage: make-state.js COMMAND [DATABASE]');
rmSync(FOLDER, { recursive: true, force: true });
const [home, project, sources, temporary] = ['home', 'project', 'sources', 'temporary'].map((name) =>
  path.join(FOLDER, name),
);
const env = {
  PATH: process.env.PATH,
  HOME: home,
  TMPDIR: temporary,
  SKILLWRIGHT_CACHE_DIR: path.join(temporary, 'cache'),
  ...(database !== undefined && { SKILLWRIGHT_DATABASE_URL: database }),
};
const HELLO = skill('hello', 'Writes a greeting for a name into a file. Use it to greet people.');
const LOAD = { toolCalls: [{ name: 'load_skill', input: { skill: 'hello' } }] };
const GREET = {
  toolCalls: [{ name: 'run_script', input: { skill: 'hello', script: 'scripts/greet.sh', args: ['Ada'] } }],
};
const WRITE = { toolCalls: [{ name: 'write_file', input: { path: 'notes.txt', content: 'after\n' } }] };
const SLEEP = { toolCalls: [{ name: 'run_command', input: { command: 'echo begun; sleep 60' } }] };

writeWhatUsersWrite();
installSkills();
await recordRuns();
cli('eval', 'cases.yaml');
cli('runs', 'list');
if (database !== undefined) await fillDatabase();
rmSync(temporary, { recursive: true });

function writeWhatUsersWrite() {
  mkdirSync(temporary, { recursive: true });
  write('sources/team/hello/SKILL.md', HELLO);
  write('sources/team/hello/scripts/greet.sh', '#!/bin/sh\necho "hello $1" > out/greeting.txt\necho "greeted $1"\n');
  write(
    'sources/team/table/SKILL.md',
    skill('table', 'Counts the rows of a CSV table. Use it for reports about tables.'),
  );
  write(
    'sources/shared/letters/SKILL.md',
    skill('letters', 'Writes formal letters. Use it for letters to offices.', '1.0.0'),
  );
  write('home/.agents/skills/mine/SKILL.md', skill('mine', 'Keeps the notes of its user. Use it for notes.'));
  write('project/.agents/skills/own/SKILL.md', skill('own', 'Writes the release notes of this project.'));
  write('project/notes.txt', 'before\n');
  write(
    'project/cases.yaml',
    `cases:
  - id: greets
    input: Greet Ada.
    skills: { target: hello }
    mock:
      turns:
        - toolCalls: [{ name: load_skill, input: { skill: hello } }]
        - text: hello Ada
    expect:
      trigger: true
      output: { contains: hello Ada }
`,
  );
  json('home/.agent/config.json', {
    catalog: { budget_tokens: 2000, format: 'markdown' },
    policy: { allow: ['write_file(drafts/**)'], deny: ['read_file(private/**)'] },
    secrets: { letters: { TOKEN: { env: 'LETTERS_TOKEN' } } },
  });
  json('project/.agent/config.json', { catalog: { budget_tokens: 1500 }, policy: { ask: ['read_file(plans/**)'] } });
  execFileSync('git', ['init', '--quiet', '--template=', project]);
}

/** Installed, updated, removed, from a signed pack, browsed and trusted. */
function installSkills() {
  cli('install', path.join(sources, 'team'), '--yes');
  write('sources/team/hello/SKILL.md', `${HELLO}Be brief.\n`);
  cli('update', 'hello', '--yes');
  cli('uninstall', 'table', '--yes');
  cli('keys', 'new', 'author', '--no-password');
  cli('keys', 'add', 'author', path.join(home, '.agent/keys/author.pub'), '--yes');
  const pack = path.join(sources, 'letters.zip');
  cli('pack', path.join(sources, 'shared/letters'), '--output', pack);
  cli('sign', pack, '--key', path.join(home, '.agent/keys/author.key'));
  cli('install', pack, '--scope', 'user', '--require-signed', '--yes');
  cli('source', 'add', 'shared', path.join(sources, 'shared'));
  cli('trust', '--yes');
}

/** Finished with a changed file; ended by its budget; that waits for an answer; with an answer that is remembered; killed while a program runs. */
async function recordRuns() {
  cli(
    ...run('done', [LOAD, GREET, WRITE, { text: 'Ada is greeted.' }]),
    '--yes',
    '--set',
    'policy.allow=["write_file(notes.txt)"]',
  );
  cli(...run('turns', [LOAD, { text: 'Ada is greeted.' }]), '--budget', 'turns=1');
  cli(...run('waiting', [LOAD, WRITE, { text: 'Notes are written.' }]), '--defer');
  const [waiting] = questions();
  cli(...run('asked', [LOAD, GREET, { text: 'Ada is greeted.' }]), '--defer');
  const asked = questions().find((id) => id !== waiting);
  cli('approvals', 'answer', asked.slice(0, 12), 'yes', '--scope', 'skill');
  cli(...run('remembered', [LOAD, GREET, { text: 'Ada is greeted.' }]), '--defer');
  await killed(run('killed', [LOAD, SLEEP, { text: 'Slept.' }]), '--yes');
}

/** A run that ended, one that waits for a person, one that a killed worker leaves, one that nobody took. */
async function fillDatabase() {
  const key = cli('fleet', 'keys', 'create', 'admin', '--rights', 'admin').trim();
  write('database.key', key);
  const server = await start(['serve', '--port', '0', '--trust-project', '--set', 'builtin=false'], /(http:\S+)\n/);
  const submit = async (name) => {
    const answer = await fetch(`${server.found}/api/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ request: `The run ${name}: greet Ada.` }),
    });
    console.log(name, answer.status, await answer.text());
  };
  const work = async (name, turns, seconds) => {
    json(`temporary/fleet-${name}.json`, { turns });
    const words = ['worker', '--model', `scripted:${path.join(temporary, `fleet-${name}.json`)}`];
    const worker = await start(
      [...words, '--data', path.join(temporary, 'worker'), '--set', 'policy.ask=["run_script"]'],
      /^worker (\S+):/m,
    );
    await submit(name);
    await sleep(seconds * 1000);
    worker.child.kill('SIGKILL');
  };
  await work('done', [LOAD, { text: 'Ada is greeted.' }], 4);
  await work('waiting', [LOAD, GREET, { text: 'Ada is greeted.' }], 5);
  await work('killed', [LOAD, { text: 'Ada is greeted.', delayMs: 60_000 }], 3);
  await submit('queued');
  server.child.kill('SIGTERM');
  await sleep(1000);
  write('database.sql', execFileSync('pg_dump', ['--no-owner', '--inserts', database], { encoding: 'utf8' }));
}

function skill(name, description, version) {
  const metadata = version === undefined ? '' : `metadata:\n  version: ${version}\n`;
  return `---\nname: ${name}\ndescription: ${description}\n${metadata}---\n\n# ${name}\n\nDo what the request says.\n`;
}

function write(file, text) {
  const target = path.join(FOLDER, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
  if (file.endsWith('.sh')) chmodSync(target, 0o755);
}

function json(file, value) {
  write(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

function cli(...words) {
  const result = spawnSync(process.execPath, [command, ...words], { cwd: project, env, encoding: 'utf8' });
  console.log(`$ skillwright ${words.join(' ')}\n${result.stdout}${result.stderr}exit ${String(result.status)}`);
  return result.stdout;
}

function run(name, turns) {
  json(`temporary/${name}.json`, { turns });
  return ['run', `The run ${name}: greet Ada.`, '--model', `scripted:${path.join(temporary, `${name}.json`)}`];
}

function questions() {
  return readdirSync(path.join(home, '.agent/pending')).map((file) => path.basename(file, '.json'));
}

/** Killed while the program that it runs sleeps. */
async function killed(words, ...more) {
  const child = spawn(process.execPath, [command, ...words, ...more, '--json'], { cwd: project, env });
  let text = '';
  child.stdout.on('data', (data) => (text += String(data)));
  while (!text.includes('sleep 60')) await sleep(100);
  await sleep(1500);
  child.kill('SIGKILL');
}

async function start(words, line) {
  const child = spawn(process.execPath, [command, ...words], { cwd: project, env });
  let text = '';
  child.stderr.on('data', (data) => (text += String(data)));
  child.stdout.on('data', (data) => (text += String(data)));
  for (let at = 0; at < 300 && !line.test(text); at += 1) await sleep(100);
  const [, found] = line.exec(text) ?? [];
  if (found === undefined) throw new Error(`skillwright ${words.join(' ')} did not begin: ${text}`);
  return { child, found };
}
