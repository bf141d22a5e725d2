import { describe, expect, test } from 'vitest';

import { SCAN_RULES } from '../../src/scan/rules.ts';
import { scanSkill } from '../../src/scan/scan.ts';
import { verifies } from '../conformance/verifies.ts';
import { CHINESE_CASES } from './rule-cases-chinese.ts';
import { CONTROL_CASES } from './rule-cases-control.ts';
import { DAMAGE_CASES } from './rule-cases-damage.ts';
import { RUNNING_CASES } from './rule-cases-running.ts';
import { SECRETS_CASES } from './rule-cases-secrets.ts';
import type { RuleCase } from './rule-case.ts';

const IN_CHINESE = Object.entries(CHINESE_CASES);
const CASES = { ...RUNNING_CASES, ...SECRETS_CASES, ...CONTROL_CASES, ...DAMAGE_CASES };
/** These need two files, a declaration or a huge file: see scan.test.ts and hostile-text.test.ts. */
const ELSEWHERE = ['effect-of-script', 'not-scanned', 'undeclared-access'];

const found = (rule: string, { path, text, binary, isExecutable = false }: RuleCase): readonly unknown[] =>
  scanSkill([{ path, text, isExecutable, binary }]).filter((finding) => finding.rule === rule);

describe('the scan rules', () => {
  test('have at least two positive and two negative examples each', () => {
    expect([...Object.keys(CASES), ...ELSEWHERE].toSorted()).toEqual(Object.keys(SCAN_RULES).toSorted());
    const thin = [...Object.entries(CASES), ...IN_CHINESE].filter(
      ([, { fires, misses }]) => fires.length < 2 || misses.length < 2,
    );
    expect(thin.map(([rule]) => rule)).toEqual([]);
  });

  verifies('PACK-7', 'each rule finds its positive examples, with severity and position', () => {
    for (const [rule, { fires }] of [...Object.entries(CASES), ...IN_CHINESE]) {
      for (const one of fires) {
        const expected = one.found.map(([severity, line, column, message]) => ({
          rule,
          severity,
          path: one.path,
          line,
          column,
          message,
        }));
        expect(found(rule, one), `${rule}: ${one.text}`).toEqual(expected);
      }
    }
  });

  verifies('PACK-7', 'each rule ignores its negative examples', () => {
    for (const [rule, { misses }] of [...Object.entries(CASES), ...IN_CHINESE])
      for (const one of misses) expect(found(rule, one), `${rule}: ${one.text}`).toEqual([]);
  });
});
