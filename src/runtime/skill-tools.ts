import { actionFailed, nearest, printable, invalidInput, quoted } from '#core';
import { buildTools, whyNotOffered, type SkillTool, type ToolAnswer } from '#tools';
import type { Runtime } from './runtime.ts';
import type { Session } from './session.ts';

/** Skills for any agent: the tools of one vocabulary in every API format, and the text for the system prompt. */
export interface SkillTools {
  /** `{ name, description, inputSchema, execute }` */
  readonly tools: readonly SkillTool[];
  /** For the chat completions API. */
  readonly openai: readonly OpenAiTool[];
  /** For the responses API. */
  readonly openaiResponses: readonly OpenAiResponsesTool[];
  readonly anthropic: readonly AnthropicTool[];
  readonly aiSdk: AiSdkTools;
  /** Guidance and catalog; constant for the session. */
  readonly instructions: string;
  readonly session: Session;
  readonly runtime: Runtime;
  /** Answers a tool call by name, including unknown names; `input` is an object or JSON text. */
  readonly call: (name: string, input: unknown, options?: { readonly signal?: AbortSignal }) => Promise<ToolAnswer>;
}

/** The tools of an open session. `perform` may change actions and what is observed, `wordReason` why a tool is not offered. */
export function buildSkillTools(
  session: Session,
  runtime: Runtime,
  perform: Session['perform'] = (action, options) => session.perform(action, options),
  wordReason: (reason: string) => string = (reason) => reason,
): SkillTools {
  const { tools, find } = buildTools({
    vocabulary: session.vocabulary,
    offer: session.offer,
    perform,
    fail: (failed) => session.fail(failed),
  });
  const names = tools.map(({ name }) => name);
  return {
    tools,
    openai: toOpenAi(tools),
    openaiResponses: toOpenAiResponses(tools),
    anthropic: toAnthropic(tools),
    aiSdk: toAiSdk(tools),
    instructions: session.instructions,
    session,
    runtime,
    async call(name, input, callOptions) {
      const tool = find(name);
      if (tool !== undefined) return tool.call(input, callOptions);
      callOptions?.signal?.throwIfAborted();
      // Models invent tool names; the model gets an error and can continue.
      const reason = whyNotOffered(name, session.vocabulary, session.offer);
      const message =
        reason === undefined ? `there is no tool called ${JSON.stringify(printable(name))}` : wordReason(reason);
      const cause = {
        code: 'input/invalid',
        message,
        hint: names.length === 0 ? 'answer without tools' : `the tools are ${names.join(', ')}`,
        nearest: nearest(name, names),
      } as const;
      // The vocabulary needs an action type to word a failure.
      const failed = actionFailed('load_skill', cause);
      const value = session.vocabulary.toFailure(failed, { action: undefined, done: [], offer: session.offer });
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return { text, value, isError: true, isTerminal: failed.isTerminal, observations: [] };
    },
  };
}

/**
 * The tools in the shapes of other libraries, without importing those. Lists and schemas are fresh mutable copies, because the types
 * of those libraries are not readonly.
 */

/** A JSON Schema of an object, as a plain value. */
type ParameterSchema = {
  type: 'object';
  properties: Record<string, object>;
  required?: string[];
};

/** For the chat completions API. */
export type OpenAiTool = {
  type: 'function';
  function: { name: string; description: string; parameters: ParameterSchema };
};

/** For the responses API. Not `strict`, because that mode requires every parameter. */
export type OpenAiResponsesTool = {
  type: 'function';
  name: string;
  description: string;
  parameters: ParameterSchema;
  strict: false;
};

export type AnthropicTool = { name: string; description: string; input_schema: ParameterSchema };

export type AiSdkTools = Record<string, AiSdkTool>;

type AiSdkTool = {
  description: string;
  inputSchema: AiSdkSchema;
  execute: (input: unknown, options?: { readonly abortSignal?: AbortSignal | undefined }) => Promise<unknown>;
};

const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

/**
 * A schema object that versions 5 to 7 of the AI SDK recognize: by its symbol, and in versions 6 and 7 also as a Standard Schema. It
 * accepts every input: the tool reports errors in its result, where the model can learn from them.
 */
type AiSdkSchema = {
  readonly [AI_SDK_SCHEMA]: true;
  readonly jsonSchema: ParameterSchema;
  readonly validate: (value: unknown) => { success: true; value: unknown };
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'skillwright';
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
};

export function toOpenAi(tools: readonly SkillTool[]): OpenAiTool[] {
  return tools.map((tool) => ({
    type: 'function',
    function: { name: checkedName(tool), description: tool.description, parameters: toParameterSchema(tool) },
  }));
}

export function toOpenAiResponses(tools: readonly SkillTool[]): OpenAiResponsesTool[] {
  return tools.map((tool) => ({
    type: 'function',
    name: checkedName(tool),
    description: tool.description,
    parameters: toParameterSchema(tool),
    strict: false,
  }));
}

export function toAnthropic(tools: readonly SkillTool[]): AnthropicTool[] {
  return tools.map((tool) => ({
    name: checkedName(tool),
    description: tool.description,
    input_schema: toParameterSchema(tool),
  }));
}

export function toAiSdk(tools: readonly SkillTool[]): AiSdkTools {
  return Object.fromEntries(
    tools.map((tool) => [
      checkedName(tool),
      {
        description: tool.description,
        inputSchema: aiSdkSchema(toParameterSchema(tool)),
        execute: (input, { abortSignal } = {}) =>
          tool.execute(input, abortSignal === undefined ? {} : { signal: abortSignal }),
      } satisfies AiSdkTool,
    ]),
  );
}

function aiSdkSchema(schema: ParameterSchema): AiSdkSchema {
  return {
    [AI_SDK_SCHEMA]: true,
    jsonSchema: schema,
    validate: (value) => ({ success: true, value }),
    '~standard': {
      version: 1,
      vendor: 'skillwright',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}

function toParameterSchema({ inputSchema }: SkillTool): ParameterSchema {
  const { type, properties, required } = inputSchema;
  return {
    type,
    properties: structuredClone({ ...properties }),
    ...(required === undefined ? {} : { required: [...required] }),
  };
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Checks the name here, so that the author of a vocabulary sees which tool the services would reject. */
function checkedName({ name }: SkillTool): string {
  if (NAME.test(name)) return name;
  throw invalidInput(
    `the tool name ${quoted(name)} is not supported by model APIs`,
    NAME.source,
    'use 1 to 64 letters, digits, _ and -',
  );
}
