import { isObject, type Config } from '#core';

export interface ModelSettings {
  /** One of `PROVIDERS`. */
  readonly provider: string;
  /** The name at the provider. Without it, the default model of the provider or the only model of a local server is used. */
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Parameters of each request: `temperature`, `seed`, and options of the provider. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** The limit in tokens for a request and its answer together. */
  readonly contextWindow?: number;
}

/** Parses `anthropic/claude-sonnet-5-5` or `ollama`. */
export function readModelName(name: string): ModelSettings {
  const slash = name.indexOf('/');
  return slash === -1
    ? { provider: name.trim().toLowerCase() }
    : { provider: name.slice(0, slash).trim().toLowerCase(), model: name.slice(slash + 1).trim() };
}

/**
 * Reads the settings of a configuration: `provider` (with or without a model), and in `params` also `model`, `base_url`, `api_key`,
 * `headers` and `context_window`. The configuration loader has already removed what a project file must not set.
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

/** Returns the parameters of requests, without the settings of the connection. */
export function requestParams(params: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(params).filter(([name]) => !ABOUT_THE_SERVER.has(name)));
}

function texts(record: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
