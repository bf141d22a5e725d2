import {
  buildSearchIndex,
  readSearchIndex,
  type SearchDocument,
  type SearchIndex,
} from '../src/skills/search/search-index.ts';
import type { BenchRow } from './row.ts';
import { makeSearchData, readRetrievalData, type BenchSkill, type RetrievalData } from './search-data.ts';
import {
  measureNegatives,
  measureQuality,
  measureSpeed,
  measureTime,
  type Figures,
  type Quality,
  type Searcher,
} from './search-figures.ts';
import { crossValidate } from './search-folds.ts';
import { loadSearchPeers, type Peer } from './search-peers.ts';

export interface BenchSearchOptions {
  readonly dataDir: string | undefined;
  readonly peersDir: string;
}

/** How well and how fast we search, beside the search libraries of npm. */
export async function benchSearch({ dataDir, peersDir }: BenchSearchOptions): Promise<BenchRow[]> {
  const data = readRetrievalData(dataDir);
  if (data === undefined) {
    const made = makeSearchData(10_000);
    return [
      {
        name: 'search, quality',
        value: Number.NaN,
        unit: '',
        note: 'needs the data folder; speed is over made-up skills',
      },
      ...speedRows(made.skills, made.queries),
    ];
  }
  const queries = data.queries.map(({ query }) => query);
  // Before the peers fill the heap: what they leave there would be collected in the middle of our queries.
  const speed = [...speedRows(data.crowd, queries), ...deepSpeedRows(withBodies(data), queries)];
  const peers = await loadSearchPeers(peersDir);
  return [
    ...qualityRows('2,000 skills', data.skills, peers, data),
    ...qualityRows(
      '10,000 skills',
      data.crowd,
      peers.filter(({ name }) => name.includes('our tokenizer')),
      data,
    ),
    ...heldOutRows(data),
    ...speed,
  ];
}

function searcherOf(index: SearchIndex): Searcher {
  return (query, limit) => index.search(query, limit).map(({ position }) => position);
}

function withBodies(data: RetrievalData): readonly SearchDocument[] {
  return data.skills.map(({ id, name, description }) => ({ name, description, body: data.bodies.get(id) ?? '' }));
}

function qualityRows(
  among: string,
  skills: readonly BenchSkill[],
  peers: readonly Peer[],
  data: RetrievalData,
): readonly BenchRow[] {
  const ours = measureQuality(searcherOf(buildSearchIndex(skills)), skills, data);
  const rows: BenchRow[] = [qualityRow(`ours among ${among}`, ours)];
  const judged: Quality[] = [];
  for (const { name, build, everyNth = 1 } of peers) {
    const some = { ...data, queries: data.queries.filter((_, place) => place % everyNth === 0) };
    let searcher: Searcher = () => [];
    const buildTime = measureTime(() => {
      searcher = build(skills);
    }, 1);
    const quality = measureQuality(searcher, skills, some);
    const speed = measureSpeed(
      searcher,
      some.queries.map(({ query }) => query),
      1,
    );
    const times = `build ${buildTime.toFixed(0)} ms, p50 ${speed.median.toFixed(2)}, p99 ${speed.p99.toFixed(2)}`;
    rows.push(
      qualityRow(
        `${name} among ${among}`,
        quality,
        everyNth === 1 ? times : `${times}; every ${String(everyNth)}th query`,
      ),
    );
    if (everyNth === 1) judged.push(quality);
  }
  const ahead = (name: string, quality: Quality, pick: (figures: Figures) => number, bound: number): BenchRow => {
    const value = 100 * (pick(quality.all) - Math.max(...judged.map(({ all }) => pick(all))));
    return {
      name: `${name} over the best library, ${among}`,
      value,
      unit: 'points',
      bound: `>= ${String(bound)}`,
      ok: value >= bound,
    };
  };
  rows.push(
    ahead('recall@5', ours, ({ recallAt5 }) => recallAt5, 3),
    ahead('MRR', ours, ({ mrr }) => mrr, 3),
  );
  if (skills === data.skills) {
    const deepIndex = searcherOf(buildSearchIndex(withBodies(data)));
    const deep = measureQuality(deepIndex, skills, data);
    rows.push(
      qualityRow(`ours with bodies among ${among}`, deep),
      ahead('recall@5 with bodies', deep, ({ recallAt5 }) => recallAt5, 8),
    );
    const shallowIndex = searcherOf(buildSearchIndex(skills));
    rows.push(
      {
        name: 'wrong skill first for a near miss, ours',
        value: 100 * measureNegatives(shallowIndex, data),
        unit: '%',
        note: 'less is better',
      },
      {
        name: 'wrong skill first for a near miss, ours with bodies',
        value: 100 * measureNegatives(deepIndex, data),
        unit: '%',
      },
      ...peers
        .filter(({ name }) => name.includes('our tokenizer'))
        .map(({ name, build }) => ({
          name: `wrong skill first for a near miss, ${name}`,
          value: 100 * measureNegatives(build(skills), data),
          unit: '%',
        })),
    );
  }
  return rows;
}

function heldOutRows(data: RetrievalData): readonly BenchRow[] {
  const row = (name: string, documents: readonly SearchDocument[], skills: readonly BenchSkill[]): BenchRow => {
    const bytes = buildSearchIndex(documents).toBytes();
    const open = (): SearchIndex => readSearchIndex(bytes) ?? buildSearchIndex(documents);
    return {
      name: `recall@5, weights of other folds, ${name}`,
      value: crossValidate(open, skills, data.queries),
      unit: '',
    };
  };
  return [
    row('2,000 skills', data.skills, data.skills),
    row('2,000 skills with bodies', withBodies(data), data.skills),
    row('10,000 skills', data.crowd, data.crowd),
  ];
}

function qualityRow(name: string, quality: Quality, times = ''): BenchRow {
  const { all, english, chinese, chineseToEnglish, englishToChinese } = quality;
  const figures = [
    `recall@1 ${all.recallAt1.toFixed(3)}`,
    `MRR ${all.mrr.toFixed(3)}`,
    `nDCG@10 ${all.ndcg.toFixed(3)}`,
    `recall@5 en ${english.recallAt5.toFixed(3)}`,
    `zh ${chinese.recallAt5.toFixed(3)}`,
    `zh>en ${chineseToEnglish.recallAt5.toFixed(3)}`,
    `en>zh ${englishToChinese.recallAt5.toFixed(3)}`,
  ].join(' ');
  return {
    name: `recall@5, ${name}`,
    value: all.recallAt5,
    unit: '',
    note: times === '' ? figures : `${figures}; ${times}`,
  };
}

function speedRows(skills: readonly BenchSkill[], queries: readonly string[]): readonly BenchRow[] {
  const count = skills.length.toLocaleString('en');
  const index = buildSearchIndex(skills);
  const bytes = index.toBytes();
  const build = measureTime(() => buildSearchIndex(skills), 5);
  const read = measureTime(() => readSearchIndex(bytes)?.search('first'), 5);
  const speed = measureSpeed(searcherOf(index), queries, 5);
  const many = Array.from({ length: Math.ceil(100_000 / skills.length) }, (_, round) =>
    skills.map((skill) => ({ ...skill, name: `${skill.name}-${String(round)}` })),
  ).flat();
  let crowded = index;
  const crowdedBuild = measureTime(() => {
    crowded = buildSearchIndex(many);
  }, 1);
  const crowdedSpeed = measureSpeed(searcherOf(crowded), queries, 3);
  return [
    { name: `build an index of ${count}`, value: build, unit: 'ms', bound: '< 1200', ok: build < 1200 },
    { name: `read an index of ${count} and ask it`, value: read, unit: 'ms', bound: '< 150', ok: read < 150 },
    { name: `bytes of an index of ${count}`, value: bytes.length / 2 ** 20, unit: 'MiB' },
    { name: `a query among ${count}, median`, value: speed.median, unit: 'ms' },
    { name: `a query among ${count}, 99th percentile`, value: speed.p99, unit: 'ms', bound: '< 3', ok: speed.p99 < 3 },
    {
      name: `build an index of ${many.length.toLocaleString('en')}`,
      value: crowdedBuild,
      unit: 'ms',
    },
    {
      name: `a query among ${many.length.toLocaleString('en')}, 99th percentile`,
      value: crowdedSpeed.p99,
      unit: 'ms',
      note: `median ${crowdedSpeed.median.toFixed(2)} ms`,
    },
  ];
}

function deepSpeedRows(documents: readonly SearchDocument[], queries: readonly string[]): readonly BenchRow[] {
  const count = documents.length.toLocaleString('en');
  const index = buildSearchIndex(documents);
  const bytes = index.toBytes();
  const speed = measureSpeed(searcherOf(index), queries, 3);
  return [
    {
      name: `build an index of ${count} with bodies`,
      value: measureTime(() => buildSearchIndex(documents), 3),
      unit: 'ms',
    },
    {
      name: `read an index of ${count} with bodies and ask it`,
      value: measureTime(() => readSearchIndex(bytes)?.search('first'), 5),
      unit: 'ms',
    },
    { name: `bytes of an index of ${count} with bodies`, value: bytes.length / 2 ** 20, unit: 'MiB' },
    {
      name: `a query among ${count} with bodies, 99th percentile`,
      value: speed.p99,
      unit: 'ms',
      note: `median ${speed.median.toFixed(2)} ms`,
    },
  ];
}
