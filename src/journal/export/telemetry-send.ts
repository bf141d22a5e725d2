import { quoted, SkillError } from '#core';
import { VERSION } from '../../version.ts';

/** The result of a request: accepted, rejected for now, or rejected permanently. */
export type Sent = { readonly type: 'sent' } | { readonly type: 'later' | 'never'; readonly problem: string };

export interface TelemetryServer {
  post(signal: 'traces' | 'metrics', body: string, abort: AbortSignal): Promise<Sent>;
}

export interface ServerAddress {
  /** `http://127.0.0.1:4318`: `v1/traces` and `v1/metrics` are appended. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The retryable status codes of the OTLP specification. */
const PASSING = new Set([429, 502, 503, 504]);

export function openServer({ endpoint, headers = {} }: ServerAddress): TelemetryServer {
  const base = readEndpoint(endpoint);
  const sent = readHeaders(headers);
  return {
    async post(signal, body, abort) {
      try {
        const answer = await fetch(new URL(`v1/${signal}`, base), {
          method: 'POST',
          headers: sent,
          body,
          // The headers must not be sent to another server.
          redirect: 'error',
          signal: abort,
        });
        // The response body is not used.
        answer.body?.cancel().catch(() => undefined);
        if (answer.ok) return { type: 'sent' };
        return { type: PASSING.has(answer.status) ? 'later' : 'never', problem: `status ${String(answer.status)}` };
      } catch (error) {
        return { type: 'later', problem: describeProblem(error) };
      }
    },
  };
}

function readEndpoint(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isUsable =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '';
  if (!isUsable) {
    throw new SkillError({
      code: 'config/invalid',
      message: `${quoted(endpoint)} is not a telemetry endpoint: expected an http or https URL without user, password and query`,
      hint: 'use the address of a collector, such as http://127.0.0.1:4318, and pass credentials as headers',
      data: { path: 'telemetry.endpoint' },
    });
  }
  return new URL(`${url.pathname.replace(/\/*$/, '')}/`, url);
}

function readHeaders(headers: Readonly<Record<string, string>>): Headers {
  try {
    const own = { 'content-type': 'application/json', 'user-agent': `skillwright/${VERSION}` };
    return new Headers({ ...headers, ...own });
  } catch (error) {
    throw new SkillError({
      code: 'config/invalid',
      // The message of the error may contain the value, which is a secret.
      message: `a header for telemetry cannot be sent: ${Object.keys(headers)
        .map((name) => quoted(name))
        .join(', ')}`,
      hint: 'use header names and values without line breaks',
      data: { path: 'telemetry.headers' },
      cause: error instanceof TypeError ? undefined : error,
    });
  }
}

function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  const cause: unknown = error.cause;
  if (typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string')
    return cause.code;
  return 'failed';
}
