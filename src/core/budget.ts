/** What a run may use (AGT-4). Used amounts are counted from events, so that a resumed run goes on counting. */
export interface Budget {
  readonly turns: number;
  readonly toolCalls: number;
  readonly scriptRuns: number;
  /** Estimated tokens of one request. */
  readonly contextTokens: number;
  /** Of all requests and answers together. */
  readonly tokens: number;
  readonly wallMs: number;
}

export type BudgetName = keyof Budget;

export const DEFAULT_BUDGET: Budget = {
  turns: 12,
  toolCalls: 30,
  scriptRuns: 6,
  contextTokens: 100_000,
  tokens: 1_000_000,
  wallMs: 600_000,
};
