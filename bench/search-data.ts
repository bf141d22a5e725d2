import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A skill of the collection. Names are not unique there; ids are. */
export interface BenchSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly lang?: string;
}

/** A query an author wrote, and the skills it is meant for. */
export interface BenchQuery {
  readonly query: string;
  readonly relevant: readonly string[];
  readonly lang: string;
  /** `owner/repository:file` of the author. */
  readonly source: string;
}

export interface RetrievalData {
  readonly skills: readonly BenchSkill[];
  readonly queries: readonly BenchQuery[];
  readonly negatives: readonly { readonly query: string; readonly not_skill: string }[];
  /** Ten thousand skills, the two thousand among them. */
  readonly crowd: readonly BenchSkill[];
  /** Bodies by id. */
  readonly bodies: ReadonlyMap<string, string>;
}

/** Reads the collection of real skills and queries, if it is there. */
export function readRetrievalData(dataDir: string | undefined): RetrievalData | undefined {
  const folder = path.join(dataDir ?? '', 'retrieval');
  if (dataDir === undefined || !existsSync(folder)) return undefined;
  const read = (name: string): string => {
    const bytes = readFileSync(path.join(folder, name));
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  };
  const skills = JSON.parse(read('skills.json')) as readonly BenchSkill[];
  const known = new Set(skills.map(({ id }) => id));
  const others = (JSON.parse(read('skills-10k.json.gz')) as readonly BenchSkill[]).filter(({ id }) => !known.has(id));
  const bodies = read('bodies.ndjson.gz')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly id: string; readonly body: string });
  return {
    skills,
    queries: JSON.parse(read('queries.json')) as readonly BenchQuery[],
    negatives: JSON.parse(read('negatives.json')) as RetrievalData['negatives'],
    crowd: [...skills, ...others].slice(0, 10_000),
    bodies: new Map(bodies.map(({ id, body }) => [id, body])),
  };
}

const VOCABULARY =
  `deploy kubernetes cluster helm chart review contract clause risk merge split pdf form field extract invoice
receipt total spreadsheet export query database index slow migration schema email campaign outreach reply sequence landing
page conversion pricing churn onboarding slides outline presentation image video subtitle transcript translate summary
report dashboard metric alert trace log incident test fuzz benchmark coverage lint format release changelog commit branch
数据库 合同 审查 报告 视频 字幕 翻译 小红书 笔记 测试 部署 设计`.split(/\s+/);

/** Made-up skills and queries for the figures of speed, where there is no collection. */
export function makeSearchData(count: number): {
  readonly skills: readonly BenchSkill[];
  readonly queries: readonly string[];
} {
  let seed = 1;
  const next = (limit: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % limit;
  };
  // A number behind some words makes the vocabulary grow with the catalog, as it does in real ones.
  const word = (): string => `${VOCABULARY[next(VOCABULARY.length)] ?? ''}${next(3) === 0 ? String(next(count)) : ''}`;
  const words = (length: number): string => Array.from({ length }, word).join(' ');
  return {
    skills: Array.from({ length: count }, (_, position) => ({
      id: String(position),
      name: `${words(2).replace(' ', '-')}-${String(position)}`,
      description: `${words(12)}. Use when ${words(8)}, ${words(3)} or ${words(3)}.`,
    })),
    queries: Array.from({ length: 500 }, () => words(2 + next(20))),
  };
}
