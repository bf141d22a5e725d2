/**
 * Writes a report in the file format of skill-creator, for its viewer: `benchmark.json`, and per run `grading.json` and `timing.json` below
 * `eval-N/<configuration>/run-N/`. Unlike its own aggregation, the difference of pass rates is about outcomes only, its sign does not depend on
 * folder names, tokens are not characters, and errors are excluded from means.
 */
import { flakyText, modelsText, countTokens } from './report-text.ts';
import { hasVerdict, isCounted, type CaseResult, type EvalReport } from './result.ts';
import { findVerdict, verdictLines, verdictTitle } from './verdict.ts';

export interface ReportFile {
  /** Relative to the folder for the viewer, with `/`. */
  readonly path: string;
  readonly text: string;
}

const CONFIGURATIONS = { with: 'with_skill', without: 'without_skill', old: 'old_skill' } as const;

export function skillCreatorFiles(report: EvalReport): readonly ReportFile[] {
  const numbers = numberCases(report);
  const evals = [...numbers].map(([id, number]) => {
    const first = report.results.find((result) => result.case === id);
    return file(`eval-${String(number)}/eval_metadata.json`, toMetadata(number, first));
  });
  const runs = gradedResults(report).flatMap((result) => runFiles(result, numbers.get(result.case) ?? 0));
  return [file('benchmark.json', buildBenchmark(report)), ...evals, ...runs];
}

/** Its summaries are by configuration, the evaluated one first, plus `delta` between the first two. */
export function buildBenchmark(report: EvalReport) {
  const numbers = numberCases(report);
  const graded = gradedResults(report);
  return {
    // The viewer shows the notes, which start with it too.
    verdict: findVerdict(report),
    metadata: {
      skill_name: report.skills[0]?.name ?? '',
      skill_path: '',
      executor_model: report.models.length === 0 ? '' : modelsText(report.models),
      analyzer_model: '',
      timestamp: report.startedAt,
      evals_run: [...new Set(graded.map((result) => numbers.get(result.case) ?? 0))],
      runs_per_configuration: Math.max(0, ...graded.map(({ attempt }) => attempt)),
    },
    runs: graded.map((result) => ({
      eval_id: numbers.get(result.case) ?? 0,
      eval_name: result.name,
      configuration: CONFIGURATIONS[result.arm],
      run_number: result.attempt,
      result: {
        ...summarize(result),
        time_seconds: seconds(result),
        tokens: countTokens(result.cost),
        tool_calls: result.cost.toolCalls,
        errors: 0,
      },
      expectations: toExpectations(result),
      notes: result.cost.tokensAreEstimated ? ['tokens are estimated'] : [],
    })),
    ...summarizeRuns(graded, report),
    notes: listNotes(report),
  };
}

/** Results that count in means. */
function gradedResults({ results }: EvalReport): readonly CaseResult[] {
  return results.filter((result) => hasVerdict(result) && isCounted(result));
}

/** The viewer needs numeric ids, so cases are numbered in suite order. */
function numberCases({ results }: EvalReport): ReadonlyMap<string, number> {
  return new Map([...new Set(results.map((result) => result.case))].map((id, place) => [id, place + 1]));
}

function summarizeRuns(results: readonly CaseResult[], { arms, comparisons: [compared] }: EvalReport) {
  const rows = arms.map(({ arm }) => {
    const own = results.filter((result) => result.arm === arm);
    const measures = {
      pass_rate: computeSpread(own.map((result) => summarize(result).pass_rate)),
      time_seconds: computeSpread(own.map(seconds)),
      tokens: computeSpread(own.map(({ cost }) => countTokens(cost))),
    };
    return [CONFIGURATIONS[arm], measures] as const;
  });
  const summaries = Object.fromEntries(rows);
  const [first, second] = rows;
  // Without a judged outcome a difference would count checks that the baseline cannot meet.
  if (first === undefined || second === undefined || compared === undefined) return { run_summary: summaries };
  const difference = (name: 'time_seconds' | 'tokens'): number => rounded(first[1][name].mean - second[1][name].mean);
  const numbers = {
    pass_rate: rounded(compared.difference.mean),
    time_seconds: difference('time_seconds'),
    tokens: difference('tokens'),
  };
  const delta = {
    pass_rate: signed(numbers.pass_rate, 2),
    time_seconds: signed(numbers.time_seconds, 1),
    tokens: signed(numbers.tokens, 0),
  };
  return { run_summary: { ...summaries, delta }, delta_numbers: numbers };
}

/** Uses the sample deviation; 0 for a single value. */
export function computeSpread(values: readonly number[]) {
  if (values.length === 0) return { mean: 0, stddev: 0, min: 0, max: 0 };
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
  return {
    mean: rounded(mean),
    stddev: rounded(values.length === 1 ? 0 : Math.sqrt(squares / (values.length - 1))),
    min: rounded(values.reduce((least, value) => Math.min(least, value))),
    max: rounded(values.reduce((most, value) => Math.max(most, value))),
  };
}

function listNotes(report: EvalReport): readonly string[] {
  const { results, arms, comparisons, flaky } = report;
  return [
    verdictTitle(report),
    ...verdictLines(report),
    ...results
      .filter((result) => !hasVerdict(result) || !isCounted(result))
      .map(
        ({ case: id, arm, attempt, status, reason, quarantine }) =>
          `${id}, ${CONFIGURATIONS[arm]}, run ${String(attempt)}: ${status}, excluded from means: ${quarantine === undefined ? reason : `in quarantine until ${quarantine.until}`}`,
      ),
    ...comparisons.flatMap(({ sayNothing }) =>
      sayNothing.map((one) => `${one.case}: the check ${one.check} passes in both configurations`),
    ),
    ...flaky.map((one) => `attempts differ: ${flakyText(one, arms.length > 1)}`),
  ];
}

function runFiles(result: CaseResult, number: number): readonly ReportFile[] {
  const folder = `eval-${String(number)}/${CONFIGURATIONS[result.arm]}/run-${String(result.attempt)}`;
  const { answer, cost } = result;
  const duration = seconds(result);
  return [
    // The viewer expects the prompt in this file, and a folder named outputs.
    file(`${folder}/eval_metadata.json`, toMetadata(number, result)),
    { path: `${folder}/outputs/answer.md`, text: answer },
    file(`${folder}/grading.json`, {
      expectations: toExpectations(result),
      summary: summarize(result),
      execution_metrics: {
        tool_calls: {},
        total_tool_calls: cost.toolCalls,
        total_steps: cost.turns,
        errors_encountered: 0,
        output_chars: answer.length,
        transcript_chars: 0,
      },
      timing: { executor_duration_seconds: duration, grader_duration_seconds: 0, total_duration_seconds: duration },
    }),
    file(`${folder}/timing.json`, {
      total_tokens: countTokens(cost),
      duration_ms: Math.round(cost.wallMs),
      total_duration_seconds: duration,
      executor_duration_seconds: duration,
    }),
  ];
}

function toMetadata(number: number, result: CaseResult | undefined): object {
  const { name = '', input = '', checks = [] } = result ?? {};
  return { eval_id: number, eval_name: name, prompt: input, assertions: checks.map(({ asked }) => asked) };
}

function toExpectations({ checks }: CaseResult) {
  return checks.filter(hasVerdict).map(({ asked, status, found, events }) => ({
    text: asked,
    passed: status === 'passed',
    evidence: [found, events.length === 0 ? '' : `events ${events.join(', ')}`].filter(Boolean).join('; '),
  }));
}

/** A case without checks counts by its status. */
function summarize(result: CaseResult) {
  const all = toExpectations(result);
  const passed = all.filter((one) => one.passed).length;
  const rate = all.length === 0 ? Number(result.status === 'passed') : rounded(passed / all.length);
  return { passed, failed: all.length - passed, total: all.length, pass_rate: rate };
}

function seconds({ cost }: CaseResult): number {
  return rounded(cost.wallMs / 1000);
}

function rounded(value: number): number {
  return Number.isFinite(value) ? Math.round(value * 10_000) / 10_000 : 0;
}

function signed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(text) !== 0 ? '-' : '+'}${text}`;
}

function file(path: string, value: object): ReportFile {
  return { path, text: `${JSON.stringify(value, undefined, 2)}\n` };
}
