/** What a run has used, counted from its events and from nothing else: a run that goes on in another process goes on counting. */
import { DEFAULT_BUDGET } from '../core/budget.ts';
import type { Budget, BudgetName } from '../core/budget.ts';
import type { ActionType } from '../core/action.ts';
import { SkillError } from '../core/errors.ts';
import type { RunEvent } from '../core/run-events.ts';

export const NOTHING_USED: Budget = {
  turns: 0,
  toolCalls: 0,
  scriptRuns: 0,
  contextTokens: 0,
  tokens: 0,
  wallMs: 0,
};

/** Actions that start a program. */
const STARTS: ReadonlySet<ActionType> = new Set(['run_script', 'run_command', 'start_command']);

export function startsProgram(action: ActionType): boolean {
  return STARTS.has(action);
}

/**
 * What is used after an event that came `elapsedMs` after the start. `contextTokens` is the largest request so far. Field by field: every
 * event of a run comes by here, and to spread an object with fractions in it takes ten times as long.
 */
export function countEvent(used: Budget, event: RunEvent, elapsedMs: number): Budget {
  const { turns, toolCalls, scriptRuns, contextTokens, tokens } = used;
  const wallMs = elapsedMs > used.wallMs ? elapsedMs : used.wallMs;
  switch (event.type) {
    case 'turn':
      return { turns: turns + 1, toolCalls, scriptRuns, contextTokens, tokens, wallMs };
    case 'action': {
      const { askedBy, action } = event;
      const isCounted = askedBy === 'model' && action.type !== 'final_answer';
      const calls = toolCalls + (isCounted ? 1 : 0);
      const runs = scriptRuns + (isCounted && startsProgram(action.type) ? 1 : 0);
      return { turns, toolCalls: calls, scriptRuns: runs, contextTokens, tokens, wallMs };
    }
    case 'model-call': {
      // Counted as asked for, so that a request whose answer never came has its price as well.
      const largest = Math.max(contextTokens, event.tokens);
      return { turns, toolCalls, scriptRuns, contextTokens: largest, tokens: tokens + event.tokens, wallMs };
    }
    case 'model-answer': {
      const { outputTokens = 0 } = event.usage;
      return { turns, toolCalls, scriptRuns, contextTokens, tokens: tokens + outputTokens, wallMs };
    }
    case 'subagent-end':
      return withPart({ turns, toolCalls, scriptRuns, contextTokens, tokens, wallMs }, event.used ?? NOTHING_USED);
    default:
      return { turns, toolCalls, scriptRuns, contextTokens, tokens, wallMs };
  }
}

/** What a part of the run used is used; its turns are its own, since it has a conversation of its own. */
function withPart(used: Budget, part: Budget): Budget {
  return {
    ...used,
    toolCalls: used.toolCalls + part.toolCalls,
    scriptRuns: used.scriptRuns + part.scriptRuns,
    tokens: used.tokens + part.tokens,
  };
}

/** What is left for a part of the run: never more than the whole has. Its context is its own. */
export function budgetLeft(used: Budget, limits: Budget): Budget {
  const left = (name: BudgetName): number => Math.max(0, limits[name] - used[name]);
  return {
    turns: left('turns'),
    toolCalls: left('toolCalls'),
    scriptRuns: left('scriptRuns'),
    contextTokens: limits.contextTokens,
    tokens: left('tokens'),
    wallMs: left('wallMs'),
  };
}

/** The budget that stops the next turn, if one does. Calls and scripts stop only what would use them. */
export function endedBudget(used: Budget, limits: Budget): BudgetName | undefined {
  return (['turns', 'tokens', 'wallMs'] as const).find((name) => used[name] >= limits[name]);
}

export const BUDGET_NAMES: readonly BudgetName[] = [
  'turns',
  'toolCalls',
  'scriptRuns',
  'contextTokens',
  'tokens',
  'wallMs',
];

const BUDGET_WORDS: Readonly<Record<BudgetName, string>> = {
  turns: 'turns',
  toolCalls: 'tool calls',
  scriptRuns: 'script runs',
  contextTokens: 'tokens of one request',
  tokens: 'tokens',
  wallMs: 'milliseconds',
};

export function budgetText(name: BudgetName, used: number, limit: number): string {
  return `the budget of ${BUDGET_WORDS[name]} is used up (${String(Math.round(used))} of ${String(limit)})`;
}

/** A whole budget; what is not given is the default. Throws for what is no amount. */
export function wholeBudget(given: Partial<Budget> = {}): Budget {
  for (const name of BUDGET_NAMES) {
    const amount = given[name];
    if (amount === undefined || (Number.isFinite(amount) && amount >= 0)) continue;
    throw new SkillError({
      code: 'input/invalid',
      message: `the budget ${name} must be a number that is not negative`,
      hint: `the default is ${String(DEFAULT_BUDGET[name])}`,
      data: { expected: 'a number from 0' },
    });
  }
  return { ...DEFAULT_BUDGET, ...given };
}
