import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { checkConfig } from '../../../src/core/config/config-check.ts';
import { shownConfig, shownValue } from '../../../src/cli/govern/config.ts';
import { CONFIG_JSON_SCHEMA } from '../../../src/core/config/config.ts';
import { verifies } from '../../conformance/verifies.ts';
import { PROJECT } from '../../files-below.ts';

describe('the configuration schema', () => {
  test('takes what the documents show', () => {
    const config = {
      skill_roots: ['.agent/skills', '~/.agent/skills', { path: '/packs', source: 'packs' }],
      model: { provider: 'mock', params: { temperature: 0, nested: { any: 'thing' } } },
      execution: { require_approval_for: ['write_file', 'run_script', 'network'], network: ['*.example.org'] },
      security: { max_skill_body_lines: 500, block_angle_brackets_in_frontmatter: true },
      skill_visibility: { pdf: 'pinned', 'acme-*': 'manual' },
      policy: {
        default: { low: 'allow', medium: 'ask', high: 'deny' },
        allow: ['run_script', 'Bash(git status:*)', 'Write(docs/**)', 'WebFetch(domain:example.org)', '*'],
        ask: [],
        deny: ['Bash(rm:*)'],
        include: ['team-policy.json'],
        allowed_tools: 'both',
      },
      trust: { bind: 'digest' },
      secrets: {
        'csv-report': { A: { env: 'B' }, C: { file: '~/.secrets/c' } },
        'builtin/pdf': { D: { command: ['pass', 'show', 'd'] } },
      },
      runs: { enabled: false, directory: '.agent/runs', sync: 'each' },
      telemetry: { endpoint: 'http://localhost:4318', headers: { authorization: 'Bearer x' } },
    };
    expect(checkConfig(config)).toEqual([]);
  });

  const wrong: readonly (readonly [
    name: string,
    value: unknown,
    path: readonly (string | number)[],
    expected: string,
  ])[] = [
    ['a list for an object', { scan: [] }, ['scan'], 'an object'],
    ['text for a number', { scan: { max_depth: '6' } }, ['scan', 'max_depth'], 'a whole number from 1 to 32'],
    [
      'a number out of bounds',
      { catalog: { budget_tokens: 0 } },
      ['catalog', 'budget_tokens'],
      'a whole number from 50 to 1000000',
    ],
    ['a number with a fraction', { scan: { max_depth: 1.5 } }, ['scan', 'max_depth'], 'a whole number from 1 to 32'],
    [
      'an unknown word',
      { skill_visibility: { pdf: 'pined' } },
      ['skill_visibility', 'pdf'],
      'one of auto, pinned, name-only, manual, required, disabled',
    ],
    ['a wrong root in a list', { skill_roots: ['a', { path: 5 }] }, ['skill_roots', 1, 'path'], 'a string'],
    ['nothing', { skill_roots: null }, ['skill_roots'], 'a list'],
    ['a rule for a list of rules', { policy: { deny: 'Bash' } }, ['policy', 'deny'], 'a list of at most 1000'],
    [
      'a rule that means nothing',
      { policy: { deny: ['Read', 'Bash(rm'] } },
      ['policy', 'deny', 1],
      'a rule such as Read or Bash(git status:*)',
    ],
    [
      'an effect that is none',
      { policy: { default: { low: 'never' } } },
      ['policy', 'default', 'low'],
      'one of deny, ask, allow',
    ],
    [
      'a path that no system call takes',
      { skill_roots: ['a\0b'] },
      ['skill_roots', 0],
      'a text without NUL characters',
    ],
    [
      'a name that no system call takes',
      { secrets: { a: { B: { file: 'x\0' } } } },
      ['secrets', 'a', 'B', 'file'],
      'a text without NUL characters',
    ],
    [
      'a grant of everything',
      { execution: { network: ['*.org'] } },
      ['execution', 'network', 0],
      'a host pattern: "*.org" would grant names of other owners; list the hosts one by one',
    ],
    ['a secret that comes from nowhere', { secrets: { a: { B: {} } } }, ['secrets', 'a', 'B', 'env'], 'a string'],
    [
      'a secret in the file itself',
      { secrets: { a: { B: 'hunter2' } } },
      ['secrets', 'a', 'B'],
      'an object or an object or an object',
    ],
  ];
  test.each(wrong)('names %s', (_, value, at, expected) => {
    expect(checkConfig(value)).toMatchObject([
      { type: 'invalid', path: at, message: `"${at.join('.')}" must be ${expected}` },
    ]);
  });

  verifies('CFG-1', 'unknown keys are named, __proto__ and constructor among them', () => {
    const value: unknown = JSON.parse(
      '{"skil_roots": [], "scan": {"depth": 1}, "policy": {"default": {"hi": "deny"}}, "__proto__": {"x": 1}, "constructor": 1}',
    );
    expect(checkConfig(value).map(({ type, path: at }) => [type, at.join('.')])).toEqual([
      ['unknown-key', 'skil_roots'],
      ['unknown-key', 'scan.depth'],
      ['unknown-key', 'policy.default.hi'],
      ['unknown-key', '__proto__'],
      ['unknown-key', 'constructor'],
    ]);
  });

  test.each([
    [{ polcy: {} }, '"polcy" is not a known key', 'did you mean policy?'],
    [{ policy: { dney: [] } }, '"policy.dney" is not a known key', 'did you mean deny?'],
    [{ budget_tokens: 5 }, '"budget_tokens" is not a known key', 'did you mean catalog.budget_tokens?'],
    [{ 'x\u001b[31m\u202e': 5 }, '"x\\x1b[31m\\u{202e}" is not a known key', undefined],
    [
      { catalog: { format: 'xlm' } },
      '"catalog.format" must be one of xml, markdown, lines, list, expertise',
      'did you mean xml?',
    ],
    [{ catalog: { format: 5 } }, '"catalog.format" must be one of xml, markdown, lines, list, expertise', undefined],
  ])('says about %j what was probably meant', (value, message, hint) => {
    expect(checkConfig(value).map((problem) => [problem.message, problem.hint])).toEqual([[message, hint]]);
  });

  test('a file of rules holds rules and nothing else', () => {
    expect(
      checkConfig({ $schema: 'x', allow: ['Read'], deny: [], default: { high: 'deny' }, include: [] }, 'policy'),
    ).toEqual([]);
    expect(
      checkConfig({ allowed_tools: 'grant', policy: {} }, 'policy').map(({ type, path: at }) => [type, at.join('.')]),
    ).toEqual([
      ['unknown-key', 'allowed_tools'],
      ['unknown-key', 'policy'],
    ]);
    expect(checkConfig({ deny: [''] }, 'policy')).toMatchObject([{ path: ['deny', 0] }]);
  });

  verifies('CFG-1', 'the published schema is the one that checks', () => {
    const published: unknown = JSON.parse(readFileSync(path.join(PROJECT, 'schemas/config.schema.json'), 'utf8'));
    expect(published, 'schemas/config.schema.json is out of step: npm run build').toEqual(
      JSON.parse(JSON.stringify(CONFIG_JSON_SCHEMA)),
    );
  });
});

describe('a configuration that is shown', () => {
  test('shows no header and no key', () => {
    const config = {
      telemetry: { endpoint: 'http://x', headers: { authorization: 'canary' } },
      model: { provider: 'p', params: { temperature: 0, apiKey: 'canary', deep: { headers: ['canary'] } } },
      secrets: { a: { B: { env: 'C' } } },
      mcp_servers: { m: { command: 'x', env: { A: 'canary', B: { env: 'C' } } } },
    };
    expect(shownConfig(config)).toEqual({
      telemetry: { endpoint: 'http://x', headers: { authorization: '[hidden]' } },
      model: { provider: 'p', params: { temperature: 0, apiKey: '[hidden]', deep: '[hidden]' } },
      secrets: { a: { B: { env: 'C' } } },
      mcp_servers: { m: { command: 'x', env: { A: '[hidden]', B: { env: 'C' } } } },
    });
    const said = { layer: 'user', where: '/f', value: 'canary' } as const;
    const row = { key: 'telemetry.headers.x', ...said, also: [said], overridden: [said] };
    expect(JSON.stringify(shownValue(row))).not.toContain('canary');
    const server = {
      ...row,
      key: 'mcp_servers.m',
      value: { url: 'u', headers: { x: 'canary' } },
      also: [],
      overridden: [],
    };
    expect(shownValue(server).value).toEqual({ url: 'u', headers: { x: '[hidden]' } });
  });
});
