import { quoted, SkillError } from '#core';
import { VERSION } from '../../version.ts';
import { encodeMetrics, encodeSpans, type MetricPeriod, type Sender } from './telemetry-encode.ts';
import type { Metrics } from './telemetry-metrics.ts';
import type { TracedSpan } from './telemetry-spans.ts';

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

export interface TelemetryReport {
  /** Spans that the server accepted. */
  readonly sent: number;
  /** Spans that were dropped. */
  readonly lost: number;
  /** The last reason for a failed request, without text of the server. */
  readonly problem?: string;
}

interface OutboxParts {
  readonly server: TelemetryServer;
  readonly sender: Sender;
  readonly metrics: Metrics;
  /** Milliseconds from the first waiting span to its request. */
  readonly intervalMs: number;
  /** The timeout of `close` in milliseconds. */
  readonly deadlineMs: number;
}

const MAX_BATCH = 512;
const MAX_WAITING = 4096;
const REQUEST_MS = 10_000;

/** Sends spans to a server: one request at a time, with a bounded queue and a timeout for every wait. */
export class TelemetryOutbox {
  readonly #parts: OutboxParts;
  readonly #closing = new AbortController();
  readonly #waiting: TracedSpan[] = [];
  #period: MetricPeriod | undefined;
  #hasMetrics = false;
  #sent = 0;
  #lost = 0;
  #problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #busy: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  add(spans: readonly TracedSpan[]): void {
    if (spans.length === 0) return;
    this.#hasMetrics = true;
    this.#period = {
      startMs: Math.min(this.#period?.startMs ?? Infinity, ...spans.map(({ startMs }) => startMs)),
      timeMs: Math.max(this.#period?.timeMs ?? 0, ...spans.map(({ endMs }) => endMs)),
    };
    this.#waiting.push(...spans);
    this.#bound();
    this.#schedule();
  }

  /** Sends the remaining data with one attempt each. Never throws. */
  async close(): Promise<TelemetryReport> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const deadline = setTimeout(() => this.#closing.abort(), this.#parts.deadlineMs);
    await this.#busy;
    const before = this.#problem;
    this.#problem = undefined;
    while (this.#hasMore() && this.#problem === undefined) await this.#sendOnce();
    clearTimeout(deadline);
    const lost = this.#lost + this.#waiting.length;
    const problem = this.#problem ?? (lost > 0 ? before : undefined);
    return { sent: this.#sent, lost, problem };
  }

  #hasMore(): boolean {
    return this.#waiting.length > 0 || this.#hasMetrics;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const sendRest = (): void => {
        if (this.#hasMore()) this.#schedule();
      };
      this.#sendOnce().then(sendRest, sendRest);
    }, this.#parts.intervalMs).unref();
  }

  #sendOnce(): Promise<void> {
    this.#busy ??= this.#send().finally(() => {
      this.#busy = undefined;
    });
    return this.#busy;
  }

  async #send(): Promise<void> {
    const abort = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(REQUEST_MS)]);
    await Promise.all([this.#sendSpans(abort), this.#sendMetrics(abort)]);
  }

  async #sendSpans(abort: AbortSignal): Promise<void> {
    const batch = this.#waiting.splice(0, MAX_BATCH);
    if (batch.length === 0) return;
    const result = await this.#post('traces', () => encodeSpans(batch, this.#parts.sender), abort);
    if (result.type === 'sent') this.#sent += batch.length;
    else if (result.type === 'never') this.#lost += batch.length;
    else {
      this.#waiting.unshift(...batch);
      this.#bound();
    }
  }

  async #sendMetrics(abort: AbortSignal): Promise<void> {
    const period = this.#period;
    if (!this.#hasMetrics || period === undefined) return;
    this.#hasMetrics = false;
    const { sender, metrics } = this.#parts;
    const result = await this.#post('metrics', () => encodeMetrics(metrics.snapshot(), sender, period), abort);
    // Sums are cumulative: the next request includes what was not accepted.
    if (result.type === 'later') this.#hasMetrics = true;
  }

  /** Never throws: most requests are not awaited, and an unhandled rejection would end the process. */
  async #post(kind: 'traces' | 'metrics', encode: () => string, abort: AbortSignal): Promise<Sent> {
    let result: Sent;
    try {
      result = await this.#parts.server.post(kind, encode(), abort);
    } catch {
      result = { type: 'never', problem: 'encoding failed' };
    }
    if (result.type !== 'sent') this.#problem = result.problem;
    return result;
  }

  /** Keeps the oldest spans: a trace without its start is less useful than one without its end. */
  #bound(): void {
    this.#lost += this.#waiting.splice(MAX_WAITING).length;
  }
}
