import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { addSkill, policyWorld, trustProject, trustedWorld, type PolicyWorld } from '../runtime/policy-world.ts';
import { cli, runCli, SHARED_CACHE, type CliResult } from './run-cli.ts';

const call = ({ home, project }: PolicyWorld, ...words: readonly string[]): Promise<CliResult> =>
  runCli(project, ['call', ...words, '--vocabulary', 'skills-agent'], { HOME: home });

const write = (file: string, content: string): readonly string[] => [
  'write_file',
  JSON.stringify({ path: file, content }),
];

interface Refusal {
  readonly error: { readonly code: string; readonly data: { readonly rule: string; readonly command: string } };
}

/** Types a command line as it was printed into a shell, where `skillwright` is the built command. */
function typed({ home, project }: PolicyWorld, line: string): Promise<CliResult> {
  const bin = path.join(home, 'bin');
  const program = path.join(bin, 'skillwright');
  mkdirSync(bin, { recursive: true });
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${PROJECT}/dist/command/skillwright.js" "$@"\n`);
  chmodSync(program, 0o755);
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: home, ...SHARED_CACHE };
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], { cwd: project, env, timeout: 170_000 }, (error, out, err) => {
      resolve({ status: error === null ? 0 : Number(error.code ?? -1), out, err });
    });
  });
}

describe('call', () => {
  test('warns about a configuration that is not used', async () => {
    const world = await trustedWorld();
    for (const words of [
      ['call', '--tools'],
      ['call', 'search_skills', '{"query": "x"}'],
    ]) {
      const { status, err } = await runCli(world.project, words, {
        HOME: world.home,
        SKILLWRIGHT_VOCABULARY: 'opensed',
      });
      expect([status, /^warning: the configuration is invalid.*did you mean openseed/m.test(err)]).toEqual([0, true]);
    }
  });

  test('warns about a config.toml, and about settings that a project may not loosen', async () => {
    const world = await trustedWorld();
    writeFileSync(path.join(world.project, '.agent/config.toml'), '');
    writeFileSync(
      path.join(world.project, '.agent/config.json'),
      JSON.stringify({
        vocabulary: 'skills-agent',
        security: { max_skill_body_lines: 900, block_angle_brackets_in_frontmatter: false },
      }),
    );
    const { status, err } = await runCli(world.project, ['call', 'list_dir', '{"path": "."}'], { HOME: world.home });
    const config = path.join(world.project, '.agent/config');
    expect([status, err.split('\n').filter((line) => line.startsWith('warning: '))]).toEqual([
      0,
      [
        `warning: ${config}.toml: ${config}.toml is ignored: the configuration is ${config}.json; write its settings as JSON into config.json`,
        ...['max_skill_body_lines', 'block_angle_brackets_in_frontmatter'].map(
          (key) =>
            `warning: ${config}.json: "security.${key}" requests more than the user allows; request less, or allow more in .agent/config.json of your home folder`,
        ),
      ],
    ]);
  });

  test('explains itself and lists what there is to call, without a run', async () => {
    const world = await trustedWorld();
    const help = await cli(world.project, ['call', '--help']);
    expect([help.status, help.out.includes('skillwright call TOOL [INPUT]')]).toEqual([0, true]);
    const { status, out, err } = await call(world, '--tools', '--json');
    const { tools } = JSON.parse(out) as { tools: readonly { name: string; inputSchema: object }[] };
    expect([status, err.trim(), existsSync(path.join(world.project, '.agent/runs'))]).toEqual([
      0,
      'tools that run programs are offered with --executor auto',
      false,
    ]);
    const text = await runCli(world.project, ['call', '--tools'], { HOME: world.home });
    expect(text.out).toContain('load_skill  Load the instructions of a skill');
    expect(text.out).toMatch(/\n  n {5,}integer\. How many to return\. \(default: 5\)\n/);
    expect(text.err).toContain('tools that run programs are offered with --executor auto');
    expect(tools.map(({ name }) => name)).toEqual([
      'select_skills',
      'load_resource',
      'final_answer',
      'read_file',
      'list_dir',
      'grep',
      'write_file',
      'delete_file',
      'network_request',
    ]);
  });

  verifies(
    ['CLI-1', 'AGT-9'],
    'does what is allowed, gives one JSON value, and leaves a record that is intact',
    async () => {
      const world = await trustedWorld();
      const { status, out } = await call(world, 'read_file', '{"path":"notes.md"}', '--json');
      const answer = JSON.parse(out) as { readonly run: string };
      expect([status, answer]).toMatchObject([
        0,
        { schema: 1, tool: 'read_file', isError: false, result: { ok: true, content: 'a note\n' } },
      ]);
      const verified = await runCli(world.project, ['runs', 'verify', answer.run], { HOME: world.home });
      expect(verified).toMatchObject({ status: 0, out: `${answer.run}  intact, seal valid\n` });
      const shown = await runCli(world.project, ['runs', 'show', answer.run], { HOME: world.home });
      expect(shown.out).toContain('allow by by risk (built-in)');
    },
  );

  verifies(
    ['POL-3', 'CLI-1'],
    'without a person ends with status 3 and the command line that does exactly this, once',
    async () => {
      const world = await trustedWorld();
      const content = `it's "so"; $HOME \`id\` \\ -- \n${'x'.repeat(10)}`;
      const refused = await call(world, ...write('a b.md', content), '--json');
      const { error } = JSON.parse(refused.out) as Refusal;
      expect([refused.status, error.code, error.data.rule]).toEqual([3, 'policy/refused', 'approval/needed']);
      expect(existsSync(path.join(world.project, 'a b.md'))).toBe(false);
      const plain = await call(world, ...write('a b.md', content));
      expect([plain.status, plain.out]).toEqual([3, '']);
      expect(plain.err).toContain('hint: to approve exactly this once, run: skillwright call write_file ');
      const again = await typed(world, error.data.command);
      expect([again.status, JSON.parse(again.out)]).toMatchObject([0, { isError: false, result: { ok: true } }]);
      expect(readFileSync(path.join(world.project, 'a b.md'), 'utf8')).toBe(content);
      // Now it would replace something: that is another question.
      expect(await typed(world, error.data.command)).toMatchObject({ status: 3 });
      expect(
        await call(world, ...write('other.md', content), '--approve', error.data.command.slice(-64)),
      ).toMatchObject({ status: 3 });
      const { out } = await runCli(world.project, ['runs'], { HOME: world.home });
      expect(
        out
          .match(/^\S+ {2}(\w+)/gm)
          ?.map((line) => line.split(/ +/)[1])
          .toSorted(),
      ).toEqual(['done', 'refused', 'refused', 'refused', 'refused']);
      expect(await runCli(world.project, ['runs', 'verify', 'last'], { HOME: world.home })).toMatchObject({
        status: 0,
      });
    },
  );

  test('--yes is for what a sandbox holds, and for nothing that is dangerous', async () => {
    const world = await trustedWorld();
    const bare = ['run_script', '{"skill":"demo","relative_path":"go.sh"}', '--executor', 'local', '--yes', '--json'];
    for (const words of [
      [...write('a.md', 'x'), '--yes', '--json'],
      ['delete_file', '{"path":"old.md"}', '--yes', '--json'],
      bare,
    ]) {
      const { status, out } = await call(world, ...words);
      expect([words[0], status, (JSON.parse(out) as Refusal).error.data.rule]).toEqual([
        words[0],
        3,
        'approval/needed',
      ]);
    }
    expect(existsSync(path.join(world.project, 'old.md'))).toBe(true);
  });

  test('uses the executor of your configuration, and --executor auto uses one that isolates all the same', async () => {
    const world = await trustedWorld();
    const config = { trust: { bind: 'path' }, execution: { executor: 'local' } };
    writeFileSync(path.join(world.home, '.agent/config.json'), JSON.stringify(config));
    const run = { name: 'skill_run', input: { skill: 'demo', command: 'echo "in $WORKSPACE_DIR"' } };
    writeFileSync(
      path.join(world.project, 'model.json'),
      JSON.stringify({ turns: [{ toolCalls: [run] }, { text: 'done' }] }),
    );
    for (const words of [
      ['call', run.name, JSON.stringify(run.input)],
      ['run', 'hi', '--model', 'scripted:model.json'],
    ]) {
      const all = [...words, '--vocabulary', 'trpc', '--root', '.agent/skills', '--yes', '--json'];
      const own = await runCli(world.project, all, { HOME: world.home });
      const auto = await runCli(world.project, [...all, '--executor', 'auto'], { HOME: world.home });
      const isLocal = [own, auto].map(({ out, err }) => `${out}${err}`.includes('not contained: no isolation'));
      expect([words[0], ...isLocal]).toEqual([words[0], true, false]);
    }
  });

  test('--defer writes the question down, and another process answers it', async () => {
    const world = await trustedWorld();
    const words = write('a.md', 'x');
    const waiting = await call(world, ...words, '--defer');
    const [, id = ''] = /approvals answer ([0-9a-f]{12}) yes/.exec(waiting.err) ?? [];
    expect(waiting.status).toBe(3);
    expect(await typed(world, `skillwright approvals answer ${id} yes`)).toMatchObject({ status: 0 });
    // The answer is found without the flag, and is good for one asking, which leaves no new question without it.
    expect(await call(world, ...words)).toMatchObject({ status: 0 });
    expect(readFileSync(path.join(world.project, 'a.md'), 'utf8')).toBe('x');
    expect(await call(world, ...write('a.md', 'y'))).toMatchObject({ status: 3 });
    expect((await typed(world, 'skillwright approvals')).out).not.toContain('waits since');
  });

  verifies('POL-2', '--skill makes a skill active: its list counts, and a rule that denies is named', async () => {
    const world = await trustedWorld();
    addSkill(world.project, 'reader', { fields: ['allowed-tools: Read'] });
    const read = ['read_file', '{"path":"notes.md"}', '--skill', 'reader'];
    expect(await call(world, ...read)).toMatchObject({ status: 0 });
    const denied = await call(world, ...write('a.md', 'x'), '--skill', 'reader', '--yes', '--json');
    const { error } = JSON.parse(denied.out) as Refusal & { readonly error: { readonly message: string } };
    expect([denied.status, error.data, error.message]).toEqual([
      3,
      { rule: 'policy/denied', approval: '', command: '' },
      'write_file is not allowed because it is not in allowed-tools of skill (project/reader)',
    ]);
    expect(await call(world, ...read, '--skill', 'demo')).toMatchObject({ status: 0 });
    expect(await call(world, 'read_file', '{"path":"notes.md"}', '--skill', 'nothing')).toMatchObject({ status: 2 });
  });

  test('a skill of a folder that nobody trusts: status 3, and what to say', async () => {
    const world = policyWorld();
    const refused = await call(world, 'read_file', '{"path":"notes.md"}', '--skill', 'demo');
    expect(refused.status).toBe(3);
    expect(refused.err).toContain('skillwright trust');
    await trustProject(world);
    expect(await call(world, 'read_file', '{"path":"notes.md"}', '--skill', 'demo')).toMatchObject({ status: 0 });
  });

  test.each<readonly [readonly string[], number, string]>([
    [['call'], 2, 'missing argument: TOOL'],
    [['call', 'read_file', '{nope'], 2, 'INPUT is not valid JSON'],
    [['call', 'read_file', '{}', 'more'], 2, 'usage: skillwright call'],
    [['call', 'read_file', '{"path":"x"}', '--vocabulary', 'klingon'], 2, '--vocabulary'],
    [['call', 'laod_skill', '{}'], 1, 'did you mean load_skill?'],
    [['call', 'run_script', '{}'], 1, 'tools that run programs are offered with --executor auto'],
  ])('%j ends with status %d', async (words, status, message) => {
    const { home, project } = await trustedWorld();
    const result = await runCli(project, words, { HOME: home });
    expect([result.status, result.out]).toEqual([status, '']);
    expect(result.err).toContain(message);
  });

  test.each<readonly [string, string, string]>([
    ['read_file', '{"path":"none.md"}', 'file/missing'],
    ['read_file', '{"path":"../../etc/passwd"}', 'path/parent'],
    ['read_file', '[]', 'input/invalid'],
    ['read_file', '{"path":["notes.md"],"yes":true}', 'input/invalid'],
    ['grep', '{"pattern":"("}', 'pattern/invalid'],
  ])('%s %s fails with status 1 and says why', async (tool, input, code) => {
    const { status, out } = await call(await trustedWorld(), tool, input, '--json');
    expect([status, JSON.parse(out)]).toMatchObject([1, { isError: true, result: { ok: false, error: { code } } }]);
  });
});

verifies('POL-3', 'the command line that exec prints works too, with what stands behind --', async () => {
  const world = await trustedWorld();
  mkdirSync(path.join(world.home, '.agent'), { recursive: true });
  writeFileSync(path.join(world.home, '.agent/config.json'), '{"policy":{"ask":["run_script"]}}');
  const words = ['exec', 'demo', 'go.sh', '--executor', 'local', '--json', '--', "it's -- me", '--approve'];
  const refused = await runCli(world.project, words, { HOME: world.home });
  const { error } = JSON.parse(refused.out) as Refusal;
  expect([refused.status, error.data.rule]).toEqual([3, 'approval/needed']);
  const again = await typed(world, error.data.command);
  expect([again.status, JSON.parse(again.out)]).toMatchObject([
    0,
    { result: { stdout: "demo ran it's -- me\n", exit_code: 0 } },
  ]);
  // Another word, or another byte of the skill, and it is another question.
  expect(await typed(world, error.data.command.replace(' me', ' you'))).toMatchObject({ status: 3 });
  writeFileSync(path.join(world.demo, 'references/guide.md'), 'changed');
  expect(await typed(world, error.data.command)).toMatchObject({ status: 3 });
});
