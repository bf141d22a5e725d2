import type {
  JSONObject,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';

import { isObject, publishedSchema } from '../../core/json/json-schema.ts';
import type { JsonSchema } from '../../core/json/json-schema.ts';
import type { ModelMessage, ModelRequest, ModelTool, ModelToolCall } from '../../core/model.ts';

export interface RequestOptions {
  /** The user's settings for each request, by the names of this interface or of OpenAI's. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The key under which the provider reads its own options. */
  readonly optionsKey: string;
  /** Provider options that the user's settings override. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Marks tools as not strict; otherwise OpenAI requires every parameter. */
  readonly saysNotStrict: boolean;
  /** The provider caches the start of a conversation if the request marks its end. */
  readonly marksPrefix: boolean;
  /** Metadata that a provider expects back with a call, such as thought signatures. */
  readonly metadataOf: (callId: string) => SharedV3ProviderOptions | undefined;
}

/** Converts a request for the providers of the AI SDK. */
export function toCallOptions(
  request: ModelRequest,
  options: RequestOptions,
): Omit<LanguageModelV3CallOptions, 'abortSignal'> {
  const { known, others } = splitParams(options.params);
  const { maxOutputTokens = known.maxOutputTokens, answerSchema } = request;
  const tools = request.tools.map((tool) => toTool(tool, options));
  return {
    ...known,
    prompt: toPrompt(request, options),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(answerSchema === undefined
      ? {}
      : { responseFormat: { type: 'json' as const, name: 'answer', schema: plainSchema(answerSchema) } }),
    providerOptions: { [options.optionsKey]: toJson({ ...options.defaults, ...others }) },
  };
}

function toPrompt({ system, messages }: ModelRequest, options: RequestOptions): LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (const message of messages) {
    const last = prompt.at(-1);
    // Some providers require the results of parallel calls in one message.
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(toResult(message));
    else prompt.push(...toMessage(message, options));
  }
  return options.marksPrefix ? markPrefix(prompt) : prompt;
}

const KEPT: SharedV3ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * Marks two prefixes: the tools and the system message, which never change, and everything up to the last message, which the next
 * request repeats.
 */
function markPrefix(prompt: readonly LanguageModelV3Message[]): LanguageModelV3Message[] {
  return prompt.map((message, index) =>
    message.role === 'system' || index === prompt.length - 1 ? { ...message, providerOptions: KEPT } : message,
  );
}

function toMessage(message: ModelMessage, { metadataOf }: RequestOptions): readonly LanguageModelV3Message[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: message.content }] }];
    case 'tool':
      return [{ role: 'tool', content: [toResult(message)] }];
    case 'assistant': {
      const text = message.content === '' ? [] : [{ type: 'text' as const, text: message.content }];
      const content = [...text, ...message.toolCalls.map((call) => toCall(call, metadataOf(call.id)))];
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
  }
}

function toResult(message: Extract<ModelMessage, { role: 'tool' }>): LanguageModelV3ToolResultPart {
  return {
    type: 'tool-result',
    toolCallId: plainName(message.callId),
    toolName: plainName(message.toolName),
    output: { type: message.isError ? 'error-text' : 'text', value: message.content },
  };
}

function toCall(call: ModelToolCall, metadata: SharedV3ProviderOptions | undefined): LanguageModelV3ToolCallPart {
  return {
    type: 'tool-call',
    toolCallId: plainName(call.id),
    toolName: plainName(call.name),
    input: readInput(call.input),
    ...(metadata === undefined ? {} : { providerOptions: metadata }),
  };
}

/** Providers reject a conversation in which a model once invented a tool name with a space in it. */
function plainName(name: string): string {
  const plain = name.replaceAll(/[^\w-]/g, '_').slice(0, 64);
  return plain === '' ? 'unknown' : plain;
}

/** Providers require an object. If a model wrote something else, it is wrapped unchanged, so that the model sees its own input. */
function readInput(input: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(input);
    if (isObject(value)) return value;
  } catch {
    // Invalid JSON is passed on as text.
  }
  return input.trim() === '' ? {} : { malformed_input: input };
}

function toTool(
  { name, description, inputSchema }: ModelTool,
  { saysNotStrict }: RequestOptions,
): LanguageModelV3FunctionTool {
  return {
    type: 'function',
    name,
    description,
    inputSchema: plainSchema(inputSchema),
    ...(saysNotStrict ? { strict: false } : {}),
  };
}

/** A copy without our own keywords. */
function plainSchema(schema: JsonSchema): LanguageModelV3FunctionTool['inputSchema'] {
  const isWhole = 'properties' in schema;
  return toJson(isWhole ? publishedSchema(schema) : schema);
}

function toJson(value: object): JSONObject {
  return JSON.parse(JSON.stringify(value));
}

type KnownParams = Pick<
  LanguageModelV3CallOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'stopSequences'
  | 'presencePenalty'
  | 'frequencyPenalty'
>;

const KNOWN: ReadonlyMap<string, keyof KnownParams> = new Map([
  ['maxOutputTokens', 'maxOutputTokens'],
  ['max_output_tokens', 'maxOutputTokens'],
  ['max_tokens', 'maxOutputTokens'],
  ['temperature', 'temperature'],
  ['topP', 'topP'],
  ['top_p', 'topP'],
  ['topK', 'topK'],
  ['top_k', 'topK'],
  ['seed', 'seed'],
  ['stopSequences', 'stopSequences'],
  ['stop', 'stopSequences'],
  ['presencePenalty', 'presencePenalty'],
  ['presence_penalty', 'presencePenalty'],
  ['frequencyPenalty', 'frequencyPenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
]);

function splitParams(params: RequestOptions['params']): { known: KnownParams; others: Record<string, unknown> } {
  const known: KnownParams = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(params)) {
    const meant = KNOWN.get(name);
    if (meant === 'stopSequences') known.stopSequences = [value].flat().map(String);
    else if (meant !== undefined && typeof value === 'number') known[meant] = value;
    else others[name] = value;
  }
  return { known, others };
}
