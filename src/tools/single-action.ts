import {
  isProblem,
  type Action,
  type ActionFailed,
  type ActionProblem,
  type FromSchema,
  type ObjectSchema,
  type Observation,
  type Offer,
  type ToolRow,
} from '#core';

export type ObservationOf<A extends Action['type']> = Extract<
  Exclude<Observation, ActionFailed>,
  { readonly action: A }
>;

interface TypedTool<S extends ObjectSchema> extends Omit<ToolRow, 'schema' | 'toActions'> {
  schema(offer: Offer): S;
  toActions(input: FromSchema<S>, offer: Offer): ReturnType<ToolRow['toActions']>;
}

/** A tool whose input has the type of its schema. */
export function defineTool<S extends ObjectSchema>(row: TypedTool<S>): ToolRow {
  // The input was checked against the schema before.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return row as unknown as ToolRow;
}

export interface SingleAction<A extends Action['type'], S extends ObjectSchema> {
  readonly name: string;
  readonly description: string;
  readonly action: A;
  schema(offer: Offer): S;
  toAction(input: FromSchema<S>, offer: Offer): Extract<Action, { readonly type: A }> | ActionProblem;
  toResult(observation: ObservationOf<A>, offer: Offer): unknown;
  readonly isOffered?: (offer: Offer) => boolean;
}

/** A tool that performs exactly one action, as nearly all do. */
export function singleAction<A extends Action['type'], S extends ObjectSchema>(row: SingleAction<A, S>): ToolRow {
  const { name, description, action, isOffered = hasSkills } = row;
  return defineTool<S>({
    name,
    description,
    action,
    isOffered,
    schema: (offer) => row.schema(offer),
    toActions(input, offer) {
      const meant = row.toAction(input, offer);
      return isProblem(meant) ? meant : [meant];
    },
    toResult: ([observation], offer) => row.toResult(observed(observation, action), offer),
  });
}

/** A tool about skills is offered only if there are skills, unless the session keeps its tools. */
export function hasSkills(offer: Offer): boolean {
  return offer.skills.length > 0 || offer.keepsTools === true;
}

/** A tool for files of the project is offered only if the session opened it. */
export function hasHost(offer: Offer): boolean {
  return offer.host !== undefined;
}

/** A shell needs no skill: it is offered if execution is enabled. */
export function hasExecution(offer: Offer): boolean {
  return offer.execution !== undefined;
}

/** For tools that a system registers whether or not there is a skill: they answer with an empty list, or that the skill is unknown. */
export function always(): boolean {
  return true;
}

/** A tool that runs programs of skills is offered only if execution is enabled. */
export function canRun(offer: Offer): boolean {
  return hasExecution(offer) && hasSkills(offer);
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
