import {
  isProblem,
  type Action,
  type ActionFailed,
  type ActionProblem,
  type ObjectSchema,
  type Observation,
  type Offer,
  type ToolRow,
} from '#core';
import type { ToolInput } from './parameters.ts';

export type ObservationOf<A extends Action['type']> = Extract<
  Exclude<Observation, ActionFailed>,
  { readonly action: A }
>;

export interface SingleAction<A extends Action['type']> {
  readonly name: string;
  readonly description: string;
  readonly action: A;
  schema(offer: Offer): ObjectSchema;
  toAction(input: ToolInput, offer: Offer): Extract<Action, { readonly type: A }> | ActionProblem;
  toResult(observation: ObservationOf<A>, offer: Offer): unknown;
  readonly isOffered?: (offer: Offer) => boolean;
}

/** A tool that performs exactly one action, as nearly all do. */
export function singleAction<A extends Action['type']>(row: SingleAction<A>): ToolRow {
  return {
    name: row.name,
    description: row.description,
    action: row.action,
    schema: (offer) => row.schema(offer),
    isOffered: row.isOffered ?? hasSkills,
    toActions(input, offer) {
      const action = row.toAction(input, offer);
      return isProblem(action) ? action : [action];
    },
    toResult(observations, offer) {
      return row.toResult(observed(observations[0], row.action), offer);
    },
  };
}

/** A tool about skills is offered only if there are skills. */
export function hasSkills(offer: Offer): boolean {
  return offer.skills.length > 0;
}

/** A tool for files of the project is offered only if the session opened it. */
export function hasHost(offer: Offer): boolean {
  return offer.host !== undefined;
}

/** A tool that runs programs is offered only if execution is enabled. */
export function canRun(offer: Offer): boolean {
  return offer.execution !== undefined && hasSkills(offer);
}

/** Returns the observation of the expected type. Any other type is a bug in the code that performs actions. */
export function observed<A extends Action['type']>(observation: Observation | undefined, action: A): ObservationOf<A> {
  if (observation !== undefined && isObservationOf(observation, action)) return observation;
  throw new TypeError(`${action} gave ${observation?.type ?? 'nothing'}`);
}

function isObservationOf<A extends Action['type']>(
  observation: Observation,
  action: A,
): observation is ObservationOf<A> {
  return observation.type !== 'failed' && observation.action === action;
}
