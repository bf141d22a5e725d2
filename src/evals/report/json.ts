/** Writes a report as JSON and reads it back for comparisons. */
import { isObject, parseJson, stableJson, visibleJson } from '#core';
import { sha256 } from '#platform';
import { describeContradiction, describePartQuarantine } from './contradiction.ts';
import { makeReport, TOOL, type ReportParts } from './report.ts';
import { findVerdict, withVerdict } from './verdict.ts';
import { ARMS, CASE_STATUSES, type EvalReport, type Verdict } from './result.ts';

export function jsonReport(report: EvalReport): string {
  const { schema, verdict: _, ...rest } = report;
  const content = { schema, verdict: findVerdict(report), ...rest };
  // What JSON leaves out, such as undefined, is not part of the digest.
  const digest = contentDigest(parseJson(JSON.stringify(content)));
  return `${visibleJson(JSON.stringify({ ...content, digest }, undefined, 2))}\n`;
}

/** Of everything in the file but the digest itself. */
function contentDigest(content: unknown): string {
  return sha256(stableJson(content));
}

type ReadReport =
  | { readonly type: 'report'; readonly report: EvalReport }
  | { readonly type: 'invalid'; readonly reason: string };

/** Reads the stored part of a report, which is untrusted and checked, and computes the rest, its verdict included, from its results. */
export function readReport(text: string): ReadReport {
  const value = parseJson(text);
  const problem = storedProblem(value) ?? sealProblem(value);
  if (!isStored(value, problem)) return { type: 'invalid', reason: problem ?? '' };
  const { thresholds, verdict, results } = value;
  const report = withVerdict(makeReport(value), thresholds ?? {}, verdict?.warnings ?? []);
  const reason =
    firstProblem(results, describeContradiction) ??
    describePartQuarantine(results) ??
    verdictProblem(value, findVerdict(report));
  return reason === undefined ? { type: 'report', report } : { type: 'invalid', reason };
}

/** A report that somebody edited proves nothing, even if its parts agree. Reports of earlier versions have no digest. */
function sealProblem(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { digest, ...content } = value;
  if (digest === undefined) return value['tool'] === TOOL ? `it has no digest; ${EDITED}` : undefined;
  return digest === contentDigest(content) ? undefined : `its content does not match its digest; ${EDITED}`;
}

const EDITED =
  'it was edited after it was written: run the evaluation again, or grade its runs again (skillwright eval grade)';

/** Other versions may decide by other rules, and reports of earlier ones have no thresholds; then only the computed verdict counts. */
function verdictProblem({ tool, thresholds, verdict }: ReportParts, computed: Verdict): string | undefined {
  if (verdict === undefined || thresholds === undefined || tool !== TOOL) return undefined;
  const [stored, found] = [verdict, computed].map(({ validity, result }) => `${validity}, ${result}`);
  return stored === found ? undefined : `its verdict is ${stored ?? ''}, but its results give ${found ?? ''}`;
}

function storedProblem(value: unknown): string | undefined {
  if (value === undefined) return 'not JSON';
  if (!isObject(value)) return 'not an object';
  const { schema } = value;
  if (schema === 1) return shapeProblem(value, REPORT, '');
  return `its schema is ${JSON.stringify(schema) ?? 'missing'}; this version reads schema 1`;
}

/** A nested object is an object with these keys, of which those with a question mark may be absent; a list of one shape is an array of it. */
type Shape = keyof typeof NAMES | readonly [Shape] | { readonly [key: string]: Shape };

const RATE: Shape = { count: 'number', of: 'number', low: 'number', high: 'number' };
const MODEL: Shape = { id: 'string', way: 'string', 'served?': { models: ['string'], fingerprints: ['string'] } };
const RATES = { precision: RATE, recall: RATE } as const;

const SCORE = { ...RATES, f1: 'number', 'f1Interval?': { low: 'number', high: 'number' } } as const;

const RESULT: Shape = {
  case: 'string',
  name: 'string',
  place: { file: 'string', line: 'number', column: 'number' },
  input: 'string',
  tags: ['string'],
  arm: 'arm',
  attempt: 'number',
  status: 'status',
  reason: 'string',
  checks: [{ id: 'string', kind: 'string', status: 'status', asked: 'string', found: 'string', events: 'array' }],
  loaded: ['string'],
  answer: 'string',
  cost: {
    turns: 'number',
    toolCalls: 'number',
    inputTokens: 'number',
    outputTokens: 'number',
    'cachedTokens?': 'number',
    'cacheWriteTokens?': 'number',
    'usd?': 'number',
    wallMs: 'number',
  },
  model: MODEL,
  'earlierErrors?': 'number',
  'turn?': { 'session?': 'string', id: 'string', order: 'number', at: 'string' },
  'quarantine?': { until: 'string', passed: 'number', of: 'number' },
};

const TRIGGER: Shape = {
  controls: [{ name: 'string', asked: 'string', found: 'string', isKept: 'boolean' }],
  isValid: 'boolean',
  scores: [SCORE],
  overall: { ...SCORE, quiet: RATE },
  confusion: [{ wanted: 'string', took: 'string', count: 'number' }],
  sweep: [{ ...RATES, distractors: 'number' }],
};

const PRICE: Shape = {
  model: 'string',
  input: 'number',
  cachedInput: 'number',
  cacheWrite: 'number',
  output: 'number',
  date: 'string',
};

const REPORT: Shape = {
  tool: 'string',
  startedAt: 'string',
  wallMs: 'number',
  skills: [{ name: 'string', digest: 'string' }],
  isPartial: 'boolean',
  'missing?': ['string'],
  'leftOut?': [{ file: 'string', cases: ['string'] }],
  'suiteErrors?': ['string'],
  results: [RESULT],
  'prices?': [PRICE],
  'trigger?': TRIGGER,
  'judge?': {
    id: 'string',
    controls: [{ name: 'string', isKept: 'boolean', found: 'string' }],
    agreement: RATE,
    controlCost: { calls: 'number', inputTokens: 'number', outputTokens: 'number' },
  },
  'verdict?': { validity: 'validity', result: 'string', reasons: ['string'], warnings: ['string'] },
  'thresholds?': {
    'passRate?': 'number',
    'errors?': 'number',
    'precision?': 'number',
    'recall?': 'number',
    'difference?': 'number',
    'tokens?': 'number',
    'usd?': 'number',
    'seconds?': 'number',
  },
  'sequential?': { rounds: 'number', most: 'number', detect: 'number' },
};

function shapeProblem(value: unknown, shape: Shape, where: string): string | undefined {
  if (typeof shape === 'string') return hasShape(value, shape) ? undefined : `${where} must be ${NAMES[shape]}`;
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return `${where} must be an array`;
    return firstProblem(value.entries(), ([place, item]) => shapeProblem(item, shape[0], `${where}[${String(place)}]`));
  }
  if (!isObject(value)) return `${where} must be an object`;
  return firstProblem(Object.entries(shape), ([name, inner]) => {
    const key = name.replace('?', '');
    if (key !== name && value[key] === undefined) return undefined;
    return shapeProblem(value[key], inner, where === '' ? key : `${where}.${key}`);
  });
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
  boolean: 'a boolean',
  array: 'an array',
  status: `one of ${CASE_STATUSES.join(', ')}`,
  arm: `one of ${ARMS.join(', ')}`,
  validity: 'valid, invalid or incomplete',
} as const;

function hasShape(value: unknown, shape: keyof typeof NAMES): boolean {
  if (shape === 'array') return Array.isArray(value);
  if (shape === 'status') return CASE_STATUSES.some((status) => status === value);
  if (shape === 'validity') return value === 'valid' || value === 'invalid' || value === 'incomplete';
  if (shape === 'arm') return ARMS.some((arm) => arm === value);
  return typeof value === shape;
}

/** The compiler cannot follow the checks above. */
function isStored(value: unknown, problem: string | undefined): value is ReportParts {
  return problem === undefined && isObject(value) && 'results' in value;
}
