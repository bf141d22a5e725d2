/** The OpenAPI description of the API, made from the schemas that also validate it. */
import { z } from 'zod';

import { VERSION } from '../version.ts';
import type { Route } from './router.ts';

export const API_PATH = '/api/v1';

const ErrorBody = z.object({ error: z.string(), code: z.string().optional(), hint: z.string().optional() });

export function openApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) (paths[`${API_PATH}${route.path}`] ??= {})[route.method.toLowerCase()] = operation(route);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Skillwright',
      version: VERSION,
      description: 'The local API of Skillwright. Send the token as a bearer token, or use the session cookie.',
    },
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function operation({ method, path, summary, query, body, answer, status }: Route): object {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/\/\{?(\w)(\w*)\}?/g, (_, first: string, rest: string) => first.toUpperCase() + rest)}`,
    summary,
    parameters: [...names, ...(query === undefined ? [] : queryParameters(query))],
    requestBody: body === undefined ? undefined : { required: true, content: bodyContent(body) },
    responses: {
      [String(status)]: { description: 'done', content: answerContent(answer) },
      default: { description: 'failed', content: { 'application/json': { schema: toJsonSchema(ErrorBody) } } },
    },
  };
}

function queryParameters(query: z.ZodType): readonly object[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function bodyContent(body: z.ZodType | 'bytes'): object {
  return body === 'bytes'
    ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
    : { 'application/json': { schema: toJsonSchema(body, 'input') } };
}

function answerContent(answer: Route['answer']): object {
  if (answer === 'events') return { 'text/event-stream': { schema: { type: 'string' } } };
  if (answer === 'file') return { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  return { 'application/json': { schema: toJsonSchema(answer) } };
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
