import type { Action } from '../core/action.ts';
import type { Failure } from '../core/failure-codes.ts';
import { publishedSchema } from '../core/json/json-schema.ts';
import type { ObjectSchema } from '../core/json/json-schema.ts';
import { actionFailed, isFailed } from '../core/observation.ts';
import type { ActionFailed, Observation } from '../core/observation.ts';
import type { Offer, ToolRow, Vocabulary } from '../core/tool.ts';
import { isFailure } from './parameters.ts';
import { readInput } from './read-input.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** A tool as anybody's loop can use it: plain JSON Schema and a function. */
export interface SkillTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** The result as the system documents it: text, or a JSON value. What goes wrong is a result too. */
  execute(input: unknown, options?: CallOptions): Promise<unknown>;
  /** The same, with all that a loop may want to know. */
  call(input: unknown, options?: CallOptions): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  /** What goes into a tool message: text as it is, other values as JSON. */
  readonly text: string;
  readonly value: unknown;
  readonly isError: boolean;
  /** One kind of failure came too often: no tool will work any more, and the model must answer. */
  readonly isTerminal: boolean;
  readonly observations: readonly Observation[];
}

export interface ToolsOptions {
  readonly vocabulary: Vocabulary;
  readonly offer: Offer;
  readonly perform: (action: Action, options: CallOptions) => Promise<Observation>;
  /** Counts a call that was refused before it was an action, so that such calls, too, end a run that gets nowhere. */
  readonly fail?: (failed: ActionFailed) => ActionFailed;
}

/** The tools of a vocabulary that can work on what is offered. */
export function toolsOf(options: ToolsOptions): readonly SkillTool[] {
  const { vocabulary, offer } = options;
  return vocabulary.tools.filter((row) => row.isOffered(offer)).map((row) => toTool(row, options));
}

function toTool(row: ToolRow, options: ToolsOptions): SkillTool {
  const { name, description } = row;
  const schema = row.schema(options.offer);
  const call: SkillTool['call'] = async (input, { signal } = {}) =>
    answerOf(row, await run(row, schema, input, options, signal), options);
  return {
    name,
    description,
    inputSchema: publishedSchema(schema),
    call,
    execute: async (input, callOptions) => (await call(input, callOptions)).value,
  };
}

interface Outcome {
  readonly done: readonly Observation[];
  readonly failed?: ActionFailed;
  /** The one that failed. */
  readonly action?: Action;
}

/** The actions of one call in order; the first failure stops. */
async function run(
  row: ToolRow,
  schema: ObjectSchema,
  input: unknown,
  { offer, perform, fail }: ToolsOptions,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const refuse = (cause: Failure): Outcome => {
    const failed = actionFailed(row.action, cause);
    return { done: [], failed: fail?.(failed) ?? failed };
  };
  const reading = readInput(schema, input);
  if (reading.type === 'refused') return refuse(reading.failure);
  const actions = row.toActions(reading.input, offer);
  if (isFailure(actions)) return refuse(actions);
  const done: Observation[] = [];
  for (const action of actions) {
    signal?.throwIfAborted();
    const observation = await perform(action, signal === undefined ? {} : { signal });
    if (isFailed(observation)) return { done, failed: observation, action };
    done.push(observation);
  }
  return { done };
}

function answerOf(row: ToolRow, { done, failed, action }: Outcome, { vocabulary, offer }: ToolsOptions): ToolAnswer {
  const value =
    failed === undefined ? row.toResult(done, offer) : vocabulary.toFailure(failed, { action, done, offer });
  return {
    text: typeof value === 'string' ? value : JSON.stringify(value ?? null),
    value,
    isError: failed !== undefined,
    isTerminal: failed?.isTerminal ?? false,
    observations: failed === undefined ? done : [...done, failed],
  };
}
