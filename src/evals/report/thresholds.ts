/** Thresholds of an evaluation, from flags, case files and the configuration. */
import type { FromSchema, THRESHOLDS_SCHEMA } from '#core';

export interface Thresholds {
  /** Minimum pass rate (default: 1). */
  readonly passRate?: number;
  /** Maximum number of errors (default: 0). */
  readonly errors?: number;
  /** Minimum of the trigger evaluation, if there is one. */
  readonly precision?: number;
  readonly recall?: number;
  /** Minimum difference of the first comparison. */
  readonly difference?: number;
  /** Maximum means of a run with the skill. They apply where a model was asked, and fail if its costs are not known for all cases. */
  readonly tokens?: number;
  readonly usd?: number;
  readonly seconds?: number;
}

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
