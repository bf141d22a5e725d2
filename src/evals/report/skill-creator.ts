/**
 * Writes a report in the file format of skill-creator, for its viewer: `benchmark.json`, and per run `grading.json` and `timing.json` below
 * `eval-N/<configuration>/run-N/`. Unlike its own aggregation, the difference of pass rates is about outcomes only, its sign does not depend on
 * folder names, tokens are not characters, and errors are excluded from means.
 */
import { flakyText, modelsText, countTokens } from './report-text.ts';
import { hasVerdict, type Arm, type CaseResult, type Comparison, type EvalReport } from './result.ts';

export interface ReportFile {
  /** Relative to the folder for the viewer, with `/`. */
  readonly path: string;
  readonly text: string;
}

interface Expectation {
  readonly text: string;
  readonly passed: boolean;
  readonly evidence: string;
}

export interface Spread {
  readonly mean: number;
  readonly stddev: number;
  readonly min: number;
  readonly max: number;
}

interface Measures<T> {
  readonly pass_rate: T;
  readonly time_seconds: T;
  readonly tokens: T;
}

interface BenchmarkRun {
  readonly eval_id: number;
  readonly eval_name: string;
  readonly configuration: string;
  readonly run_number: number;
  readonly result: Measures<number> & {
    readonly passed: number;
    readonly failed: number;
    readonly total: number;
    readonly tool_calls: number;
    readonly errors: number;
  };
  readonly expectations: readonly Expectation[];
  readonly notes: readonly string[];
}

export interface Benchmark {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly runs: readonly BenchmarkRun[];
  /** By configuration, the evaluated one first, plus `delta` between the first two. */
  readonly run_summary: Readonly<Record<string, Measures<Spread> | Measures<string>>>;
  /** The same difference as numbers. */
  readonly delta_numbers?: Measures<number>;
  readonly notes: readonly string[];
}

const CONFIGURATIONS = { with: 'with_skill', without: 'without_skill', old: 'old_skill' } as const satisfies Record<
  Arm,
  string
>;

export function skillCreatorFiles(report: EvalReport): readonly ReportFile[] {
  const numbers = numberCases(report);
  const evals = [...numbers].map(([id, number]) => {
    const first = report.results.find((result) => result.case === id);
    return file(`eval-${String(number)}/eval_metadata.json`, toMetadata(number, first));
  });
  const runs = report.results.filter(hasVerdict).flatMap((result) => runFiles(result, numbers.get(result.case) ?? 0));
  return [file('benchmark.json', buildBenchmark(report)), ...evals, ...runs];
}

export function buildBenchmark(report: EvalReport): Benchmark {
  const numbers = numberCases(report);
  const graded = report.results.filter(hasVerdict);
  const arms = report.arms.map(({ arm }) => arm);
  return {
    metadata: {
      skill_name: report.skills[0]?.name ?? '',
      skill_path: '',
      executor_model: report.models.length === 0 ? '' : modelsText(report.models),
      analyzer_model: '',
      timestamp: report.startedAt,
      evals_run: [...new Set(graded.map((result) => numbers.get(result.case) ?? 0))],
      runs_per_configuration: Math.max(0, ...graded.map(({ attempt }) => attempt)),
    },
    runs: graded.map((result) => benchmarkRun(result, numbers.get(result.case) ?? 0)),
    ...summarizeRuns(graded, arms, report.comparisons[0]),
    notes: listNotes(report),
  };
}

/** The viewer needs numeric ids, so cases are numbered in suite order. */
function numberCases({ results }: EvalReport): ReadonlyMap<string, number> {
  return new Map([...new Set(results.map((result) => result.case))].map((id, place) => [id, place + 1]));
}

function benchmarkRun(result: CaseResult, number: number): BenchmarkRun {
  const { passed, failed, total, pass_rate } = summary(result);
  return {
    eval_id: number,
    eval_name: result.name,
    configuration: CONFIGURATIONS[result.arm],
    run_number: result.attempt,
    result: {
      pass_rate,
      passed,
      failed,
      total,
      time_seconds: seconds(result),
      tokens: countTokens(result.cost),
      tool_calls: result.cost.toolCalls,
      errors: 0,
    },
    expectations: toExpectations(result),
    notes: result.cost.tokensAreEstimated ? ['tokens are estimated'] : [],
  };
}

function summarizeRuns(
  results: readonly CaseResult[],
  arms: readonly Arm[],
  compared: Comparison | undefined,
): Pick<Benchmark, 'run_summary' | 'delta_numbers'> {
  const rows = arms.map(
    (arm) => [CONFIGURATIONS[arm], measure(results.filter((result) => result.arm === arm))] as const,
  );
  const summaries = Object.fromEntries(rows);
  const [first, second] = rows;
  // Without a judged outcome a difference would count checks that the baseline cannot meet.
  if (first === undefined || second === undefined || compared === undefined) return { run_summary: summaries };
  const numbers = { ...computeDelta(first[1], second[1]), pass_rate: rounded(compared.difference.mean) };
  const delta = {
    pass_rate: signed(numbers.pass_rate, 2),
    time_seconds: signed(numbers.time_seconds, 1),
    tokens: signed(numbers.tokens, 0),
  };
  return { run_summary: { ...summaries, delta }, delta_numbers: numbers };
}

function measure(results: readonly CaseResult[]): Measures<Spread> {
  return {
    pass_rate: computeSpread(results.map((result) => summary(result).pass_rate)),
    time_seconds: computeSpread(results.map(seconds)),
    tokens: computeSpread(results.map(({ cost }) => countTokens(cost))),
  };
}

function computeDelta(first: Measures<Spread>, second: Measures<Spread>): Measures<number> {
  return {
    pass_rate: rounded(first.pass_rate.mean - second.pass_rate.mean),
    time_seconds: rounded(first.time_seconds.mean - second.time_seconds.mean),
    tokens: rounded(first.tokens.mean - second.tokens.mean),
  };
}

/** Uses the sample deviation; 0 for a single value. */
export function computeSpread(values: readonly number[]): Spread {
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

function listNotes({ results, arms, comparisons, uncompared, flaky, isPartial }: EvalReport): readonly string[] {
  return [
    ...(isPartial ? ['The evaluation was stopped before all cases ran.'] : []),
    ...results
      .filter((result) => !hasVerdict(result))
      .map(
        (result) =>
          `${result.case}, ${CONFIGURATIONS[result.arm]}, run ${String(result.attempt)}: ${result.status}, excluded from means: ${result.reason}`,
      ),
    ...comparisons.flatMap(({ sayNothing }) =>
      sayNothing.map((one) => `${one.case}: the check ${one.check} passes in both configurations`),
    ),
    ...flaky.map((one) => `attempts differ: ${flakyText(one, arms.length > 1)}`),
    ...uncompared.map(({ reason }) => `no comparison: ${reason}`),
  ];
}

function runFiles(result: CaseResult, number: number): readonly ReportFile[] {
  const folder = `eval-${String(number)}/${CONFIGURATIONS[result.arm]}/run-${String(result.attempt)}`;
  const { turns, toolCalls } = result.cost;
  const duration = seconds(result);
  return [
    // The viewer expects the prompt in this file, and a folder named outputs.
    file(`${folder}/eval_metadata.json`, toMetadata(number, result)),
    { path: `${folder}/outputs/answer.md`, text: result.answer },
    file(`${folder}/grading.json`, {
      expectations: toExpectations(result),
      summary: summary(result),
      execution_metrics: {
        tool_calls: {},
        total_tool_calls: toolCalls,
        total_steps: turns,
        errors_encountered: 0,
        output_chars: result.answer.length,
        transcript_chars: 0,
      },
      timing: { executor_duration_seconds: duration, grader_duration_seconds: 0, total_duration_seconds: duration },
    }),
    file(`${folder}/timing.json`, {
      total_tokens: countTokens(result.cost),
      duration_ms: Math.round(result.cost.wallMs),
      total_duration_seconds: duration,
      executor_duration_seconds: duration,
    }),
  ];
}

function toMetadata(number: number, result: CaseResult | undefined): object {
  return {
    eval_id: number,
    eval_name: result?.name ?? '',
    prompt: result?.input ?? '',
    assertions: result?.checks.map(({ asked }) => asked) ?? [],
  };
}

function toExpectations({ checks }: CaseResult): readonly Expectation[] {
  return checks
    .filter(({ status }) => status === 'passed' || status === 'failed')
    .map(({ asked, status, found, events }) => ({
      text: asked,
      passed: status === 'passed',
      evidence: [found, ...(events.length === 0 ? [] : [`events ${events.join(', ')}`])]
        .filter((part) => part !== '')
        .join('; '),
    }));
}

function summary(result: CaseResult) {
  const all = toExpectations(result);
  const passed = all.filter((one) => one.passed).length;
  // A case without checks counts by its status.
  const own = result.status === 'passed' ? 1 : 0;
  return {
    passed,
    failed: all.length - passed,
    total: all.length,
    pass_rate: all.length === 0 ? own : rounded(passed / all.length),
  };
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
