import { describe, expect, test } from 'vitest';

import { compareReports } from '../../../src/evals/report/compare-reports.ts';
import { compareVerdicts } from '../../../src/evals/report/compare-verdict.ts';
import type { CaseResult, EvalReport } from '../../../src/evals/report/result.ts';
import { markdownComparison, terminalComparison } from '../../../src/evals/report/compare-text.ts';
import { buildBenchmark, skillCreatorFiles, computeSpread } from '../../../src/evals/report/skill-creator.ts';
import { verifies } from '../../conformance/verifies.ts';
import { HOSTILE, hostileReport } from '../hostile-report.ts';
import { check, fullReport, report, lookAt, result } from '../sample-report.ts';

const passed = { checks: [check('a')] };
const failed = {
  status: 'failed',
  checks: [check('a', { status: 'failed', found: 'nothing' })],
} as const satisfies Partial<CaseResult>;

describe('the skill-creator format', () => {
  verifies('EVAL-4', 'has the files and keys that its viewer reads', () => {
    const given = report([
      result('one', {
        checks: [check('a'), check('b', { status: 'failed', found: 'x', events: [4] })],
        status: 'failed',
        answer: 'the answer',
      }),
    ]);
    const files = Object.fromEntries(
      skillCreatorFiles(given).map(({ path, text }) => [path, path.endsWith('.json') ? JSON.parse(text) : text]),
    );
    const expectations = [
      { text: 'the answer has a', passed: true, evidence: '' },
      { text: 'the answer has b', passed: false, evidence: 'x; events 4' },
    ];
    const metadata = {
      eval_id: 1,
      eval_name: 'one',
      prompt: 'do one',
      assertions: ['the answer has a', 'the answer has b'],
    };
    const timing = { executor_duration_seconds: 1.5, grader_duration_seconds: 0, total_duration_seconds: 1.5 };
    expect(files).toEqual({
      'benchmark.json': buildBenchmark(given),
      'eval-1/eval_metadata.json': metadata,
      'eval-1/with_skill/run-1/eval_metadata.json': metadata,
      'eval-1/with_skill/run-1/outputs/answer.md': 'the answer',
      'eval-1/with_skill/run-1/grading.json': {
        expectations,
        summary: { passed: 1, failed: 1, total: 2, pass_rate: 0.5 },
        execution_metrics: {
          tool_calls: {},
          total_tool_calls: 1,
          total_steps: 2,
          errors_encountered: 0,
          output_chars: 10,
          transcript_chars: 0,
        },
        timing,
      },
      'eval-1/with_skill/run-1/timing.json': {
        total_tokens: 1050,
        duration_ms: 1500,
        total_duration_seconds: 1.5,
        executor_duration_seconds: 1.5,
      },
    });
    const verdict = {
      validity: 'valid',
      result: 'failed',
      reasons: ['the pass rate is 0.000; the minimum is 1'],
      warnings: [],
    };
    expect(Object.keys(buildBenchmark(given))[0]).toBe('verdict');
    expect(buildBenchmark(given)).toEqual({
      verdict,
      metadata: {
        skill_name: 'tables',
        skill_path: '',
        executor_model: 'scripted',
        analyzer_model: '',
        timestamp: '2026-11-15T10:00:00.000Z',
        evals_run: [1],
        runs_per_configuration: 1,
      },
      runs: [
        {
          eval_id: 1,
          eval_name: 'one',
          configuration: 'with_skill',
          run_number: 1,
          result: {
            pass_rate: 0.5,
            passed: 1,
            failed: 1,
            total: 2,
            time_seconds: 1.5,
            tokens: 1050,
            tool_calls: 1,
            errors: 0,
          },
          expectations,
          notes: [],
        },
      ],
      run_summary: {
        with_skill: {
          pass_rate: computeSpread([0.5]),
          time_seconds: computeSpread([1.5]),
          tokens: computeSpread([1050]),
        },
      },
      notes: ['valid, failed: 0 passed, 1 failed', ...verdict.reasons],
    });
  });

  verifies('EVAL-3', 'a difference has the right sign, independent of names', () => {
    const live = { model: { id: 'm', way: 'live' }, checks: [check('output[0]')] } as const;
    const wrong = { ...live, status: 'failed', checks: [check('output[0]', { status: 'failed' })] } as const;
    const { run_summary, delta_numbers } = buildBenchmark(
      report([result('a', { arm: 'old', ...wrong }), result('a', live)]),
    );
    expect(Object.keys(run_summary)).toEqual(['with_skill', 'old_skill', 'delta']);
    expect(run_summary['delta']).toEqual({ pass_rate: '+1.00', time_seconds: '+0.0', tokens: '+0' });
    expect(delta_numbers).toEqual({ pass_rate: 1, time_seconds: 0, tokens: 0 });
    // Scripted answers are the same in both arms.
    const scripted = buildBenchmark(report([result('a', { arm: 'without', ...failed }), result('a')]));
    expect([Object.keys(scripted.run_summary), scripted.delta_numbers]).toEqual([
      ['with_skill', 'without_skill'],
      undefined,
    ]);
  });

  verifies('EVAL-3', 'tokens are not characters', () => {
    const given = report([result('a', { answer: 'x'.repeat(999) })]);
    expect(buildBenchmark(given).runs[0]?.result.tokens).toBe(1050);
  });

  verifies('EVAL-3', 'errors are excluded from means and listed in the notes', () => {
    const given = report([result('a'), result('a', { attempt: 2, status: 'error', reason: 'down', checks: [] })]);
    const { runs, run_summary, notes } = buildBenchmark(given);
    expect(runs).toHaveLength(1);
    expect(run_summary).toMatchObject({ with_skill: { pass_rate: { mean: 1, min: 1 } } });
    expect(notes).toEqual([
      'INVALID: there is no verdict',
      '1 case ended with an error; the limit is 0',
      'a, with_skill, run 2: error, excluded from means: down',
    ]);
    expect(buildBenchmark(report([])).run_summary).toEqual({});
  });

  test('the spread uses the sample deviation', () => {
    expect(computeSpread([1, 2, 3, 4])).toEqual({ mean: 2.5, stddev: 1.291, min: 1, max: 4 });
    expect(computeSpread([Number.NaN])).toEqual({ mean: 0, stddev: 0, min: 0, max: 0 });
  });

  test.each(HOSTILE)('file names contain no untrusted text: %j', (text) => {
    const paths = skillCreatorFiles(hostileReport(text)).map(({ path }) => path);
    const own =
      /^(?:benchmark\.json|eval-\d+\/(?:with(?:out)?_skill\/run-\d+\/(?:outputs\/answer\.md|\w+\.json)|eval_metadata\.json))$/;
    expect(paths.filter((path) => !own.test(path))).toEqual([]);
  });
});

describe('the comparison of two reports as text', () => {
  const compare = (before: EvalReport, after: EvalReport) => {
    const comparison = compareReports(before, after);
    const verdict = compareVerdicts(before, after, comparison);
    return {
      terminal: terminalComparison(comparison, verdict, lookAt()),
      markdown: markdownComparison(comparison, verdict),
    };
  };
  const [skill, other] = [{ skill: 'tables' }, { skill: 'letters' }];
  const { terminal, markdown } = compare(
    report([result('a', { ...passed, ...skill }), result('b', { ...failed, ...skill })]),
    report([result('a', { ...failed, ...skill }), result('b', { ...passed, ...skill }), result('c', other)]),
  );

  test('for a terminal', () => {
    expect(terminal.join('\n')).toBe(`valid, failed: a regression
  1 case broke
  warning: the skills are identical in both reports: changes come from the model, the cases or chance
  tables: valid, failed: 1 passed, 1 failed
  letters: absent to valid, all passed

broken   a  passed to failed
  a: passed to failed, found nothing
fixed    b  failed to passed
  a: failed to passed
added    c  absent to passed

changes    1 broken, 1 fixed, 1 added, 0 unchanged
pass rate  50 % (9 to 91 %) to 67 % (21 to 94 %)
tokens     2,100 to 2,100
tool calls 2 to 2
time       3.0 s to 3.0 s`);
  });

  verifies('EVAL-14', 'claims nothing if one of the reports is invalid', () => {
    const invalid = report([result('a', { status: 'error' })]);
    const valid = report([result('a')]);
    expect([compare(invalid, valid).terminal.slice(0, 2), compare(valid, invalid).terminal.slice(0, 2)]).toEqual([
      ['INVALID: one of the reports cannot be believed', '  before: INVALID: there is no verdict'],
      ['INVALID: one of the reports cannot be believed', '  after: INVALID: there is no verdict'],
    ]);
  });

  test('for a pull request', () => {
    expect(markdown.split('\n').slice(0, 9)).toEqual([
      '### Comparison: valid, failed: a regression',
      '',
      '- 1 case broke',
      '- warning&#58; the skills are identical in both reports&#58; changes come from the model, the cases or chance',
      '',
      '| skill | before | after |',
      '|---|---|---|',
      '| tables | valid, failed&#58; 1 passed, 1 failed | valid, failed&#58; 1 passed, 1 failed |',
      '| letters | absent | valid, all passed |',
    ]);
    expect(markdown).toContain('| broken | a | passed to failed | a&#58; passed to failed |');
  });

  test.each(HOSTILE)('escapes untrusted text: %j', (text) => {
    const changed = compare(hostileReport(text), fullReport());
    const both = [...changed.terminal, ...changed.markdown.trimEnd().split('\n')];
    expect(both.filter((line) => /\p{Cc}/u.test(line))).toEqual([]);
    expect(changed.markdown).not.toMatch(/[<`@]/);
  });
});
