import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readEnvironment, toVariableName } from '../../../src/runtime/config/config-environment.ts';
import { mergeLayers } from '../../../src/runtime/config/config-merge.ts';
import { readOptions } from '../../../src/cli/config-options.ts';
import { SETTINGS, valueAt } from '../../../src/core/config/config-settings.ts';
import { verifies } from '../../conformance/verifies.ts';
import { anyConfig } from '../../core/config/config-arbitrary.ts';

describe('variables', () => {
  test('no two settings share a name', () => {
    expect(new Set(SETTINGS.map(toVariableName)).size).toBe(SETTINGS.length);
  });

  verifies('CFG-1', 'give settings: text plainly, numbers and switches, lists and objects as JSON', () => {
    const { layers, problems } = readEnvironment({
      SKILLWRIGHT_EXECUTION_EXECUTOR: 'container',
      SKILLWRIGHT_CATALOG_BUDGET_TOKENS: '2000',
      SKILLWRIGHT_CACHE_ENABLED: 'false',
      SKILLWRIGHT_POLICY_DENY: '["Bash(rm:*)"]',
      SKILLWRIGHT_SKILL_VISIBILITY: '{"pdf": "pinned"}',
      SKILLWRIGHT_CACHE_DIR: '/anywhere',
      SKILLWRIGHT_RUN: 'mark',
      SKILLWRIGHT_MODEL_PROVIDER: '',
      HOME: '/home/me',
    });
    expect(problems).toEqual([]);
    expect(layers).toEqual([
      { layer: 'environment', where: 'SKILLWRIGHT_CACHE_ENABLED', config: { cache: { enabled: false } } },
      {
        layer: 'environment',
        where: 'SKILLWRIGHT_CATALOG_BUDGET_TOKENS',
        config: { catalog: { budget_tokens: 2000 } },
      },
      {
        layer: 'environment',
        where: 'SKILLWRIGHT_EXECUTION_EXECUTOR',
        config: { execution: { executor: 'container' } },
      },
      { layer: 'environment', where: 'SKILLWRIGHT_POLICY_DENY', config: { policy: { deny: ['Bash(rm:*)'] } } },
      { layer: 'environment', where: 'SKILLWRIGHT_SKILL_VISIBILITY', config: { skill_visibility: { pdf: 'pinned' } } },
    ]);
  });

  test.each([
    [
      'SKILLWRIGHT_CATALOG_BUDGET_TOKENS',
      'many',
      '"catalog.budget_tokens" must be a whole number from 50 to 1000000',
      'Maximum estimated tokens of the catalog',
    ],
    [
      'SKILLWRIGHT_CATALOG_BUDGET_TOKENS',
      '1',
      '"catalog.budget_tokens" must be a whole number from 50 to 1000000',
      'Maximum estimated tokens of the catalog',
    ],
    ['SKILLWRIGHT_CACHE_ENABLED', 'yes', '"cache.enabled" must be true or false', 'Cache the index'],
    [
      'SKILLWRIGHT_CATALOG_FORMAT',
      'xlm',
      '"catalog.format" must be one of xml, markdown, lines, list, expertise',
      'did you mean xml?',
    ],
    [
      'SKILLWRIGHT_POLICY_DENY',
      'Bash',
      '"policy.deny" must be a list of at most 1000',
      'write the list as JSON: ["one", "two"]',
    ],
    [
      'SKILLWRIGHT_POLICY_DENY',
      '["Bash("]',
      '"policy.deny.0" must be a rule such as Read or Bash(git status:*)',
      'write the list as JSON: ["one", "two"]',
    ],
    ['SKILLWRIGHT_MODEL_PARAMS', '{', '"model.params" must be an object', 'write the object as JSON: {"key": "value"}'],
    ['SKILLWRIGHT_POLICY_DNEY', '[]', 'is not a setting', 'did you mean SKILLWRIGHT_POLICY_DENY?'],
    ['SKILLWRIGHT_POLICY', '{}', 'is not a setting', 'did you mean SKILLWRIGHT_POLICY_ASK?'],
    [
      'SKILLWRIGHT___PROTO__',
      '{}',
      'is not a setting',
      'remove it; run skillwright config --schema to see all settings',
    ],
    ['SKILLWRIGHT_$SCHEMA', 'x', 'is not a setting', 'remove it; run skillwright config --schema to see all settings'],
  ])('%s=%s is named and not used', (name, text, message, hint) => {
    expect(readEnvironment({ [name]: text })).toEqual({ layers: [], problems: [{ variable: name, message, hint }] });
  });

  test('a value that is nested too deep, or has a key twice, is none', () => {
    const deep = `{"a": ${'['.repeat(60_000)}${']'.repeat(60_000)}}`;
    for (const text of [deep, '{"a": 1, "a": 2}'])
      expect(readEnvironment({ SKILLWRIGHT_MODEL_PARAMS: text })).toMatchObject({
        layers: [],
        problems: [{ message: '"model.params" must be an object' }],
      });
  });

  test('say all that a file can say', () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        const env = Object.fromEntries(
          SETTINGS.flatMap((setting) => {
            const value = valueAt(config, setting.path);
            if (value === undefined) return [];
            return [[toVariableName(setting), typeof value === 'string' ? value : JSON.stringify(value)]];
          }),
        );
        const { layers, problems } = readEnvironment(env);
        expect(problems).toEqual([]);
        expect(mergeLayers(layers)).toEqual(mergeLayers([{ layer: 'user', where: '', config }]));
      }),
    );
  });
});

describe('options', () => {
  verifies('CFG-1', 'are checked by the schema, and the later of two counts', () => {
    expect(
      readOptions([
        'catalog.budget_tokens=900',
        'catalog.budget_tokens=2000',
        'model.provider=a=b',
        'policy.deny=["Read"]',
        'skill_visibility.user/old.notes=disabled',
        'skill_visibility={"pdf": "pinned"}',
        'model.params.temperature=0.5',
        'model.params.stop=plain text',
        'telemetry.headers.x-key=1',
      ]),
    ).toEqual({
      catalog: { budget_tokens: 2000 },
      model: { provider: 'a=b', params: { temperature: 0.5, stop: 'plain text' } },
      policy: { deny: ['Read'] },
      skill_visibility: { 'user/old.notes': 'disabled', pdf: 'pinned' },
      telemetry: { headers: { 'x-key': '1' } },
    });
  });

  test.each([
    [
      'catalog.budget_tokens',
      '"catalog.budget_tokens" is not KEY=VALUE',
      'write it like --set catalog.budget_tokens=2000',
    ],
    ['=5', '"=5" is not KEY=VALUE', 'write it like --set catalog.budget_tokens=2000'],
    ['', '"" is not KEY=VALUE', 'write it like --set catalog.budget_tokens=2000'],
    ['catalog.budget_token=5', '"catalog.budget_token" is not a setting', 'did you mean catalog.budget_tokens?'],
    ['catalog={}', '"catalog" is a group of settings', 'set one of catalog.budget_tokens, catalog.format'],
    ['__proto__.x=1', '"__proto__.x" is not a setting', 'run skillwright config explain to list all settings'],
    ['$schema=x', '"$schema" is not a setting', 'run skillwright config explain to list all settings'],
    ['cache.enabled=no', '"cache.enabled" must be true or false', 'Cache the index'],
    [
      'skill_visibility.pdf=pined',
      '"skill_visibility.pdf" must be one of auto, pinned, name-only, manual, required, disabled',
      'did you mean pinned?',
    ],
    ['policy.allow=Read', '"policy.allow" must be a list of at most 1000', 'write the list as JSON: ["one", "two"]'],
    [
      'secrets.a={"B": "plain"}',
      '"secrets.a.B" must be an object or an object or an object',
      'write the object as JSON: {"key": "value"}',
    ],
  ])('%s is refused', (option, message, hint) => {
    expect(() => readOptions(['session.max_loaded=3', option])).toThrow(
      expect.objectContaining({ code: 'usage', message: `--set: ${message}`, hint }),
    );
  });

  test('an entry called __proto__ is an entry', () => {
    const read = readOptions(['skill_visibility.__proto__=disabled']);
    expect(Object.entries(read.skill_visibility ?? {})).toEqual([['__proto__', 'disabled']]);
    expect(Reflect.get({}, 'disabled')).toBeUndefined();
  });

  test('say all that a file can say', () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        const options = SETTINGS.flatMap((setting) => {
          const value = valueAt(config, setting.path);
          if (value === undefined || (setting.isMap && Object.keys(value as object).length === 0)) return [];
          return [`${setting.key}=${typeof value === 'string' ? value : JSON.stringify(value)}`];
        });
        expect(mergeLayers([{ layer: 'option', where: '', config: readOptions(options) }])).toEqual(
          mergeLayers([{ layer: 'user', where: '', config }]),
        );
      }),
    );
  });
});
