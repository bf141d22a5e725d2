/** Counts the usage of a run from its events alone, so that a resumed run continues to count. */
import {
  BUDGET_NAMES,
  DEFAULT_BUDGET,
  invalidInput,
  nearest,
  quoted,
  type ActionProblem,
  type Budget,
  type RunEvent,
  startsProgram,
} from '#core';

export const NOTHING_USED: Budget = {
  turns: 0,
  toolCalls: 0,
  scriptRuns: 0,
  contextTokens: 0,
  tokens: 0,
  wallMs: 0,
};

/** Failures after which a program may have run. */
const MAY_HAVE_RUN: ReadonlySet<ActionProblem['code']> = new Set(['execution/failed', 'run/interrupted']);

/** Returns the usage after an event that was recorded `elapsedMs` after the start. `contextTokens` is the largest request so far. */
export function countEvent(before: Budget, event: RunEvent, elapsedMs: number): Budget {
  const used = elapsedMs > before.wallMs ? { ...before, wallMs: elapsedMs } : before;
  switch (event.type) {
    case 'turn':
      return { ...used, turns: used.turns + 1 };
    case 'action': {
      const { askedBy, action } = event;
      if (askedBy !== 'model' || action.type === 'final_answer') return used;
      const scriptRuns = used.scriptRuns + (startsProgram(action) ? 1 : 0);
      return { ...used, toolCalls: used.toolCalls + 1, scriptRuns };
    }
    case 'observation': {
      // A program that was refused, or whose script does not exist, did not run.
      const { observation } = event;
      const didNotRun = observation.type === 'failed' && !MAY_HAVE_RUN.has(observation.code);
      if (!didNotRun || !startsProgram({ type: observation.action })) return used;
      return { ...used, scriptRuns: Math.max(0, used.scriptRuns - 1) };
    }
    case 'call-invalid':
    case 'subject-call':
      return { ...used, toolCalls: used.toolCalls + 1 };
    case 'model-call': {
      // Counted when the request is sent, because a request without an answer costs tokens as well.
      const contextTokens = Math.max(used.contextTokens, event.tokens);
      return { ...used, contextTokens, tokens: used.tokens + event.tokens };
    }
    case 'model-answer':
      return { ...used, tokens: used.tokens + (event.usage.outputTokens ?? 0) };
    case 'subagent-end':
      return withPart(used, event.used ?? NOTHING_USED);
    default:
      return used;
  }
}

/** The usage of a record, whose lines have their milliseconds since the start. */
export function countUsage(lines: Iterable<{ readonly event: RunEvent; readonly elapsed: number }>): Budget {
  let used = NOTHING_USED;
  for (const { event, elapsed } of lines) used = countEvent(used, event, elapsed);
  return used;
}

/** Adds the usage of a subagent. Its turns do not count, because they belong to its own conversation. */
function withPart(used: Budget, part: Budget): Budget {
  return {
    ...used,
    toolCalls: used.toolCalls + part.toolCalls,
    scriptRuns: used.scriptRuns + part.scriptRuns,
    tokens: used.tokens + part.tokens,
  };
}

/** Changes each amount but the size of one request, which does not add up. */
export function mapBudget(budget: Budget, change: (amount: number, name: keyof Budget) => number): Budget {
  const names = BUDGET_NAMES.filter((name) => name !== 'contextTokens');
  return { ...budget, ...Object.fromEntries(names.map((name) => [name, change(budget[name], name)])) };
}

/** The remaining budget for a subagent. */
export function budgetLeft(used: Budget, limits: Budget): Budget {
  return mapBudget(limits, (limit, name) => Math.max(0, limit - used[name]));
}

/** Returns the budget that prevents the next turn. Tool calls and script runs only prevent actions that use them. */
export function endedBudget(used: Budget, limits: Budget): keyof Budget | undefined {
  return (['turns', 'tokens', 'wallMs'] as const).find((name) => used[name] >= limits[name]);
}

const BUDGET_WORDS: Readonly<Record<Exclude<keyof Budget, 'wallMs'>, string>> = {
  turns: 'turns',
  toolCalls: 'tool calls',
  scriptRuns: 'script runs',
  contextTokens: 'tokens of one request',
  tokens: 'tokens',
};

export function budgetText(name: keyof Budget, used: number, limit: number): string {
  if (name === 'wallMs') return `the run exceeded its time limit of ${String(limit)} ms`;
  return `the budget of ${BUDGET_WORDS[name]} is exhausted (${String(Math.round(used))} of ${String(limit)})`;
}

/** Completes a budget with the defaults. Throws `input/invalid` for an invalid amount. */
export function wholeBudget(limits: Partial<Budget> = {}): Budget {
  // A misspelled limit would not limit anything.
  const unknown = Object.keys(limits).find((name) => !BUDGET_NAMES.some((known) => known === name));
  if (unknown !== undefined)
    throw invalidInput(
      `there is no budget ${quoted(unknown)}`,
      BUDGET_NAMES.join(', '),
      `did you mean ${nearest(unknown, BUDGET_NAMES)[0] ?? BUDGET_NAMES.join(', ')}?`,
    );
  for (const name of BUDGET_NAMES) {
    const amount = limits[name];
    if (amount === undefined || (Number.isFinite(amount) && amount >= 0)) continue;
    throw invalidInput(
      `the budget ${name} is ${String(amount)}; expected a number of at least 0`,
      'a number of at least 0',
      `the default is ${String(DEFAULT_BUDGET[name])}`,
    );
  }
  return { ...DEFAULT_BUDGET, ...limits };
}
