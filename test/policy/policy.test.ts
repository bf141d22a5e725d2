import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { listAccesses, lineSubject } from '../../src/policy/action-access.ts';
import { decideAccesses } from '../../src/policy/decide-accesses.ts';
import { readCommandLine } from '../../src/policy/command/command-line.ts';
import { builtInRules } from '../../src/policy/protected-names.ts';
import { ALWAYS_ON, BY_RISK, decide, narrowPolicy, narrowingLayer, type Policy } from '../../src/policy/policy.ts';
import { readRule } from '../../src/policy/policy-rule.ts';
import { skillLayer } from '../../src/policy/skill-rules.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import { USER, command, effectOf, host, onPath, policyOf, rules, script, skillGrants } from './policy-support.ts';
import type { Access } from '../../src/policy/access.ts';

describe('by default', () => {
  verifies('POL-1', 'each tool has its risk, and the risk decides where no rule speaks', () => {
    const risks = [
      'read_file',
      'list_dir',
      'grep',
      'run_script',
      'run_command',
      'write_file',
      'delete_file',
      'network_request',
    ];
    const decided = risks.map((tool) => decide(policyOf(), [{ tool, subject: { kind: 'none' } }]));
    expect(decided.map(({ tool, risk, effect }) => [tool, risk, effect])).toEqual([
      ['read_file', 'low', 'allow'],
      ['list_dir', 'low', 'allow'],
      ['grep', 'low', 'allow'],
      ['run_script', 'medium', 'ask'],
      ['run_command', 'medium', 'ask'],
      ['write_file', 'high', 'ask'],
      ['delete_file', 'high', 'ask'],
      ['network_request', 'high', 'ask'],
    ]);
  });

  test('an unknown tool counts as high risk', () => {
    expect(decide(policyOf(), [{ tool: 'mcp__mail__send', subject: { kind: 'none' } }])).toMatchObject({
      effect: 'ask',
      risk: 'high',
    });
  });

  test('a policy without layers allows nothing', () => {
    expect(effectOf({ layers: [], grants: [] }, command('ls'))).toBe('deny');
  });
});

describe('rules', () => {
  verifies('POL-7', 'a decision names the rule and who wrote it', () => {
    expect(decide(policyOf({ deny: ['Bash(rm:*)'] }), command('rm -r out'))).toEqual({
      effect: 'deny',
      tool: 'run_command',
      risk: 'medium',
      rule: 'Bash(rm:*)',
      origin: USER,
      reason: 'run_command is not allowed by the rule "Bash(rm:*)" of user (~/.agent/config.json)',
    });
  });

  test('deny beats ask beats allow, however exact each is and in whatever order', () => {
    const all = policyOf({ allow: ['write_file(docs/a.md)'], ask: ['write_file(docs/**)'], deny: ['write_file'] });
    expect(effectOf(all, onPath('write_file', 'docs/a.md'))).toBe('deny');
    const two = policyOf({ allow: ['write_file(docs/a.md)'], ask: ['write_file(docs/**)'] });
    expect(effectOf(two, onPath('write_file', 'docs/a.md'))).toBe('ask');
  });

  test.each([
    ['Read', onPath('read_file', 'a.md')],
    ['Read', onPath('grep', 'a.md')],
    ['Read(src/**)', onPath('read_file', 'src/a/b.ts')],
    ['Write(docs/**)', onPath('write_file', 'docs/a/b.md')],
    ['Edit', onPath('write_file', 'x')],
    ['Bash', command('anything $(here)')],
    ['Bash', script('scripts/fill.py')],
    ['run_shell_command', command('python x.py')],
    ['shell_exec', script('scripts/fill.py')],
    ['Bash(python scripts/fill.py:*)', script('scripts/fill.py', ['a', 'b'])],
    ['Bash(python3 scripts/fill.py:*)', script('scripts/fill.py')],
    ['Bash(scripts/fill.py:*)', script('scripts/fill.py')],
    ['Bash(git:*)', command('git status && git diff | git apply')],
    ['run_script(pdf)', script('scripts/fill.py')],
    ['run_script(pdf/scripts/*.py)', script('scripts/fill.py')],
    ['WebFetch(domain:example.org)', host('example.org')],
    ['WebFetch(domain:*.example.org)', host('api.example.org')],
    ['network_request(example.org:8443)', host('example.org', 8443)],
    ['*', command('ls')],
    ['mcp__mail__*', [{ tool: 'mcp__mail__send', subject: { kind: 'none' } }]],
  ] as const)('%s allows what it says', (rule, accesses) => {
    expect(effectOf(policyOf({ allow: [rule] }), accesses)).toBe('allow');
  });

  test.each([
    ['Read(src/**)', onPath('read_file', 'srcs/a.ts')],
    ['Write(docs/**)', onPath('write_file', 'docs.md')],
    ['Write(docs/*)', onPath('write_file', 'docs/a/b.md')],
    ['Bash(git:*)', command('gitk')],
    ['Bash(git:*)', command('git status; id')],
    ['Bash(git:*)', command('git status $(id)')],
    ['Bash(python scripts/fill.py:*)', script('scripts/other.py')],
    ['run_script(pdf)', script('scripts/../../x/scripts/fill.py').map((a) => ({ ...a, tool: 'run_command' }))],
    ['WebFetch(domain:example.org)', host('example.org.evil.net')],
    ['WebFetch(domain:example.org)', host('api.example.org')],
    ['WebFetch(domain:example.org)', host('example.org', 22)],
    ['Skill', command('ls')],
  ] as const)('%s allows nothing that it does not say', (rule, accesses) => {
    const narrow = narrowPolicy(policyOf({ allow: ['*'] }), [
      narrowingLayer({ layer: 'run', where: '' }, rules('allow', [rule]), {
        low: 'deny',
        medium: 'deny',
        high: 'deny',
      }),
    ]);
    expect(effectOf(narrow, accesses)).toBe('deny');
  });

  test('what forbids is read generously: hidden names, other case, any depth, hosts below, lines that cannot be judged', () => {
    const policy = policyOf({
      allow: ['*'],
      deny: ['Read(secrets/**)', 'Read(*.pem)', 'WebFetch(domain:evil.net)', 'Bash(rm:*)'],
    });
    const forbidden = [
      onPath('read_file', 'secrets/.hidden/x'),
      onPath('read_file', 'Secrets/x'),
      onPath('read_file', 'a/b/KEY.PEM'),
      host('a.b.evil.net', 8080),
      command('echo $(rm x)'),
      command('env rm x'),
    ];
    expect(forbidden.map((accesses) => effectOf(policy, accesses))).toEqual(forbidden.map(() => 'deny'));
    expect(effectOf(policy, onPath('read_file', 'public/x'))).toBe('allow');
  });

  test('variables count under the rule of a contained program, and are asked about otherwise', () => {
    const withVariables = (isContained: boolean): readonly Access[] => {
      const line = readCommandLine('git log', { env: { GIT_DIR: 'x' } });
      return [{ tool: 'run_command', subject: { ...lineSubject(line), isContained } }];
    };
    const policy = policyOf({ allow: ['Bash(git:*)'] });
    const decision = decide(policy, withVariables(false));
    expect([decision.effect, decision.reason]).toEqual([
      'ask',
      'run_command needs approval by default, built-in: it sets GIT_DIR, and the program is not contained',
    ]);
    expect(effectOf(policy, withVariables(true))).toBe('allow');
    expect(effectOf(policyOf({ allow: ['Bash'] }), withVariables(false))).toBe('allow');
  });

  test('a value that the shell would run makes a line unclear', () => {
    const hostile: readonly Readonly<Record<string, string>>[] = [
      { BASH_ENV: '$(evil)' },
      { 'BASH_FUNC_git%%': '() { evil; }' },
      { x: 'a[$(evil)]' },
    ];
    const effects = hostile.map((env) => {
      const line = readCommandLine('git log $((x))', { env });
      return effectOf(policyOf({ allow: ['Bash(git:*)'] }), [{ tool: 'run_command', subject: lineSubject(line) }]);
    });
    expect(effects).toEqual(['ask', 'ask', 'ask']);
  });

  test('a line that may match a rule that denies is asked about with high risk, so that --yes does not answer it', () => {
    const policy = policyOf({ allow: ['Bash'], deny: ['Bash(rm:*)'] });
    expect(decide(policy, command('X=rm; $X a'))).toEqual({
      effect: 'ask',
      tool: 'run_command',
      risk: 'high',
      rule: 'Bash(rm:*)',
      origin: USER,
      reason:
        'run_command needs approval by the rule "Bash(rm:*)" of user (~/.agent/config.json): it may match this rule that says deny: the name of the program is computed: $X',
    });
    expect(effectOf(policy, command('$X a; rm b'))).toBe('deny');
  });

  test('in another folder a rule with a relative path means another file, and does not count', () => {
    const policy = policyOf({ allow: ['Bash(./scripts/run.sh:*)', 'Bash(cd:*)', 'Bash(git:*)'] });
    const elsewhere = (line: string): readonly Access[] => [
      { tool: 'run_command', subject: { ...lineSubject(readCommandLine(line)), isElsewhere: true } },
    ];
    expect([
      effectOf(policy, command('./scripts/run.sh a')),
      effectOf(policy, command('cd evil && ./scripts/run.sh a')),
      effectOf(policy, command('cd x && git status')),
      effectOf(policy, elsewhere('./scripts/run.sh a')),
      effectOf(policy, elsewhere('git status')),
    ]).toEqual(['allow', 'ask', 'allow', 'ask', 'allow']);
  });

  test.each([
    '',
    '(',
    'Bash(',
    'Bash()x',
    'two words',
    'Write(../x)',
    'WebFetch(domain:*.org)',
    'mcp__*(x)',
    'grep)',
    'a'.repeat(400),
  ])('%j is no rule', (text) => {
    expect(readRule(text, { effect: 'allow', origin: USER })).toHaveProperty('problem');
  });
});

describe('skills', () => {
  const open = policyOf({ allow: ['*'] });

  verifies('POL-2', 'what a skill does not list cannot be used while it is active', () => {
    const narrowed = narrowPolicy(open, [skillLayer('project/pdf', { allowedTools: ['Read', 'Bash(git status:*)'] })]);
    expect([
      effectOf(narrowed, onPath('read_file', 'a')),
      effectOf(narrowed, command('git status -s')),
      effectOf(narrowed, command('git push')),
      effectOf(narrowed, onPath('write_file', 'a')),
      effectOf(narrowed, host('example.org')),
    ]).toEqual(['allow', 'allow', 'deny', 'deny', 'deny']);
  });

  test('two lists are an intersection, never a union: one skill cannot widen another', () => {
    const both = narrowPolicy(open, [
      skillLayer('a/reader', { allowedTools: ['Read'] }),
      skillLayer('b/writer', { allowedTools: ['Read', 'Write'] }),
    ]);
    expect([effectOf(both, onPath('write_file', 'a')), effectOf(both, onPath('read_file', 'a'))]).toEqual([
      'deny',
      'allow',
    ]);
  });

  test('no list takes away what loads skills', () => {
    const closed = narrowPolicy(open, [
      skillLayer('a/closed', { allowedTools: [], disallowedTools: ['*', 'Skill', 'load_skill'] }),
    ]);
    const decided = [...ALWAYS_ON].map((tool) => effectOf(closed, [{ tool, subject: { kind: 'none' } }]));
    expect(decided).toEqual([...ALWAYS_ON].map(() => 'allow'));
  });

  test('a list cannot widen what the configuration allows, as restriction or as grant', () => {
    const strict = policyOf({ deny: ['Bash'], ask: ['Write'] });
    const grants = skillGrants('a/greedy', ['Bash', 'Write', '*']);
    const greedy = {
      ...narrowPolicy(strict, [skillLayer('a/greedy', { allowedTools: ['Bash', 'Write', '*'] })]),
      grants,
    };
    expect([effectOf(greedy, command('ls')), effectOf(greedy, onPath('write_file', 'a'))]).toEqual(['deny', 'ask']);
  });

  test('as a grant a list saves the question about programs, and no other', () => {
    const grants = skillGrants('a/pdf', ['Bash(git:*)', 'Write', 'WebFetch']);
    const granted = { ...policyOf(), grants };
    expect([
      effectOf(granted, command('git log')),
      effectOf(granted, command('ls')),
      effectOf(granted, onPath('write_file', 'a')),
      effectOf(granted, host('example.org')),
      effectOf({ ...policyOf({ ask: ['Bash'] }), grants }, command('git log')),
    ]).toEqual(['allow', 'ask', 'ask', 'ask', 'ask']);
  });

  test('an entry that cannot be read allows nothing', () => {
    const narrowed = narrowPolicy(open, [skillLayer('a/odd', { allowedTools: ['Bash(', 'Write(../**)', '((('] })]);
    expect([effectOf(narrowed, command('ls')), effectOf(narrowed, onPath('write_file', '../x'))]).toEqual([
      'deny',
      'deny',
    ]);
  });

  verifies('POL-2', 'what a skill forbids cannot be used while it is active, with a list of its own or without', () => {
    const forbids = narrowPolicy(open, [skillLayer('a/careful', { disallowedTools: ['Bash(rm:*)', 'WebFetch'] })]);
    const lists = narrowPolicy(open, [
      skillLayer('a/careful', { allowedTools: ['Bash', 'Read'], disallowedTools: ['Bash(rm:*)', 'WebFetch'] }),
    ]);
    const asked = [
      command('rm -rf x'),
      command('ls && rm x'),
      command('ls'),
      host('example.org'),
      onPath('read_file', 'a'),
      onPath('write_file', 'a'),
    ];
    expect(asked.map((each) => effectOf(forbids, each))).toEqual(['deny', 'deny', 'allow', 'deny', 'allow', 'allow']);
    expect(asked.map((each) => effectOf(lists, each))).toEqual(['deny', 'deny', 'allow', 'deny', 'allow', 'deny']);
  });

  test('an entry that forbids and cannot be read forbids its whole tool, under the name that was written', () => {
    const narrowed = narrowPolicy(open, [
      skillLayer('a/odd', { disallowedTools: ['Read(../x)', 'mcp__*(x)', 'Read(~/.ssh/**)'] }),
    ]);
    expect([
      effectOf(narrowed, onPath('read_file', 'a')),
      effectOf(narrowed, [{ tool: 'mcp__a__b', subject: { kind: 'none' } }]),
      effectOf(narrowed, onPath('write_file', 'a')),
    ]).toEqual(['deny', 'deny', 'allow']);
    expect(decide(narrowed, onPath('read_file', 'a')).rule).toBe('Read(../x)');
  });

  test('what a skill forbids no grant gives back, its own least of all', () => {
    const layers = [skillLayer('a/careful', { disallowedTools: ['Bash(rm:*)'] })];
    const granted = { ...narrowPolicy(policyOf(), layers), grants: skillGrants('a/careful', ['Bash']) };
    expect([effectOf(granted, command('rm x')), effectOf(granted, command('ls'))]).toEqual(['deny', 'allow']);
  });

  test('a skill that is called like a tool is given nothing by its name', () => {
    const policy = policyOf({ allow: ['load_skill(run_command)'] });
    expect(effectOf(policy, command('ls'))).toBe('ask');
  });
});

describe('what is built in', () => {
  const policy: Policy = {
    layers: [
      {
        origin: { layer: 'built-in', where: '' },
        rules: [...builtInRules(), ...rules('allow', ['*'])],
        otherwise: BY_RISK,
      },
    ],
    grants: [],
  };

  test.each([
    ['write_file', '.git/hooks/pre-commit', 'deny'],
    ['write_file', 'vendor/lib/.git/config', 'deny'],
    ['write_file', '.agent/config.json', 'deny'],
    ['delete_file', '.agent/runs/1/events.jsonl', 'deny'],
    ['write_file', '.agent/skills/x/SKILL.md', 'ask'],
    ['write_file', 'CLAUDE.md', 'ask'],
    ['write_file', 'sub/AGENTS.md', 'ask'],
    ['write_file', '.github/workflows/ci.yml', 'ask'],
    ['write_file', 'src/a.ts', 'allow'],
    ['read_file', '.env', 'ask'],
    ['read_file', 'app/.env.production', 'ask'],
    ['read_file', 'certs/server.PEM', 'ask'],
    ['read_file', 'src/environment.ts', 'allow'],
  ] as const)('%s of %s: %s, though everything is open', (tool, path, effect) => {
    expect(effectOf(policy, onPath(tool, path))).toBe(effect);
  });
});

describe('several things at once', () => {
  test('a file of the machine as an input is high risk, one of the project medium, unless it is secret or a link outside', async () => {
    const folder = scratch();
    const project = path.join(folder, 'app');
    mkdirSync(project);
    for (const file of ['app/data.csv', 'app/.env', 'notes.txt']) writeFileSync(path.join(folder, file), '');
    symlinkSync('../notes.txt', path.join(project, 'link.txt'));
    const risk = async (file: string): Promise<unknown> => {
      const inputs = [{ from: `host://${path.join(folder, file)}` }];
      const accesses = await listAccesses({ type: 'run_command', command: 'cat x', inputs }, { project });
      return decide(policyOf({}), accesses).risk;
    };
    const files = ['notes.txt', 'app/data.csv', 'app/.env', 'app/link.txt', 'app/../notes.txt', '.ssh/id_rsa'];
    expect(await Promise.all(files.map(risk))).toEqual(['high', 'medium', 'high', 'high', 'high', 'high']);
  });

  test('a rule that grants an input settles its risk, except for a secret file', async () => {
    const risk = async (file: string, allow: readonly string[]): Promise<unknown> => {
      const inputs = [{ from: `host://${file}` }];
      const accesses = await listAccesses({ type: 'run_command', command: 'cat x', inputs }, {});
      const { effect, risk: found } = decideAccesses(policyOf({ allow }), accesses, {
        program: {},
        askedBy: 'model',
        sandboxed: 'ask',
      });
      return [effect, found];
    };
    expect(await risk('/data/a.csv', [])).toEqual(['ask', 'high']);
    expect(await risk('/data/a.csv', ['host_input(/data/**)'])).toEqual(['ask', 'medium']);
    expect(await risk('/other/a.csv', ['host_input(/data/**)'])).toEqual(['ask', 'high']);
    expect(await risk('/data/a.csv', ['host_input(/data/**)', 'run_command'])).toEqual(['allow', 'medium']);
    expect(await risk('/data/server.pem', ['host_input(/data/**)'])).toEqual(['ask', 'high']);
  });

  test('the strictest part decides, the highest risk counts', async () => {
    const accesses = await listAccesses(
      {
        type: 'run_command',
        command: 'git status',
        inputs: [{ from: 'host:///home/ann/notes.txt' }, { from: 'artifact://a' }],
      },
      { isolation: 'none' },
    );
    expect(accesses.map(({ tool }) => tool)).toEqual(['run_command', 'host_input', 'unsafe_local']);
    expect(decide(policyOf({ allow: ['run_command', 'host_input(/home/ann/**)'] }), accesses)).toMatchObject({
      effect: 'ask',
      risk: 'high',
      tool: 'unsafe_local',
    });
  });
});
