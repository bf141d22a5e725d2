import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { addSkill, trustedWorld, type PolicyWorld } from '../runtime/policy-world.ts';
import { cli, runCli, type CliResult } from './run-cli.ts';

const policy = ({ home, project }: PolicyWorld, ...words: readonly string[]): Promise<CliResult> =>
  runCli(project, ['policy', ...words], { HOME: home });

async function worldWith(user: object, project: object = {}): Promise<PolicyWorld> {
  const world = await trustedWorld();
  for (const [folder, rules] of [
    [world.home, user],
    [world.project, project],
  ] as const) {
    mkdirSync(path.join(folder, '.agent'), { recursive: true });
    writeFileSync(path.join(folder, '.agent/config.json'), JSON.stringify({ policy: rules }));
  }
  return world;
}

/** As options, so that no file of a home folder is needed. */
const RULES = [
  '--set',
  'policy.allow=["Bash(git:*)","write_file(docs/**)","network_request(example.org)","run_script(demo)"]',
  '--set',
  'policy.deny=["Bash(rm:*)","load_skill(secret)"]',
] as const;

describe('policy', () => {
  test('explains itself', async () => {
    const { status, out } = await cli((await trustedWorld()).project, ['policy', '--help']);
    expect([status, out.includes('skillwright policy [TOOL [SUBJECT]]')]).toEqual([0, true]);
  });

  verifies('POL-7', 'shows every layer with its rules and who wrote each', async () => {
    const world = await worldWith({ allow: ['Bash(git:*)'] }, { deny: ['WebFetch'], default: { high: 'deny' } });
    addSkill(world.project, 'reader', { fields: ['allowed-tools: Read'] });
    const { status, out } = await policy(world, '--skill', 'reader', '--json');
    const { layers, allowedTools } = JSON.parse(out) as {
      readonly allowedTools: string;
      readonly layers: readonly {
        origin: object;
        otherwise: object;
        rules: readonly { rule: string; origin: { layer: string } }[];
      }[];
    };
    expect([status, allowedTools]).toEqual([0, 'restrict']);
    const [base, ...narrowing] = layers;
    expect(base?.rules.filter(({ origin }) => origin.layer !== 'built-in')).toEqual([
      {
        effect: 'allow',
        rule: 'Bash(git:*)',
        origin: { layer: 'user', where: path.join(world.home, '.agent/config.json') },
      },
    ]);
    const where = path.join(world.project, '.agent/config.json');
    expect(narrowing).toEqual([
      {
        origin: { layer: 'project', where },
        otherwise: { low: 'allow', medium: 'allow', high: 'deny' },
        rules: [{ effect: 'deny', rule: 'WebFetch', origin: { layer: 'project', where } }],
      },
      {
        origin: { layer: 'skill', where: 'project/reader' },
        otherwise: { low: 'deny', medium: 'deny', high: 'deny' },
        rules: [{ effect: 'allow', rule: 'Read', origin: { layer: 'skill', where: 'project/reader' } }],
      },
    ]);
    expect((await policy(world)).out).toContain(`deny   WebFetch  project (${where})\n`);
  });

  test.each<readonly [readonly string[], number, string]>([
    [['run_command', 'git log'], 0, 'allow  run_command is allowed by the rule "Bash(git:*)"'],
    [['Bash', 'git log'], 0, 'allow  run_command is allowed by the rule "Bash(git:*)"'],
    [['run_command', 'git -c core.pager=sh log'], 0, 'contained: isolated, no network, no secrets, no write access'],
    [['run_command', 'git log', '--allow', 'example.net'], 3, 'not contained: may reach example.net'],
    [['run_command', 'git log', '--executor', 'local'], 3, 'only a rule with exactly this line allows it'],
    [['run_command', 'id', '--auto'], 0, 'allow  run_command is allowed: policy.sandboxed: allow'],
    [['run_command', 'id', '--auto', '--project', 'write'], 3, 'may change, create and delete files in'],
    [['run_command', 'git log; id'], 3, 'no rule covers "id"'],
    // What cannot be seen may be what is denied.
    [['run_command', 'git log; $X'], 3, 'ask  run_command needs approval by the rule "Bash(rm:*)"'],
    [['run_command', 'git log $(id)'], 3, 'no rule covers "id"'],
    [['run_command', 'rm -r x'], 3, 'deny  run_command is not allowed by the rule "Bash(rm:*)"'],
    [['write_file', 'docs/a.md'], 0, 'allow  write_file is allowed by the rule "write_file(docs/**)"'],
    [['Write', './docs/a.md'], 0, 'allow  write_file is allowed by the rule "write_file(docs/**)"'],
    [['write_file', 'a.md'], 3, 'ask  write_file needs approval by default'],
    [
      ['write_file', 'docs/link/config'],
      3,
      'deny  write_file is not allowed by the rule "write_file(**/.git/**)" of built-in',
    ],
    [['read_file', '.env'], 3, 'ask  read_file needs approval by the rule "read_file(**/.env)" of built-in'],
    [['read_file', 'ignored.txt'], 3, 'git ignores this file (medium risk)'],
    [['read_file', 'notes.txt'], 3, 'ask  read_file needs approval by the rule "read_file(**/.env)" of built-in'],
    [['run_command', 'PATH=./bin git log'], 3, 'ask  run_command needs approval by the rule "Bash(rm:*)"'],
    [['network_request', 'example.org'], 0, 'allow  network_request is allowed'],
    [['network_request', 'https://example.org/x'], 0, 'allow  network_request is allowed'],
    [['network_request', 'https://example.org.evil.net/'], 3, 'ask  network_request needs approval'],
    [['run_script', 'demo/scripts/go.sh'], 0, 'allow  run_script is allowed by the rule "run_script(demo)"'],
    [['load_skill', 'secret'], 3, 'deny  load_skill is not allowed by the rule "load_skill(secret)"'],
    [['final_answer'], 0, 'allow  final_answer is allowed'],
    [['mcp__mail__send'], 3, 'ask  mcp__mail__send needs approval by default, built-in (high risk)'],
  ])('%j is judged with status %d', async (words, status, text) => {
    const world = await trustedWorld();
    mkdirSync(path.join(world.project, 'docs'));
    symlinkSync('../.git', path.join(world.project, 'docs/link'));
    writeFileSync(path.join(world.project, '.gitignore'), 'ignored.txt\n');
    writeFileSync(path.join(world.project, '.env'), '');
    linkSync(path.join(world.project, '.env'), path.join(world.project, 'notes.txt'));
    const result = await cli(world.project, ['policy', ...words, ...RULES]);
    expect([result.status, result.err]).toEqual([status, '']);
    expect(result.out).toContain(text);
  });

  verifies('POL-6', 'says why a line that starts like one that is allowed is not', async () => {
    const world = await worldWith({ allow: ['Bash(git:*)'] });
    const why = async (line: string): Promise<string> => (await policy(world, 'run_command', line)).out;
    expect(await why('git log; $X')).toContain(': the name of the program is computed: $X (medium risk)');
    expect(await why('git log "')).toContain(': a quote is not closed (medium risk)');
    expect(await why('git log\nid')).toContain(': no rule covers "id" (medium risk)');
    expect(await why('strace git log')).toContain(': strace runs another program in a way that is not read');
    expect(await why('git log | tee x')).toContain('tee');
  });

  test('gives the decision as one JSON value', async () => {
    const world = await worldWith({});
    const { status, out } = await policy(world, 'write_file', 'a.md', '--json');
    expect([status, JSON.parse(out)]).toEqual([
      3,
      {
        schema: 1,
        decision: {
          effect: 'ask',
          tool: 'write_file',
          risk: 'high',
          rule: 'by risk',
          origin: { layer: 'built-in', where: '' },
          reason: 'write_file needs approval by default, built-in',
        },
      },
    ]);
  });

  verifies('POL-2', 'a project can forbid and ask, and opens nothing', async () => {
    const world = await worldWith(
      { allow: ['run_command'] },
      { allow: ['*'], ask: ['Bash(git push:*)'], default: { high: 'allow' } },
    );
    const effects: string[] = [];
    for (const words of [
      ['run_command', 'ls'],
      ['run_command', 'git push'],
      ['write_file', 'a.md'],
    ])
      effects.push(
        (JSON.parse((await policy(world, ...words, '--json')).out) as { decision: { effect: string } }).decision.effect,
      );
    expect(effects).toEqual(['allow', 'ask', 'ask']);
  });

  test.each<readonly [readonly string[], number, string]>([
    [['a', 'b', 'c'], 2, 'usage: skillwright policy'],
    [['write_file', 'a.md', '--skill', 'nothing'], 2, 'unknown skill "nothing"'],
    [['--set', 'policy.allow=["(("]'], 2, '"policy.allow.0" must be a rule'],
  ])('%j ends with status %d', async (words, status, text) => {
    const result = await policy(await trustedWorld(), ...words);
    expect([result.status, result.out]).toEqual([status, '']);
    expect(result.err).toContain(text);
  });
});
