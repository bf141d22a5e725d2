/** Reads assertions of community files: what code can check becomes a check, anything else a rubric line. Nothing is dropped. */
import type { OutputCheck, RubricLine } from './case.ts';
import { isObject, stableJson, type JsonPath } from '#core';
import { patternProblem } from './pattern-check.ts';
import { addProblem, type CaseReport } from './problem.ts';

export interface Assertions {
  readonly checks: readonly OutputCheck[];
  readonly rubric: readonly RubricLine[];
}

export function joined(groups: readonly Assertions[]): Assertions {
  const seen = new Map<string, number>();
  const rubric = groups
    .flatMap((group) => group.rubric)
    .map(({ id, text }) => {
      const times = (seen.get(id) ?? 0) + 1;
      seen.set(id, times);
      return { id: times === 1 ? id : `${id}-${String(times)}`, text };
    });
  return { checks: groups.flatMap((group) => group.checks), rubric };
}

/** Reads the value of one key: a sentence, an object, or a list of them. `id` is the default id. */
export function readAssertions(report: CaseReport, value: unknown, at: JsonPath, id: string): Assertions {
  if (value === undefined || value === null) return { checks: [], rubric: [] };
  if (!Array.isArray(value)) return readOne(report, value, at, id);
  return joined(
    value.map((item: unknown, place) => readOne(report, item, [...at, place], `${id}-${String(place + 1)}`)),
  );
}

function readOne(report: CaseReport, value: unknown, at: JsonPath, id: string): Assertions {
  const check = typeof value === 'string' ? sentenceCheck(value) : isObject(value) ? objectCheck(value) : undefined;
  const line = toRubricLine(value, id);
  if (check === undefined) return { checks: [], rubric: line.text.trim() === '' ? [] : [line] };
  const problem = check.type === 'matches' ? patternProblem(check.pattern) : undefined;
  if (problem === undefined) return { checks: [check], rubric: [] };
  const hint = `${problem.hint}; meanwhile the assertion is a rubric line`;
  addProblem(report, at, problem.message, hint, 'warning');
  return { checks: [], rubric: [line] };
}

/** Requires quotes or slashes: `Contains: a table of prices` is prose. */
const SENTENCE =
  /^\s*(not[_ -]?contains|contains|not[_ -]?regex|regex|matches)\s*[:=]?\s*(?:"([^"]+)"|'([^']+)'|`([^`]+)`|\/(.+)\/)\s*$/i;

function sentenceCheck(text: string): OutputCheck | undefined {
  const [, verb = '', ...values] = SENTENCE.exec(text) ?? [];
  const found = values.find((value) => value !== undefined);
  return found === undefined ? undefined : parseCheck(verb, found);
}

function objectCheck(item: Readonly<Record<string, unknown>>): OutputCheck | undefined {
  for (const key of ['contains', 'not_contains', 'regex', 'not_regex']) {
    const value = item[key];
    if (typeof value === 'string') return parseCheck(key, value);
  }
  const kind = item['type'] ?? item['check'] ?? item['kind'];
  const value = ['value', 'expected', 'pattern', 'substring'].map((key) => item[key]).find(isText);
  return typeof kind === 'string' && value !== undefined ? parseCheck(kind, value) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function parseCheck(verb: string, value: string): OutputCheck | undefined {
  const word = verb
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
    .replace(/^output_/, '');
  const not = /^(?:not_(?:contains|regex|matches)|does_not_contain|excludes)$/.test(word)
    ? ({ not: true } as const)
    : {};
  if (/^(?:contains(?:_text|_url)?|includes|not_contains|does_not_contain|excludes)$/.test(word))
    return { type: 'contains', text: value, ...not };
  if (!/^(?:(?:not_)?(?:regex|matches)|matches_regex)$/.test(word)) return undefined;
  return { type: 'matches', pattern: value.replace(/^\/(.+)\/$/, '$1'), ...not };
}

const TEXT_KEYS: readonly string[] = 'text assertion expectation statement criterion description check name'.split(' ');

function toRubricLine(value: unknown, id: string): RubricLine {
  if (!isObject(value)) return { id, text: typeof value === 'string' ? value : stableJson(value) };
  const written = value['id'] ?? value['name'] ?? value['criterion'];
  const named = typeof written === 'string' || typeof written === 'number' ? String(written) : id;
  const key = TEXT_KEYS.find((name) => isText(value[name]));
  const text = key === undefined ? stableJson(value) : String(value[key]);
  const more = Object.entries(value).filter(([name]) => name !== key && DETAIL_KEYS.has(name));
  return {
    id: named === '' ? id : named,
    text: [text, ...more.map(([name, item]) => `${name}: ${formatValue(item)}`)].join('\n'),
  };
}

/** Keys that explain an assertion; other keys are ids, weights and kinds. */
const DETAIL_KEYS: ReadonlySet<string> = new Set(
  'rubric expected value trap cmd expect_exit assert pass fail'.split(' '),
);

export function formatValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(' ');
  if (isObject(value) && Object.values(value).every((item) => typeof item === 'string'))
    return Object.entries(value)
      .map(([key, item]) => `${key}: ${String(item)}`)
      .join('; ');
  return stableJson(value);
}
