/** A typed client of the fleet API. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { z } from 'zod';

import { timerMs } from '#platform';
import { isSkillError, SkillError } from '#core';
import type { sharedRoutes } from '#server';
import type { Approvals } from '#server/api';
import type * as api from './api.ts';

export interface FleetClientOptions {
  /** The address of the server, without a trailing slash. */
  readonly url: string;
  readonly key: string;
  /** Deadline of one request in milliseconds, except streams (default: 30,000). */
  readonly timeoutMs?: number;
  /** How long `wait` and `events` try to reach a server that does not answer, as while it restarts (default: 60,000). */
  readonly unreachableMs?: number;
  /** Default: the `fetch` of Node. */
  readonly fetch?: typeof fetch;
}

export type FleetRun = z.output<typeof api.Run>;
export type FleetSubmission = z.input<typeof api.Submission>;
interface FleetRunFilter {
  readonly limit?: number;
  readonly before?: string;
  /** An open state, `ended`, or the outcome of an ended run. */
  readonly state?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The idempotency key. */
  readonly key?: string;
  /** Bounds of the time of submission. */
  readonly since?: Date;
  readonly until?: Date;
  /** Text of the request or the id. */
  readonly query?: string;
}
export type FleetQuestion = NonNullable<Approvals['questions']>[number];
type RunRecords = Parameters<typeof sharedRoutes>[0]['records'];
type FleetRecord = NonNullable<Awaited<ReturnType<RunRecords['verify']>>['records']>[number];
export type FleetEvent = { readonly id: string; readonly type: string; readonly line: unknown };

export interface FleetClient {
  submit(submission: FleetSubmission): Promise<FleetRun>;
  /** Uploads a file for `uploads` of a submission. */
  upload(name: string, bytes: Uint8Array): Promise<{ readonly id: string; readonly digest: string }>;
  /** An address of an output file, or of the state and answer of a run, that works without a key for a time (default: an hour). */
  link(run: string, options?: z.input<typeof api.NewLink>): Promise<string>;
  run(id: string): Promise<FleetRun>;
  /** Newest first; `before` is `next` of the page before. A page with a filter can have fewer runs than `limit` before the last one. */
  runs(page?: FleetRunFilter): Promise<z.output<typeof api.RunList>>;
  cancel(id: string): Promise<FleetRun>;
  /** Waits until a run has ended or waits for an answer, also while the server restarts. */
  wait(id: string, options?: { readonly signal?: AbortSignal; readonly pollMs?: number }): Promise<FleetRun>;
  /**
   * The events of a run until it has ended. When the connection breaks or the server restarts, it goes on after the last event. Throws
   * `io/failed` if the server does not answer for `unreachableMs`, and the reason of the signal when that is aborted.
   */
  events(id: string, options: { readonly signal: AbortSignal }): AsyncGenerator<FleetEvent>;
  /** Verifies the record of each attempt. */
  integrity(id: string): Promise<{ readonly records: readonly FleetRecord[] }>;
  questions(): Promise<readonly FleetQuestion[]>;
  answer(run: string, id: string, answer: z.input<typeof api.QuestionAnswer>): Promise<void>;
  fleet(): Promise<z.output<typeof api.Fleet>>;
}

/** Opens a client of the fleet API. */
export function openFleetClient({
  url,
  key,
  timeoutMs = 30_000,
  unreachableMs = 60_000,
  fetch: send = fetch,
}: FleetClientOptions): FleetClient {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await send(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(timerMs(timeoutMs)),
    });
    if (!response.ok) throw await refusal(response);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server answers in the shapes of `api.ts`.
    return (await response.json()) as T;
  };
  const runPath = (id: string): string => `/runs/${encodeURIComponent(id)}`;
  const client: FleetClient = {
    submit: (submission) => call('POST', '/runs', submission),
    run: (id) => call('GET', `/fleet${runPath(id)}`),
    async upload(name, bytes) {
      const response = await send(`${url}/api/v1/uploads?${new URLSearchParams({ name }).toString()}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' },
        body: Buffer.from(bytes),
        signal: AbortSignal.timeout(timerMs(timeoutMs)),
      });
      if (!response.ok) throw await refusal(response);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server answers in the shapes of `api.ts`.
      return (await response.json()) as { readonly id: string; readonly digest: string };
    },
    async link(run, options = {}) {
      const { path } = await call<{ readonly path: string }>('POST', `${runPath(run)}/links`, options);
      return `${url}${path}`;
    },
    runs({ labels = {}, ...filter } = {}) {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(filter))
        if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : String(value));
      for (const [name, value] of Object.entries(labels)) query.append('label', `${name}=${value}`);
      return call('GET', `/fleet/runs?${query.toString()}`);
    },
    cancel: (id) => call('POST', `${runPath(id)}/cancel`),
    async wait(id, { signal, pollMs = 100 } = {}) {
      const patience = openPatience(unreachableMs);
      for (;;) {
        signal?.throwIfAborted();
        try {
          const run = await client.run(id);
          if (run.state === 'ended' || run.state === 'waiting') return run;
          patience.renew();
        } catch (error) {
          await patience.spend(error, signal);
        }
        await sleep(pollMs, undefined, { signal }).catch(() => undefined);
      }
    },
    async *events(id, { signal }) {
      const patience = openPatience(unreachableMs);
      for (let last = ''; ;) {
        signal.throwIfAborted();
        const silent = new AbortController();
        const timer = setTimeout(() => silent.abort(new TypeError('the stream is silent')), SILENT_MS);
        try {
          const response = await send(`${url}/api/v1${runPath(id)}/events`, {
            headers: { authorization: `Bearer ${key}`, ...(last === '' ? {} : { 'last-event-id': last }) },
            signal: AbortSignal.any([signal, silent.signal]),
          });
          if (!response.ok || response.body === null) throw await refusal(response);
          const heard = (): void => {
            timer.refresh();
            patience.renew();
          };
          for await (const event of readEvents(response.body, heard)) {
            if (event.type === 'end') return;
            // The server says why it closes the connection.
            if (event.id === '') continue;
            last = event.id;
            yield event;
          }
          throw new TypeError('the stream ended before the run');
        } catch (error) {
          await patience.spend(error, signal);
        } finally {
          clearTimeout(timer);
        }
      }
    },
    integrity: (id) => call('GET', `${runPath(id)}/integrity`),
    async questions() {
      const { questions } = await call<{ readonly questions: readonly FleetQuestion[] }>('GET', '/approvals');
      return questions;
    },
    async answer(run, id, answer) {
      await call('POST', `/approvals/${encodeURIComponent(run)}/${encodeURIComponent(id)}`, answer);
    },
    fleet: () => call('GET', '/fleet'),
  };
  return client;
}

/** The server sends something every 15 seconds. */
const SILENT_MS = 45_000;
const MAX_PAUSE_MS = 5_000;

/** How long a call goes on after failures that pass by themselves. */
function openPatience(unreachableMs: number): {
  /** The server answered. */
  renew(): void;
  /** Waits before the next try, longer each time. Throws what does not pass, and `io/failed` after `unreachableMs` without an answer. */
  spend(reason: unknown, signal: AbortSignal | undefined): Promise<void>;
} {
  let since: number | undefined;
  let tries = 0;
  return {
    renew() {
      since = undefined;
      tries = 0;
    },
    async spend(reason, signal) {
      signal?.throwIfAborted();
      if (!isPassing(reason)) throw reason;
      since ??= performance.now();
      if (performance.now() - since >= unreachableMs) throw unreachable(reason, unreachableMs);
      const pause = Math.min(MAX_PAUSE_MS, 100 * 2 ** tries, unreachableMs);
      tries += 1;
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    },
  };
}

/** `fetch` throws a TypeError when it cannot connect or the connection breaks, and a TimeoutError at the deadline of a request. */
function isPassing(error: unknown): boolean {
  if (isSkillError(error)) return error.code === 'io/failed';
  return error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');
}

function unreachable(error: unknown, unreachableMs: number): SkillError {
  const cause = error instanceof Error ? error.message : String(error);
  return new SkillError({
    code: 'io/failed',
    message: `the server did not answer for ${String(unreachableMs / 1_000)} s: ${cause}`,
    hint: 'check that it runs and that its address is right; then call again',
    data: { path: '', cause },
    cause: error,
  });
}

async function* readEvents(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<FleetEvent> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of body) {
    heard();
    text += decoder.decode(piece, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? '';
      if (field('data') === '') continue;
      const line: unknown = JSON.parse(field('data'));
      yield { id: field('id'), type: field('event'), line };
    }
  }
}

async function refusal(response: Response): Promise<SkillError> {
  const body: unknown = await response.json().catch(() => undefined);
  const readText = (name: string): string | undefined => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const message = readText('error') ?? `the server answered ${String(response.status)}`;
  const hint = readText('hint') ?? 'see /api/v1/openapi.json';
  if (response.status >= 500)
    return new SkillError({ code: 'io/failed', message, hint, data: { path: response.url, cause: message } });
  return new SkillError({
    code: response.status === 403 || response.status === 401 ? 'policy/refused' : 'input/invalid',
    message,
    hint,
    data:
      response.status === 403 || response.status === 401
        ? { rule: `http/${String(response.status)}`, approval: '', command: '' }
        : { expected: 'a valid request' },
  });
}
