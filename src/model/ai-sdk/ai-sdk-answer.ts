import type {
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';

import {
  defined,
  isObject,
  parseJson,
  problemError,
  type ModelAnswer,
  type ModelDelta,
  type ModelToolCall,
} from '#core';
import { tooLarge, type AnswerLimits } from '../guarded-fetch.ts';
import { findModelProblem, modelProblem, shownWords, type HideSecrets, type ModelProblem } from '../problem.ts';

export interface AnswerOptions {
  readonly limits: AnswerLimits;
  readonly onDelta: (delta: ModelDelta) => void;
  readonly hide: HideSecrets;
  /** Metadata that the provider expects back with this call in later requests. */
  readonly onMetadata: (callId: string, metadata: SharedV3ProviderMetadata) => void;
}

export type PlainAnswer = Omit<ModelAnswer, 'retries'>;

export function readAnswer(
  { content, finishReason, usage, response }: LanguageModelV3GenerateResult,
  { limits, onMetadata }: Omit<AnswerOptions, 'onDelta' | 'hide'>,
): PlainAnswer {
  const size = counter(limits);
  let text = '';
  const toolCalls: ModelToolCall[] = [];
  for (const part of content) {
    if (part.type === 'text') {
      size.add(part.text);
      text += part.text;
    }
    if (part.type !== 'tool-call' || part.providerExecuted === true) continue;
    // Some servers omit an empty input, whatever the types of the library say.
    const call: ModelToolCall = { id: part.toolCallId, name: part.toolName, input: part.input ?? '' };
    size.add(call.id, call.name, call.input);
    toolCalls.push(call);
    if (part.providerMetadata !== undefined) onMetadata(call.id, part.providerMetadata);
  }
  // Some libraries accept any object as an answer with all fields missing.
  if (text === '' && toolCalls.length === 0 && isUnfinished(finishReason)) throw problemError(unreadable());
  const finish = toFinish(finishReason, toolCalls.length > 0);
  const served = toServedBy(response?.modelId, readFingerprint(response?.body));
  return { text, toolCalls, finish, usage: toUsage(usage), ...served };
}

const MOST_NAME = 200;

function toServedBy(model: string | undefined, fingerprint: string | undefined): Pick<PlainAnswer, 'servedBy'> {
  if (model === undefined && fingerprint === undefined) return {};
  return { servedBy: defined({ model: model?.slice(0, MOST_NAME), fingerprint: fingerprint?.slice(0, MOST_NAME) }) };
}

/** The library does not pass it on, but shows what the server sent. */
function readFingerprint(body: unknown): string | undefined {
  const found = isObject(body) ? body['system_fingerprint'] : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}

type Part = LanguageModelV3StreamPart;
type LastPart = Extract<Part, { readonly type: 'finish' }>;

/** Reads a streamed answer. The reported deltas add up exactly to the returned answer. */
export async function readStream(stream: ReadableStream<Part>, options: AnswerOptions): Promise<PlainAnswer> {
  const growing = growingAnswer(options);
  let last: LastPart | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw problemError(streamProblem(part.error, options.hide));
    if (part.type === 'finish') last = part;
    else growing.take(part);
  }
  if (last === undefined || isUnfinished(last.finishReason)) throw problemError(unfinished());
  return growing.finished(last);
}

interface GrowingAnswer {
  readonly take: (part: Exclude<Part, LastPart>) => void;
  readonly finished: (last: LastPart) => PlainAnswer;
}

function growingAnswer({ limits, onDelta, onMetadata }: AnswerOptions): GrowingAnswer {
  const size = counter(limits);
  const calls = growingCalls((id, name, text) => {
    size.add(text);
    if (text !== '') onDelta({ type: 'tool-input', id, name, text });
  });
  let answer = '';
  let model: string | undefined;
  let fingerprint: string | undefined;
  const take: GrowingAnswer['take'] = (part) => {
    switch (part.type) {
      case 'text-delta':
        size.add(part.delta);
        answer += part.delta;
        if (part.delta !== '') onDelta({ type: 'text', text: part.delta });
        break;
      case 'reasoning-delta':
        size.add(part.delta);
        break;
      case 'tool-input-start':
        if (part.providerExecuted === true) break;
        size.add(part.id, part.toolName);
        calls.begin(part.id, part.toolName);
        break;
      case 'tool-input-delta':
        calls.add(part.id, part.delta);
        break;
      case 'tool-call':
        if (part.providerExecuted === true) break;
        size.add(part.toolCallId, part.toolName);
        calls.begin(part.toolCallId, part.toolName);
        calls.complete(part.toolCallId, part.input);
        if (part.providerMetadata !== undefined) onMetadata(part.toolCallId, part.providerMetadata);
        break;
      case 'response-metadata':
        model = part.modelId ?? model;
        break;
      case 'raw':
        fingerprint = readFingerprint(part.rawValue) ?? fingerprint;
        break;
      default:
        break;
    }
  };
  const finished: GrowingAnswer['finished'] = ({ finishReason, usage }) => {
    const toolCalls = calls.all();
    const finish = toFinish(finishReason, toolCalls.length > 0);
    return { text: answer, toolCalls, finish, usage: toUsage(usage), ...toServedBy(model, fingerprint) };
  };
  return { take, finished };
}

interface GrowingCalls {
  readonly begin: (id: string, name: string) => void;
  readonly add: (id: string, text: string) => void;
  readonly complete: (id: string, input: string) => void;
  readonly all: () => readonly ModelToolCall[];
}

/** Calls in the order in which they started. */
function growingCalls(tell: (id: string, name: string, text: string) => void): GrowingCalls {
  const calls = new Map<string, ModelToolCall>();
  const grow = (call: ModelToolCall | undefined, text: string): void => {
    if (call === undefined) return;
    tell(call.id, call.name, text);
    calls.set(call.id, { ...call, input: call.input + text });
  };
  return {
    begin: (id, name) => {
      if (!calls.has(id)) calls.set(id, { id, name, input: '' });
    },
    add: (id, text) => grow(calls.get(id), text),
    complete: (id, input) => {
      const call = calls.get(id);
      // Reported deltas are final; the library may only append to them, as it does for an input that was not streamed.
      if (call !== undefined && input.startsWith(call.input)) grow(call, input.slice(call.input.length));
    },
    all: () => [...calls.values()],
  };
}

/** The library's finish reason for a stream that ended early. */
function isUnfinished({ unified, raw }: LanguageModelV3FinishReason): boolean {
  return raw === undefined && (unified === 'other' || unified === 'error');
}

/** One library reports this with its own error class, which has no data. */
function isMissingEnd(error: unknown): boolean {
  const isInvalid = error instanceof Error && error.name === 'AI_InvalidResponseDataError';
  return isInvalid && 'data' in error && error.data === undefined;
}

function unfinished(): ModelProblem {
  return modelProblem('the stream ended before the answer was complete', { isRetryable: true });
}

const PASSING_ERROR = /overloaded|rate.?limit|server.?error|api_error|timeout|unavailable|resource.?exhausted/i;

/** Converts an error inside a stream: an object of the server, or the library's error about a malformed chunk. */
export function streamProblem(error: unknown, hide: HideSecrets): ModelProblem {
  const known = findModelProblem(error);
  if (known !== undefined) return known;
  if (isMissingEnd(error)) return unfinished();
  const data = error instanceof Error && 'data' in error && isObject(error.data) ? error.data : error;
  const failure = isObject(data) && isObject(data['error']) ? data['error'] : data;
  if (isObject(failure) && !(failure instanceof Error) && typeof failure['message'] === 'string') {
    const kind = [failure['type'], failure['code'], failure['status']]
      .filter((word) => typeof word === 'string')
      .join(' ');
    return modelProblem(`the server aborted with an error: ${shownWords(failure['message'], hide)}`, {
      isRetryable: PASSING_ERROR.test(kind),
    });
  }
  if (typeof failure === 'string')
    return modelProblem(`the server aborted with an error: ${shownWords(failure, hide)}`);
  return unreadable();
}

/** Converts the library's error about an unreadable answer. Some servers report errors in it with a success status. */
export function answerProblem(error: unknown, hide: HideSecrets): ModelProblem {
  if (!(error instanceof Error)) return unreadable();
  if (findModelProblem(error) !== undefined || ('data' in error && error.data !== undefined))
    return streamProblem(error, hide);
  const body =
    'responseBody' in error && typeof error.responseBody === 'string' ? parseJson(error.responseBody) : undefined;
  return isObject(body) && 'error' in body ? streamProblem(body['error'], hide) : unreadable();
}

/** The library's own message is omitted, because it quotes the request or the answer. */
function unreadable(): ModelProblem {
  return modelProblem(
    'the answer does not follow the protocol of the provider: malformed JSON, or not a model server',
    {
      hint: 'check that the provider and the base URL belong together',
    },
  );
}

/** Names of some servers for the end of an answer that the library does not know. */
const END = /^(?:eos|end|stop)/i;

function toFinish({ unified, raw = '' }: LanguageModelV3FinishReason, hasCalls: boolean): ModelAnswer['finish'] {
  switch (unified) {
    case 'length':
      return 'length';
    case 'content-filter':
      return 'filtered';
    // Several servers report `stop` for tool calls as well.
    case 'stop':
      return hasCalls ? 'tool-calls' : 'stop';
    case 'tool-calls':
    case 'error':
    case 'other':
      return hasCalls ? 'tool-calls' : END.test(raw) ? 'stop' : 'other';
  }
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): ModelAnswer['usage'] {
  const input = count(inputTokens.total);
  const output = count(outputTokens.total);
  const [cachedInputTokens, written] = [count(inputTokens.cacheRead), count(inputTokens.cacheWrite)];
  // Most providers have no price of their own for writing.
  const cacheWriteInputTokens = written === 0 ? undefined : written;
  return defined({ inputTokens: input, outputTokens: output, cachedInputTokens, cacheWriteInputTokens });
}

function count(tokens: number | undefined): number | undefined {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
}

function counter(limits: AnswerLimits): { readonly add: (...texts: readonly string[]) => void } {
  let bytes = 0;
  return {
    add: (...texts) => {
      for (const text of texts) bytes += Buffer.byteLength(text);
      if (bytes > limits.maxAnswerBytes) throw problemError(tooLarge(limits));
    },
  };
}
