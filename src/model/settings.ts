import type { Config } from '../core/config/config.ts';
import { isObject } from '../core/json/json-schema.ts';

/** Which model, and how it is reached. */
export interface ModelSettings {
  /** One of `PROVIDERS`. */
  readonly provider: string;
  /** Its name at the provider; absent: the provider's usual one, or the one that a local server has. */
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For each request: `temperature`, `seed`, ..., and what only this provider knows. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Tokens that a request and its answer may have together. */
  readonly contextWindow?: number;
}

/** `anthropic/claude-sonnet-4-5` or `ollama`, as people name a model. */
export function readModelName(name: string): ModelSettings {
  const slash = name.indexOf('/');
  return slash === -1
    ? { provider: name.trim().toLowerCase() }
    : { provider: name.slice(0, slash).trim().toLowerCase(), model: name.slice(slash + 1).trim() };
}

/**
 * The settings that a configuration holds: a provider, or a provider and a model in one word, and in `params` also `model`, `base_url`,
 * `api_key`, `headers` and `context_window`. The configuration has taken away what a project's file says about where a model is asked and with
 * what key.
 */
export function settingsOfConfig({ provider, params = {} }: NonNullable<Config['model']>): ModelSettings | undefined {
  if (provider === undefined || provider === 'auto') return undefined;
  const { model, base_url: baseUrl, api_key: apiKey, headers, context_window: contextWindow } = params;
  return {
    ...readModelName(provider),
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof baseUrl === 'string' ? { baseUrl } : {}),
    ...(typeof apiKey === 'string' ? { apiKey } : {}),
    ...(isObject(headers) ? { headers: texts(headers) } : {}),
    ...(typeof contextWindow === 'number' ? { contextWindow } : {}),
    params: requestParams(params),
  };
}

const ABOUT_THE_SERVER: ReadonlySet<string> = new Set([
  'model',
  'base_url',
  'api_key',
  'api_key_env',
  'headers',
  'context_window',
]);

/** What is meant for each request, without what says where it goes. */
export function requestParams(params: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(params).filter(([name]) => !ABOUT_THE_SERVER.has(name)));
}

function texts(record: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
