import { readFileSync } from 'node:fs';
import path from 'node:path';

import { chooseHints } from '../src/activation/hints/choose-hints.ts';
import { buildSearchIndex } from '../src/skills/search/search-index.ts';
import type { BenchRow } from './row.ts';
import { readRetrievalData, type RetrievalData } from './search-data.ts';

const COUNTS = [100, 400, 2000];
const PARTS = 8;

interface Shares {
  /** Labelled requests with the right skill among the hints. */
  readonly right: number;
  /** Labelled requests whose skills are not installed, and that get hints all the same. */
  readonly needless: number;
  /** General prompts without a hint. */
  readonly silent: number;
  /** General prompts with one skill alone. */
  readonly alone: number;
}

/** How often hints hold the right skill among real ones, and how often they keep silent. */
export function benchHints({ project, dataDir }: { readonly project: string; readonly dataDir: string | undefined }) {
  const data = readRetrievalData(dataDir);
  if (data === undefined)
    return [{ name: 'hints', value: Number.NaN, unit: '', note: 'needs the data folder' }] satisfies BenchRow[];
  const file = path.join(project, 'test/activation/hints/general-prompts.json');
  const prompts = JSON.parse(readFileSync(file, 'utf8')) as readonly string[];
  return [true, false].flatMap((withBodies) =>
    COUNTS.flatMap((count) => rowsOf(measure(data, prompts, { count, withBodies }), { count, withBodies })),
  );
}

interface Setting {
  readonly count: number;
  readonly withBodies: boolean;
}

function rowsOf({ right, needless, silent, alone }: Shares, { count, withBodies }: Setting): readonly BenchRow[] {
  const among = `among ${count.toLocaleString('en')}${withBodies ? ' with bodies' : ''}`;
  const isBound = withBodies && count === 400;
  const row = (name: string, share: number, bound?: { readonly text: string; readonly ok: boolean }): BenchRow => ({
    name: `${name}, ${among}`,
    value: 100 * share,
    unit: '%',
    ...(isBound && bound !== undefined ? { bound: bound.text, ok: bound.ok } : {}),
  });
  return [
    row('right skill hinted', right, { text: '>= 80', ok: right >= 0.8 }),
    row('hints although no skill fits', needless),
    row('silent on general prompts', silent, { text: '>= 95', ok: silent >= 0.95 }),
    row('one skill alone for a general prompt', alone, { text: '<= 2', ok: alone <= 0.02 }),
  ];
}

/** Each part of the queries has its own catalog: the skills of every second query, none of the others, and real ones around them. */
function measure(data: RetrievalData, prompts: readonly string[], { count, withBodies }: Setting): Shares {
  const sums = { right: 0, needy: 0, needless: 0, without: 0, silent: 0, alone: 0 };
  for (let part = 0; part < PARTS; part += 1) {
    const own = data.queries.filter((_, at) => at % PARTS === part);
    const needy = own.filter((_, at) => at % 2 === 0);
    const wanted = new Set(needy.flatMap(({ relevant }) => relevant));
    const without = own.filter(({ relevant }, at) => at % 2 === 1 && !relevant.some((id) => wanted.has(id)));
    const absent = new Set(without.flatMap(({ relevant }) => relevant));
    const others = data.skills
      .map((skill, at) => ({ skill, order: (at * 7919 + part * 131) % 2003 }))
      .filter(({ skill: { id } }) => !wanted.has(id) && !absent.has(id))
      .toSorted((left, right) => left.order - right.order)
      .map(({ skill }) => skill);
    const skills = [...data.skills.filter(({ id }) => wanted.has(id)), ...others]
      .slice(0, Math.max(count, wanted.size))
      .map((skill) => (withBodies ? { ...skill, body: data.bodies.get(skill.id) ?? '' } : skill));
    const index = buildSearchIndex(skills);
    const hinted = (request: string): readonly string[] =>
      chooseHints({ request, index }).flatMap(({ position }) => skills[position]?.id ?? []);
    for (const { query, relevant } of needy) if (hinted(query).some((id) => relevant.includes(id))) sums.right += 1;
    for (const { query } of without) if (hinted(query).length > 0) sums.needless += 1;
    for (const prompt of prompts) {
      const number = hinted(prompt).length;
      if (number === 0) sums.silent += 1;
      if (number === 1) sums.alone += 1;
    }
    sums.needy += needy.length;
    sums.without += without.length;
  }
  const asked = PARTS * prompts.length;
  return {
    right: sums.right / sums.needy,
    needless: sums.needless / sums.without,
    silent: sums.silent / asked,
    alone: sums.alone / asked,
  };
}
