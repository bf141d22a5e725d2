import type { CaseResult, CheckResult } from '../../src/evals/report/result.ts';

/** A result that by default passed in the first attempt. */
export function caseResult(id: string, more: Partial<CaseResult> = {}): CaseResult {
  return {
    case: id,
    name: id,
    place: { file: 'evals/cases.yaml', line: 1, column: 1 },
    // One word of its own, so that no two cases are near-identical.
    input: id.replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '').replaceAll(/\W/g, ''),
    tags: [],
    arm: 'with',
    attempt: 1,
    status: 'passed',
    reason: '',
    checks: [],
    loaded: [],
    answer: '',
    cost: {
      turns: 1,
      toolCalls: 0,
      scriptRuns: 0,
      inputTokens: 100,
      outputTokens: 10,
      tokensAreEstimated: false,
      wallMs: 5,
    },
    model: { id: 'scripted', way: 'scripted' },
    isCached: false,
    ...more,
  };
}

export function checkResult(id: string, status: CheckResult['status']): CheckResult {
  return { id, kind: 'output', status, asked: id, found: '', events: [] };
}
