/** Thresholds of an evaluation, from flags, case files and the configuration. */
import type { FromSchema, THRESHOLDS_SCHEMA } from '#core';
import type { Thresholds } from './report.ts';

/** As a case file and the configuration write them. */
export type WrittenThresholds = FromSchema<typeof THRESHOLDS_SCHEMA>;

/** A key of a later layer replaces that of an earlier one. */
export function readThresholds(...layers: readonly (WrittenThresholds | undefined)[]): Thresholds {
  const all: WrittenThresholds = Object.fromEntries(layers.flatMap((layer) => Object.entries(layer ?? {})));
  const { pass_rate: passRate, ...rest } = all;
  return { ...rest, passRate };
}

/** The strictest of several case files that run together. */
export function joinThresholds(all: readonly WrittenThresholds[]): WrittenThresholds {
  const joined: Record<string, number> = {};
  for (const [key, value] of all.flatMap((one) => Object.entries(one))) {
    const before = joined[key] ?? value;
    joined[key] = MOST.has(key) ? Math.min(before, value) : Math.max(before, value);
  }
  return joined;
}

/** Keys whose value is a maximum; the others are minimums. */
const MOST: ReadonlySet<string> = new Set(['errors', 'tokens', 'usd', 'seconds']);
