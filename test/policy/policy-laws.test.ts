import fc from 'fast-check';
import { expect, test } from 'vitest';

import { EFFECTS } from '../../src/core/access.ts';
import { narrowPolicy, narrowingLayer, type Policy } from '../../src/policy/policy.ts';
import { skillLayer } from '../../src/policy/skill-rules.ts';
import { command, effectOf, host, layerOf, onPath, policyOf, script, skillGrants } from './policy-support.ts';
import { runs } from '../property-runs.ts';

const ruleTexts = fc.constantFrom(
  'Bash',
  'Bash(git:*)',
  'Bash(git status:*)',
  'Bash(rm:*)',
  'Read',
  'Read(docs/**)',
  'Write',
  'Write(docs/**)',
  'Write(*.md)',
  'WebFetch',
  'WebFetch(domain:example.org)',
  '*',
  'run_script',
  'run_script(pdf)',
  'load_skill',
  'mcp__*',
  'delete_file(tmp/**)',
);
const written = fc.record({
  allow: fc.array(ruleTexts, { maxLength: 4 }),
  ask: fc.array(ruleTexts, { maxLength: 2 }),
  deny: fc.array(ruleTexts, { maxLength: 2 }),
});
const accesses = fc.constantFrom(
  command('git status'),
  command('git push'),
  command('rm x'),
  command('echo `id`'),
  script('scripts/a.py'),
  onPath('read_file', 'docs/a.md'),
  onPath('write_file', 'docs/a.md'),
  onPath('write_file', 'README.md'),
  onPath('delete_file', 'tmp/a'),
  host('example.org'),
  host('evil.net'),
  [{ tool: 'load_skill', subject: { kind: 'skill', id: 'a/b', name: 'b' } }] as const,
  [{ tool: 'mcp__a__b', subject: { kind: 'none' } }] as const,
);
const effects = fc.constantFrom(...EFFECTS);
const moreLayers = fc.array(
  fc.oneof(
    fc.tuple(written, effects).map(([texts, otherwise]) =>
      narrowingLayer({ layer: 'run', where: '' }, layerOf(texts), {
        low: otherwise,
        medium: otherwise,
        high: otherwise,
      }),
    ),
    fc
      .record(
        { allowedTools: fc.array(ruleTexts, { maxLength: 3 }), disallowedTools: fc.array(ruleTexts, { maxLength: 3 }) },
        { requiredKeys: [] },
      )
      .map((controls) => skillLayer('a/skill', controls)),
  ),
  { maxLength: 3 },
);

test('whatever is added to a policy, it never allows more (child ⊆ parent)', () => {
  fc.assert(
    fc.property(
      written,
      fc.array(ruleTexts, { maxLength: 2 }),
      moreLayers,
      accesses,
      (texts, granted, layers, asked) => {
        const parent: Policy = { ...policyOf(texts), grants: skillGrants('a/parent', granted) };
        const child = narrowPolicy(parent, layers);
        expect(EFFECTS.indexOf(effectOf(child, asked))).toBeLessThanOrEqual(EFFECTS.indexOf(effectOf(parent, asked)));
      },
    ),
    { numRuns: runs(3000) },
  );
});

test('one more deny never opens anything', () => {
  fc.assert(
    fc.property(written, ruleTexts, accesses, (texts, more, asked) => {
      const before = effectOf(policyOf(texts), asked);
      const after = effectOf(policyOf({ ...texts, deny: [...texts.deny, more] }), asked);
      expect(EFFECTS.indexOf(after)).toBeLessThanOrEqual(EFFECTS.indexOf(before));
    }),
    { numRuns: runs(2000) },
  );
});
