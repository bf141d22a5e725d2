import { SkillError } from '../core/errors.ts';
import { isLocalProvider, lookAt, servedModels, usualAddress } from './local-servers.ts';
import type { LocalProvider, ServedModel } from './local-servers.ts';
import { ModelProblem } from './problem.ts';
import { VENDORS, isVendor, unavailable } from './providers.ts';
import type { ProviderName, Vendor, VendorName } from './providers.ts';
import type { ModelSettings } from './settings.ts';

/** Where a model is, and with what key it is asked. */
export interface Reached {
  readonly model: string;
  readonly baseUrl: string;
  /** Empty where there is none. The libraries would look for one in the process if they were given nothing. */
  readonly apiKey: string;
  readonly contextWindow?: number | undefined;
}

export interface ReachOptions {
  /** Where keys of the vendors are found. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ends the look at a server for its models; each call has its own signal. */
  readonly signal?: AbortSignal;
}

export async function reach(provider: ProviderName, settings: ModelSettings, options: ReachOptions): Promise<Reached> {
  // Keys that were copied often end with a line.
  const given = settings.apiKey === undefined ? settings : { ...settings, apiKey: settings.apiKey.trim() };
  if (isVendor(provider)) return reachVendor(provider, given, options);
  return isLocalProvider(provider) ? reachLocal(provider, given, options) : reachCompatible(given, options);
}

/**
 * A key of the surroundings goes to its vendor, or to the base URL that the surroundings name beside it, and to nobody else: a base URL of the
 * settings needs a key that was given for it.
 */
function reachVendor(provider: VendorName, settings: ModelSettings, { env = {} }: ReachOptions): Reached {
  const { baseUrl: own, keyNames, baseUrlName = '', usualModel }: Vendor = VENDORS[provider];
  const { model = usualModel, contextWindow, baseUrl, apiKey } = settings;
  if (baseUrl !== undefined || apiKey !== undefined)
    return { model, baseUrl: readBaseUrl(baseUrl ?? own), apiKey: apiKey ?? '', contextWindow };
  const found = keyNames.map((name) => env[name]?.trim()).find(Boolean);
  if (found === undefined)
    throw unavailable(`${provider}/${model}`, `there is no key for ${provider}`, `set ${keyNames[0] ?? ''}`);
  const beside = env[baseUrlName]?.trim() ?? '';
  return {
    model,
    baseUrl: readBaseUrl(beside === '' ? own : versioned(provider, beside)),
    apiKey: found,
    contextWindow,
  };
}

/** Anthropic's own tools add the version to the base URL of the environment by themselves. */
function versioned(provider: VendorName, baseUrl: string): string {
  return provider === 'anthropic' ? baseUrl.replace(/\/*(?:\/v1\/*)?$/, '/v1') : baseUrl;
}

async function reachLocal(
  provider: LocalProvider,
  settings: ModelSettings,
  { env = {}, signal = new AbortController().signal }: ReachOptions,
): Promise<Reached> {
  const address = readBaseUrl(settings.baseUrl ?? usualAddress(provider, env)).replace(/\/v1$/, '');
  const { model, contextWindow, apiKey = '' } = settings;
  const rest = { baseUrl: `${address}/v1`, apiKey };
  if (model !== undefined) return { model, contextWindow, ...rest };
  const looked = await lookAt(provider, address, { signal, timeoutMs: ASK_MS, headers: bearer(apiKey) });
  if (looked.type === 'missing')
    throw unavailable(provider, looked.reason, `start ${provider}, or name another provider`);
  const [first] = looked.models;
  if (first === undefined) throw unavailable(provider, `${provider} has no model`, 'load one into it first');
  return { model: first.name, contextWindow: contextWindow ?? first.contextWindow, ...rest };
}

async function reachCompatible(
  settings: ModelSettings,
  { signal = new AbortController().signal }: ReachOptions,
): Promise<Reached> {
  const { apiKey = '', model, contextWindow } = settings;
  if (settings.baseUrl === undefined)
    throw unavailable(
      'openai-compatible',
      'no base URL is given',
      'say where the server is, as in http://127.0.0.1:8000/v1',
    );
  const baseUrl = readBaseUrl(settings.baseUrl);
  if (model !== undefined) return { model, baseUrl, apiKey, contextWindow };
  const models = await askForModels(baseUrl, apiKey, signal);
  const [only] = models;
  if (only === undefined || models.length > 1)
    throw unavailable(
      'openai-compatible',
      `${new URL(baseUrl).host} has ${String(models.length)} models`,
      only === undefined
        ? 'name the model'
        : `name one: ${models
            .slice(0, 5)
            .map(({ name }) => name)
            .join(', ')}`,
    );
  return { model: only.name, baseUrl, apiKey, contextWindow };
}

/** For a server that a person named, which may be far away. */
const ASK_MS = 10_000;

async function askForModels(baseUrl: string, apiKey: string, signal: AbortSignal): Promise<readonly ServedModel[]> {
  try {
    return await servedModels(baseUrl, { signal, timeoutMs: ASK_MS, headers: bearer(apiKey) });
  } catch (error) {
    if (!(error instanceof ModelProblem)) throw error;
    throw unavailable('openai-compatible', error.message, 'name the model, or see whether the base URL is right');
  }
}

function bearer(apiKey: string): Readonly<Record<string, string>> {
  return apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` };
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (isPlain && url.search === '' && url.hash === '') return url.href.replace(/\/+$/, '');
  throw new SkillError({
    code: 'input/invalid',
    // Not the text itself: it may hold a password.
    message: 'the base URL of the model is none',
    hint: 'give http:// or https://, a host and a path; keys have a setting of their own',
    data: { expected: 'a URL without user, query and fragment' },
  });
}
