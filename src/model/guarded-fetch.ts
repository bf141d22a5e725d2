import { isObject } from '../core/json/json-schema.ts';
import { ModelProblem, shownWords } from './problem.ts';
import type { HideSecrets } from './problem.ts';
import { readRetryAfter } from './retry.ts';

export interface AnswerLimits {
  /** From the request to the first byte of the answer. Without streaming that is all the time a model thinks and writes. */
  readonly firstByteMs: number;
  /** Between two pieces of an answer. */
  readonly silenceMs: number;
  /** For one attempt in all: a stream that never ends does. */
  readonly attemptMs: number;
  /** Of text and input of tools together. */
  readonly maxAnswerBytes: number;
}

export const ANSWER_LIMITS: AnswerLimits = {
  firstByteMs: 290_000,
  silenceMs: 90_000,
  attemptMs: 900_000,
  maxAnswerBytes: 4 * 1024 * 1024,
};

/** The one way to a server for one attempt: whatever the library above makes of a failure, the true one is kept here. */
export interface GuardedFetch {
  readonly fetch: typeof fetch;
  readonly problem: () => ModelProblem | undefined;
  /** Closes what is still open. */
  readonly end: () => void;
}

export interface GuardOptions {
  readonly limits: AnswerLimits;
  readonly hide: HideSecrets;
  readonly now: () => number;
}

/** How often larger a body may be than the answer in it: JSON escapes, and each piece of a stream comes in an object of its own. */
const BODY_FACTOR = 2;
const STREAM_FACTOR = 16;
const NEW_LINE = 10;

/**
 * `fetch` with limits of time and size. It follows no redirection, which would carry the key to wherever the server says, and turns every
 * answer that is no success into a `ModelProblem`.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  const { limits } = options;
  const stop = new AbortController();
  let problem: ModelProblem | undefined;
  let silence: NodeJS.Timeout | undefined;
  const fail = (found: ModelProblem): ModelProblem => {
    problem ??= found;
    stop.abort(problem);
    return problem;
  };
  const expectWithin = (ms: number, sentence: string): void => {
    clearTimeout(silence);
    silence = setTimeout(() => fail(tooSlow(sentence, ms)), ms);
  };
  const whole = setTimeout(
    () => fail(tooSlow('the answer did not come to an end within', limits.attemptMs)),
    limits.attemptMs,
  );
  const end = (): void => {
    clearTimeout(silence);
    clearTimeout(whole);
    stop.abort(new ModelProblem('the attempt is over'));
  };

  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const signal = init.signal ? AbortSignal.any([init.signal, stop.signal]) : stop.signal;
    expectWithin(limits.firstByteMs, 'no answer began within');
    try {
      const response = await fetch(input, { ...init, redirect: 'manual', signal });
      const refusal = await refusalOf(response, options);
      if (refusal !== undefined) throw refusal;
      return guarded(response, {
        limits,
        onPiece: () => expectWithin(limits.silenceMs, 'the answer stopped, and nothing more came within'),
        onEnd: () => clearTimeout(silence),
        fail,
      });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw fail(error instanceof ModelProblem ? error : connectionProblem(error, serverOf(input)));
    }
  };
  return { fetch: send, problem: () => problem, end };
}

interface BodyGuard {
  readonly limits: AnswerLimits;
  readonly onPiece: () => void;
  readonly onEnd: () => void;
  readonly fail: (problem: ModelProblem) => ModelProblem;
}

/** The same answer, whose body is counted and timed as it comes. */
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
        if (bytes > maxBytes || line > maxLine) throw tooLarge(limits);
        controller.enqueue(value);
      } catch (error) {
        controller.error(fail(error instanceof ModelProblem ? error : brokenOff(error)));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

export function tooLarge({ maxAnswerBytes }: AnswerLimits): ModelProblem {
  return new ModelProblem(`the answer is larger than ${String(maxAnswerBytes)} bytes and was cut off`, {
    hint: 'ask for less, or give the model a limit of output tokens',
  });
}

function tooSlow(sentence: string, ms: number): ModelProblem {
  return new ModelProblem(`${sentence} ${String(ms / 1000)} s`, {
    hint: 'see whether the server is still at work; a smaller model or a shorter request is faster',
  });
}

/** Much more than an error takes, in bytes and in time. */
const MAX_ERROR_BYTES = 64 * 1024;
const ERROR_MS = 5_000;

async function refusalOf(response: Response, { limits, hide, now }: GuardOptions): Promise<ModelProblem | undefined> {
  const { status, headers } = response;
  if (response.ok) {
    if (headers.get('content-type')?.includes('text/html') !== true) return undefined;
    return new ModelProblem('the server answered with a web page and not as a model', {
      status,
      hint: 'see whether the base URL is right; it often ends in /v1',
    });
  }
  if (status >= 300 && status < 400)
    return new ModelProblem(`the server answered ${String(status)} and points elsewhere, which is not followed`, {
      status,
      hint: 'give the base URL that it really has',
    });
  // Some servers repeat parts of a refused key.
  const words =
    status === 401
      ? ''
      : shownWords(errorText(await startOfBody(response, Math.min(ERROR_MS, limits.silenceMs))), hide);
  const retryAfterMs = readRetryAfter(headers, now());
  const wish = retryAfterMs === undefined ? '' : ` and asks to wait ${String(Math.ceil(retryAfterMs / 1000))} s`;
  return new ModelProblem(`the server answered ${String(status)}${wish}${words === '' ? '' : `: ${words}`}`, {
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
  if (status === 401 || status === 403) return 'see whether the key is right and may use this model';
  if (status === 404) return 'see whether the name of the model and the base URL are right';
  if (status === 413) return 'the request is too long for this model';
  if (status === 429) return 'too many requests or no credit left: wait, or name another model';
  return isPassing(status)
    ? 'the server has trouble: try again later, or name another model'
    : 'see what the server says';
}

async function startOfBody(response: Response, timeoutMs: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const reader = response.body?.getReader();
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, timeoutMs);
  try {
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
      text += decoder.decode(piece.value, { stream: true });
      if (text.length > MAX_ERROR_BYTES) break;
    }
  } catch {
    // What the status says counts, also when the explanation breaks off.
  } finally {
    clearTimeout(timer);
    cancel();
  }
  return text;
}

/** The sentence in an error as the vendors write them; a page of HTML has none. */
function errorText(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    const error = isObject(first) && 'error' in first ? first['error'] : first;
    const text = isObject(error) ? (error['message'] ?? error['detail']) : error;
    return typeof text === 'string' ? text : '';
  } catch {
    return /^\s*</.test(body) ? '' : body;
  }
}

const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']);
const PASSING: ReadonlySet<string> = new Set(
  'ECONNRESET EPIPE ETIMEDOUT EAI_AGAIN UND_ERR_SOCKET UND_ERR_CONNECT_TIMEOUT ECONNABORTED'.split(' '),
);

function connectionProblem(error: unknown, server: string): ModelProblem {
  const code = codeOf(error);
  if (UNREACHABLE.has(code))
    return new ModelProblem(`nothing answers at ${server} (${code})`, {
      isUnavailable: true,
      hint: 'start the server, or see whether the base URL is right',
    });
  return new ModelProblem(`the connection to ${server} failed${code === '' ? '' : ` (${code})`}`, {
    isRetryable: PASSING.has(code),
    hint: 'see whether the server runs and the base URL is right',
  });
}

function brokenOff(error: unknown): ModelProblem {
  const code = codeOf(error);
  return new ModelProblem(`the connection broke in the middle of the answer${code === '' ? '' : ` (${code})`}`, {
    isRetryable: true,
  });
}

/** The innermost code: fetch wraps what really happened. */
function codeOf(error: unknown): string {
  let code = '';
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string') code = current.code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return code;
}

/** Without path and query, which could hold a key. */
function serverOf(input: string | URL | Request): string {
  return new URL(input instanceof Request ? input.url : input).origin;
}
