/** Counts what happened to each skill. Keeps names, numbers and hashes, and no text. */
import { defined } from '#core';
import type { Tokens } from '../agents/transcript.ts';
import type { ModelUsage, UserRequest } from './read-requests.ts';
import type { Judgement } from './judge-request.ts';

export interface SkillUsage {
  readonly name: string;
  /** How often a model loaded it. */
  readonly fired: number;
  /** How often the user started it with a command. */
  readonly started: number;
  readonly hinted: number;
  /** Hinted for a request that did not load it. */
  readonly hintIgnored: number;
  /** Requests that clearly needed it and did not load it. */
  readonly missed: number;
  /** Loads for requests that have no word in common with it. */
  readonly unrelated: number;
  /** Of the requests that loaded it, whole. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** Absent if a model without a price took part. */
  readonly usd?: number;
  /** ISO 8601. */
  readonly lastUsed?: string;
  readonly agents: Readonly<Record<string, number>>;
  /** Of the text that was loaded; most frequent first. */
  readonly versions: readonly { readonly digest: string; readonly loads: number; readonly isInstalled: boolean }[];
}

/** Money of tokens; undefined for a model without a known price. */
export type PriceTokens = (model: string, tokens: Tokens) => number | undefined;

interface Row {
  fired: number;
  started: number;
  hinted: number;
  hintIgnored: number;
  missed: number;
  unrelated: number;
  input: number;
  output: number;
  usd: number | undefined;
  last: number;
  readonly agents: Map<string, number>;
  readonly versions: Map<string, number>;
}

export function openTally(price: PriceTokens) {
  const rows = new Map<string, Row>();
  const row = (name: string): Row => {
    const found = rows.get(name) ?? {
      fired: 0,
      started: 0,
      hinted: 0,
      hintIgnored: 0,
      missed: 0,
      unrelated: 0,
      input: 0,
      output: 0,
      usd: 0,
      last: Number.NaN,
      agents: new Map<string, number>(),
      versions: new Map<string, number>(),
    };
    rows.set(name, found);
    return found;
  };
  return {
    add(request: UserRequest, hints: ReadonlySet<string>, judgement: Judgement | undefined): void {
      const loaded = new Set(request.loads.map(({ skill }) => skill));
      for (const { skill, byUser, digest } of request.loads) {
        const one = row(skill);
        if (byUser) one.started += 1;
        else one.fired += 1;
        one.agents.set(request.agent, (one.agents.get(request.agent) ?? 0) + 1);
        if (digest !== undefined) one.versions.set(digest, (one.versions.get(digest) ?? 0) + 1);
        if (!byUser && judgement?.isUnrelated(skill) === true) one.unrelated += 1;
      }
      const usd = sumMoney(request.usage, price);
      for (const skill of loaded) {
        const one = row(skill);
        for (const { input, output } of request.usage)
          [one.input, one.output] = [one.input + input, one.output + output];
        one.usd = one.usd === undefined || usd === undefined ? undefined : one.usd + usd;
        if (!(request.at <= one.last) && !Number.isNaN(request.at)) one.last = request.at;
      }
      for (const skill of hints) {
        const one = row(skill);
        one.hinted += 1;
        if (!loaded.has(skill)) one.hintIgnored += 1;
      }
      if (judgement?.needed !== undefined && !loaded.has(judgement.needed)) row(judgement.needed).missed += 1;
    },
    /** Most used first. */
    skills(installed: ReadonlyMap<string, ReadonlySet<string>>): readonly SkillUsage[] {
      return [...rows]
        .map(([name, { input, output, usd, last, agents, versions, ...counts }]): SkillUsage => {
          const isUsed = counts.fired + counts.started > 0;
          return {
            name,
            ...counts,
            tokens: { input, output },
            ...defined({
              usd: isUsed ? usd : undefined,
              lastUsed: Number.isNaN(last) ? undefined : new Date(last).toISOString(),
            }),
            agents: Object.fromEntries(agents),
            versions: [...versions]
              .toSorted(([, a], [, b]) => b - a)
              .map(([digest, loads]) => ({ digest, loads, isInstalled: installed.get(name)?.has(digest) === true })),
          };
        })
        .toSorted(
          (a, b) => b.fired - a.fired || b.started - a.started || b.missed - a.missed || (a.name < b.name ? -1 : 1),
        );
    },
  };
}

function sumMoney(usage: readonly ModelUsage[], price: PriceTokens): number | undefined {
  let sum = 0;
  for (const { model = '', usd, ...tokens } of usage) {
    const money = usd ?? price(model, tokens);
    if (money === undefined) return undefined;
    sum += money;
  }
  return usage.length === 0 ? undefined : sum;
}
