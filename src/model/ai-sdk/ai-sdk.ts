import type {
  JSONObject,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderMetadata,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';

import { answerProblem, readAnswer, readStream, type PlainAnswer } from './ai-sdk-answer.ts';
import { guardedFetch, type AnswerLimits } from '../guarded-fetch.ts';
import { modelError, type HideSecrets } from '../problem.ts';
import { withRetries, type RetryPolicy, type RetrySurroundings } from '../retry.ts';
import {
  defined,
  isObject,
  parseJson,
  publishedSchema,
  problemError,
  type JsonSchema,
  type Model,
  type ModelAnswer,
  type ModelDelta,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
} from '#core';

type ModelMessage = ModelRequest['messages'][number];

export interface AdapterOptions extends Omit<RequestOptions, 'metadataOf'> {
  readonly id: string;
  readonly settings?: string;
  readonly contextWindow?: number;
  readonly answerSchemas?: Model['answerSchemas'];
  readonly takesImages?: boolean | undefined;
  /** Creates the provider's model with this `fetch` function. Called for each attempt, so that each has its own limits. */
  readonly connect: (fetch: typeof globalThis.fetch) => LanguageModelV3;
  readonly fetch?: typeof globalThis.fetch;
  /** The provider signs its calls and requires the signatures back. */
  readonly signsCalls: boolean;
  readonly limits: AnswerLimits;
  readonly retries: RetryPolicy;
  readonly surroundings: RetrySurroundings;
  readonly hide: HideSecrets;
}

/** The number of signatures to remember; a conversation has far fewer calls. */
const MAX_SIGNATURES = 2_000;

/**
 * Adapts a model of the AI SDK (provider interface V3). The loop, tools and retries of the SDK are not used, because decisions,
 * budgets and records are ours.
 */
export function aiSdkModel(options: AdapterOptions): Model {
  const { id, settings, contextWindow, answerSchemas, takesImages, retries: policy, surroundings, hide } = options;
  const signatures = new Map<string, SharedV3ProviderMetadata>();
  return {
    id,
    ...defined({ settings, contextWindow, answerSchemas, takesImages }),
    call: async (request, callOptions): Promise<ModelAnswer> => {
      const listener = listenerFor(callOptions);
      const result = await withRetries(() => attempt(request, { ...options, signatures, listener }), {
        policy,
        surroundings,
        signal: callOptions.signal,
        mayRepeat: () => !listener.hasReported(),
      });
      if (result.type === 'gave-up') throw modelError(id, result.problem, { retries: result.retries, hide });
      return { ...result.value, retries: result.retries };
    },
  };
}

interface Listener {
  readonly signal: AbortSignal;
  readonly isWanted: boolean;
  readonly tell: (delta: ModelDelta) => void;
  /** A part of the answer was reported, so a retry would report it twice. */
  readonly hasReported: () => boolean;
  /** Throws the listener's own error, which is not a failure of the model. */
  readonly throwFault: () => void;
}

function listenerFor({ signal, onDelta }: Parameters<Model['call']>[1]): Listener {
  let isReported = false;
  let fault: { readonly error: unknown } | undefined;
  return {
    signal,
    isWanted: onDelta !== undefined,
    tell: (delta) => {
      signal.throwIfAborted();
      isReported = true;
      try {
        onDelta?.(delta);
      } catch (error) {
        fault = { error };
        throw error;
      }
    },
    hasReported: () => isReported,
    throwFault: () => {
      if (fault !== undefined) throw fault.error;
    },
  };
}

interface Attempt extends AdapterOptions {
  readonly signatures: Map<string, SharedV3ProviderMetadata>;
  readonly listener: Listener;
}

/** Sends one request. Raises a `ModelProblem`, and throws the reason of the signal, or the error of the listener. */
async function attempt(request: ModelRequest, options: Attempt): Promise<PlainAnswer> {
  const { connect, limits, hide, surroundings, signatures, listener, signsCalls, fetch } = options;
  const guard = guardedFetch({ limits, hide, now: surroundings.now, fetch });
  const onMetadata = (callId: string, metadata: SharedV3ProviderMetadata): void => {
    if (!signsCalls) return;
    signatures.set(callId, metadata);
    for (const oldest of signatures.keys()) {
      if (signatures.size <= MAX_SIGNATURES) break;
      signatures.delete(oldest);
    }
  };
  try {
    const model = connect(guard.fetch);
    const call = {
      ...toCallOptions(request, { ...options, metadataOf: (callId) => signatures.get(callId) }),
      abortSignal: listener.signal,
    };
    if (!listener.isWanted) return readAnswer(await model.doGenerate(call), { limits, onMetadata });
    const { stream } = await model.doStream({ ...call, includeRawChunks: true });
    return await readStream(stream, { limits, onDelta: listener.tell, onMetadata, hide });
  } catch (error) {
    listener.throwFault();
    listener.signal.throwIfAborted();
    throw problemError(guard.problem() ?? answerProblem(error, hide));
  } finally {
    guard.end();
  }
}

interface RequestOptions {
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

function toCallOptions(
  request: ModelRequest,
  options: RequestOptions,
): Omit<LanguageModelV3CallOptions, 'abortSignal'> {
  const { known, others } = splitParams(options.params);
  const { maxOutputTokens = known.maxOutputTokens, answerSchema } = request;
  const tools = request.tools.map((tool) => toTool(tool, options));
  return {
    ...known,
    prompt: toPrompt(request, options),
    ...defined({ maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools }),
    responseFormat:
      answerSchema === undefined
        ? undefined
        : { type: 'json' as const, name: 'answer', schema: plainSchema(answerSchema) },
    providerOptions: { [options.optionsKey]: toJson({ ...options.defaults, ...others }) },
  };
}

function toPrompt({ system, messages }: ModelRequest, options: RequestOptions): LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (const message of messages) {
    const last = prompt.at(-1);
    // Some providers require the results of parallel calls in one message.
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(toResult(message, options.optionsKey));
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

function toMessage(
  message: ModelMessage,
  { metadataOf, optionsKey }: RequestOptions,
): readonly LanguageModelV3Message[] {
  switch (message.role) {
    case 'user':
      return [
        {
          role: 'user',
          content: [
            { type: 'text', text: message.content },
            ...(message.images ?? []).map(({ data, mediaType }) => ({ type: 'file' as const, data, mediaType })),
          ],
        },
      ];
    case 'tool':
      return [{ role: 'tool', content: [toResult(message, optionsKey)] }];
    case 'assistant': {
      const text = message.content === '' ? [] : [{ type: 'text' as const, text: message.content }];
      const content = [...text, ...message.toolCalls.map((call) => toCall(call, metadataOf(call.id)))];
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
  }
}

/** Providers that take images in results of tools. Others get the description: they would send base64 as text. */
const TAKES_IMAGES: ReadonlySet<string> = new Set(['anthropic', 'openai', 'google']);

function toResult(
  { callId, toolName, content, isError, images = [] }: Extract<ModelMessage, { role: 'tool' }>,
  provider: string,
): LanguageModelV3ToolResultPart {
  const isShown = images.length > 0 && TAKES_IMAGES.has(provider);
  return {
    type: 'tool-result',
    toolCallId: plainName(callId),
    toolName: plainName(toolName),
    output: isShown
      ? {
          type: 'content',
          value: [
            { type: 'text', text: content },
            ...images.map(({ data, mediaType }) => ({ type: 'image-data' as const, data, mediaType })),
          ],
        }
      : { type: isError ? 'error-text' : 'text', value: content },
  };
}

function toCall(call: ModelToolCall, metadata: SharedV3ProviderOptions | undefined): LanguageModelV3ToolCallPart {
  return {
    type: 'tool-call',
    toolCallId: plainName(call.id),
    toolName: plainName(call.name),
    input: readInput(call.input),
    providerOptions: metadata,
  };
}

/** Providers reject a conversation in which a model once invented a tool name with a space in it. */
function plainName(name: string): string {
  const plain = name.replaceAll(/[^\w-]/g, '_').slice(0, 64);
  return plain === '' ? 'unknown' : plain;
}

/** Providers require an object. If a model wrote something else, it is wrapped unchanged, so that the model sees its own input. */
function readInput(input: string): Readonly<Record<string, unknown>> {
  const value = parseJson(input);
  if (isObject(value)) return value;
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

function plainSchema(schema: JsonSchema): LanguageModelV3FunctionTool['inputSchema'] {
  const isWhole = 'properties' in schema;
  return toJson(isWhole ? publishedSchema(schema) : schema);
}

function toJson(value: object): JSONObject {
  return JSON.parse(JSON.stringify(value));
}

const KNOWN = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'seed',
  'stopSequences',
  'presencePenalty',
  'frequencyPenalty',
] as const satisfies readonly (keyof LanguageModelV3CallOptions)[];

type KnownParams = Pick<LanguageModelV3CallOptions, (typeof KNOWN)[number]>;

/** The names of OpenAI have underscores, and two are other words. */
function findKnown(name: string): keyof KnownParams | undefined {
  if (name === 'max_tokens') return 'maxOutputTokens';
  if (name === 'stop') return 'stopSequences';
  const own = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return KNOWN.find((known) => known === own);
}

function splitParams(params: RequestOptions['params']): { known: KnownParams; others: Record<string, unknown> } {
  const known: KnownParams = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(params)) {
    const meant = findKnown(name);
    if (meant === 'stopSequences') known.stopSequences = [value].flat().map(String);
    else if (meant !== undefined && typeof value === 'number') known[meant] = value;
    else others[name] = value;
  }
  return { known, others };
}
