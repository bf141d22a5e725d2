/** Writes a report as JSON and reads it back for comparisons. */
import { isObject } from '../../core/json/json-schema.ts';
import { parseJson } from '../../core/json/parse-json.ts';
import { visibleJson } from '../../core/json/visible-json.ts';
import { CASE_STATUSES } from './result.ts';
import type { EvalReport } from './result.ts';

export function jsonReport(report: EvalReport): string {
  return `${visibleJson(JSON.stringify(report, undefined, 2))}\n`;
}

export type ReadReport =
  | { readonly type: 'report'; readonly report: EvalReport }
  /** The reason does not name the file. */
  | { readonly type: 'invalid'; readonly reason: string };

/** Reads a report of this version. The file is untrusted, so everything that renderers use is checked. */
export function readReport(text: string): ReadReport {
  const value = parseJson(text);
  if (value === undefined) return { type: 'invalid', reason: 'not JSON' };
  if (!isObject(value)) return { type: 'invalid', reason: 'not an object' };
  if (value['schema'] !== 1) {
    const schema = JSON.stringify(value['schema']) ?? 'missing';
    return { type: 'invalid', reason: `its schema is ${schema}; this version reads schema 1` };
  }
  const reason = shapeProblem(value, REPORT, '');
  return isReport(value, reason) ? { type: 'report', report: value } : { type: 'invalid', reason: reason ?? '' };
}

/** A nested object is an object with these keys; a list of one shape is an array of it. `number?` may be null, for NaN. */
type Shape =
  | 'string'
  | 'number'
  | 'number?'
  | 'boolean'
  | 'array'
  | 'status'
  | readonly [Shape]
  | { readonly [key: string]: Shape };

const RATE: Shape = { count: 'number', of: 'number', low: 'number', high: 'number' };
const MODEL: Shape = { id: 'string', way: 'string' };
const RATES = { precision: RATE, recall: RATE } as const;
const SIDES: Shape = { of: 'number', against: 'number' };

const RESULT: Shape = {
  case: 'string',
  name: 'string',
  place: { file: 'string', line: 'number', column: 'number' },
  input: 'string',
  tags: ['string'],
  arm: 'string',
  attempt: 'number',
  status: 'status',
  reason: 'string',
  checks: [{ id: 'string', kind: 'string', status: 'string', asked: 'string', found: 'string', events: 'array' }],
  loaded: ['string'],
  answer: 'string',
  cost: { turns: 'number', toolCalls: 'number', inputTokens: 'number', outputTokens: 'number', wallMs: 'number' },
  model: MODEL,
};

const COMPARISON: Shape = {
  of: 'string',
  against: 'string',
  pairs: 'number',
  better: 'number',
  worse: 'number',
  difference: { mean: 'number?', low: 'number?', high: 'number?' },
  p: 'number?',
  smallestVisible: 'number?',
  sayNothing: 'array',
  tokens: SIDES,
  wallMs: SIDES,
};

const TRIGGER: Shape = {
  controls: [{ name: 'string', asked: 'string', found: 'string', isKept: 'boolean' }],
  isValid: 'boolean',
  scores: [{ ...RATES, f1: 'number' }],
  overall: { ...RATES, f1: 'number', quiet: RATE },
  confusion: [{ wanted: 'string', took: 'string', count: 'number' }],
  sweep: [{ ...RATES, distractors: 'number' }],
};

const REPORT: Shape = {
  tool: 'string',
  startedAt: 'string',
  wallMs: 'number',
  skills: [{ name: 'string', digest: 'string' }],
  models: [MODEL],
  totals: { passed: 'number', failed: 'number', error: 'number', skipped: 'number' },
  passRate: RATE,
  comparisons: [COMPARISON],
  flaky: ['string'],
  isPartial: 'boolean',
  results: [RESULT],
};

/** Describes the first value that does not have its shape. */
function shapeProblem(value: unknown, shape: Shape, where: string): string | undefined {
  if (typeof shape === 'string') return hasShape(value, shape) ? undefined : `${where} must be ${NAMES[shape]}`;
  if (isList(shape)) {
    if (!Array.isArray(value)) return `${where} must be an array`;
    return firstProblem(value.entries(), ([place, item]) => shapeProblem(item, shape[0], `${where}[${String(place)}]`));
  }
  if (!isObject(value)) return `${where} must be an object`;
  const problem = firstProblem(Object.entries(shape), ([key, inner]) =>
    shapeProblem(value[key], inner, where === '' ? key : `${where}.${key}`),
  );
  // Only the report itself has this optional part.
  if (problem !== undefined || shape !== REPORT || value['trigger'] === undefined) return problem;
  return shapeProblem(value['trigger'], TRIGGER, 'trigger');
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function firstProblem<T>(items: Iterable<T>, check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const NAMES = {
  string: 'a string',
  number: 'a number',
  'number?': 'a number or null',
  boolean: 'a boolean',
  array: 'an array',
  status: `one of ${CASE_STATUSES.join(', ')}`,
} as const;

function hasShape(value: unknown, shape: keyof typeof NAMES): boolean {
  if (shape === 'array') return Array.isArray(value);
  if (shape === 'status') return CASE_STATUSES.some((status) => status === value);
  return shape === 'number?' ? value === null || typeof value === 'number' : typeof value === shape;
}

/** The compiler cannot follow the checks above. */
function isReport(value: object, problem: string | undefined): value is EvalReport {
  return problem === undefined && 'results' in value;
}
