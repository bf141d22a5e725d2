/** Evaluations with another agent, from the command line to the report, with a stand-in for its program. */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import type { CaseResult, EvalReport } from '../../../src/evals/report/result.ts';
import type { PortabilityReport } from '../../../src/evals/subjects/portability.ts';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../conformance/verifies.ts';
import { PROJECT } from '../../files-below.ts';
import { scratch } from '../../skills/registry/support.ts';
import { readProcess } from '../../../src/sandbox/process/proc.ts';

const KEY = 'sk-ant-stub-3f9d2c';

interface World {
  readonly root: string;
  /** Holds the stand-in and its logs. */
  readonly bin: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A project with the skill `tables`, and `claude` on PATH. */
function makeWorld(cases: Readonly<Record<string, string>>): World {
  const root = scratch();
  const [bin, skill] = [path.join(root, 'bin'), path.join(root, 'skills/tables')];
  for (const folder of [bin, path.join(skill, 'evals'), path.join(root, 'home/.claude/skills/installed')])
    mkdirSync(folder, { recursive: true });
  copyFileSync(path.join(PROJECT, 'test/evals/subjects/stub-agent.sh'), path.join(bin, 'claude'));
  const text = (name: string): string =>
    `---\nname: ${name}\ndescription: Works on ${name}.\n---\n\n# About ${name} and their rows\n`;
  writeFileSync(path.join(skill, 'SKILL.md'), text('tables'));
  writeFileSync(path.join(root, 'home/.claude/skills/installed/SKILL.md'), text('installed'));
  for (const [name, content] of Object.entries(cases)) writeFileSync(path.join(skill, 'evals', name), content);
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, ANTHROPIC_API_KEY: KEY };
  return { root, bin, env };
}

const TRIGGERS = JSON.stringify([
  { query: 'Look at this table', should_trigger: true },
  { query: 'Tell me a joke', should_trigger: false },
]);

/** Whether the process ended; init may not have reaped it yet. */
function isGone(file: string): boolean {
  const found = existsSync(file) ? readProcess(Number(readFileSync(file, 'utf8'))) : undefined;
  return found === undefined || found.isZombie;
}

function statusesOf({ results }: EvalReport): Readonly<Record<string, string>> {
  return Object.fromEntries(results.map(({ case: id, status, reason }) => [id, `${status} ${reason}`.trim()]));
}

function oneOf(report: EvalReport, id: string): CaseResult {
  const found = report.results.find((result) => result.case === id);
  if (found === undefined) throw new Error(`no result of ${id}`);
  return found;
}

const CASES = `
- { id: writes, input: write about the table, expect: { trigger: true, outcome: done, output: { contains: answer, files: [{ path: report.md, contains: three rows }], checkers: [{ script: check.sh }] }, sequence: [must_occur load_skill before write_file, forbid run_command] } }
- { id: denies, input: a table, expect: { trigger: true, security: { no_escape: true } } }
- { id: hangs, input: hang, constraints: { timeout_s: 2 }, expect: { outcome: done, output: { contains: answer } } }
- { id: zero, input: exit-zero, expect: { outcome: done, output: { contains: answer } } }
- { id: crashes, input: crash, expect: { outcome: done, output: { contains: answer } } }
- { id: foreign, input: foreign, expect: { outcome: done, output: { contains: answer } } }
- { id: orphans, input: orphan, expect: { outcome: done, output: { contains: answer } } }
- { id: busy, input: busy, constraints: { max_tool_calls: 3 }, expect: { outcome: [done, degraded], output: { contains: answer } } }
- { id: scripted, input: x, mock: { turns: [{ text: x }] }, expect: { outcome: done } }
`;

const CHECK = '#!/bin/sh\ngrep -q rows "$PROJECT_DIR/report.md"\n';

describe('an agent as the subject', () => {
  verifies('EVAL-13', 'gives facts to all graders, and no run that broke has a verdict', async () => {
    const { root, bin, env } = makeWorld({ 'cases.yaml': CASES, 'check.sh': CHECK });
    const { status, out, err } = await runCli(root, ['eval', 'skills', '--subject', 'claude-code', '--json'], env);
    expect([status, err.includes('control')]).toEqual([5, false]);
    const report: EvalReport = JSON.parse(out);
    expect(statusesOf(report)).toEqual({
      writes: 'passed',
      denies: 'skipped the transcript of claude-code 9.9.9 does not show it',
      hangs: 'failed',
      zero: 'error the run failed: Invalid API key',
      crashes: 'error the run failed: exit code 139: segmentation fault',
      foreign: 'error the run failed: the agent offers skills that are not installed here: installed-by-the-user',
      orphans: 'passed',
      busy: 'failed',
      scripted: 'skipped the case has scripted answers, and another agent brings its own model',
    });
    const { cost, model, loaded, answer, run = '' } = oneOf(report, 'writes');
    expect({ ...cost, wallMs: cost.wallMs > 0 }).toEqual({
      turns: 3,
      toolCalls: 2,
      scriptRuns: 0,
      inputTokens: 120,
      cachedTokens: 20,
      outputTokens: 10,
      tokensAreEstimated: false,
      wallMs: true,
      usd: 0.01,
    });
    expect([model, loaded, answer]).toEqual([
      { id: 'claude-code 9.9.9', way: 'live', served: { models: ['stub-model'], fingerprints: [] } },
      ['tables'],
      'the answer',
    ]);
    const [, , , , checked] = oneOf(report, 'writes').checks.filter(({ kind }) => kind !== 'sequence');
    expect(['passed', 'skipped']).toContain(checked?.status);
    expect(oneOf(report, 'denies').checks.map(({ id, status: one }) => `${id} ${one}`)).toEqual([
      'trigger passed',
      'security.no_escape skipped',
    ]);
    expect([isGone(path.join(bin, 'orphan.pid')), isGone(path.join(bin, 'hang.pid'))]).toEqual([true, true]);
    expect(oneOf(report, 'busy').cost.toolCalls).toBe(3);
    // The record verifies, and `runs show` reads it.
    const shown = await runCli(root, ['runs', 'show', run], env);
    expect([shown.status, shown.out.includes('loads tables')]).toEqual([0, true]);
  });

  test('may bring skills of its own, which are the same in both arms and named in the report', async () => {
    const { root, bin, env } = makeWorld({
      'cases.yaml': '- { input: write about the table, expect: { output: { contains: the answer } } }',
    });
    const words = ['eval', 'skills', '--subject', 'claude-code', '--baseline', 'none', '--report', 'json=r.json'];
    const evaluated = async (): Promise<EvalReport> => {
      await runCli(root, words, env);
      return JSON.parse(readFileSync(path.join(root, 'r.json'), 'utf8'));
    };
    writeFileSync(path.join(bin, 'bundled'), '"review","doctor"');
    const { comparisons, results, verdict } = await evaluated();
    expect(comparisons).toMatchObject([{ cases: 1, differing: ['skill tables'] }]);
    expect(results.map(({ arm, given }) => [arm, given?.['skills of the agent']])).toEqual([
      ['with', 'doctor, review'],
      ['without', 'doctor, review'],
    ]);
    expect(verdict?.warnings).toContain('the agent brings skills of its own, in all runs: doctor, review');
    // A skill that only one arm is offered is no part of the agent.
    writeFileSync(path.join(bin, 'bundled'), '"review","tables"');
    const masked = await evaluated();
    expect(masked.uncompared.map(({ reason }) => reason)).toEqual([
      'the arms differ in more than the skill: skills of the agent',
    ]);
    writeFileSync(path.join(bin, 'bundled'), '"review"');
    writeFileSync(path.join(bin, 'bundled-beside'), '');
    const leaking = await evaluated();
    expect(leaking.results.map(({ arm, reason }) => [arm, reason])).toEqual([
      ['with', 'the run failed: the agent offers skills that are not installed here: doctor'],
      ['without', ''],
    ]);
    expect(leaking.verdict?.validity).toBe('invalid');
  });

  test('sees an empty home and only the variables that it needs', async () => {
    const { root, bin, env } = makeWorld({ 'trigger.json': TRIGGERS });
    const more = { ...env, SECRET_OF_THE_USER: 'x', HTTPS_PROXY: 'http://127.0.0.1:9', EXTRA: 'yes' };
    const words = ['eval', 'trigger', 'skills', '--subject', 'claude-code=stub-model', '--subject-env', 'EXTRA'];
    const { status, out } = await runCli(root, [...words, '--report', 'json=r.json'], more);
    expect([status, out.includes('claude-code 9.9.9 (stub-model)')]).toEqual([0, true]);
    const names = readFileSync(path.join(bin, 'env.log'), 'utf8').match(/^\w+(?==)/gm) ?? [];
    const shell = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', 'SKILLWRIGHT_RUN_MARK', 'SKILLWRIGHT_RUN']);
    expect(names.filter((name) => !shell.has(name))).toEqual([
      'ANTHROPIC_API_KEY',
      'CLAUDE_CODE_DISABLE_AUTO_MEMORY',
      'CLAUDE_CODE_DISABLE_BUNDLED_SKILLS',
      'CLAUDE_CODE_DISABLE_CLAUDE_MDS',
      'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
      'CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL',
      'CLAUDE_CODE_DISABLE_POLICY_SKILLS',
      'CLAUDE_CODE_MAX_RETRIES',
      'DISABLE_AUTOUPDATER',
      'EXTRA',
      'HOME',
      'HTTPS_PROXY',
      'LANG',
      'NO_COLOR',
      'PATH',
      'TMPDIR',
    ]);
    const report: EvalReport = JSON.parse(readFileSync(path.join(root, 'r.json'), 'utf8'));
    expect(report.trigger?.overall.recall).toMatchObject({ count: 1, of: 1 });
    expect(report.trigger?.controls.map(({ isKept }) => isKept)).toEqual([true, true, true]);
  });

  test('is INVALID when a new version changed its transcript', async () => {
    const { root, bin, env } = makeWorld({ 'trigger.json': TRIGGERS });
    writeFileSync(path.join(bin, 'changed'), '');
    const found = 'found it loaded for 0 of';
    for (const words of [['eval', 'trigger'], ['eval']]) {
      const { status, err } = await runCli(root, [...words, 'skills', '--subject', 'claude-code'], env);
      expect([status, err.includes(found), err.includes('its format may have changed')]).toEqual([5, true, true]);
    }
  });

  test('is skipped with the reason where its program or its key is missing', async () => {
    const { root, bin, env } = makeWorld({ 'trigger.json': TRIGGERS });
    const { ANTHROPIC_API_KEY: _key, ...keyless } = env;
    const noKey = await runCli(root, ['eval', 'trigger', 'skills', '--subject', 'claude-code', '--json'], keyless);
    const reason =
      'none of ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, CLAUDE_CODE_OAUTH_TOKEN is set: claude-code runs in an empty home, where no login applies';
    expect(noKey.status).toBe(4);
    const report: EvalReport = JSON.parse(noKey.out);
    expect([...new Set(Object.values(statusesOf(report)))]).toEqual([`skipped ${reason}`]);
    const none = { ...env, OPENAI_API_KEY: KEY, PATH: path.join(root, 'nothing') };
    const noProgram = await runCli(root, ['eval', 'skills', '--subject', 'codex'], none);
    expect([noProgram.status, noProgram.err.includes('codex is not on PATH: install it with npm')]).toEqual([4, true]);
    // The error of a program that cannot run here names the version of Node, not its own.
    const pi = path.join(bin, 'pi');
    writeFileSync(pi, '#!/bin/sh\nprintf "file:1\\nSyntaxError: no globSync\\n\\nNode.js v20.20.2\\n" >&2\nexit 1\n', {
      mode: 0o755,
    });
    const broken = await runCli(root, ['eval', 'skills', '--subject', 'pi=anthropic/m'], env);
    expect([broken.status, broken.err]).toEqual([
      4,
      expect.stringContaining(`${pi} --version failed: SyntaxError: no globSync: run it by hand`),
    ]);
    const unknown = await runCli(root, ['eval', 'skills', '--subject', 'claude'], env);
    expect([unknown.status, unknown.err]).toEqual([2, expect.stringContaining('unknown agent for --subject')]);
  });
});

/** An agent of the user: it loads a skill for its word, and adds a line to a file for every run. */
function commandAgent(bin: string, name: string, isGood: boolean): string {
  const file = path.join(bin, `${name}.sh`);
  const load = (word: string, skill: string): string =>
    `case "$SKILLWRIGHT_PROMPT" in *'${word}'*) echo '{"type":"skill","name":"${skill}"}';; esac`;
  const lines = [
    `echo "$SKILLWRIGHT_PROMPT" >> '${bin}/${name}.log'`,
    load('brass lantern', 'brass-lantern-check'),
    ...(isGood ? [load('table', 'tables')] : []),
    'echo "not JSON"',
    `test -f "$SKILLWRIGHT_SKILLS/tables/SKILL.md" && echo '{"type":"usage","input_tokens":7,"output_tokens":3}'`,
    `case "$SKILLWRIGHT_PROMPT" in *slow*) while [ ! -e '${bin}/go' ]; do sleep 0.05; done;; esac`,
    `echo '{"type":"answer","text":"done"}'`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  return `sh ${file}`;
}

describe('a command as the subject', () => {
  const QUESTIONS = 'apples,bridges,candles,deserts,engines,forests,glaciers,harbours'.split(',');
  const CASES_OF_TABLES = JSON.stringify(
    QUESTIONS.map((word, place) => ({
      input: `${'Describe,Sell,Count rare,Who invented,Paint,Why fear,List,Compare'.split(',')[place] ?? ''} ${word}`,
      expect: { output: { contains: `fact on ${word}` } },
    })),
  );
  const withSkill = (line: string, otherwise = ':'): string =>
    `if test -f "$SKILLWRIGHT_SKILLS/tables/SKILL.md"; then ${line}; else ${otherwise}; fi`;
  const answer = (text: string, model: string): string =>
    `echo "{\\"type\\":\\"answer\\",\\"text\\":\\"${text} $SKILLWRIGHT_PROMPT\\",\\"model\\":\\"${model}\\"}"`;
  const right = answer('fact on ${SKILLWRIGHT_PROMPT##* }:', 'm');
  const skill = (name: string): string => `echo '{"type":"skill","name":"${name}"}'`;

  test.each<[string, readonly string[], string | undefined]>([
    ['helps', [withSkill(`${skill('tables')}; ${right}`, answer('no idea of', 'm'))], undefined],
    [
      'is another model in one arm',
      [
        withSkill(
          `${skill('tables')}; ${answer('fact on ${SKILLWRIGHT_PROMPT##* }:', 'big')}`,
          answer('no idea of', 'small'),
        ),
      ],
      'different models answered in 8 of 8 attempts: big against small',
    ],
    [
      'loads a skill of its own in one arm',
      [withSkill(`${skill('tables')}; ${skill('cheat')}; ${right}`, answer('no idea of', 'm'))],
      'the arms differ in more than the skill: skills of the agent',
    ],
    [
      'shows a skill in its controls, and loads it in one arm',
      [
        `case "$SKILLWRIGHT_PROMPT" in *'brass lantern'*) ${skill('cheat')};; esac`,
        withSkill(`${skill('tables')}; ${skill('cheat')}; ${right}`, answer('no idea of', 'm')),
      ],
      'the arms differ in more than the skill: skills of the agent',
    ],
    [
      'names its own skills',
      [
        `echo '{"type":"skills","names":["cheat"]}'`,
        withSkill(`${skill('tables')}; ${skill('cheat')}; ${right}`, answer('no idea of', 'm')),
      ],
      undefined,
    ],
    [
      'names the skill after its answer',
      [withSkill(`${right}; ${skill('tables')}`, answer('no idea of', 'm'))],
      'not used',
    ],
  ])('%s', async (_name, lines, reason) => {
    const { root, bin, env } = makeWorld({ 'cases.json': CASES_OF_TABLES });
    const file = path.join(bin, 'own.sh');
    const lantern = `case "$SKILLWRIGHT_PROMPT" in *'brass lantern'*) ${skill('brass-lantern-check')};; esac`;
    writeFileSync(file, [lantern, ...lines, ''].join('\n'));
    const words = ['eval', 'skills', '--subject', `sh ${file}`, '--baseline', 'none', '--report', 'json=r.json'];
    await runCli(root, words, env);
    const { comparisons, uncompared }: EvalReport = JSON.parse(readFileSync(path.join(root, 'r.json'), 'utf8'));
    const found = comparisons.map((one) =>
      one.p < 0.05 ? undefined : one.used?.count === 0 ? 'not used' : 'no difference',
    );
    expect([...found, ...uncompared.map((one) => one.reason)]).toEqual([reason]);
  });
});

describe('several subjects', () => {
  test('make a portability matrix, with a row for one that cannot run and one that is invalid', async () => {
    const { root, bin, env } = makeWorld({ 'trigger.json': TRIGGERS });
    const [good, poor] = [commandAgent(bin, 'good', true), commandAgent(bin, 'poor', false)];
    const words = [good, poor, 'codex', 'skillwright=rules'].flatMap((word) => ['--subject', word]);
    const reports = ['--report', 'json=m.json', '--report', 'html', '--report', 'markdown=m.md'];
    const { status, out } = await runCli(root, ['eval', 'trigger', 'skills', ...words, ...reports], env);
    const matrix: PortabilityReport = JSON.parse(readFileSync(path.join(root, 'm.json'), 'utf8'));
    expect(matrix.subjects.map(({ subject, status: one, reasons }) => [subject, one, reasons.length])).toEqual([
      [good, 'passed', 0],
      [poor, 'failed', 1],
      ['codex', 'skipped', 1],
      ['skillwright (rules)', 'passed', 0],
    ]);
    const cells = matrix.cases.map(({ input, asked, cells: all }) => [
      input,
      asked,
      all.map(({ passed, of, loaded }) => `${String(passed)}/${String(of)} ${loaded.join()}`.trim()),
    ]);
    expect(cells).toEqual([
      ['Look at this table', 'tables fires', ['1/1 tables', '0/1', '0/0', '1/1 tables']],
      ['Tell me a joke', 'tables stays quiet', ['1/1', '1/1', '0/0', '1/1']],
    ]);
    expect(matrix.subjects[0]?.cost).toMatchObject({ inputTokens: 14, outputTokens: 6 });
    expect(matrix.verdict).toMatchObject({ validity: 'incomplete', result: 'failed' });
    expect(matrix.verdict.reasons).toEqual([
      `${poor}: the pass rate is 0.500; the minimum is 1`,
      expect.stringMatching(/^codex: /),
    ]);
    expect([status, out.split('\n')[0], out.includes('B loaded none')]).toEqual([5, 'INCOMPLETE: failed', true]);
    const [evaluation = ''] = readdirSync(path.join(root, '.agent/evals'));
    const page = readFileSync(path.join(root, '.agent/evals', evaluation, 'portability.html'), 'utf8');
    expect([page.includes('tables stays quiet'), page.includes('<script')]).toEqual([true, false]);
    expect(page).toContain('<h1>Portability: INCOMPLETE: failed</h1>');
    expect(readFileSync(path.join(root, 'm.md'), 'utf8')).toMatch(/^### Portability: INCOMPLETE: failed\n\n- /);
    expect(readFileSync(path.join(root, 'm.md'), 'utf8')).toContain('| Look at this table | tables fires | 1/1 |');
    const junit = await runCli(root, ['eval', 'trigger', 'skills', ...words, '--report', 'junit'], env);
    expect([junit.status, junit.err.includes('--report junit is about one subject')]).toEqual([2, true]);
  });

  test('resume after kill -9 without repeating a finished run', async () => {
    const queries = Array.from({ length: 8 }, (_, place) => ({
      query: `table number ${String(place)}${place === 4 ? ', slow' : ''}`,
      should_trigger: place < 6,
    }));
    const { root, bin, env } = makeWorld({ 'trigger.json': JSON.stringify(queries) });
    const [first, second] = [commandAgent(bin, 'first', true), commandAgent(bin, 'second', true)];
    const words = ['eval', 'trigger', 'skills', '--subject', first, '--subject', second, '--concurrency', '1'];
    const child = spawn(process.execPath, [path.join(PROJECT, 'dist/command/skillwright.js'), ...words], {
      cwd: root,
      env: { ...env, HOME: path.join(root, 'home') },
      stdio: 'ignore',
    });
    const log = path.join(bin, 'first.log');
    const runsOf = (file: string): readonly string[] =>
      existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    // Five controls and four cases are finished when the slow one starts.
    while (!runsOf(log).some((line) => line.includes('slow'))) await delay(20);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    writeFileSync(path.join(bin, 'go'), '');
    const before = runsOf(log);
    const { status } = await runCli(root, [...words, '--resume', '--threshold', 'pass-rate=0'], env);
    const added = runsOf(log).slice(before.length);
    expect(added).toEqual(queries.slice(4).map(({ query }) => query));
    expect([status, runsOf(path.join(bin, 'second.log')).length]).toEqual([0, 13]);
    const again = await runCli(root, [...words, '--resume'], env);
    expect([again.status, again.err.includes('no unfinished evaluation')]).toEqual([2, true]);
  });
});
