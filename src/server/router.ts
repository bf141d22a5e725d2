/** Routes of the HTTP API: one definition gives the handler, the validation and the OpenAPI description. */
import type { z } from 'zod';

import { nearest } from '#core';
import { httpError } from './http-error.ts';

/** Answers are never changed after they were made, so readonly data of the library can be returned as it is. */
export type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

export type Answer =
  | { readonly type: 'json'; readonly status: number; readonly value: unknown }
  | { readonly type: 'events'; readonly frames: AsyncIterable<string> }
  | {
      readonly type: 'file';
      readonly name: string;
      readonly mediaType: string;
      readonly chunks: Iterable<string | Uint8Array>;
    };

export interface Call<Query = unknown, Body = unknown> {
  /** The decoded segments of the path, by the names of the route. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;

export interface Route {
  readonly method: (typeof METHODS)[number];
  /** Below `/api/v1`, with `{name}` for a segment; `{path}` at the end takes all that are left. */
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodType | undefined;
  /** `bytes`: the body is a file. */
  readonly body: z.ZodType | 'bytes' | undefined;
  readonly answer: z.ZodType | 'events' | 'file';
  readonly status: number;
  readonly handle: (call: Call) => Promise<Answer>;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The schemas of a request. */
interface Requested<Query, Body> {
  readonly query?: Query;
  readonly body?: Body;
}

/** A route that answers with JSON. */
export function jsonRoute<
  Answered extends z.ZodType,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  endpoint: `${Route['method']} /${string}`,
  summary: string,
  schemas: Requested<Query, Body> & { readonly answer: Answered; readonly status?: number },
  handle: (
    call: Call<Parsed<Query>, Parsed<Body>>,
  ) => Immutable<z.output<Answered>> | Promise<Immutable<z.output<Answered>>>,
): Route {
  const { answer, status = 200, query, body } = schemas;
  const [method, path = ''] = endpoint.split(' ');
  return {
    method: METHODS.find((known) => known === method) ?? 'GET',
    path,
    summary,
    query,
    body,
    answer,
    status,
    handle: async (call) => ({ type: 'json', status, value: await handle(parsedCall(call, schemas)) }),
  };
}

/** A route that answers with server-sent events. */
export function eventRoute<Query extends z.ZodType | undefined = undefined>(
  path: `/${string}`,
  summary: string,
  schemas: Pick<Requested<Query, undefined>, 'query'>,
  handle: (call: Call<Parsed<Query>>) => AsyncIterable<string> | Promise<AsyncIterable<string>>,
): Route {
  return {
    ...reading(path, summary, schemas.query),
    answer: 'events',
    handle: async (call) => ({ type: 'events', frames: await handle(parsedCall(call, schemas)) }),
  };
}

type FileAnswer = Omit<Extract<Answer, { readonly type: 'file' }>, 'type'>;

/** A route that answers with a file to download. */
export function fileRoute<Query extends z.ZodType | undefined = undefined>(
  path: `/${string}`,
  summary: string,
  schemas: Pick<Requested<Query, undefined>, 'query'>,
  handle: (call: Call<Parsed<Query>>) => FileAnswer | Promise<FileAnswer>,
): Route {
  return {
    ...reading(path, summary, schemas.query),
    answer: 'file',
    handle: async (call) => ({ type: 'file', ...(await handle(parsedCall(call, schemas))) }),
  };
}

function reading(path: string, summary: string, query: z.ZodType | undefined): Omit<Route, 'answer' | 'handle'> {
  return { method: 'GET', path, summary, query, body: undefined, status: 200 };
}

function parsedCall<Query extends z.ZodType | undefined, Body extends z.ZodType | undefined>(
  call: Call,
  { query, body }: { readonly query?: Query; readonly body?: Body },
): Call<Parsed<Query>, Parsed<Body>> {
  return {
    ...call,
    query: parsed(query, call.query, 'query'),
    body: parsed(body, call.body, 'body'),
  };
}

function parsed<Schema extends z.ZodType | undefined>(
  schema: Schema | undefined,
  value: unknown,
  part: string,
): Parsed<Schema> {
  // Without a schema, nothing is passed on.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the conditional type is not resolved inside of a generic function.
  if (schema === undefined) return undefined as Parsed<Schema>;
  const read = schema.safeParse(value);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above.
  if (read.success) return read.data as Parsed<Schema>;
  const { issues } = read.error;
  // A misspelt name is the cause of a required one that is missing.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const place = issue === undefined || issue.path.length === 0 ? part : `${part} ${issue.path.join('.')}`;
  throw httpError(
    400,
    `invalid ${place}: ${issue?.message ?? 'unexpected value'}`,
    issue?.code === 'unrecognized_keys' ? keysHint(schema, issue.path, issue.keys[0] ?? '') : undefined,
  );
}

/** Names the keys that are allowed where an unknown one was given. */
function keysHint(schema: z.ZodType, path: readonly PropertyKey[], unknown: string): string {
  let at: z.ZodType | undefined = schema;
  for (const name of path) at = findFields(at)?.[String(name)];
  const keys = Object.keys(findFields(at) ?? {});
  // Either way round, because the longer of two names may differ by more letters.
  const near = nearest(unknown, keys)[0] ?? keys.find((key) => nearest(key, [unknown]).length > 0);
  if (near !== undefined) return `did you mean ${near}?`;
  return keys.length === 0 ? 'it takes no keys' : `the keys are ${keys.join(', ')}`;
}

/** The fields of an object schema, also of one that is optional or has a default. */
function findFields(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType | undefined>> | undefined {
  if (schema === undefined) return undefined;
  if ('shape' in schema) return Object(schema.shape);
  return 'unwrap' in schema && typeof schema.unwrap === 'function' ? findFields(schema.unwrap()) : undefined;
}

export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route for a path. A path with other methods gives their names, for the `Allow` header. */
export function findRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): FoundRoute | { readonly allowed: readonly string[] } {
  const segments = path.split('/');
  const matches = routes.flatMap((route) => {
    const params = match(route.path.split('/'), segments);
    return params === undefined ? [] : [{ route, params }];
  });
  const found = matches.find(({ route }) => route.method === method);
  return found ?? { allowed: matches.map(({ route }) => route.method) };
}

function match(pattern: readonly string[], segments: readonly string[]): Readonly<Record<string, string>> | undefined {
  const isOpen = pattern.at(-1) === '{path}' && segments.length > pattern.length;
  if (!isOpen && pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const given = (part === '{path}' ? segments.slice(at).join('/') : segments[at]) ?? '';
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (name === undefined) {
      if (part !== given) return undefined;
      continue;
    }
    const value = decoded(given);
    if (value === undefined || value === '') return undefined;
    params[name] = value;
  }
  return params;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
