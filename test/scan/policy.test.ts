import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { DEFAULT_SCAN_POLICY, SCAN_SEVERITIES, type ScanFinding, type ScanSeverity } from '../../src/scan/finding.ts';
import { isProblem } from '../../src/core/problem.ts';
import { applyScanPolicy, readScanPolicy } from '../../src/scan/policy.ts';
import { verifies } from '../conformance/verifies.ts';

const finding = (rule: string, severity: ScanSeverity): ScanFinding => ({
  rule,
  severity,
  path: 'SKILL.md',
  line: 1,
  column: 1,
  message: 'a',
});

describe('readScanPolicy', () => {
  test('returns the default for an empty policy', () => {
    expect(readScanPolicy({})).toEqual(DEFAULT_SCAN_POLICY);
    expect(readScanPolicy({ $schema: 'x', severities: {}, rules: {} })).toEqual(DEFAULT_SCAN_POLICY);
  });

  test('keeps the defaults of missing entries', () => {
    expect(readScanPolicy({ severities: { high: 'stop' }, rules: { exfiltration: 'ignore' } })).toEqual({
      severities: { critical: 'stop', high: 'stop', medium: 'warn', low: 'ignore' },
      rules: { exfiltration: 'ignore' },
    });
  });

  test.each([
    [undefined, ['expected the scan policy to be an object, got missing']],
    [null, ['expected the scan policy to be an object, got null']],
    [[], ['expected the scan policy to be an object, got a list of 0']],
    ['stop', ['expected the scan policy to be an object, got "stop"']],
    [{ severitys: {} }, ['unknown key "severitys"; did you mean severities?']],
    [{ severity: {} }, ['unknown key "severity"']],
    [{ severities: [] }, ['expected severities to be an object, got a list of 0']],
    [{ severities: { hihg: 'stop' } }, ['unknown severity "hihg"; did you mean high?']],
    [{ severities: { high: 'block' } }, ['expected severities.high to be one of stop, warn, ignore, got "block"']],
    [{ rules: { 'reverse-shel': 'stop' } }, ['unknown rule "reverse-shel"; did you mean reverse-shell?']],
    [{ rules: { exfiltration: true } }, ['expected rules.exfiltration to be one of stop, warn, ignore, got true']],
    [JSON.parse('{"rules":{"__proto__":"ignore"}}'), ['unknown rule "__proto__"']],
    [JSON.parse('{"__proto__":{"rules":{}}}'), ['unknown key "__proto__"']],
    [{ rules: { 'a\u001b[31m': 'stop' } }, ['unknown rule "a\\x1b[31m"']],
  ])('rejects %j with a message', (value, problems) => {
    expect(readScanPolicy(value)).toEqual({
      code: 'pack/scan',
      message: problems.join('; '),
      hint: 'correct the scan policy',
    });
  });

  test('reports at most twenty problems', () => {
    const rules = Object.fromEntries(Array.from({ length: 5_000 }, (_, place) => [`x${String(place)}`, 1]));
    const read = readScanPolicy({ rules });
    expect(isProblem(read) ? read.message.split('; ').length : []).toBe(20);
  });

  test('accepts or rejects any value as a whole', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = readScanPolicy(value);
        if (!isProblem(read)) expect(Object.keys(read.severities)).toEqual(Object.keys(DEFAULT_SCAN_POLICY.severities));
        else expect(read.message).not.toBe('');
      }),
    );
  });
});

describe('applyScanPolicy', () => {
  const all = SCAN_SEVERITIES.map((severity) => finding('exfiltration', severity));
  const [low, medium, high, critical] = all;

  verifies('PACK-7', 'by default critical findings stop, high and medium ones warn', () => {
    expect(applyScanPolicy(all)).toEqual({ accepted: [], stops: [critical], warnings: [medium, high], ignored: [low] });
  });

  test('prefers the verdict of the rule to that of the severity', () => {
    const policy = { ...DEFAULT_SCAN_POLICY, rules: { exfiltration: 'ignore' } } as const;
    const other = finding('persistence', 'critical');
    expect(applyScanPolicy([...all, other], policy)).toEqual({
      accepted: [],
      stops: [other],
      warnings: [],
      ignored: all,
    });
  });

  test('stops at a finding whose verdict is not a known word', () => {
    for (const verdict of ['refuse', 'STOP', '', null, false, 0]) {
      const severities = Object.fromEntries(SCAN_SEVERITIES.map((severity) => [severity, verdict]));
      const policy = { severities, rules: {} } as unknown as typeof DEFAULT_SCAN_POLICY;
      expect(applyScanPolicy(all, policy)).toEqual({ accepted: [], stops: all, warnings: [], ignored: [] });
    }
  });

  verifies('PACK-7', 'what the user accepted is a warning, one rule at a time', () => {
    const other = finding('persistence', 'critical');
    expect(applyScanPolicy([...all, other], DEFAULT_SCAN_POLICY, (rule) => rule === 'exfiltration')).toEqual({
      accepted: ['exfiltration'],
      stops: [other],
      warnings: [critical, medium, high],
      ignored: [low],
    });
  });

  test('ignores inherited object properties as rule names', () => {
    const odd = finding('constructor', 'critical');
    expect(applyScanPolicy([odd])).toEqual({ accepted: [], stops: [odd], warnings: [], ignored: [] });
  });
});
