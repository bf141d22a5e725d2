import { expect, test } from 'vitest';

import { countByRule, type ScanFinding, type ScanSeverity } from '../../src/scan/finding.ts';

const finding = (rule: string, severity: ScanSeverity): ScanFinding => ({
  rule,
  severity,
  path: 'SKILL.md',
  line: 1,
  column: 1,
  message: 'x',
});

test('counts findings per rule and severity, most severe and most frequent first', () => {
  expect(
    countByRule([
      finding('persistence', 'medium'),
      finding('over-sharing', 'medium'),
      finding('persistence', 'high'),
      finding('over-sharing', 'medium'),
      finding('agent-memory', 'medium'),
    ]),
  ).toEqual([
    { rule: 'persistence', severity: 'high', count: 1 },
    { rule: 'over-sharing', severity: 'medium', count: 2 },
    { rule: 'agent-memory', severity: 'medium', count: 1 },
    { rule: 'persistence', severity: 'medium', count: 1 },
  ]);
});
