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

type File = { readonly name: string; readonly mediaType: string; readonly chunks: Iterable<string | Uint8Array> };

export type Answer =
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'events'; readonly frames: AsyncIterable<string> }
  | ({ readonly type: 'file' } & File);

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

interface Schemas<Query = z.ZodType | undefined, Body = z.ZodType | 'bytes' | undefined> {
  readonly query?: Query;
  /** `bytes`: the body is a file. */
  readonly body?: Body;
}

export interface Route extends Schemas {
  readonly method: (typeof METHODS)[number];
  /** Below `/api/v1`, with `{name}` for a segment; `{path}` at the end takes all that are left. */
  readonly path: string;
  readonly summary: string;
  readonly answer: z.ZodType | 'events' | 'file';
  readonly status: number;
  readonly handle: (call: Call) => Promise<Answer>;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : Schema extends 'bytes' ? Buffer : undefined;
type Reply<Kind> = Kind extends z.ZodType
  ? Immutable<z.output<Kind>>
  : Kind extends 'events'
    ? AsyncIterable<string>
    : File;

/** A route that answers with JSON, with server-sent events or with a file to download. */
export function route<
  Kind extends Route['answer'],
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | 'bytes' | undefined = undefined,
>(
  endpoint: `${Route['method']} /${string}`,
  summary: string,
  { answer, status = 200, query, body }: Schemas<Query, Body> & { readonly answer: Kind; readonly status?: number },
  handle: (call: Call<Parsed<Query>, Parsed<Body>>) => Reply<Kind> | Promise<Reply<Kind>>,
): Route {
  const [method, path = ''] = endpoint.split(' ');
  return {
    method: METHODS.find((known) => known === method) ?? 'GET',
    path,
    summary,
    query,
    body,
    answer,
    status,
    async handle(call) {
      const parsedCall = { ...call, query: parsed(query, call.query, 'query'), body: parsed(body, call.body, 'body') };
      const value: unknown = await handle(parsedCall);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Reply` is not resolved inside of a generic function.
      if (answer === 'events') return { type: 'events', frames: value as AsyncIterable<string> };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above.
      return answer === 'file' ? { type: 'file', ...(value as File) } : { type: 'json', value };
    },
  };
}

/** Without a schema, nothing is passed on. */
function parsed<Schema extends z.ZodType | 'bytes' | undefined>(
  schema: Schema | undefined,
  value: unknown,
  part: string,
): Parsed<Schema> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the conditional type is not resolved inside of a generic function.
  if (schema === undefined || schema === 'bytes') return (schema && value) as Parsed<Schema>;
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

/** Finds the route for a path. A path with other methods gives their names, for the `Allow` header. */
export function findRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): { readonly route: Route; readonly params: Call['params'] } | { readonly allowed: readonly string[] } {
  const segments = path.split('/');
  const matches = routes.flatMap((route) => {
    const params = match(route.path.split('/'), segments);
    return params === undefined ? [] : [{ route, params }];
  });
  const found = matches.find(({ route }) => route.method === method);
  return found ?? { allowed: matches.map(({ route }) => route.method) };
}

function match(pattern: readonly string[], segments: readonly string[]): Call['params'] | undefined {
  const isOpen = pattern.at(-1) === '{path}' && segments.length > pattern.length;
  if (!isOpen && pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const segment = (part === '{path}' ? segments.slice(at).join('/') : segments[at]) ?? '';
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (name === undefined) {
      if (part !== segment) return undefined;
      continue;
    }
    const value = decoded(segment);
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
