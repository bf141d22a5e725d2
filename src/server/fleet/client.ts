/** A typed client of the fleet API. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { z } from 'zod';

import { SkillError } from '../../core/errors.ts';
import type { Integrity } from '../api/runs.ts';
import type * as api from './api.ts';

export interface FleetClientOptions {
  /** The address of the server, without a trailing slash. */
  readonly url: string;
  readonly key: string;
  /** Deadline of one request in milliseconds, except streams (default: 30,000). */
  readonly timeoutMs?: number;
  /** Default: the `fetch` of Node. */
  readonly fetch?: typeof fetch;
}

export type FleetRun = z.output<typeof api.Run>;
export type FleetSubmission = z.input<typeof api.Submission>;
export type FleetQuestion = z.output<typeof api.Question>;
export type FleetRecord = NonNullable<Integrity['records']>[number];
export type FleetEvent = { readonly id: string; readonly type: string; readonly line: unknown };

export interface FleetClient {
  submit(submission: FleetSubmission): Promise<FleetRun>;
  run(id: string): Promise<FleetRun>;
  /** Newest first; `before` is `next` of the page before. */
  runs(page?: { readonly limit?: number; readonly before?: string }): Promise<z.output<typeof api.RunList>>;
  cancel(id: string): Promise<FleetRun>;
  /** Waits until a run has ended or waits for an answer. */
  wait(id: string, options?: { readonly signal?: AbortSignal; readonly pollMs?: number }): Promise<FleetRun>;
  /** The events of a run until it ends. Begins again after the last event if the connection breaks. */
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
  fetch: send = fetch,
}: FleetClientOptions): FleetClient {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await send(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw await refusal(response);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server answers in the shapes of `api.ts`.
    return (await response.json()) as T;
  };
  const runPath = (id: string): string => `/runs/${encodeURIComponent(id)}`;
  const client: FleetClient = {
    submit: (submission) => call('POST', '/runs', submission),
    run: (id) => call('GET', `/fleet${runPath(id)}`),
    runs({ limit, before } = {}) {
      const query = new URLSearchParams();
      if (limit !== undefined) query.set('limit', String(limit));
      if (before !== undefined) query.set('before', before);
      return call('GET', `/fleet/runs?${query.toString()}`);
    },
    cancel: (id) => call('POST', `${runPath(id)}/cancel`),
    async wait(id, { signal, pollMs = 100 } = {}) {
      for (;;) {
        signal?.throwIfAborted();
        const run = await client.run(id);
        if (run.state === 'ended' || run.state === 'waiting') return run;
        await sleep(pollMs, undefined, { signal }).catch(() => undefined);
      }
    },
    async *events(id, { signal }) {
      let last = '';
      while (!signal.aborted) {
        const response = await send(`${url}/api/v1${runPath(id)}/events`, {
          headers: { authorization: `Bearer ${key}`, ...(last === '' ? {} : { 'last-event-id': last }) },
          signal,
        });
        if (!response.ok || response.body === null) throw await refusal(response);
        try {
          for await (const event of readEvents(response.body)) {
            last = event.id;
            yield event;
          }
          return;
        } catch (error) {
          if (signal.aborted || !(error instanceof TypeError)) throw error;
          await sleep(500, undefined, { signal }).catch(() => undefined);
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

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<FleetEvent> {
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? '';
      const line: unknown = JSON.parse(field('data'));
      yield { id: field('id'), type: field('event'), line };
    }
  }
}

async function refusal(response: Response): Promise<SkillError> {
  const body: unknown = await response.json().catch(() => undefined);
  const said = (name: string): string | undefined => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return new SkillError({
    code: response.status === 403 || response.status === 401 ? 'policy/refused' : 'input/invalid',
    message: said('error') ?? `the server answered ${String(response.status)}`,
    hint: said('hint') ?? 'see /api/v1/openapi.json',
    data:
      response.status === 403 || response.status === 401
        ? { rule: `http/${String(response.status)}`, approval: '', command: '' }
        : { expected: 'a valid request' },
  });
}
