import { expect, test } from 'vitest';

import { findingLines } from '../../src/cli/packs/show-pack.ts';
import type { PolicyResult } from '../../src/scan/policy.ts';
import { openTerminal } from '../../src/cli/terminal/terminal.ts';

type Finding = PolicyResult['stops'][number];

const finding = (rule: string, severity: Finding['severity'], changes: Partial<Finding> = {}): Finding => ({
  rule,
  severity,
  path: 'SKILL.md',
  line: 2,
  column: 3,
  message: 'x',
  ...changes,
});

function show(result: Pick<PolicyResult, 'stops' | 'warnings'>, all = false): readonly string[] {
  const stream = { write: () => true, isTTY: false };
  const streams = { stdout: stream, stderr: stream };
  const terminal = openTerminal({ streams, env: {}, color: 'never', quiet: false, json: false });
  return findingLines(result, terminal, { all });
}

test('counts findings per rule and severity, most severe and most frequent first', () => {
  const warnings = [
    finding('persistence', 'medium'),
    finding('over-sharing', 'medium'),
    finding('persistence', 'high'),
    finding('over-sharing', 'medium'),
    finding('agent-memory', 'medium'),
  ];
  expect(show({ stops: [], warnings })).toEqual([
    'scan high persistence, medium over-sharing ×2, medium agent-memory, medium persistence',
  ]);
});

test('shows what stops an install with location, severity, message and rule, safe to print', () => {
  const stop = finding('reverse-shell', 'critical', { path: 'a\u001b]0;x\u0007', message: 'b\nc' });
  expect(show({ stops: [stop], warnings: [] })).toEqual(['scan a\\x1b]0;x\\x07:2:3 critical b\\nc (reverse-shell)']);
});
