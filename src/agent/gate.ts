/**
 * The gate between the model and the session: enforces the call budgets and the limit of loaded skills per turn, and records why a
 * skill was loaded.
 */
import {
  actionFailed,
  failure,
  quoted,
  type Action,
  type ActionFailed,
  type Budget,
  type Observation,
  type RunEvent,
  type OfType,
  startsProgram,
} from '#core';
import { budgetText } from './count-budget.ts';
import type { Run } from '#runtime';
import type { AgentOptions } from './agent-options.ts';
import { BODIES_A_TURN, loadedBy } from './selection.ts';
import type { AgentState } from './state.ts';

export interface GateParts {
  readonly run: Run;
  readonly refuse?: AgentOptions['refuse'];
  readonly loadsPerTurn?: number;
  readonly limits: () => Budget;
  readonly state: () => AgentState;
  /** Ids of the skills that were proposed to the model, with the reason. */
  readonly proposed: () => ReadonlyMap<string, OfType<RunEvent, 'activation'>['reason']>;
}

export interface Gate {
  /** The budget that an action exceeded; the run ends after the turn. */
  readonly ended: keyof Budget | undefined;
  startTurn(): void;
  perform(action: Action, options: { readonly signal?: AbortSignal; readonly tool?: string }): Promise<Observation>;
}

export function openGate({
  run,
  refuse,
  loadsPerTurn = BODIES_A_TURN,
  limits: currentLimits,
  state,
  proposed,
}: GateParts): Gate {
  const { session } = run;
  let bodies = 0;
  let ended: keyof Budget | undefined;

  const overBudget = (action: Action): ActionFailed | undefined => {
    if (action.type === 'final_answer') return undefined;
    const { used } = state();
    const limits = currentLimits();
    const name = (['toolCalls', 'scriptRuns'] as const).find(
      (one) => used[one] >= limits[one] && (one === 'toolCalls' || startsProgram(action)),
    );
    if (name === undefined) return undefined;
    ended ??= name;
    return actionFailed(action.type, failure('run/ended', budgetText(name, used[name], limits[name])));
  };

  const refusedByMode = (action: Action): ActionFailed | undefined => {
    const problem = refuse?.(action);
    if (problem === undefined) return undefined;
    run.record({ type: 'note', message: problem.message });
    return actionFailed(action.type, problem);
  };

  const tooManyBodies = (action: Action): ActionFailed | undefined => {
    const skill = loadedBy(action, session.index);
    const isLoaded = session.state.loaded.some((loaded) => loaded.skill.id === skill?.id);
    if (action.type !== 'load_skill' || isLoaded || bodies < loadsPerTurn) return undefined;
    const message = `${quoted(action.skill)} was not loaded: the limit is ${String(loadsPerTurn)} skills per turn`;
    run.record({ type: 'note', message });
    return actionFailed(
      'load_skill',
      failure('load/too-many', message, {
        hint: 'use the loaded skills, and load this one in the next turn if it is still needed',
      }),
    );
  };

  /** Loaded together with other skills, it would join this conversation instead of running as a subagent. */
  const belongsElsewhere = (action: Action): ActionFailed | undefined => {
    const skill = loadedBy(action, session.index);
    const isLoaded = session.state.loaded.some((loaded) => loaded.skill.id === skill?.id);
    if (skill?.controls.runMode !== 'subagent' || isLoaded) return undefined;
    const message = `${quoted(skill.name)} runs as a subagent`;
    return actionFailed('load_skill', failure('load/conflict', message, { hint: 'load it in a call of its own' }));
  };

  return {
    get ended() {
      return ended;
    },
    startTurn() {
      bodies = 0;
    },
    async perform(action, options) {
      const refused = overBudget(action) ?? refusedByMode(action) ?? belongsElsewhere(action) ?? tooManyBodies(action);
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
