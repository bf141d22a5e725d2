import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { estimateTokens } from '../src/core/tokens.ts';
import { importPeer } from './peers.ts';
import type { BenchRow } from './row.ts';

const PEER = 'gpt-tokenizer@4.0.0';

/** The error of the token estimate against a real tokenizer, over real names and descriptions. */
export async function benchTokens({
  dataDir,
  peersDir,
}: {
  readonly dataDir: string | undefined;
  readonly peersDir: string;
}): Promise<readonly BenchRow[]> {
  if (dataDir === undefined)
    return [{ name: 'token estimate', value: Number.NaN, unit: '', note: 'needs the data folder' }];
  const tokenizer = (await importPeer(peersDir, PEER, 'gpt-tokenizer/encoding/o200k_base')) as {
    encode(text: string): readonly number[];
  };
  const skills = JSON.parse(
    gunzipSync(readFileSync(path.join(dataDir, 'retrieval/skills-10k.json.gz'))).toString(),
  ) as readonly { name: string; description: string }[];
  const texts = skills.filter((_, place) => place % 5 === 0).map(({ name, description }) => `${name}: ${description}`);
  const counted = texts.map((text) => ({ real: tokenizer.encode(text).length, ours: estimateTokens(text) }));
  const errors = counted.map(({ real, ours }) => Math.abs(ours - real) / real).toSorted((a, b) => a - b);
  const total = (pick: (count: { real: number; ours: number }) => number): number =>
    counted.reduce((sum, count) => sum + pick(count), 0);
  const at = (share: number): number => errors[Math.floor((errors.length - 1) * share)] ?? Number.NaN;
  return [
    {
      name: 'token estimate, median error against o200k',
      value: at(0.5) * 100,
      unit: '%',
      note: `${String(texts.length)} real descriptions`,
    },
    { name: 'token estimate, 95th percentile', value: at(0.95) * 100, unit: '%' },
    {
      name: 'token estimate, sum over real sum',
      value: total(({ ours }) => ours) / total(({ real }) => real),
      unit: 'x',
      note: 'above 1: careful',
    },
  ];
}
