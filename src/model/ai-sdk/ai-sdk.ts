import type { LanguageModelV3, SharedV3ProviderMetadata } from '@ai-sdk/provider';

import type { Model, ModelAnswer, ModelCallOptions, ModelDelta, ModelRequest } from '../../core/model.ts';
import { answerProblem, readAnswer, readStream } from './ai-sdk-answer.ts';
import type { PlainAnswer } from './ai-sdk-answer.ts';
import { toCallOptions } from './ai-sdk-request.ts';
import type { RequestOptions } from './ai-sdk-request.ts';
import { guardedFetch } from '../guarded-fetch.ts';
import type { AnswerLimits } from '../guarded-fetch.ts';
import { modelError } from '../problem.ts';
import type { HideSecrets } from '../problem.ts';
import { withRetries } from '../retry.ts';
import type { RetryPolicy, RetrySurroundings } from '../retry.ts';

export interface AdapterOptions extends Omit<RequestOptions, 'metadataOf'> {
  readonly id: string;
  readonly contextWindow?: number;
  readonly answerSchemas?: Model['answerSchemas'];
  /** Creates the provider's model with this `fetch` function. Called for each attempt, so that each has its own limits. */
  readonly connect: (fetch: typeof globalThis.fetch) => LanguageModelV3;
  /** Sends requests (default: the global `fetch`). */
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
  const { id, contextWindow, answerSchemas, retries: policy, surroundings, hide } = options;
  const signatures = new Map<string, SharedV3ProviderMetadata>();
  return {
    id,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(answerSchemas === undefined ? {} : { answerSchemas }),
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

function listenerFor({ signal, onDelta }: ModelCallOptions): Listener {
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

/** Sends one request. Throws `ModelProblem`, the reason of the signal, or the error of the listener. */
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
    const { stream } = await model.doStream(call);
    return await readStream(stream, { limits, onDelta: listener.tell, onMetadata, hide });
  } catch (error) {
    listener.throwFault();
    listener.signal.throwIfAborted();
    throw guard.problem() ?? answerProblem(error, hide);
  } finally {
    guard.end();
  }
}
