/** Between what a model wants and what a session does: the budget of calls, the limit of bodies, and why a skill came up. */
import type { Action } from '../core/action.ts';
import type { Budget, BudgetName } from '../core/budget.ts';
import { budgetText, startsProgram } from './count-budget.ts';
import { failure } from '../core/failure-codes.ts';
import type { ActivationReason } from '../core/run-events.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed, Observation } from '../core/observation.ts';
import { quoted } from '../core/text/text.ts';
import type { Run } from '../runtime/start-run.ts';
import { BODIES_A_TURN, loadedBy } from './selection.ts';
import type { AgentState } from './state.ts';

export interface GateParts {
  readonly run: Run;
  readonly limits: Budget;
  readonly state: () => AgentState;
  /** Ids of skills that were put before the model, and how. */
  readonly proposed: () => ReadonlyMap<string, ActivationReason>;
}

export interface Gate {
  /** A budget that an action met; the run ends with the turn. */
  readonly ended: BudgetName | undefined;
  startTurn(): void;
  perform(action: Action, options: { readonly signal?: AbortSignal }): Promise<Observation>;
}

export function openGate({ run, limits, state, proposed }: GateParts): Gate {
  const { session } = run;
  let bodies = 0;
  let ended: BudgetName | undefined;

  const overBudget = (action: Action): ActionFailed | undefined => {
    if (action.type === 'final_answer') return undefined;
    const { used } = state();
    const name = (['toolCalls', 'scriptRuns'] as const).find(
      (one) => used[one] >= limits[one] && (one === 'toolCalls' || startsProgram(action.type)),
    );
    if (name === undefined) return undefined;
    ended ??= name;
    return actionFailed(action.type, failure('run/ended', budgetText(name, used[name], limits[name])));
  };

  const tooManyBodies = (action: Action): ActionFailed | undefined => {
    const skill = loadedBy(action, session.index);
    const isLoaded = session.state.loaded.some((loaded) => loaded.skill.id === skill?.id);
    if (action.type !== 'load_skill' || isLoaded || bodies < BODIES_A_TURN) return undefined;
    const message = `${quoted(action.skill)} was not loaded: at most ${String(BODIES_A_TURN)} skills are loaded in one turn`;
    run.record({ type: 'note', message });
    return actionFailed(
      'load_skill',
      failure('load/too-many', message, {
        hint: 'use those that are loaded, and load it in the next turn if it is still needed',
      }),
    );
  };

  /** Among other skills it would be taken into this conversation, which its author does not want. */
  const belongsElsewhere = (action: Action): ActionFailed | undefined => {
    const skill = loadedBy(action, session.index);
    const isLoaded = session.state.loaded.some((loaded) => loaded.skill.id === skill?.id);
    if (skill?.controls.runMode !== 'subagent' || isLoaded) return undefined;
    const message = `${quoted(skill.name)} runs in a context of its own`;
    return actionFailed(
      'load_skill',
      failure('load/conflict', message, { hint: 'load it alone, by a call of its own' }),
    );
  };

  return {
    get ended() {
      return ended;
    },
    startTurn() {
      bodies = 0;
    },
    async perform(action, options) {
      const refused = overBudget(action) ?? belongsElsewhere(action) ?? tooManyBodies(action);
      if (refused !== undefined) return refused;
      const observation = await session.perform(action, options);
      if (observation.type === 'skill-loaded' && observation.status !== 'repeated') {
        bodies += 1;
        const { id } = observation.skill;
        run.record({ type: 'activation', skill: id, reason: proposed().get(id) ?? 'model' });
      }
      return observation;
    },
  };
}
