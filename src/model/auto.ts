import type { Config } from '../core/config/config.ts';
import { SkillError } from '../core/errors.ts';
import type { Model } from '../core/model.ts';
import { LOCAL_PROVIDERS, probeServer, usualAddress } from './local-servers.ts';
import type { LocalProvider, ServerProbe } from './local-servers.ts';
import { openModel } from './open-model.ts';
import type { OpenModelOptions } from './open-model.ts';
import { VENDORS } from './providers.ts';
import type { Vendor, VendorName } from './providers.ts';
import { readModelName, requestParams, settingsOfConfig } from './settings.ts';
import type { ModelSettings } from './settings.ts';

export interface FindModelOptions extends Omit<OpenModelOptions, 'env' | 'signal'> {
  /** The name that the user gave, for example `anthropic/claude-sonnet-5-5`. Takes precedence. */
  readonly name?: string;
  readonly config?: Config['model'];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** The addresses of local servers (default: their standard ports). */
  readonly addresses?: Readonly<Record<LocalProvider, string>>;
  /** The timeout for each of them in milliseconds (default: 600). */
  readonly probeMs?: number;
}

export interface FoundModel {
  /** `rules` if no language model is available; the caller opens the rule model. */
  readonly model: Model | 'rules';
  /** Why this model was chosen, as a sentence for the user. */
  readonly reason: string;
  /** Models that were considered first, and why they were not chosen. */
  readonly tried: readonly string[];
}

/** Names of the rule model. */
const RULES: ReadonlySet<string> = new Set(['rules', 'mock']);

/**
 * Finds the model to use. A model that the user or the configuration names is used or rejected, never replaced. Otherwise the first
 * available of: a vendor with an API key in the environment, a server on this machine, the rule model. An API key from the environment
 * is sent to its vendor, or to the base URL that the environment names for it. It is sent to a base URL of the configuration only if
 * `api_key_env` in that configuration says so; a project's configuration file cannot set either.
 */
export async function findModel(options: FindModelOptions): Promise<FoundModel> {
  const { signal } = options;
  signal.throwIfAborted();
  return (await namedModel(options)) ?? (await keyedModel(options)) ?? (await localModel(options));
}

async function namedModel(options: FindModelOptions): Promise<FoundModel | undefined> {
  const { name, config = {} } = options;
  const isNamed = name !== undefined && name !== 'auto';
  const provider = isNamed ? name : config.provider;
  const source = isNamed ? 'it was requested by name' : 'it is configured';
  if (provider !== undefined && RULES.has(provider)) return { model: 'rules', reason: source, tried: [] };
  const settings = settingsFor(options, isNamed ? readModelName(name) : undefined);
  if (settings === undefined) return undefined;
  return { model: await openModel(settings, options), reason: source, tried: [] };
}

/** The configuration applies to a named model of the same provider only: a key for one provider is not sent to another. */
function settingsFor({ config = {}, env }: FindModelOptions, named?: ModelSettings): ModelSettings | undefined {
  const { api_key_env: keyName, base_url: baseUrl } = config.params ?? {};
  const isServer = typeof baseUrl === 'string' && (config.provider ?? 'auto') === 'auto';
  const configured = settingsOfConfig(isServer ? { ...config, provider: 'openai-compatible' } : config);
  if (named !== undefined && named.provider !== configured?.provider) return named;
  if (configured === undefined) return undefined;
  const apiKey = typeof keyName === 'string' ? keyOf(keyName, env) : configured.apiKey;
  return { ...configured, ...named, ...(apiKey === undefined ? {} : { apiKey }) };
}

function keyOf(name: string, env: FindModelOptions['env']): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new SkillError({
    code: 'model/unavailable',
    message: 'the environment variable named by api_key_env is not set',
    hint: 'set it, or remove api_key_env from the configuration',
    data: { model: 'configured', reasons: ['the API key is missing'] },
  });
}

/** In order of precedence. */
const VENDOR_NAMES: readonly VendorName[] = ['anthropic', 'openai', 'google'];

async function keyedModel(options: FindModelOptions): Promise<FoundModel | undefined> {
  const { env } = options;
  for (const provider of VENDOR_NAMES) {
    const { keyNames, baseUrlName = '' }: Vendor = VENDORS[provider];
    const keyName = keyNames.find((name) => isSet(env[name]));
    const other = provider === 'openai' ? otherServer(keyName, env) : undefined;
    if (keyName === undefined && other === undefined) continue;
    const names = [keyName, isSet(env[baseUrlName]) ? baseUrlName : undefined].filter(isSet);
    const settings = { ...(other ?? { provider }), params: requestParams(options.config?.params) };
    const model = await openModel(settings, options);
    return { model, reason: `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} set`, tried: [] };
  }
  return undefined;
}

/** If the base URL of OpenAI points to another host, that server speaks the chat completions protocol, with or without a key. */
function otherServer(keyName: string | undefined, env: FindModelOptions['env']): ModelSettings | undefined {
  const { OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model } = env;
  if (!isSet(baseUrl)) return undefined;
  const isOpenAi = URL.canParse(baseUrl) && new URL(baseUrl).origin === new URL(VENDORS.openai.baseUrl).origin;
  if (isOpenAi) return undefined;
  const apiKey = keyName === undefined ? undefined : env[keyName];
  return {
    provider: 'openai-compatible',
    baseUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(isSet(model) ? { model } : {}),
  };
}

async function localModel(options: FindModelOptions): Promise<FoundModel> {
  const { env, signal, addresses, probeMs } = options;
  const look = { signal, ...(probeMs === undefined ? {} : { timeoutMs: probeMs }) };
  const tried = ['no provider is configured', 'no API key of a vendor is set'];
  const looks = await Promise.all(
    LOCAL_PROVIDERS.map(async (provider) => {
      const address = addresses?.[provider] ?? usualAddress(provider, env);
      return { provider, looked: await probeServer(provider, address, look) };
    }),
  );
  for (const { provider, looked } of looks) {
    if (looked.type === 'found' && looked.models[0] !== undefined) {
      const [{ name, contextWindow }] = looked.models;
      const window = contextWindow === undefined ? {} : { contextWindow };
      const settings = {
        provider,
        model: name,
        baseUrl: looked.address,
        ...window,
        params: requestParams(options.config?.params),
      };
      return {
        model: await openModel(settings, options),
        reason: `${provider} is running at ${looked.address}`,
        tried,
      };
    }
    tried.push(`${provider}: ${whyNot(looked)}`);
  }
  return { model: 'rules', reason: 'no language model was found', tried };
}

function whyNot(looked: ServerProbe): string {
  return looked.type === 'missing' ? looked.reason : `no model is loaded at ${looked.address}`;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
