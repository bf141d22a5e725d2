export const DEFAULT_BUDGET = {
    turns: 12,
    toolCalls: 30,
    scriptRuns: 6,
    contextTokens: 100000,
    tokens: 1000000,
    wallMs: 600000,
};
