import { expect } from 'vitest';

import { SkillError } from '../../src/core/errors.ts';
import type { ModelAnswer, ModelDelta, ModelRequest } from '../../src/core/model.ts';
import { openModel, type OpenModelOptions } from '../../src/model/auto.ts';
import { completion, sendJson, serve, type Respond } from './local-server.ts';

export const KEY = 'sk-test-0123456789abcdef';
export const SECRET_QUESTION = 'what is the launch code';
export const REQUEST: ModelRequest = { system: '', messages: [{ role: 'user', content: SECRET_QUESTION }], tools: [] };

export interface Outcome {
  readonly answer?: ModelAnswer;
  readonly error?: unknown;
  readonly deltas: readonly ModelDelta[];
  readonly waits: readonly number[];
  readonly requests: number;
}

export interface Ask {
  readonly isStreamed?: boolean;
  readonly limits?: OpenModelOptions['limits'];
  readonly signal?: AbortSignal;
  readonly onDelta?: (delta: ModelDelta) => void;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly provider?: string;
}

/** One call of a model whose server does what the test wants. Nothing is really waited between attempts. */
export async function ask(
  respond: Respond,
  { isStreamed = false, limits = {}, signal, onDelta, wait, provider }: Ask = {},
): Promise<Outcome> {
  const server = await serve(respond);
  const deltas: ModelDelta[] = [];
  const waits: number[] = [];
  const model = await openModel(
    { provider: provider ?? 'openai-compatible', model: 'm', baseUrl: `${server.url}/v1`, apiKey: KEY },
    {
      limits: { firstByteMs: 5_000, silenceMs: 5_000, attemptMs: 20_000, ...limits },
      surroundings: {
        now: () => 1_000_000,
        random: () => 0,
        wait: async (ms, ended) => {
          waits.push(ms);
          await wait?.(ms, ended);
        },
      },
    },
  );
  const tell = (delta: ModelDelta): void => {
    deltas.push(delta);
    onDelta?.(delta);
  };
  const options = { signal: signal ?? new AbortController().signal, ...(isStreamed ? { onDelta: tell } : {}) };
  const rest = (): Omit<Outcome, 'answer' | 'error'> => ({ deltas, waits, requests: server.requests.length });
  try {
    return { answer: await model.call(REQUEST, options), ...rest() };
  } catch (error) {
    return { error, ...rest() };
  } finally {
    await server.close();
  }
}

/** All that a caller could print of an error. */
export function shown(error: unknown): string {
  if (!(error instanceof SkillError)) return String(error);
  return JSON.stringify({ ...error, message: error.message, stack: error.stack, cause: error.cause });
}

/** What the caller is told of a request that came to nothing. */
export function failed(message: string, status = 0, isRetryable = false): object {
  return expect.objectContaining({
    code: 'model/failed',
    message: `openai-compatible/m: ${message}`,
    data: { model: 'openai-compatible/m', status, isRetryable },
  });
}

export const good: Respond = (response) => sendJson(response, completion('fine'));
export const FINE: ModelAnswer = {
  text: 'fine',
  toolCalls: [],
  finish: 'stop',
  usage: { inputTokens: 5, outputTokens: 2, cachedInputTokens: 0 },
  retries: 0,
  servedBy: { model: 'm' },
};
