import { describe, expect, test } from 'vitest';

import { CONFIG_SCHEMA, mergeConfig } from '../../src/core/config.ts';
import { checkJson } from '../../src/core/json-schema.ts';
import { verifies } from '../conformance/verifies.ts';

describe('the configuration schema', () => {
  test('takes what the documents show', () => {
    const config = {
      skill_roots: ['.agent/skills', '~/.agent/skills', { path: '/packs', source: 'packs' }],
      model: { provider: 'mock', params: { temperature: 0, nested: { any: 'thing' } } },
      execution: { require_approval_for: ['write_file', 'run_script', 'network'] },
      security: { max_skill_body_lines: 500, block_angle_brackets_in_frontmatter: true },
      skill_visibility: { pdf: 'pinned', 'acme-*': 'manual' },
    };
    expect(checkJson(config, CONFIG_SCHEMA)).toEqual([]);
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
  ];
  test.each(wrong)('names %s', (_, value, path, expected) => {
    expect(checkJson(value, CONFIG_SCHEMA)).toEqual([{ type: 'invalid', path, expected }]);
  });

  verifies('CFG-1', 'unknown keys are named, __proto__ and constructor among them', () => {
    const value: unknown = JSON.parse(
      '{"skil_roots": [], "scan": {"depth": 1}, "__proto__": {"x": 1}, "constructor": 1}',
    );
    expect(checkJson(value, CONFIG_SCHEMA).map(({ type, path }) => [type, path.join('.')])).toEqual([
      ['unknown-key', 'skil_roots'],
      ['unknown-key', 'scan.depth'],
      ['unknown-key', '__proto__'],
      ['unknown-key', 'constructor'],
    ]);
  });
});

describe('two configurations', () => {
  verifies('CFG-1', 'merge: objects by key, roots one after the other, the rest from the project', () => {
    const project = {
      skill_roots: ['/p'],
      catalog: { budget_tokens: 100 },
      skill_visibility: { a: 'pinned' },
      use_default_roots: false,
    } as const;
    const user = {
      skill_roots: ['/u'],
      catalog: { format: 'lines' },
      skill_visibility: { a: 'disabled', b: 'manual' },
      use_default_roots: true,
    } as const;
    expect(mergeConfig(project, user)).toEqual({
      skill_roots: ['/p', '/u'],
      catalog: { budget_tokens: 100, format: 'lines' },
      skill_visibility: { a: 'pinned', b: 'manual' },
      use_default_roots: false,
    });
  });

  test('a project tightens safety and never loosens it', () => {
    const user = {
      security: { max_skill_body_lines: 100, block_angle_brackets_in_frontmatter: true },
      execution: { require_approval_for: ['write_file'] },
    };
    const project = {
      security: {
        max_skill_body_lines: 9_000,
        max_skill_body_characters: 10,
        block_angle_brackets_in_frontmatter: false,
      },
      execution: { require_approval_for: [] },
    };
    expect(mergeConfig(project, user)).toEqual({
      security: { max_skill_body_lines: 100, max_skill_body_characters: 10, block_angle_brackets_in_frontmatter: true },
      execution: { require_approval_for: ['write_file'] },
    });
  });

  test('nothing and nothing is nothing', () => {
    expect(mergeConfig({}, {})).toEqual({});
  });
});
