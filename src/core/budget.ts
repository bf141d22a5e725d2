/** The limits of a run (AGT-4). Usage is counted from events, so a resumed run continues the count. */
export interface Budget {
  readonly turns: number;
  readonly toolCalls: number;
  readonly scriptRuns: number;
  /** Estimated tokens of one request. */
  readonly contextTokens: number;
  /** Tokens of all requests and answers. */
  readonly tokens: number;
  readonly wallMs: number;
}

export type BudgetName = keyof Budget;

export const BUDGET_NAMES: readonly BudgetName[] = [
  'turns',
  'toolCalls',
  'scriptRuns',
  'contextTokens',
  'tokens',
  'wallMs',
];

/** The budget of an agent that is given none. */
export const DEFAULT_BUDGET: Budget = {
  turns: 12,
  toolCalls: 30,
  scriptRuns: 6,
  contextTokens: 100_000,
  tokens: 1_000_000,
  wallMs: 600_000,
};
