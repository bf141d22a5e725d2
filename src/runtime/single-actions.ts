import type { Action } from '../core/action.ts';
import type { SkillIndex } from '../registry/index-skills.ts';
import type { Observation } from '../core/observation.ts';
import type { AskedBy } from '../core/session.ts';
import { performAction } from './perform.ts';
import type { ActionContext } from './perform.ts';
import { actionBasis } from './start-session.ts';
import type { SessionSource, SessionSources } from './start-session.ts';

type SingleBasis = Omit<ActionContext, 'askedBy' | 'signal'>;

export type PerformSingle = (
  action: Action,
  options: { readonly askedBy: AskedBy; readonly signal: AbortSignal | undefined },
) => Promise<Observation>;

/** Actions that belong to no session: nothing remembers them. What they share is made once for a snapshot of skills. */
export function openSingleActions(sources: SessionSources, index: () => SkillIndex): PerformSingle {
  let known: { readonly of: SkillIndex; readonly basis: SingleBasis } | undefined;
  return (action, { askedBy, signal }) => {
    const now = index();
    if (known?.of !== now) known = { of: now, basis: basisOf(sources(now)) };
    return performAction(action, { ...known.basis, askedBy, signal });
  };
}

function basisOf(source: SessionSource): SingleBasis {
  return {
    ...actionBasis(source, {}),
    index: source.index,
    state: undefined,
    execution: undefined,
    host: undefined,
    journal: { isKept: false, nextCall: () => 1, record: () => undefined, flush: () => undefined },
  };
}
