/** `error`: the harness or the model broke; counted as neither passed nor failed. */
export const CASE_STATUSES = ['passed', 'failed', 'error', 'skipped'];
export const CHECK_KINDS = [
    'trigger',
    'sequence',
    'disclosure',
    'security',
    'budget',
    'output',
    'outcome',
    'streaming',
    'judge',
];
/** `with` the skill as it is; `without` it; `old`: the version that it is compared with. */
export const ARMS = ['with', 'without', 'old'];
/** How the model answered: never called live where it was not. */
export const MODEL_WAYS = ['scripted', 'rules', 'cassette', 'live'];
export const ZERO_COST = {
    turns: 0,
    toolCalls: 0,
    scriptRuns: 0,
    inputTokens: 0,
    outputTokens: 0,
    tokensAreEstimated: false,
    wallMs: 0,
};
/** The result of an attempt of which nothing is known yet: an error, until somebody has more to say. */
export function ungradedResult({ id, name, place, input, tags }, { arm, attempt, model }) {
    return {
        case: id,
        name,
        place,
        input,
        tags,
        arm,
        attempt,
        status: 'error',
        reason: '',
        checks: [],
        loaded: [],
        answer: '',
        cost: ZERO_COST,
        model,
        isCached: false,
    };
}
