/**
 * The tools of a conversation in the shapes of other libraries, without importing those. Lists and schemas are fresh mutable copies, because
 * the types of those libraries are not readonly.
 */
import { defined, isObject, SkillError } from '#core';
import type { SkillTools } from '#runtime';

type Json = { type: 'object'; properties: Record<string, object>; required?: string[] };

/** A call of a tool in an answer of the chat completions API. */
interface OpenAiCall {
  readonly id: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

/** An item of an answer, whose other members differ by vendor and version. Its name keeps them from being checked like options. */
interface AnswerItem {
  readonly type: string;
}

/** For the chat completions API, and for `runTools` of its client, which calls `function`. */
export type OpenAiRunnable = {
  type: 'function';
  function: {
    name: string;
    description: string;
    parameters: Json;
    function: (input: string) => Promise<string>;
  };
};

/** For the messages API, and for the tool runner of its client, which calls `run`. */
export type AnthropicRunnable = {
  name: string;
  description: string;
  input_schema: Json;
  parse: (input: unknown) => unknown;
  run: (input: unknown) => Promise<string>;
};

/** A function tool of the OpenAI Agents SDK. */
export type AgentsTool = {
  type: 'function';
  name: string;
  description: string;
  parameters: Json & { required: string[]; additionalProperties: true };
  strict: false;
  deferLoading: false;
  invoke: (context: unknown, input: string, details?: { readonly signal?: AbortSignal }) => Promise<string>;
  needsApproval: () => Promise<false>;
  isEnabled: () => Promise<true>;
};

/** What the function `tool` of LangChain takes beside the function that runs it. */
type LangChainFields = { name: string; description: string; schema: Json };

/** What the class `FunctionTool` of the Agent Development Kit takes; its schemas have types that others cannot name. */
// oxlint-disable-next-line typescript/no-explicit-any
type AdkFields = { name: string; description: string; parameters: any; execute: (input: unknown) => Promise<string> };

/** A callable tool of `@google/genai`, whose client runs the calls itself. */
export type GenAiTool = {
  tool: () => Promise<{
    functionDeclarations: { name: string; description: string; parametersJsonSchema: Json }[];
  }>;
  callTool: (
    calls: { id?: string; name?: string; args?: Record<string, unknown> }[],
  ) => Promise<{ functionResponse: { id?: string; name: string; response: Record<string, unknown> } }[]>;
};

/** The schema is a schema of the AI SDK; version 5 knows its own by a symbol that other packages cannot name in a type. */
// oxlint-disable-next-line typescript/no-explicit-any
type AiSdkTools = Record<string, Omit<SkillTools['aiSdk'][string], 'inputSchema'> & { inputSchema: any }>;

/** The shapes of one conversation; each is made from the same tools and instructions. */
export interface Shapes {
  /** Options for `generateText` and `streamText` of the AI SDK (5 to 7). A failed call throws, so that the SDK reports a tool error. */
  forAiSdk(): { system: string; tools: AiSdkTools };
  /** For the chat completions API: `answer` runs the calls of a message and returns the messages to append. */
  forOpenAI(): {
    system: string;
    tools: OpenAiRunnable[];
    answer: (
      calls: readonly OpenAiCall[] | null | undefined,
    ) => Promise<{ role: 'tool'; tool_call_id: string; content: string }[]>;
  };
  /** For the responses API: `answer` runs the calls in the output and returns the items to append. */
  forOpenAIResponses(): {
    instructions: string;
    tools: SkillTools['openaiResponses'][number][];
    answer: (
      output: readonly AnswerItem[],
    ) => Promise<{ type: 'function_call_output'; call_id: string; output: string }[]>;
  };
  /** For the messages API: `answer` runs the calls in the content and returns the content of the next message of the user. */
  forAnthropic(): {
    system: string;
    tools: AnthropicRunnable[];
    answer: (
      content: readonly AnswerItem[],
    ) => Promise<{ type: 'tool_result'; tool_use_id: string; content: string; is_error: boolean }[]>;
  };
  /** For LangChain and LangGraph; pass the function `tool` of `@langchain/core/tools`. */
  forLangChain<Tool>(tool: (run: (input: never) => Promise<string>, fields: LangChainFields) => Tool): {
    systemPrompt: string;
    tools: Tool[];
  };
  /** For `new Agent` of the OpenAI Agents SDK. */
  forAgents(): { instructions: string; tools: AgentsTool[] };
  /** For `new Agent` of Mastra. */
  forMastra(): { instructions: string; tools: AiSdkTools };
  /** For `config` of `generateContent` of `@google/genai`, which runs the calls itself. */
  forGenAI(): { systemInstruction: string; tools: GenAiTool[] };
  /** For `new LlmAgent` of Google's Agent Development Kit; pass its class `FunctionTool`. */
  forAdk<Tool>(FunctionTool: new (fields: AdkFields) => Tool): { instruction: string; tools: Tool[] };
}

export function buildShapes(skills: SkillTools): Shapes {
  const { instructions } = skills;
  const run = async (name: string, input: unknown, signal?: AbortSignal): Promise<string> =>
    (await skills.call(name, input, signal === undefined ? {} : { signal })).text;
  const runOrThrow = async (name: string, input: unknown, signal?: AbortSignal): Promise<unknown> => {
    const answer = await skills.call(name, input, signal === undefined ? {} : { signal });
    if (!answer.isError) return answer.value;
    const [hint = ''] = answer.observations.flatMap((one) => (one.type === 'failed' ? [one.hint] : []));
    throw new SkillError({
      code: 'input/invalid',
      message: answer.text,
      hint,
      data: { expected: 'a call that can be done' },
    });
  };
  const aiSdkTools = (): AiSdkTools =>
    Object.fromEntries(
      Object.entries(skills.aiSdk).map(([name, tool]) => [
        name,
        { ...tool, execute: (input, { abortSignal } = {}) => runOrThrow(name, input, abortSignal) },
      ]),
    );
  const copies = (): { name: string; description: string; schema: Json }[] =>
    structuredClone(skills.anthropic).map(({ name, description, input_schema: schema }) => ({
      name,
      description,
      schema,
    }));
  return {
    forAiSdk: () => ({ system: instructions, tools: aiSdkTools() }),
    forMastra: () => ({
      instructions,
      tools: Object.fromEntries(
        Object.entries(aiSdkTools()).map(([name, tool]) => [
          name,
          { ...tool, execute: (input, options) => tool.execute(mastraInput(input), options) },
        ]),
      ),
    }),
    forOpenAI: () => ({
      system: instructions,
      tools: copies().map(({ name, description, schema }) => ({
        type: 'function',
        function: {
          name,
          description,
          parameters: schema,
          function: (input) => run(name, input),
        },
      })),
      answer: (calls) =>
        Promise.all(
          (calls ?? []).map(async ({ id, function: called }) => ({
            role: 'tool',
            tool_call_id: id,
            content: await run(called?.name ?? '', called?.arguments ?? ''),
          })),
        ),
    }),
    forOpenAIResponses: () => ({
      instructions,
      tools: structuredClone([...skills.openaiResponses]),
      answer: (output) =>
        Promise.all(
          callsOf(output, 'function_call', 'call_id', 'arguments').map(async ({ id, name, input }) => ({
            type: 'function_call_output',
            call_id: id,
            output: await run(name, input),
          })),
        ),
    }),
    forAnthropic: () => ({
      system: instructions,
      tools: copies().map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: schema,
        parse: (input) => input,
        run: (input) => run(name, input),
      })),
      answer: (content) =>
        Promise.all(
          callsOf(content, 'tool_use', 'id', 'input').map(async ({ id, name, input }) => {
            const { text, isError } = await skills.call(name, input);
            return { type: 'tool_result', tool_use_id: id, content: text, is_error: isError };
          }),
        ),
    }),
    forGenAI: () => ({
      systemInstruction: instructions,
      tools: [
        {
          tool: async () => ({
            functionDeclarations: copies().map(({ schema, ...named }) => ({ ...named, parametersJsonSchema: schema })),
          }),
          callTool: (calls) =>
            Promise.all(
              calls.map(async ({ id, name = '', args = {} }) => {
                const { text, isError } = await skills.call(name, args);
                const response = isError ? { error: text } : { output: text };
                return { functionResponse: { ...defined({ id }), name, response } };
              }),
            ),
        },
      ],
    }),
    forAdk: (FunctionTool) => ({
      instruction: instructions,
      tools: copies().map(
        ({ schema, ...named }) =>
          new FunctionTool({
            ...named,
            parameters: withCapitalTypes(schema),
            execute: (input) => run(named.name, input),
          }),
      ),
    }),
    forLangChain: (tool) => ({
      systemPrompt: instructions,
      tools: copies().map((fields) => tool((input: unknown) => run(fields.name, input), fields)),
    }),
    forAgents: () => ({
      instructions,
      tools: copies().map(({ name, description, schema }) => ({
        type: 'function',
        name,
        description,
        parameters: { ...schema, required: schema.required ?? [], additionalProperties: true },
        strict: false,
        deferLoading: false,
        invoke: (_context, input, details) => run(name, input, details?.signal),
        needsApproval: async () => false,
        isEnabled: async () => true,
      })),
    }),
  };
}

/** Mastra before version 1 passes the input as `context`, among facts about the run. */
function mastraInput(input: unknown): unknown {
  return isObject(input) && 'runtimeContext' in input && 'context' in input ? input['context'] : input;
}

/** The schemas of Google's interface write `OBJECT` for `object`. */
function withCapitalTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withCapitalTypes);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'type' && typeof value === 'string' ? value.toUpperCase() : withCapitalTypes(value),
    ]),
  );
}

interface FoundCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** The calls among the items of an answer. */
function callsOf(items: readonly AnswerItem[], type: string, id: string, input: string): readonly FoundCall[] {
  return items
    .filter((item) => item.type === type)
    .map((item) => ({
      id: String(Reflect.get(item, id)),
      name: String(Reflect.get(item, 'name')),
      input: Reflect.get(item, input),
    }));
}
