/** A report as a file that machines read, and that we read back to compare it. */
import { isObject } from '../../core/json/json-schema.ts';
import { CASE_STATUSES } from './result.ts';
import type { EvalReport } from './result.ts';

export function jsonReport(report: EvalReport): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

export type ReadReport =
  | { readonly type: 'report'; readonly report: EvalReport }
  /** In words, without the name of the file. */
  | { readonly type: 'invalid'; readonly reason: string };

/** A report that we wrote, of this version. It comes from a file, so what renderers rely on is looked at. */
export function readReport(text: string): ReadReport {
  const value = parsed(text);
  if (value === undefined) return invalid('it is not JSON');
  if (!isObject(value)) return invalid('it is no object');
  if (value['schema'] !== 1)
    return invalid(`its schema is ${JSON.stringify(value['schema']) ?? 'absent'}, and this version reads 1`);
  const problem = problemOf(value);
  return problem === undefined && isReport(value, problem) ? { type: 'report', report: value } : invalid(problem ?? '');
}

/** `figure`: a number, or nothing where there was none to be had. */
type Shape = 'text' | 'number' | 'figure' | 'flag' | 'list' | 'texts' | 'object';
type Shapes = Readonly<Record<string, Shape>>;

const REPORT: Shapes = {
  tool: 'text',
  startedAt: 'text',
  wallMs: 'number',
  skills: 'list',
  models: 'list',
  results: 'list',
  totals: 'object',
  passRate: 'object',
  comparisons: 'list',
  flaky: 'texts',
  isPartial: 'flag',
};
const RESULT: Shapes = {
  case: 'text',
  name: 'text',
  place: 'object',
  input: 'text',
  tags: 'texts',
  arm: 'text',
  attempt: 'number',
  status: 'text',
  reason: 'text',
  checks: 'list',
  loaded: 'texts',
  answer: 'text',
  cost: 'object',
  model: 'object',
};
const CHECK: Shapes = { id: 'text', kind: 'text', status: 'text', asked: 'text', found: 'text', events: 'list' };
const COST: Shapes = {
  turns: 'number',
  toolCalls: 'number',
  inputTokens: 'number',
  outputTokens: 'number',
  wallMs: 'number',
};
const RATE: Shapes = { count: 'number', of: 'number', low: 'number', high: 'number' };
const TOTALS: Shapes = { passed: 'number', failed: 'number', error: 'number', skipped: 'number' };

const PLACE: Shapes = { file: 'text', line: 'number', column: 'number' };
const MODEL: Shapes = { id: 'text', way: 'text' };
const COMPARISON: Shapes = {
  of: 'text',
  against: 'text',
  pairs: 'number',
  better: 'number',
  worse: 'number',
  difference: 'object',
  p: 'figure',
  smallestVisible: 'figure',
  sayNothing: 'list',
  tokens: 'object',
  wallMs: 'object',
};
const TRIGGER: Shapes = {
  controls: 'list',
  isValid: 'flag',
  scores: 'list',
  overall: 'object',
  confusion: 'list',
  sweep: 'list',
};
const SCORE: Shapes = { precision: 'object', recall: 'object', f1: 'number' };
const CONFUSED: Shapes = { wanted: 'text', took: 'text', count: 'number' };
const CONTROL: Shapes = { name: 'text', asked: 'text', found: 'text', isKept: 'flag' };
const SWEPT: Shapes = { distractors: 'number', recall: 'object', precision: 'object' };

function problemOf(report: Readonly<Record<string, unknown>>): string | undefined {
  return (
    shapeProblem(report, REPORT, 'it') ??
    shapeProblem(report['totals'], TOTALS, 'totals') ??
    shapeProblem(report['passRate'], RATE, 'passRate') ??
    itemProblem(report['skills'], { name: 'text', digest: 'text' }, 'skills') ??
    itemProblem(report['models'], MODEL, 'models') ??
    itemProblem(report['comparisons'], COMPARISON, 'comparisons') ??
    (report['trigger'] === undefined ? undefined : triggerProblem(report['trigger'])) ??
    firstOf(listIn(report['results']), (result, place) => resultProblem(result, `results[${String(place)}]`))
  );
}

function triggerProblem(trigger: unknown): string | undefined {
  const shape = shapeProblem(trigger, TRIGGER, 'trigger');
  if (shape !== undefined || !isObject(trigger)) return shape;
  return (
    itemProblem(trigger['controls'], CONTROL, 'trigger.controls') ??
    itemProblem(trigger['scores'], SCORE, 'trigger.scores') ??
    itemProblem(trigger['confusion'], CONFUSED, 'trigger.confusion') ??
    itemProblem(trigger['sweep'], SWEPT, 'trigger.sweep') ??
    shapeProblem(trigger['overall'], { ...SCORE, quiet: 'object' }, 'trigger.overall')
  );
}

function itemProblem(items: unknown, shapes: Shapes, where: string): string | undefined {
  return firstOf(listIn(items), (item, place) => shapeProblem(item, shapes, `${where}[${String(place)}]`));
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function resultProblem(result: unknown, where: string): string | undefined {
  const shape = shapeProblem(result, RESULT, where);
  if (shape !== undefined || !isObject(result)) return shape;
  if (!isStatus(result['status'])) return `${where}.status is none of ${CASE_STATUSES.join(', ')}`;
  return (
    shapeProblem(result['place'], PLACE, `${where}.place`) ??
    shapeProblem(result['model'], MODEL, `${where}.model`) ??
    shapeProblem(result['cost'], COST, `${where}.cost`) ??
    itemProblem(result['checks'], CHECK, `${where}.checks`)
  );
}

function shapeProblem(value: unknown, shapes: Shapes, where: string): string | undefined {
  if (!isObject(value)) return `${where} is no object`;
  const wrong = Object.entries(shapes).find(([key, shape]) => !hasShape(value[key], shape));
  return wrong === undefined ? undefined : `${where}.${wrong[0]} is no ${wrong[1]}`;
}

function hasShape(value: unknown, shape: Shape): boolean {
  switch (shape) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'figure':
      return typeof value === 'number' || value === null;
    case 'flag':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value);
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'object':
      return isObject(value);
  }
}

function firstOf<T>(items: readonly T[], look: (item: T, place: number) => string | undefined): string | undefined {
  for (const [place, item] of items.entries()) {
    const found = look(item, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isStatus(value: unknown): boolean {
  return CASE_STATUSES.some((status) => status === value);
}

/** Said by the checks above; the compiler cannot follow them. */
function isReport(value: object, problem: undefined): value is EvalReport {
  return problem === undefined && 'results' in value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function invalid(reason: string): ReadReport {
  return { type: 'invalid', reason };
}
