/** Validates a request before anything is connected: URL, method and headers. */
import { findHidden, quoted, readAuthority, type ActionProblem, type Action, type OfType } from '#core';
import { httpTarget } from '#platform';
import { hostFailure } from '../host-failure.ts';

export type HttpTarget = NonNullable<ReturnType<typeof httpTarget>>;

export interface Refusal {
  readonly type: 'refused';
  readonly failure: ActionProblem;
}

const MAX_URL = 8192;
const ADDRESS = /^https?:\/\/([^/?#]*)/i;

/**
 * Parses a URL that a model wrote. Spellings that parsers interpret differently are rejected: a user name before the host, a backslash,
 * `127.1`.
 */
export function readTarget(text: string): HttpTarget | Refusal {
  const shown = quoted(text, 200);
  if (text.length > MAX_URL) return invalid(`the URL ${shown} has more than ${String(MAX_URL)} characters`);
  if (findHidden(text) !== undefined || /[\s\\]/.test(text))
    return invalid(`the URL ${shown} contains a space, a backslash or a hidden character`);
  const authority = ADDRESS.exec(text)?.[1];
  if (authority === undefined || !URL.canParse(text)) return invalid(`${shown} is not an http:// or https:// URL`);
  if (authority.includes('@')) return invalid(`the URL ${shown} contains a user name`);
  const url = new URL(text);
  const asked = readAuthority(authority, defaultPort(url));
  if (asked === undefined) return invalid(`the URL ${shown} has an invalid or ambiguous host`);
  return httpTarget(url) ?? invalid(`the URL ${shown} has an invalid or ambiguous host`);
}

export function readRedirect(from: HttpTarget, location: string): HttpTarget | Refusal {
  const shown = quoted(location, 200);
  if (location.length > MAX_URL || /[\x00-\x20\x7f\\]/.test(location) || !URL.canParse(location, from.url.href))
    return failed(`${from.authority} redirects to ${shown}, which is not a URL`);
  const url = new URL(location, from.url);
  const target = httpTarget(url);
  if (target === undefined || url.username !== '' || url.password !== '')
    return failed(`${from.authority} redirects to ${shown}, which is not a plain http:// or https:// URL`);
  if (from.isSecure && !target.isSecure) return failed(`${from.authority} redirects to ${shown}, from https to http`);
  return target;
}

function defaultPort({ protocol }: URL): number {
  return protocol === 'https:' ? 443 : 80;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_HEADERS = 50;
const MAX_HEADER_BYTES = 16 * 1024;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** The standard also allows tabs; no known client needs them. */
const HEADER_VALUE = /^[\x20-\x7e\u00a0-\u00ff]*$/;
/** Headers that the HTTP client sets itself, and cookies, which are not supported. */
const RESERVED: ReadonlySet<string> = new Set(
  `accept-encoding connection content-length cookie cookie2 expect host http2-settings keep-alive proxy-authenticate
   proxy-authorization proxy-connection te trailer transfer-encoding upgrade via`.split(/\s+/),
);

export interface Message {
  readonly type: 'message';
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export function readMessage({
  method = 'GET',
  headers = {},
  body,
}: OfType<Action, 'network_request'>): Message | Refusal {
  const verb = method.toUpperCase();
  if (!METHODS.has(verb)) return invalid(`invalid method ${quoted(method)}: expected ${[...METHODS].join(', ')}`);
  if (body !== undefined && WITHOUT_BODY.has(verb)) return invalid(`a ${verb} request cannot have a body`);
  const bytes = body === undefined ? undefined : Buffer.from(body, 'utf8');
  if (bytes !== undefined && bytes.length > MAX_BODY_BYTES)
    return invalid(`the body has more than ${String(MAX_BODY_BYTES)} bytes`);
  const read = readHeaders(headers);
  return read.type === 'refused' ? read : { type: 'message', method: verb, headers: read.headers, body: bytes };
}

type Headers = Message['headers'];

function readHeaders(headers: Headers): { readonly type: 'headers'; readonly headers: Headers } | Refusal {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) return invalid(`there are more than ${String(MAX_HEADERS)} headers`);
  const read = new Map<string, string>();
  let bytes = 0;
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    // The message omits the value, which may be a secret.
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value))
      return invalid(`the header ${quoted(name)} contains an invalid character`);
    if (RESERVED.has(lower)) return invalid(`the header ${quoted(name)} is reserved`);
    if (read.has(lower)) return invalid(`the header ${quoted(name)} appears twice`);
    read.set(lower, value);
    bytes += name.length + value.length;
  }
  if (bytes > MAX_HEADER_BYTES) return invalid(`the headers are larger than ${String(MAX_HEADER_BYTES)} bytes`);
  return { type: 'headers', headers: Object.fromEntries(read) };
}

/** Headers that are sent to another origin after a redirect; any other header may be a key. */
const CROSS_ORIGIN: ReadonlySet<string> = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

/** The request after a redirect: without a body unless the status keeps it, and without keys for another origin. */
export function redirectedMessage(message: Message, status: number, from: HttpTarget, to: HttpTarget): Message {
  const isKept = status === 307 || status === 308;
  const isSame = from.url.origin === to.url.origin;
  const headers = Object.entries(message.headers).filter(
    ([name]) => (isSame || CROSS_ORIGIN.has(name)) && (isKept || !name.startsWith('content-')),
  );
  return {
    type: 'message',
    method: isKept || message.method === 'HEAD' ? message.method : 'GET',
    headers: Object.fromEntries(headers),
    body: isKept ? message.body : undefined,
  };
}

function invalid(message: string): Refusal {
  return refused('input/invalid', message);
}

function failed(message: string): Refusal {
  return refused('network/refused', message);
}

function refused(code: ActionProblem['code'], message: string): Refusal {
  return { type: 'refused', failure: hostFailure(code, message) };
}
