import { invalidInput, isObject, parseJson, SkillError } from '#core';
import { resolveSkill, type SkillIndex } from '#skills';
import { readTextFile } from '#platform';

export interface Query {
  readonly id?: string;
  readonly query: string;
  /** References to relevant skills; empty if unknown. */
  readonly relevant: readonly string[];
}

const MAX_BYTES = 256 * 1024 * 1024;

/** Reads queries from a JSON array, from JSON lines, or from lines of text. */
export function readQueries(file: string): readonly Query[] {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') {
    throw new SkillError({
      code: 'io/failed',
      message: `the query file ${JSON.stringify(file)} cannot be read`,
      hint: 'pass a file with one query per line, or JSON',
      data: { path: file, cause: read.type === 'absent' ? 'the file does not exist' : read.reason },
    });
  }
  const text = read.text.replace(/^\uFEFF/, '');
  const values = text.trimStart().startsWith('[')
    ? parseList(text, file)
    : text
        .split(/\r?\n/)
        .filter((line) => line.trim() !== '')
        .map(parseLine);
  return values.map((value, place) => toQuery(value, file, place + 1));
}

function parseList(text: string, file: string): readonly unknown[] {
  const value = parseJson(text);
  if (Array.isArray(value)) return value;
  throw invalid(file, 'a JSON array');
}

/** A line that is not a JSON object is the query itself, such as `[draft] write a letter`. */
function parseLine(line: string): unknown {
  return line.trimStart().startsWith('{') ? (parseJson(line) ?? line) : line;
}

function toQuery(value: unknown, file: string, place: number): Query {
  if (typeof value === 'string') return { query: value, relevant: [] };
  if (!isObject(value) || typeof value['query'] !== 'string')
    throw invalid(file, `a string, or an object with "query", at position ${String(place)}`);
  const { id, query, relevant } = value;
  const names = Array.isArray(relevant) ? relevant.filter((name): name is string => typeof name === 'string') : [];
  return { ...(typeof id === 'string' ? { id } : {}), query, relevant: names };
}

function invalid(file: string, expected: string): SkillError {
  return invalidInput(
    `${JSON.stringify(file)} is not a query file: expected ${expected}`,
    expected,
    'one query per line, or JSON: ["..."], [{"query": "...", "relevant": ["skill-name"]}]',
  );
}

export interface Scores {
  readonly queries: number;
  readonly 'recall@1': number;
  readonly 'recall@5': number;
  readonly mrr: number;
  readonly 'ndcg@10': number;
}

interface Answer {
  readonly query: Query;
  readonly results: readonly { readonly name: string; readonly source: string }[];
}

/** Scores the queries that have relevant skills. */
export function scoreQueries(answers: readonly Answer[], index: SkillIndex): Scores {
  const ranked = answers
    .filter(({ query }) => query.relevant.length > 0)
    .map(({ query, results }) => {
      const relevant = new Set(query.relevant.map((name) => resolveSkill(index, name)?.id ?? `missing ${name}`));
      return {
        relevant,
        hits: results.map(({ name, source }) => relevant.has(resolveSkill(index, name, source)?.id ?? '')),
      };
    });
  const mean = (score: (item: (typeof ranked)[number]) => number): number =>
    ranked.length === 0 ? 0 : ranked.reduce((sum, item) => sum + score(item), 0) / ranked.length;
  const found = (hits: readonly boolean[], places: number): number => hits.slice(0, places).filter(Boolean).length;
  const gain = (hits: readonly boolean[]): number =>
    hits.slice(0, 10).reduce((sum, hit, place) => sum + (hit ? 1 / Math.log2(place + 2) : 0), 0);
  return {
    queries: ranked.length,
    'recall@1': mean(({ hits, relevant }) => found(hits, 1) / Math.min(1, relevant.size)),
    'recall@5': mean(({ hits, relevant }) => found(hits, 5) / Math.min(5, relevant.size)),
    mrr: mean(({ hits }) => (hits.includes(true) ? 1 / (hits.indexOf(true) + 1) : 0)),
    'ndcg@10': mean(({ hits, relevant }) => gain(hits) / gain(Array.from({ length: relevant.size }, () => true))),
  };
}
