import { readGrant, timerMs, requestGuarded, type networkGate } from '#platform';
import {
  isProblem,
  actionFailed,
  printable,
  quoted,
  sliceStart,
  type ActionFailed,
  type ActionProblem,
  type HostPattern,
  type Action,
  type OfType,
  type Observation,
} from '#core';
import { hostFailure } from '../host-failure.ts';
import {
  readMessage,
  readRedirect,
  readTarget,
  redirectedMessage,
  type Message,
  type HttpTarget,
} from './request-target.ts';
import { receiveBody, showBody } from './response-body.ts';

type GuardedResponse = Extract<Awaited<ReturnType<typeof requestGuarded>>, { readonly response: unknown }>;
type ResponseReceived = OfType<Observation, 'response-received'>;

export interface NetworkRequestOptions {
  /** Grants for private hosts; see core/network/host-pattern.ts. Other hosts that `decideHost` allows must be public. */
  readonly grants: readonly string[];
  /** Called before each connection, also for each redirect. */
  readonly decideHost: (host: string, port: number) => boolean;
  readonly signal?: AbortSignal;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  readonly maxRedirects?: number;
  readonly resolve?: NonNullable<Parameters<typeof networkGate>[0]['resolve']>;
  readonly onDecision?: Parameters<typeof networkGate>[0]['onDecision'];
  readonly certificates?: readonly string[];
}

/** Timeout of a name lookup, and of each connection attempt. */
const CONNECT_MS = 10_000;

/**
 * Sends one request and returns the response for a model. Each connection passes the network gate, which checks the resolved address;
 * each redirect is checked like a new request. No cookies, no proxies.
 */
export async function networkRequest(
  action: OfType<Action, 'network_request'>,
  options: NetworkRequestOptions,
): Promise<ResponseReceived | ActionFailed> {
  const { signal, timeoutMs = 30_000 } = options;
  signal?.throwIfAborted();
  const grants = options.grants.map(readGrant);
  const target = readTarget(action.url);
  const message = target.type === 'refused' ? target : readMessage(action);
  if (target.type === 'refused') return actionFailed(action.type, target.failure);
  if (message.type === 'refused') return actionFailed(action.type, message.failure);
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), timerMs(timeoutMs));
  const stop = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  try {
    const received = await follow({ ...options, patterns: grants, stop }, target, message);
    if (received.type !== 'failed') return received;
    const { type: _, ...failure } = received;
    return actionFailed(action.type, failure);
  } catch (error) {
    signal?.throwIfAborted();
    const why = ended.signal.aborted ? `no complete response within ${String(timeoutMs)} ms` : networkReason(error);
    return actionFailed(action.type, hostFailure('network/failed', `${quoted(action.url, 200)}: ${why}`));
  } finally {
    clearTimeout(timer);
  }
}

interface RequestContext extends NetworkRequestOptions {
  readonly patterns: readonly HostPattern[];
  readonly stop: AbortSignal;
}

interface Failed extends ActionProblem {
  readonly type: 'failed';
}

/** Policy has approved the host, so it is granted if its address is public; a private address needs a private grant. */
async function follow(context: RequestContext, target: HttpTarget, asked: Message): Promise<ResponseReceived | Failed> {
  const { patterns, timeoutMs = 30_000, decideHost, maxRedirects } = context;
  const send = (to: HttpTarget, { method, headers, body }: Message): Parameters<typeof requestGuarded>[0] => ({
    target: to,
    method,
    headers: { ...headers, 'accept-encoding': 'gzip, br' },
    body,
  });
  let message = asked;
  const result = await requestGuarded<Failed>(send(target, asked), {
    ...context,
    connectMs: Math.min(CONNECT_MS, timeoutMs),
    maxRedirects,
    grants: (to) => [...patterns, readGrant(to.authority)],
    deny: (to) =>
      decideHost(to.host.name, to.port) ? undefined : refused(`${to.authority} is denied for this request`),
    unreached: ({ refusal, message: text }) =>
      refusal === 'not-granted' || refusal === 'not-public' ? refused(text) : failed(text),
    tooManyRedirects: (limit) => failed(`${quoted(target.url.href, 200)} redirects more than ${String(limit)} times`),
    redirect: ({ target: from }, status, location) => {
      const next = readRedirect(from, location);
      if (next.type === 'refused') return { type: 'failed', ...next.failure };
      message = redirectedMessage(message, status, from, next);
      return send(next, message);
    },
  });
  return isProblem(result) ? result : shownBack(await receive(context, result), asked);
}

/** Response headers that the model sees. */
const SHOWN_HEADERS = ['content-type', 'content-length', 'last-modified', 'etag', 'location', 'date'] as const;
const MAX_HEADER_CHARACTERS = 500;

async function receive(
  { maxBytes = 1024 * 1024 }: RequestContext,
  { response, target: { url }, redirects }: GuardedResponse,
): Promise<ResponseReceived> {
  const received = await receiveBody(response, maxBytes);
  const { statusCode: status = 0, headers } = response;
  const { mediaType, isBinary, text, isCut } = showBody(received, headers['content-type'], url.pathname);
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, printable(sliceStart(value, MAX_HEADER_CHARACTERS))] as const];
  });
  return {
    type: 'response-received',
    action: 'network_request',
    url: url.href,
    status,
    headers: Object.fromEntries(shown),
    mediaType,
    isBinary,
    text,
    bytes: received.bytes.length,
    truncated: isCut,
    redirects,
  };
}

/** Shorter texts are not keys and would match by chance. */
const MIN_KEY = 8;

/** Removes the key of the request from the response: some servers echo request headers. */
function shownBack(received: ResponseReceived, { headers }: Message): ResponseReceived {
  const { authorization = '' } = headers;
  const keys = [authorization, authorization.slice(authorization.indexOf(' ') + 1)].filter(
    (key) => key.length >= MIN_KEY,
  );
  const hide = (text: string): string => keys.reduce((rest, key) => rest.replaceAll(key, '[key]'), text);
  if (keys.length === 0) return received;
  return {
    ...received,
    url: hide(received.url),
    headers: Object.fromEntries(Object.entries(received.headers).map(([name, value]) => [name, hide(value)])),
    text: hide(received.text),
    redirects: received.redirects.map(hide),
  };
}

/** Network errors have a code; any other error is a bug and is thrown. */
function networkReason(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') throw error;
  return printable(`${sliceStart(error.message, 200)} (${error.code})`);
}

function failed(message: string): Failed {
  return { type: 'failed', ...hostFailure('network/failed', message) };
}

function refused(message: string): Failed {
  return { type: 'failed', ...hostFailure('network/refused', message) };
}
