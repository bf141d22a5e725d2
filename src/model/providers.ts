import { SkillError, isObject, nearest, printable, quoted, type Config } from '#core';

const PROVIDERS = ['anthropic', 'openai', 'google', 'openai-compatible', 'ollama', 'lmstudio', 'llamacpp'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface Vendor {
  readonly baseUrl: string;
  /** Environment variables with the key; the first one that is set counts. */
  readonly keyNames: readonly string[];
  /** The environment variable with another base URL, as used by the vendor's own tools. */
  readonly baseUrlName?: string;
  readonly usualModel: string;
}

export const VENDORS = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    keyNames: ['ANTHROPIC_API_KEY'],
    baseUrlName: 'ANTHROPIC_BASE_URL',
    usualModel: 'claude-sonnet-5-5',
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    keyNames: ['OPENAI_API_KEY'],
    baseUrlName: 'OPENAI_BASE_URL',
    usualModel: 'gpt-5-mini',
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyNames: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_API_KEY'],
    usualModel: 'gemini-2.5-flash',
  },
} as const satisfies Readonly<Record<string, Vendor>>;

export type VendorName = keyof typeof VENDORS;

export function isVendor(provider: string): provider is VendorName {
  return Object.hasOwn(VENDORS, provider);
}

/** The published context windows of model families; a setting overrides them. */
const WINDOWS: readonly (readonly [RegExp, number])[] = [
  [/^claude-/, 200_000],
  [/^gpt-5/, 400_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^o[34]/, 200_000],
  [/^gemini-/, 1_048_576],
];

export function publishedWindow(model: string): number | undefined {
  return WINDOWS.find(([family]) => family.test(model))?.[1];
}

/** The first family that matches counts. Whether a model of another family takes images is not known. */
const IMAGES: readonly (readonly [RegExp, boolean])[] = [
  [/^(?:gpt-3\.5|gpt-4(?:-\d{4})?$|o1-mini|o1-preview|o3-mini|claude-(?:2|instant))/, false],
  [/^(?:claude|gpt-4o|gpt-4\.1|gpt-5|o[134]|gemini)(?:-|$)/, true],
];

export function takesImages(model: string): boolean | undefined {
  return IMAGES.find(([family]) => family.test(model))?.[1];
}

/** Throws `model/unavailable` for an unknown provider. */
export function readProvider(name: string): ProviderName {
  const known = PROVIDERS.find((provider) => provider === name.toLowerCase());
  if (known !== undefined) return known;
  const [meant] = nearest(name, PROVIDERS);
  const reason = `unknown provider ${quoted(name)}`;
  throw new SkillError({
    code: 'model/unavailable',
    message: reason,
    hint: meant === undefined ? `known providers: ${PROVIDERS.join(', ')}` : `did you mean ${meant}?`,
    data: { model: printable(name), reasons: [reason] },
  });
}

export function unavailable(model: string, reason: string, hint: string): SkillError {
  return new SkillError({
    code: 'model/unavailable',
    message: printable(`${model}: ${reason}`),
    hint,
    data: { model, reasons: [reason] },
  });
}

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
