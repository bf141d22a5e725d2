import type { BenchQuery, BenchSkill, RetrievalData } from './search-data.ts';

/** Gives the positions of the best documents for a query, best first. */
export type Searcher = (query: string, limit: number) => readonly number[];

export interface Figures {
  /** Share of queries whose first hit is relevant. */
  readonly recallAt1: number;
  /** Share of the relevant skills that are among the first five, over queries. */
  readonly recallAt5: number;
  /** One over the rank of the first relevant hit of ten, over queries. */
  readonly mrr: number;
  readonly ndcg: number;
}

export interface Quality {
  readonly all: Figures;
  readonly english: Figures;
  readonly chinese: Figures;
  /** Chinese queries for skills described in English only, and the other way round. */
  readonly chineseToEnglish: Figures;
  readonly englishToChinese: Figures;
}

/** How well a searcher ranks what the authors meant. */
export function measureQuality(searcher: Searcher, skills: readonly BenchSkill[], data: RetrievalData): Quality {
  const languages = new Map(data.skills.map(({ id, lang }) => [id, lang]));
  const crosses = ({ lang, relevant }: BenchQuery, from: string, to: string): boolean => {
    const targets = new Set(relevant.map((id) => languages.get(id)));
    return lang === from && targets.has(to) && !targets.has(from);
  };
  const measured = data.queries.map((query) => ({
    query,
    figures: judge(
      searcher(query.query, 10).map((position) => skills[position]?.id ?? ''),
      new Set(query.relevant),
    ),
  }));
  const over = (wanted: (query: BenchQuery) => boolean): Figures =>
    mean(measured.filter(({ query }) => wanted(query)).map(({ figures }) => figures));
  return {
    all: over(() => true),
    english: over(({ lang }) => lang === 'en'),
    chinese: over(({ lang }) => lang === 'zh'),
    chineseToEnglish: over((query) => crosses(query, 'zh', 'en')),
    englishToChinese: over((query) => crosses(query, 'en', 'zh')),
  };
}

function judge(found: readonly string[], relevant: ReadonlySet<string>): Figures {
  const first = found.findIndex((id) => relevant.has(id));
  const gain = (rank: number): number => 1 / Math.log2(rank + 2);
  const ideal = Array.from({ length: Math.min(10, relevant.size) }, (_, rank) => gain(rank)).reduce(
    (sum, value) => sum + value,
    0,
  );
  return {
    recallAt1: first === 0 ? 1 : 0,
    recallAt5: recallAt5(found, relevant),
    mrr: first < 0 ? 0 : 1 / (first + 1),
    ndcg: found.reduce((sum, id, rank) => sum + (relevant.has(id) ? gain(rank) : 0), 0) / ideal,
  };
}

/** The share of the relevant skills that are among the first five. */
export function recallAt5(found: readonly string[], relevant: ReadonlySet<string>): number {
  return found.slice(0, 5).filter((id) => relevant.has(id)).length / relevant.size;
}

function mean(list: readonly Figures[]): Figures {
  const of = (pick: (figures: Figures) => number): number =>
    list.reduce((sum, figures) => sum + pick(figures), 0) / Math.max(1, list.length);
  return {
    recallAt1: of((f) => f.recallAt1),
    recallAt5: of((f) => f.recallAt5),
    mrr: of((f) => f.mrr),
    ndcg: of((f) => f.ndcg),
  };
}

/** How often a skill is first for a query that its author says it must not fire for. */
export function measureNegatives(searcher: Searcher, data: RetrievalData): number {
  const wrong = data.negatives.filter(
    ({ query, not_skill: id }) => data.skills[searcher(query, 1)[0] ?? -1]?.id === id,
  );
  return wrong.length / data.negatives.length;
}

export interface Speed {
  readonly median: number;
  readonly p99: number;
}

/** Milliseconds a query. Each is asked several times and its least time taken: the machine's other work is not the searcher's. */
export function measureSpeed(searcher: Searcher, queries: readonly string[], rounds: number): Speed {
  const times = queries.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [position, query] of queries.entries()) times[position]?.push(elapsed(() => searcher(query, 5)));
  }
  const least = times.map((list) => Math.min(...list)).toSorted((left, right) => left - right);
  const at = (share: number): number => least[Math.floor((least.length - 1) * share)] ?? Number.NaN;
  return { median: at(0.5), p99: at(0.99) };
}

/** The median time of several runs, in milliseconds. */
export function measureTime(run: () => unknown, rounds: number): number {
  return middle(Array.from({ length: rounds }, () => elapsed(run)));
}

function elapsed(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

function middle(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[times.length >> 1] ?? Number.NaN;
}
