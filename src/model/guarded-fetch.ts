import { timerMs } from '#platform';
import { isObject, parseJson, problemError, type SkillError } from '#core';
import { findModelProblem, modelProblem, shownWords, type HideSecrets, type ModelProblem } from './problem.ts';
import { readRetryAfter } from './retry.ts';

export interface AnswerLimits {
  /** From the request to the first byte of the answer. Without streaming this covers the whole generation. */
  readonly firstByteMs: number;
  readonly silenceMs: number;
  /** For one whole attempt, so that an endless stream is stopped. */
  readonly attemptMs: number;
  readonly maxAnswerBytes: number;
}

export const ANSWER_LIMITS: AnswerLimits = {
  firstByteMs: 290_000,
  silenceMs: 90_000,
  attemptMs: 900_000,
  maxAnswerBytes: 4 * 1024 * 1024,
};

/** The `fetch` function of one attempt. It keeps the original failure, whatever the library above makes of it. */
export interface GuardedFetch {
  readonly fetch: typeof fetch;
  readonly problem: () => ModelProblem | undefined;
  readonly end: () => void;
}

export interface GuardOptions {
  readonly limits: AnswerLimits;
  readonly hide: HideSecrets;
  readonly now: () => number;
  readonly fetch?: typeof fetch | undefined;
}

/** How much larger the body may be than the answer in it: JSON escapes characters and wraps each chunk of a stream in an object. */
const BODY_FACTOR = 2;
const STREAM_FACTOR = 16;
const NEW_LINE = 10;

/**
 * Wraps `fetch` with timeouts and a size limit. Redirects are rejected, because they would send the key to another host, and every
 * answer without a success status becomes a `ModelProblem`.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  const { limits } = options;
  const stop = new AbortController();
  let problem: ModelProblem | undefined;
  let silence: NodeJS.Timeout | undefined;
  const fail = (found: ModelProblem): SkillError => {
    problem ??= found;
    const error = problemError(problem);
    stop.abort(error);
    return error;
  };
  const expectWithin = (ms: number, sentence: string): void => {
    clearTimeout(silence);
    silence = setTimeout(() => fail(tooSlow(sentence, ms)), timerMs(ms));
  };
  const whole = setTimeout(
    () => fail(tooSlow('the answer was not complete within', limits.attemptMs)),
    timerMs(limits.attemptMs),
  );
  const end = (): void => {
    clearTimeout(silence);
    clearTimeout(whole);
    stop.abort(problemError(modelProblem('the attempt has ended')));
  };

  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const signal = init.signal ? AbortSignal.any([init.signal, stop.signal]) : stop.signal;
    expectWithin(limits.firstByteMs, 'no answer started within');
    try {
      const response = await (options.fetch ?? fetch)(input, { ...init, redirect: 'manual', signal });
      const refusal = await findResponseProblem(response, options);
      if (refusal !== undefined) throw problemError(refusal);
      return guarded(response, {
        limits,
        onPiece: () => expectWithin(limits.silenceMs, 'the answer stalled: no data within'),
        onEnd: () => clearTimeout(silence),
        fail,
      });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw fail(findModelProblem(error) ?? connectionProblem(error, readOrigin(input)));
    }
  };
  return { fetch: send, problem: () => problem, end };
}

interface BodyGuard {
  readonly limits: AnswerLimits;
  readonly onPiece: () => void;
  readonly onEnd: () => void;
  readonly fail: (problem: ModelProblem) => SkillError;
}

/** Returns the response with a body that is counted and timed while it arrives. */
function guarded(response: Response, { limits, onPiece, onEnd, fail }: BodyGuard): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
  const maxLine = limits.maxAnswerBytes * BODY_FACTOR;
  const maxBytes = limits.maxAnswerBytes * (isStream ? STREAM_FACTOR : BODY_FACTOR);
  const reader = response.body.getReader();
  let bytes = 0;
  let line = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          onEnd();
          controller.close();
          return;
        }
        onPiece();
        bytes += value.length;
        const lineEnd = value.lastIndexOf(NEW_LINE);
        line = lineEnd === -1 ? line + value.length : value.length - lineEnd - 1;
        if (bytes > maxBytes || line > maxLine) throw problemError(tooLarge(limits));
        controller.enqueue(value);
      } catch (error) {
        controller.error(fail(findModelProblem(error) ?? brokenOff(error)));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

export function tooLarge({ maxAnswerBytes }: AnswerLimits): ModelProblem {
  return modelProblem(`the answer exceeds ${String(maxAnswerBytes)} bytes and was cut off`, {
    hint: 'ask for less, or set a limit for output tokens',
  });
}

function tooSlow(sentence: string, ms: number): ModelProblem {
  return modelProblem(`${sentence} ${String(ms / 1000)} s`, {
    hint: 'check whether the server is still working; a smaller model or a shorter request is faster',
  });
}

const MAX_ERROR_BYTES = 64 * 1024;
const ERROR_MS = 5_000;

async function findResponseProblem(
  response: Response,
  { limits, hide, now }: GuardOptions,
): Promise<ModelProblem | undefined> {
  const { status, headers } = response;
  if (response.ok) {
    if (headers.get('content-type')?.includes('text/html') !== true) return undefined;
    return modelProblem('the server answered with a web page instead of a model response', {
      status,
      hint: 'check the base URL; it often ends in /v1',
    });
  }
  if (status >= 300 && status < 400)
    return modelProblem(`the server answered ${String(status)} with a redirect, which is not followed`, {
      status,
      hint: 'set the final base URL',
    });
  // Some servers repeat parts of a rejected key.
  const words =
    status === 401
      ? ''
      : shownWords(errorText(await startOfBody(response, Math.min(ERROR_MS, limits.silenceMs))), hide);
  const retryAfterMs = readRetryAfter(headers, now());
  const wish = retryAfterMs === undefined ? '' : ` and asks to wait ${String(Math.ceil(retryAfterMs / 1000))} s`;
  return modelProblem(`the server answered ${String(status)}${wish}${words === '' ? '' : `: ${words}`}`, {
    status,
    hint: hintFor(status),
    isRetryable: isPassing(status),
    retryAfterMs,
  });
}

function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function hintFor(status: number): string {
  if (status === 401 || status === 403) return 'check that the key is correct and has access to this model';
  if (status === 404) return 'check the name of the model and the base URL';
  if (status === 413) return 'the request is too long for this model';
  if (status === 429) return 'rate limit exceeded or no credit left: wait, or choose another model';
  return isPassing(status)
    ? 'the server has a problem: try again later, or choose another model'
    : 'see the message of the server';
}

async function startOfBody(response: Response, timeoutMs: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const reader = response.body?.getReader();
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, timerMs(timeoutMs));
  try {
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
      text += decoder.decode(piece.value, { stream: true });
      if (text.length > MAX_ERROR_BYTES) break;
    }
  } catch {
    // The status is reported even if the body cannot be read completely.
  } finally {
    clearTimeout(timer);
    cancel();
  }
  return text;
}

/** Extracts the message of an error in the formats of the vendors; HTML has none. */
function errorText(body: string): string {
  const value = parseJson(body);
  if (value === undefined) return /^\s*</.test(body) ? '' : body;
  const first: unknown = Array.isArray(value) ? value[0] : value;
  const error = isObject(first) && 'error' in first ? first['error'] : first;
  const text = isObject(error) ? (error['message'] ?? error['detail']) : error;
  return typeof text === 'string' ? text : '';
}

const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']);
const PASSING: ReadonlySet<string> = new Set(
  'ECONNRESET EPIPE ETIMEDOUT EAI_AGAIN UND_ERR_SOCKET UND_ERR_CONNECT_TIMEOUT ECONNABORTED'.split(' '),
);

function connectionProblem(error: unknown, server: string): ModelProblem {
  const code = readErrorCode(error);
  if (UNREACHABLE.has(code))
    return modelProblem(`no server responds at ${server} (${code})`, {
      code: 'model/unavailable',
      hint: 'start the server, or check the base URL',
    });
  return modelProblem(`the connection to ${server} failed${code === '' ? '' : ` (${code})`}`, {
    isRetryable: PASSING.has(code),
    hint: 'check that the server is running and that the base URL is correct',
  });
}

function brokenOff(error: unknown): ModelProblem {
  const code = readErrorCode(error);
  return modelProblem(`the connection broke in the middle of the answer${code === '' ? '' : ` (${code})`}`, {
    isRetryable: true,
  });
}

/** The innermost code: `fetch` wraps the original error. */
function readErrorCode(error: unknown): string {
  let code = '';
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string') code = current.code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return code;
}

/** Without path and query, which may contain a key. */
function readOrigin(input: string | URL | Request): string {
  return new URL(input instanceof Request ? input.url : input).origin;
}
