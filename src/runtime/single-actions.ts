import type { Action } from '../core/action.ts';
import type { SkillIndex } from '../core/index-skills.ts';
import type { Observation } from '../core/observation.ts';
import type { AskedBy } from '../core/session.ts';
import { performAction } from './perform.ts';
import type { ActionContext } from './perform.ts';
import { actionBasis, sessionSource } from './start-session.ts';
import type { SessionSourceParts } from './start-session.ts';

type SingleBasis = Omit<ActionContext, 'askedBy' | 'signal'>;

export type PerformSingle = (
  action: Action,
  options: { readonly askedBy: AskedBy; readonly signal: AbortSignal | undefined },
) => Promise<Observation>;

/** Actions that belong to no session: nothing remembers them. What they share is made once for a snapshot of skills. */
export function openSingleActions(parts: () => SessionSourceParts): PerformSingle {
  let known: { readonly of: SkillIndex; readonly basis: SingleBasis } | undefined;
  return (action, { askedBy, signal }) => {
    const now = parts();
    if (known?.of !== now.index) known = { of: now.index, basis: basisOf(now) };
    return performAction(action, { ...known.basis, askedBy, signal });
  };
}

function basisOf(parts: SessionSourceParts): SingleBasis {
  const source = sessionSource(parts);
  return {
    ...actionBasis(source, {}),
    index: source.index,
    state: undefined,
    execution: undefined,
    host: undefined,
    journal: { isKept: false, nextCall: () => 1, record: () => undefined, flush: () => undefined },
  };
}
