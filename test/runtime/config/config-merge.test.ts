import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { checkConfig } from '../../../src/core/config/config-check.ts';
import { OVERRIDE_RULES, narrow, userOnlyPaths } from '../../../src/runtime/config/project-override-rules.ts';
import {
  explainLayers,
  mergeLayers,
  widerSettings,
  builtInValue,
  type ConfigLayer,
} from '../../../src/runtime/config/config-merge.ts';
import { SETTINGS, valueAt } from '../../../src/core/config/config-settings.ts';
import type { Config } from '../../../src/core/config/config.ts';
import { findGrant, readHost, readHostPattern } from '../../../src/core/network/host-pattern.ts';
import { verifies } from '../../conformance/verifies.ts';
import { anyConfig } from '../../core/config/config-arbitrary.ts';
import { isProblem } from '../../../src/core/problem.ts';

const user = (config: Config): ConfigLayer => ({ layer: 'user', where: '/home/config.json', config });
const project = (config: Config): ConfigLayer => ({ layer: 'project', where: '/project/config.json', config });
const environment = (config: Config): ConfigLayer => ({ layer: 'environment', where: 'SKILLWRIGHT_X', config });
const option = (config: Config): ConfigLayer => ({ layer: 'option', where: '--set', config });

/** A value as it counts: what is built in where nobody says anything. */
function inForce(config: Config, key: string): unknown {
  const setting = SETTINGS.find((candidate) => candidate.key === key);
  if (setting === undefined) throw new Error(`no setting ${key}`);
  return valueAt(config, setting.path) ?? builtInValue(setting);
}

describe('layers', () => {
  verifies('CFG-1', 'later layers win: built in, user, project, environment, options', () => {
    const all = [
      user({ session: { max_loaded: 2 }, catalog: { budget_tokens: 100 } }),
      project({ session: { max_loaded: 1 }, catalog: { format: 'lines' } }),
      environment({ session: { max_loaded: 3 } }),
      option({ session: { max_loaded: 4 } }),
    ];
    const seen = all.map((_, count) => inForce(mergeLayers(all.slice(0, count)), 'session.max_loaded'));
    expect([...seen, inForce(mergeLayers(all), 'session.max_loaded')]).toEqual([8, 2, 1, 3, 4]);
    expect(mergeLayers(all)).toEqual({
      session: { max_loaded: 4 },
      catalog: { budget_tokens: 100, format: 'lines' },
    });
  });

  verifies(
    'CFG-1',
    'merge: objects by key, roots one after the other, and what a project says about skills stays apart',
    () => {
      const over: Config = {
        skill_roots: ['/p'],
        catalog: { budget_tokens: 100 },
        skill_visibility: { a: 'pinned' },
        use_default_roots: false,
      };
      const under: Config = {
        skill_roots: ['/u'],
        catalog: { format: 'lines' },
        skill_visibility: { a: 'disabled', b: 'manual' },
        use_default_roots: true,
      };
      expect(mergeLayers([user(under), project(over)])).toEqual({
        skill_roots: ['/p', '/u'],
        catalog: { budget_tokens: 100, format: 'lines' },
        skill_visibility: { a: 'disabled', b: 'manual' },
        use_default_roots: false,
      });
    },
  );

  test('a project tightens safety and never loosens it, not even what is built in', () => {
    const under: Config = {
      security: { max_skill_body_lines: 100, block_angle_brackets_in_frontmatter: true },
      execution: { require_approval_for: ['write_file'], network: ['*.example.org', 'b.org:8443'] },
    };
    const over: Config = {
      security: {
        max_skill_body_lines: 9_000,
        max_skill_body_characters: 50_000,
        oversized_body: 'refuse',
        block_angle_brackets_in_frontmatter: false,
      },
      execution: { require_approval_for: [], network: ['a.example.org', 'b.org', 'b.org:*'] },
      runs: { enabled: false },
    };
    expect(mergeLayers([user(under), project(over)])).toEqual({
      security: { max_skill_body_lines: 100, oversized_body: 'refuse', block_angle_brackets_in_frontmatter: true },
      execution: { require_approval_for: ['write_file'], network: ['a.example.org', 'b.org:8443'] },
    });
    expect(widerSettings([user(under)], project(over)).map(({ key }) => key)).toEqual([
      'execution.network',
      'security.max_skill_body_lines',
      'security.max_skill_body_characters',
      'security.block_angle_brackets_in_frontmatter',
      'runs.enabled',
    ]);
  });

  test.each([
    [undefined, 'container', 'container'],
    ['auto', 'bubblewrap', 'bubblewrap'],
    ['local', 'bubblewrap', 'bubblewrap'],
    ['local', 'auto', 'auto'],
    ['container', 'auto', 'container'],
    ['container', 'bubblewrap', 'container'],
    ['container', 'local', 'container'],
    ['auto', 'local', 'auto'],
    [undefined, 'local', 'auto'],
  ] as const)('executor: the user says %s, the project %s: %s', (own, asked, result) => {
    const merged = mergeLayers([
      user(own === undefined ? {} : { execution: { executor: own } }),
      project({ execution: { executor: asked } }),
    ]);
    expect(inForce(merged, 'execution.executor')).toBe(result);
  });

  test.each([
    [['10.0.0.1'], ['private://10.0.0.1'], ['10.0.0.1']],
    [['10.0.0.1:22'], ['private://10.0.0.1'], []],
    [['private://10.0.0.1'], ['10.0.0.1'], ['10.0.0.1']],
    [['*.example.org'], ['example.org', 'a.b.example.org', '*.a.example.org'], ['a.b.example.org', '*.a.example.org']],
    [['a.org'], ['*.a.org', 'a.org:*'], ['a.org']],
    [['a.org:*'], ['a.org:22'], ['a.org:22']],
    [['a.org'], [], []],
    [undefined, ['a.org'], []],
  ])('network: the user grants %j, the project asks for %j: %j', (own, asked, result) => {
    const merged = mergeLayers([
      user(own === undefined ? {} : { execution: { network: own } }),
      project({ execution: { network: asked } }),
    ]);
    expect(merged.execution?.network).toEqual(result);
  });

  test('the environment and options are the user’s own: they may undo what a project tightened', () => {
    const merged = mergeLayers([
      project({ security: { max_skill_body_lines: 10 }, execution: { require_approval_for: ['run_script'] } }),
      environment({ security: { max_skill_body_lines: 900 } }),
      option({ execution: { require_approval_for: [], executor: 'local' } }),
    ]);
    expect(merged).toEqual({
      security: { max_skill_body_lines: 900 },
      execution: { require_approval_for: [], executor: 'local' },
    });
  });

  test('rules of the user’s layers add up; those of a project stay out of the configuration', () => {
    const merged = mergeLayers([
      user({ policy: { deny: ['Write'], default: { low: 'ask' } } }),
      project({ policy: { allow: ['*'], default: { low: 'allow' } } }),
      environment({ policy: { deny: ['Read'] } }),
    ]);
    expect(merged).toEqual({ policy: { deny: ['Read', 'Write'], default: { low: 'ask' } } });
  });

  test('nothing and nothing is nothing', () => {
    expect(mergeLayers([user({}), project({})])).toEqual({});
  });

  test('entries called __proto__ and constructor are entries', () => {
    const odd = JSON.parse('{"skill_visibility": {"__proto__": "disabled", "constructor": "manual"}}') as Config;
    const { skill_visibility: visibility } = mergeLayers([user(odd), project(odd)]);
    expect(Object.entries(visibility ?? {})).toEqual([
      ['__proto__', 'disabled'],
      ['constructor', 'manual'],
    ]);
  });
});

describe('what a project may do', () => {
  test('every setting has a rule', () => {
    expect(Object.keys(OVERRIDE_RULES)).toEqual(SETTINGS.map(({ key }) => key));
  });

  test('a rule that ranks values ranks every value of its setting', () => {
    const ranked = Object.entries(OVERRIDE_RULES).flatMap(([key, rule]) =>
      typeof rule === 'object' ? [[key, rule.strictest.toSorted()] as const] : [],
    );
    const known = ranked.map(([key]) => {
      const schema = SETTINGS.find((setting) => setting.key === key)?.schema;
      return [key, schema !== undefined && 'enum' in schema ? schema.enum?.toSorted() : undefined];
    });
    expect(ranked.length).toBeGreaterThan(5);
    expect(ranked).toEqual(known);
  });

  test('configurations of the tests are such that the schema takes them', () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        expect(checkConfig(config)).toEqual([]);
      }),
    );
  });

  verifies('CFG-1', 'whatever a project says, nothing gets wider than the user left it', () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, (own, asked) => {
        const before = mergeLayers([user(own)]);
        const after = mergeLayers([user(own), project(asked)]);
        for (const key of ['security.max_skill_body_lines', 'security.max_skill_body_characters'])
          expect(inForce(after, key)).toBeLessThanOrEqual(Number(inForce(before, key)));
        for (const [key, strict] of [
          ['security.oversized_body', 'refuse'],
          ['security.block_angle_brackets_in_frontmatter', true],
          ['runs.enabled', true],
          ['runs.sync', 'each'],
          ['policy.allowed_tools', 'restrict'],
          ['policy.sandboxed', 'ask'],
        ] as const)
          if (inForce(before, key) === strict) expect(inForce(after, key)).toBe(strict);
        const approvals = after.execution?.require_approval_for ?? [];
        expect(approvals).toEqual(expect.arrayContaining([...(before.execution?.require_approval_for ?? [])]));
        const executor = inForce(before, 'execution.executor');
        // The two below the other sandboxes may be replaced by one of those.
        if (!['auto', 'local', 'landlock'].includes(String(executor))) expect(after.execution?.executor).toBe(executor);
        if (executor !== 'local') expect(after.execution?.executor).not.toBe('local');
        if (executor !== 'local' && executor !== 'landlock') expect(after.execution?.executor).not.toBe('landlock');
        expect(after.execution?.allow_weaker).toBe(before.execution?.allow_weaker);
        const beforeReach = new Set(reachable(before));
        expect(reachable(after).filter((host) => !beforeReach.has(host))).toEqual([]);
        const rulesOf = ({ policy = {} }: Config): unknown => ({ ...policy, allowed_tools: 0, sandboxed: 0 });
        expect([rulesOf(after), after.secrets, after.telemetry, after.trust]).toEqual([
          rulesOf(before),
          before.secrets,
          before.telemetry,
          before.trust,
        ]);
      }),
    );
  });

  test('a law applied again changes nothing', () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, (own, asked) => {
        for (const { key, path } of SETTINGS) {
          const law = OVERRIDE_RULES[key] ?? 'never';
          const said = valueAt(asked, path);
          if (said === undefined || law === 'precedes' || law === 'apart') continue;
          const once = narrow(law, valueAt(own, path), said).value;
          if (once !== undefined) expect(narrow(law, once, said).value).toEqual(once);
        }
      }),
    );
  });

  test('what only the user may say is found, whatever it is', () => {
    const config: Config = {
      secrets: { a: { B: { env: 'C' } } },
      trust: { bind: 'digest' },
      telemetry: { endpoint: 'https://evil.example', headers: { a: 'b' } },
      execution: { executor: 'local' },
      policy: { allowed_tools: 'grant', sandboxed: 'allow' },
      runs: { directory: '../elsewhere' },
      model: {
        provider: 'x',
        params: { temperature: 0, max_tokens: 5, baseURL: 'https://evil.example', deep: [{ 'api-key': 'k' }] },
      },
    };
    expect(userOnlyPaths(config).map((path) => path.join('.'))).toEqual([
      'model.provider',
      'trust.bind',
      'secrets',
      'telemetry.endpoint',
      'telemetry.headers',
      'model.params.baseURL',
      'model.params.deep',
      'execution.executor',
      'policy.allowed_tools',
      'policy.sandboxed',
      'runs.directory',
    ]);
  });

  test('a project may choose a model that sends nothing anywhere, and no other', () => {
    const of = (layer: 'user' | 'project', provider: string): ConfigLayer => {
      return { layer, where: `${layer}.json`, config: { model: { provider } } };
    };
    expect(userOnlyPaths({ model: { provider: 'mock' } })).toEqual([]);
    expect(mergeLayers([of('user', 'anthropic'), of('project', 'mock')])).toEqual({ model: { provider: 'mock' } });
    expect(mergeLayers([of('user', 'anthropic'), of('project', 'openai')])).toEqual({
      model: { provider: 'anthropic' },
    });
    expect(mergeLayers([of('project', 'openai')])).toEqual({});
  });

  test.each(['/etc', '~', '~/x', '..', 'a/../../b', 'C:\\x', '\\\\host\\x', 'a\\..\\..\\b'])(
    'records may not go to %s',
    (directory) => {
      expect(userOnlyPaths({ runs: { directory } })).toEqual([['runs', 'directory']]);
    },
  );

  test('records may go to a folder of the project, and allowed-tools may restrict', () => {
    expect(
      userOnlyPaths({ runs: { directory: 'build/runs' }, policy: { allowed_tools: 'restrict', sandboxed: 'ask' } }),
    ).toEqual([]);
  });
});

/** Which of some hosts a program could reach. */
function reachable(config: Config): readonly string[] {
  const grants = (config.execution?.network ?? []).flatMap((text) => {
    const read = readHostPattern(text);
    return isProblem(read) ? [] : [read];
  });
  return ['example.org', 'a.example.org', 'b.example.org', 'c.b.example.org', '10.0.0.1'].flatMap((name) => {
    const host = readHost(name);
    if (host === undefined) throw new Error(name);
    return [80, 443, 8443, 22].flatMap((port) => {
      const found = grants.filter((grant) => findGrant([grant], host, port) !== undefined);
      const place = `${name}:${String(port)}`;
      return found.flatMap(({ isPrivate }) => (isPrivate ? [place, `private ${place}`] : [place]));
    });
  });
}

describe('an explanation', () => {
  test('says for each value who says so and what is overridden', () => {
    const layers = [
      user({ catalog: { budget_tokens: 900 }, skill_roots: ['/u'], skill_visibility: { 'a.b': 'manual' } }),
      project({ catalog: { budget_tokens: 800 }, skill_roots: ['/p'], security: { max_skill_body_lines: 9_000 } }),
      environment({ catalog: { budget_tokens: 700 } }),
    ];
    const rows = new Map(explainLayers(layers).map((row) => [row.key, row]));
    const own = { layer: 'user', where: '/home/config.json' };
    const theirs = { layer: 'project', where: '/project/config.json' };
    expect(rows.get('catalog.budget_tokens')).toEqual({
      key: 'catalog.budget_tokens',
      value: 700,
      layer: 'environment',
      where: 'SKILLWRIGHT_X',
      also: [],
      overridden: [
        { ...theirs, value: 800 },
        { ...own, value: 900 },
        { layer: 'built-in', where: '', value: 4_000 },
      ],
    });
    expect(rows.get('skill_roots')).toEqual({
      key: 'skill_roots',
      value: ['/p', '/u'],
      ...theirs,
      also: [{ ...own, value: ['/u'] }],
      overridden: [],
    });
    expect(rows.get('skill_visibility.a.b')).toMatchObject({ value: 'manual', ...own });
    expect(rows.get('security.max_skill_body_lines')).toEqual({
      key: 'security.max_skill_body_lines',
      value: 500,
      layer: 'built-in',
      where: '',
      also: [],
      overridden: [{ ...theirs, value: 9_000 }],
    });
  });

  test('a project’s default narrows variables and options too, and each layer’s rules stand by themselves', () => {
    const rows = explainLayers([
      user({ policy: { deny: ['Write'] } }),
      project({ policy: { deny: ['Read'], default: { low: 'deny' } } }),
      option({ policy: { default: { low: 'allow' } } }),
    ]);
    expect(rows.filter(({ key }) => key === 'policy.deny').map(({ layer, value }) => [layer, value])).toEqual([
      ['user', ['Write']],
      ['project', ['Read']],
    ]);
    expect(rows.find(({ key }) => key === 'policy.default.low')).toMatchObject({ layer: 'project', value: 'deny' });
  });

  test('explains the value that is in force', () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, anyConfig, (own, asked, given) => {
        const layers = [user(own), project(asked), option(given)];
        const merged = mergeLayers(layers);
        const rows = new Map(explainLayers(layers).map((row) => [row.key, row.value]));
        for (const setting of SETTINGS) {
          const { key, path, isMap } = setting;
          if (path[0] === 'policy' || isMap) continue;
          expect(rows.get(key)).toEqual(inForce(merged, key));
          expect(valueAt(merged, path) ?? builtInValue(setting)).toEqual(rows.get(key));
        }
      }),
    );
  });
});
