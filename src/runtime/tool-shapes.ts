import { invalidInput, quoted } from '#core';
import type { SkillTool } from '#tools';

/**
 * The tools in the shapes of other libraries, without importing those. Lists and schemas are fresh mutable copies, because the types
 * of those libraries are not readonly.
 */

/** A JSON Schema of an object, as a plain value. */
export type ParameterSchema = {
  type: 'object';
  properties: Record<string, unknown>;
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

export type AiSdkTool = {
  description: string;
  inputSchema: AiSdkSchema;
  execute: (input: unknown, options?: { readonly abortSignal?: AbortSignal | undefined }) => Promise<unknown>;
};

const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

/**
 * A schema object that versions 5 to 7 of the AI SDK recognize: by its symbol, and in versions 6 and 7 also as a Standard Schema. It
 * accepts every input: the tool reports errors in its result, where the model can learn from them.
 */
export type AiSdkSchema = {
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
