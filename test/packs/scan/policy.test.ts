import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { DEFAULT_SCAN_POLICY, SCAN_SEVERITIES } from '../../../src/packs/scan/finding.ts';
import type { ScanFinding, ScanSeverity } from '../../../src/packs/scan/finding.ts';
import { isScanPolicy, judge, readScanPolicy } from '../../../src/packs/scan/policy.ts';
import { verifies } from '../../conformance/verifies.ts';

const finding = (rule: string, severity: ScanSeverity): ScanFinding => ({
  rule,
  severity,
  path: 'SKILL.md',
  line: 1,
  column: 1,
  message: 'a',
});

describe('a scan policy', () => {
  test('that says nothing is the default', () => {
    expect(readScanPolicy({})).toEqual(DEFAULT_SCAN_POLICY);
    expect(readScanPolicy({ $schema: 'x', severities: {}, rules: {} })).toEqual(DEFAULT_SCAN_POLICY);
  });

  test('keeps the defaults for what it does not say', () => {
    expect(readScanPolicy({ severities: { high: 'stop' }, rules: { exfiltration: 'ignore' } })).toEqual({
      severities: { critical: 'stop', high: 'stop', medium: 'warn', low: 'ignore' },
      rules: { exfiltration: 'ignore' },
    });
  });

  test.each([
    [undefined, ['a scan policy is an object, not missing']],
    [null, ['a scan policy is an object, not null']],
    [[], ['a scan policy is an object, not a list of 0']],
    ['stop', ['a scan policy is an object, not "stop"']],
    [{ severitys: {} }, ['there is no key "severitys"; did you mean severities?']],
    [{ severity: {} }, ['there is no key "severity"']],
    [{ severities: [] }, ['severities is an object, not a list of 0']],
    [{ severities: { hihg: 'stop' } }, ['there is no severity "hihg"; did you mean high?']],
    [{ severities: { high: 'block' } }, ['severities.high is one of stop, warn, ignore, not "block"']],
    [{ rules: { 'reverse-shel': 'stop' } }, ['there is no rule "reverse-shel"; did you mean reverse-shell?']],
    [{ rules: { exfiltration: true } }, ['rules.exfiltration is one of stop, warn, ignore, not true']],
    [JSON.parse('{"rules":{"__proto__":"ignore"}}'), ['there is no rule "__proto__"']],
    [JSON.parse('{"__proto__":{"rules":{}}}'), ['there is no key "__proto__"']],
    [{ rules: { 'a\u001b[31m': 'stop' } }, ['there is no rule "a\\x1b[31m"']],
  ])('%j is refused in words', (value, problems) => {
    expect(readScanPolicy(value)).toEqual({ type: 'invalid', problems });
  });

  test('with very many mistakes names the first twenty', () => {
    const rules = Object.fromEntries(Array.from({ length: 5_000 }, (_, place) => [`x${String(place)}`, 1]));
    const read = readScanPolicy({ rules });
    expect(isScanPolicy(read) ? [] : read.problems.length).toBe(20);
  });

  test('of any kind is read or refused, never half of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = readScanPolicy(value);
        if (isScanPolicy(read))
          expect(Object.keys(read.severities)).toEqual(Object.keys(DEFAULT_SCAN_POLICY.severities));
        else expect(read.problems.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('the judgement', () => {
  const all = SCAN_SEVERITIES.map((severity) => finding('exfiltration', severity));
  const [low, medium, high, critical] = all;

  verifies('PACK-7', 'by default critical findings stop, high and medium ones warn', () => {
    expect(judge(all)).toEqual({ stops: [critical], warnings: [medium, high], ignored: [low] });
  });

  test('by a rule counts before that by a severity', () => {
    const policy = { ...DEFAULT_SCAN_POLICY, rules: { exfiltration: 'ignore' } } as const;
    const other = finding('persistence', 'critical');
    expect(judge([...all, other], policy)).toEqual({ stops: [other], warnings: [], ignored: all });
  });

  test('of a rule that has the name of something every object has goes by the severity', () => {
    const odd = finding('constructor', 'critical');
    expect(judge([odd])).toEqual({ stops: [odd], warnings: [], ignored: [] });
  });
});
