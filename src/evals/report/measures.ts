/** Measured costs of runs, and the prices that their money is computed with. */

/** In US dollars per million tokens. */
export interface ModelPrice {
  readonly model: string;
  readonly input: number;
  /** Input that the provider read from its cache, and input that it wrote there. */
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** When the price was read. */
  readonly date: string;
}

/** `cachedTokens` are part of `inputTokens`, which with `outputTokens` make `tokens`. */
export type CostName = 'tokens' | 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'usd' | 'wallMs';

/** A mean over cases, if one is known, with a 95 % interval from six cases on. */
export interface Measure {
  readonly mean?: number;
  readonly low?: number;
  readonly high?: number;
  /** Different cases whose value is known, of those in which it was to be measured. */
  readonly cases: number;
  readonly of: number;
}

/** The costs of one run. */
export type CostMeasures = Readonly<Record<CostName, Measure>>;

/** Means of both arms over the cases that are known in both, and the difference. */
export interface CostDifference {
  readonly of?: number;
  readonly against?: number;
  readonly difference: Measure;
}

export type CostDifferences = Readonly<Record<CostName, CostDifference>>;
