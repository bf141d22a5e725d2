/** Sample reports: one with everything, and one with any number of cases. */
import { VERSION } from '../../src/version.ts';
import { makeReport } from '../../src/evals/report/report.ts';
import {
  ZERO_COST,
  type CaseResult,
  type CheckResult,
  type Comparison,
  type EvalReport,
  type Rate,
  type TriggerReport,
} from '../../src/evals/report/result.ts';
import type { Look } from '../../src/evals/report/terminal.ts';
import { wrapWords } from '../../src/cli/terminal/wrap.ts';

/** As the command shows an answer at a terminal of this width, or to a pipe. */
export function lookAt(width = Number.POSITIVE_INFINITY): Look {
  const wrap = (text: string, indent: number): string =>
    Number.isFinite(width) ? wrapWords(text, { width, indent }) : text;
  return { width, wrap, style: (_style, text) => text };
}

export function rate(count: number, of: number, low = 0, high = 1): Rate {
  return { count, of, low, high };
}

export function check(id: string, more: Partial<CheckResult> = {}): CheckResult {
  return { id, kind: 'output', status: 'passed', asked: `the answer has ${id}`, found: '', events: [], ...more };
}

export function result(id: string, more: Partial<CaseResult> = {}): CaseResult {
  return {
    case: id,
    name: id,
    place: { file: 'evals/cases.json', line: 3, column: 5 },
    input: `do ${id}`,
    tags: [],
    arm: 'with',
    attempt: 1,
    status: 'passed',
    reason: '',
    checks: [check('output[0]', { status: more.status === 'failed' ? 'failed' : 'passed' })],
    loaded: ['tables'],
    answer: `did ${id}`,
    cost: { ...ZERO_COST, turns: 2, toolCalls: 1, inputTokens: 1000, outputTokens: 50, wallMs: 1500 },
    model: { id: 'scripted', way: 'scripted' },
    isCached: false,
    ...more,
  };
}

export function report(results: readonly CaseResult[], more: Partial<EvalReport> = {}): EvalReport {
  const parts = {
    tool: `skillwright ${VERSION}`,
    startedAt: '2026-11-15T10:00:00.000Z',
    wallMs: 12_345,
    skills: [{ name: 'tables', digest: `sha256-tree:${'ab'.repeat(32)}` }],
    isPartial: false,
    results,
  };
  return { ...makeReport({ ...parts, ...more, results }), ...more };
}

export const COMPARISON: Comparison = {
  of: 'with',
  against: 'without',
  cases: 10,
  pairs: 20,
  passed: { of: 15, against: 9 },
  endedEarly: { of: 0, against: 0, by: [] },
  missing: { of: 1, against: 0 },
  differing: ['skill tables'],
  used: { count: 18, of: 20 },
  merged: [['count', 'count-again']],
  better: 7,
  worse: 1,
  method: 'fixed',
  excluded: { checks: [{ kind: 'trigger', count: 12 }], cases: [{ case: 'told', reason: 'its answers are scripted' }] },
  difference: { mean: 0.3, low: 0.05, high: 0.55 },
  p: 0.0703,
  smallestVisible: 0.38,
  sayNothing: [{ case: 'count', check: 'output[1]' }],
  costs: {
    tokens: { of: 42_000, against: 31_000, difference: { mean: 11_000, low: 8_000, high: 14_000, cases: 8, of: 10 } },
    inputTokens: {
      of: 41_000,
      against: 30_000,
      difference: { mean: 11_000, low: 7_900, high: 14_100, cases: 8, of: 10 },
    },
    cachedTokens: { difference: { cases: 0, of: 10 } },
    outputTokens: { of: 1_000, against: 1_000, difference: { mean: 0, low: -40, high: 40, cases: 8, of: 10 } },
    usd: {
      of: 0.094,
      against: 0.072,
      difference: { mean: 0.022, low: 0.016, high: 0.028, cases: 8, of: 10 },
    },
    wallMs: { of: 64_000, against: 41_000, difference: { mean: 23_000, low: 9_000, high: 37_000, cases: 10, of: 10 } },
  },
};

export const TRIGGER: TriggerReport = {
  controls: [
    { name: 'always-fire', asked: '100 %', found: '100 %', isKept: true },
    { name: 'never-fire', asked: '0 %', found: '0 %', isKept: true },
    { name: 'shuffled-labels', asked: 'about 20 %', found: '18 %', isKept: true },
  ],
  isValid: true,
  scores: [
    { skill: 'tables', precision: rate(18, 20, 0.7, 0.97), recall: rate(18, 19, 0.75, 0.99), f1: 0.92 },
    { skill: 'letters', precision: rate(9, 14, 0.39, 0.84), recall: rate(9, 10, 0.6, 0.98), f1: 0.75 },
  ],
  overall: {
    precision: rate(27, 34, 0.63, 0.9),
    recall: rate(27, 29, 0.78, 0.98),
    f1: 0.86,
    quiet: rate(9, 10, 0.6, 0.98),
  },
  confusion: [
    { wanted: 'tables', took: 'tables', count: 18 },
    { wanted: 'tables', took: 'letters', count: 1 },
    { wanted: 'letters', took: 'letters', count: 9 },
    { wanted: 'letters', took: '-', count: 1 },
    { wanted: '-', took: 'letters', count: 1 },
    { wanted: '-', took: '-', count: 9 },
  ],
  sweep: [
    { distractors: 10, recall: rate(29, 30, 0.83, 0.99), precision: rate(28, 30, 0.79, 0.98) },
    { distractors: 100, recall: rate(26, 30, 0.7, 0.95), precision: rate(25, 30, 0.66, 0.93) },
    { distractors: 1000, recall: rate(19, 30, 0.45, 0.78), precision: rate(17, 30, 0.39, 0.73) },
  ],
};

/** A report with all optional parts. */
export function fullReport(): EvalReport {
  const failed = check('output[1]', {
    status: 'failed',
    asked: 'the answer contains "42"',
    found: 'the answer is "41"',
    events: [7, 9],
  });
  return report(
    [
      result('count', { name: 'Counts the rows of a table', tags: ['csv', 'smoke'] }),
      result('sum', { tags: ['csv'], status: 'failed', checks: [check('output[0]'), failed], answer: '41' }),
      result('slow', { status: 'error', reason: 'timed out after 20 s', checks: [] }),
      result('judge', { status: 'skipped', reason: 'no judge model', checks: [] }),
      result('count', { arm: 'without', status: 'failed', checks: [failed] }),
    ],
    {
      comparisons: [COMPARISON],
      uncompared: [],
      trigger: TRIGGER,
      flaky: [{ case: 'sum', arm: 'with', rate: rate(2, 3) }],
    },
  );
}

const KINDS = ['trigger', 'sequence', 'output', 'security', 'budget'] as const;

/** Results of a large suite, with long inputs, failures and tags. */
export function manyResults(count: number): readonly CaseResult[] {
  return Array.from({ length: count }, (_, place) => {
    const status = place % 23 === 0 ? 'failed' : place % 97 === 5 ? 'error' : place % 61 === 7 ? 'skipped' : 'passed';
    const checks = KINDS.map((kind, at) =>
      check(`${kind}[${String(at)}]`, {
        kind,
        asked: `what is asked of ${kind} in case ${String(place)}`,
        ...(status === 'failed' && at === 2
          ? { status, found: `something else: ${'so '.repeat(30)}`, events: [12, 14] }
          : {}),
      }),
    );
    return result(`case-${String(place).padStart(4, '0')}`, {
      name: `Case ${String(place)} does what its skill promises`,
      input: `Please look at file ${String(place)} and tell me ${'what is in it, '.repeat(20)}`,
      answer: `There are ${String(place)} rows. ${'And some more words about them. '.repeat(25)}`,
      tags: [['csv', 'text', 'pdf'][place % 3] ?? 'csv', ...(place % 10 === 0 ? ['smoke'] : [])],
      status,
      reason: status === 'error' ? 'the model failed: 503' : status === 'skipped' ? 'no judge model' : '',
      checks: status === 'error' || status === 'skipped' ? [] : checks,
      cost: {
        ...ZERO_COST,
        turns: 2,
        toolCalls: place % 7,
        inputTokens: 900 + place,
        outputTokens: 40 + (place % 50),
        wallMs: 200 + place * 3,
      },
      run: `/runs/${String(place)}`,
    });
  });
}
