import {
  isProblem,
  actionFailed,
  briefSchema,
  isObject,
  publishedSchema,
  quoted,
  type Action,
  type ActionFailed,
  type ActionProblem,
  type ObjectSchema,
  type Observation,
  type Offer,
  type ToolRow,
  type Vocabulary,
  type ServerTool,
  withToolName,
} from '#core';
import { readInput, readObject } from './read-input.ts';
import { withNotes } from './wording.ts';

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** A tool for any agent loop: plain JSON Schema and a function. */
export interface SkillTool {
  readonly name: string;
  readonly description: string;
  /** What a model is sent: see `briefSchema`. */
  readonly inputSchema: ObjectSchema;
  /** Every parameter with its description, bounds and default. */
  readonly parameters: ObjectSchema;
  /** Returns the result in the documented form: a string or a JSON value. Failures are results, too. */
  execute(input: unknown, options?: CallOptions): Promise<unknown>;
  /** The same, with all details for an agent loop. */
  call(input: unknown, options?: CallOptions): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  /** The content of a tool message: strings as they are, other values as JSON; with a note about unknown parameters unless it is a list. */
  readonly text: string;
  readonly value: unknown;
  readonly isError: boolean;
  /** The same failure occurred three times or more since the action last succeeded, or six inputs were wrong: the model should answer without tools. */
  readonly isTerminal: boolean;
  readonly observations: readonly Observation[];
  /** Why there are no skills to answer with; absent if there are. */
  readonly emptyReason?: string;
}

export interface ToolsOptions {
  readonly vocabulary: Vocabulary;
  readonly offer: Offer;
  readonly perform: (action: Action, options: CallOptions & { readonly tool: string }) => Promise<Observation>;
  /** Counts a call that was rejected before it became an action, so that such calls also end a run without progress. */
  readonly fail?: (failed: ActionFailed) => ActionFailed;
}

/** The tools of a vocabulary that are usable with the offered features. */
export interface OfferedTools {
  readonly tools: readonly SkillTool[];
  /**
   * The tool that a call names. Also finds a tool of an MCP server that a rule denies: it is not offered, but a call of it reaches the
   * policy, so that it is denied and recorded.
   */
  readonly find: (name: string) => SkillTool | undefined;
}

export function buildTools(options: ToolsOptions): OfferedTools {
  const { vocabulary, offer } = options;
  const tools = vocabulary.tools.filter((row) => row.isOffered(offer)).map((row) => toTool(row, options));
  return {
    tools,
    find: (name) => {
      const denied = vocabulary.tools.find((row) => row.name === name && row.action === 'call_mcp_tool');
      return tools.find((tool) => tool.name === name) ?? (denied === undefined ? undefined : toTool(denied, options));
    },
  };
}

/** Explains a call of a tool that the vocabulary has and that the session does not offer; undefined for any other name. */
export function whyNotOffered(name: string, vocabulary: Vocabulary, offer: Offer): string | undefined {
  const row = vocabulary.tools.find((tool) => tool.name === name);
  if (row === undefined || row.isOffered(offer)) return undefined;
  if (offer.skills.length === 0 && !row.isOffered({ ...offer, execution: { hasInteraction: true } })) {
    const why = offer.emptyReason === undefined ? '' : ` (${offer.emptyReason})`;
    return `${name} is not available: there are no skills${why}`;
  }
  if (row.action === 'get_script_path')
    return `${name} is not available: programs see a copy of the skill, so run the script with the tool that runs programs`;
  return row.isOffered({ ...offer, execution: { hasInteraction: true } })
    ? `${name} is not available: the executor is not configured (pass \`execution\` or --executor)`
    : `${name} is not available: project files are disabled (pass \`host\`)`;
}

function toTool(row: ToolRow, options: ToolsOptions): SkillTool {
  const { name, description, foreignSchema } = row;
  const schema = row.schema(options.offer);
  const call: SkillTool['call'] = async (input, { signal } = {}) =>
    toAnswer(row, await run(row, schema, input, options, signal), options);
  return {
    name,
    description,
    inputSchema: foreignSchema === undefined ? briefSchema(schema) : asOwn(foreignSchema),
    parameters: foreignSchema === undefined ? publishedSchema(schema) : asOwn(foreignSchema),
    call,
    execute: async (input, callOptions) => (await call(input, callOptions)).value,
  };
}

/** The same JSON. Readers of a schema skip what is not in our subset. */
function asOwn(schema: ServerTool['inputSchema']): ObjectSchema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return schema as unknown as ObjectSchema;
}

interface Outcome {
  readonly done: readonly Observation[];
  readonly failed?: ActionFailed;
  readonly action?: Action;
  readonly ignored?: readonly string[];
}

/** Performs the actions of one call in order and stops at the first failure. */
async function run(
  row: ToolRow,
  schema: ObjectSchema,
  input: unknown,
  { offer, perform, fail }: ToolsOptions,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const refuse = (cause: ActionProblem): Outcome => {
    const failed = actionFailed(row.action, cause);
    return { done: [], failed: fail?.(failed) ?? failed };
  };
  const reading = row.foreignSchema === undefined ? readInput(schema, input) : readObject(input);
  if (reading.type === 'refused') return refuse(reading.failure);
  const actions = row.toActions(reading.input, offer);
  if (isProblem(actions)) return refuse(actions);
  const done: Observation[] = [];
  for (const action of actions) {
    signal?.throwIfAborted();
    const observation = await perform(action, { tool: row.name, ...(signal === undefined ? {} : { signal }) });
    if (observation.type === 'failed') return { done, failed: observation, action, ignored: reading.ignored };
    done.push(observation);
  }
  return { done, ignored: reading.ignored };
}

function toAnswer(
  row: ToolRow,
  { done, failed, action, ignored = [] }: Outcome,
  { vocabulary, offer }: ToolsOptions,
): ToolAnswer {
  const value =
    failed === undefined
      ? row.toResult(done, offer)
      : vocabulary.toFailure(withToolName(row.name, failed), { action, done, offer });
  const shown = withIgnored(value, ignored);
  return {
    text: typeof shown === 'string' ? shown : JSON.stringify(shown ?? null),
    value,
    isError: failed !== undefined,
    isTerminal: failed?.isTerminal ?? false,
    observations: failed === undefined ? done : [...done, failed],
    emptyReason: offer.emptyReason,
  };
}

/** Adds a note about unknown parameters to what a model is shown, where it has a place for it: at the end of a text, or as a key of an object. */
function withIgnored(value: unknown, ignored: readonly string[]): unknown {
  if (ignored.length === 0) return value;
  const note = `ignored unknown parameters: ${ignored.map((name) => quoted(name)).join(', ')}`;
  if (typeof value === 'string') return withNotes(value, [note]);
  return isObject(value) && !Object.hasOwn(value, 'note') ? { ...value, note } : value;
}
