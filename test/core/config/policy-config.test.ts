import { describe, expect, test } from 'vitest';

import { contradictions, joinPolicies, ownPolicy } from '../../../src/policy/policy-files.ts';

describe('a policy', () => {
  test('keeps where each rule stands', () => {
    expect(ownPolicy({ allow: ['Read'], deny: ['Write'], default: { low: 'ask' } }, '/a')).toEqual({
      default: { low: 'ask' },
      allow: [{ rule: 'Read', where: '/a' }],
      ask: [],
      deny: [{ rule: 'Write', where: '/a' }],
      allowedTools: undefined,
    });
  });

  test('joined with others has all rules in order, and of the defaults the first that is said', () => {
    const first = ownPolicy({ allow: ['A'], default: { low: 'ask' }, allowed_tools: 'both' }, '/1');
    const second = ownPolicy({ allow: ['B', 'A'], default: { low: 'deny', high: 'deny' } }, '/2');
    expect(joinPolicies([first, second])).toEqual({
      default: { low: 'ask', high: 'deny' },
      allow: [
        { rule: 'A', where: '/1' },
        { rule: 'B', where: '/2' },
        { rule: 'A', where: '/2' },
      ],
      ask: [],
      deny: [],
      allowedTools: 'both',
    });
  });

  test('names rules that stand in two lists; the strictest counts', () => {
    const policy = joinPolicies([
      ownPolicy({ allow: ['A', 'B', 'C'], ask: ['B', 'A'] }, '/1'),
      ownPolicy({ deny: ['A', 'A'], allow: ['constructor'] }, '/2'),
    ]);
    expect(contradictions(policy)).toEqual([
      { rule: 'A', loses: 'ask', where: '/1', wins: 'deny', by: '/2' },
      { rule: 'A', loses: 'allow', where: '/1', wins: 'deny', by: '/2' },
      { rule: 'B', loses: 'allow', where: '/1', wins: 'ask', by: '/1' },
    ]);
  });
});
