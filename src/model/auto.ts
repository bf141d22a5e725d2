import { defined, SkillError, stableJson, toProblem, type Config, type Model } from '#core';
import {
  LOCAL_PROVIDERS,
  isLocalProvider,
  probeServer,
  servedModels,
  usualAddress,
  type LocalProvider,
  type ServedModel,
  type ServerProbe,
} from './local-servers.ts';
import {
  VENDORS,
  isVendor,
  publishedWindow,
  readModelName,
  readProvider,
  takesImages,
  requestParams,
  settingsOfConfig,
  unavailable,
  type ModelSettings,
  type ProviderName,
  type Vendor,
  type VendorName,
} from './providers.ts';
import { aiSdkModel } from './ai-sdk/ai-sdk.ts';
import { COMPATIBLE, CONNECTIONS } from './ai-sdk/connections.ts';
import { ANSWER_LIMITS, type AnswerLimits } from './guarded-fetch.ts';
import { hideSecrets, isModelProblem } from './problem.ts';
import { openRules } from './rules/rules.ts';
import { REAL_SURROUNDINGS, RETRY_POLICY, type RetryPolicy, type RetrySurroundings } from './retry.ts';
import { proxiedFetch, sha256 } from '#platform';

export interface AgentModelOptions extends Omit<OpenModelOptions, 'env' | 'signal'> {
  /** The name that the user gave: `rules`, `auto`, `ollama`, `anthropic/claude-sonnet-5-5`, `scripted:FILE`. Takes precedence. */
  readonly name?: string;
  readonly config?: Config['model'];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** The addresses of local servers (default: their standard ports). */
  readonly addresses?: Readonly<Record<LocalProvider, string>>;
  readonly probeMs?: number;
}

export interface AgentModel {
  readonly model: Model;
  /** Why this model was chosen, as a sentence for the user. */
  readonly reason: string;
  /** Models that were considered first, and why they were not chosen. */
  readonly tried: readonly string[];
}

/** The rule model, or the answers in `params.turns`. */
const MOCK = 'mock';
const RULES: ReadonlySet<string> = new Set(['rules', MOCK]);
/** Answers from a file, as in the cases of evaluations. */
const SCRIPTED = 'scripted:';

/**
 * Opens the model for an agent. A model that the user or the configuration names is used or rejected with `model/unavailable`, never
 * replaced. Otherwise the first available of: a vendor with an API key in the environment, a server on this machine, the rule model. An API
 * key from the environment is sent to its vendor, or to the base URL that the environment names for it. It is sent to a base URL of the
 * configuration only if `api_key_env` in that configuration says so; a project's configuration file cannot set either.
 */
export async function openAgentModel(options: AgentModelOptions): Promise<AgentModel> {
  const { signal } = options;
  signal.throwIfAborted();
  return (await namedModel(options)) ?? (await keyedModel(options)) ?? (await localModel(options));
}

async function namedModel(options: AgentModelOptions): Promise<AgentModel | undefined> {
  const { name, config = {} } = options;
  const isNamed = name !== undefined && name !== 'auto';
  const provider = isNamed ? name : config.provider;
  const source = isNamed ? 'it was requested by name' : 'it is configured';
  const { turns } = config.params ?? {};
  if (provider === MOCK && config.provider === MOCK && turns !== undefined) {
    const { openScript } = await import('./scripted/scripted-file.ts');
    return { model: openScript({ turns }, 'model.params'), reason: source, tried: [] };
  }
  if (provider !== undefined && RULES.has(provider)) return { model: openRules(), reason: source, tried: [] };
  if (isNamed && name.startsWith(SCRIPTED)) {
    const { openScripted } = await import('./scripted/scripted.ts');
    const { readScriptedTurns } = await import('./scripted/scripted-file.ts');
    return { model: openScripted(readScriptedTurns(name.slice(SCRIPTED.length))), reason: source, tried: [] };
  }
  const settings = settingsFor(options, isNamed ? readModelName(name) : undefined);
  if (settings === undefined) return undefined;
  const isUnplaced = settings.provider === 'openai-compatible' && settings.baseUrl === undefined;
  const server = isUnplaced ? compatibleServer(options.env) : undefined;
  return { model: await openModel({ ...server, ...settings }, options), reason: source, tried: [] };
}

/** The configuration applies to a named model of the same provider only: a key for one provider is not sent to another. */
function settingsFor({ config = {}, env }: AgentModelOptions, named?: ModelSettings): ModelSettings | undefined {
  const { api_key_env: keyName, base_url: baseUrl } = config.params ?? {};
  const isServer = typeof baseUrl === 'string' && (config.provider ?? 'auto') === 'auto';
  const configured = settingsOfConfig(isServer ? { ...config, provider: 'openai-compatible' } : config);
  if (named !== undefined && named.provider !== configured?.provider) return named;
  if (configured === undefined) return undefined;
  const apiKey = typeof keyName === 'string' ? readApiKey(keyName, env) : configured.apiKey;
  return { ...configured, ...named, ...defined({ apiKey }) };
}

function readApiKey(name: string, env: AgentModelOptions['env']): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new SkillError({
    code: 'model/unavailable',
    message: 'the environment variable named by api_key_env is not set',
    hint: 'set it, or remove api_key_env from the configuration',
    data: { model: 'configured', reasons: ['the API key is missing'] },
  });
}

const VENDOR_NAMES: readonly VendorName[] = ['anthropic', 'openai', 'google'];

async function keyedModel(options: AgentModelOptions): Promise<AgentModel | undefined> {
  const { env } = options;
  for (const provider of VENDOR_NAMES) {
    const { keyNames, baseUrlName = '' }: Vendor = VENDORS[provider];
    const keyName = keyNames.find((name) => isSet(env[name]));
    const other = provider === 'openai' ? otherServer(env) : undefined;
    if (keyName === undefined && other === undefined) continue;
    const names = [keyName, isSet(env[baseUrlName]) ? baseUrlName : undefined].filter(isSet);
    const settings = { ...(other ?? { provider }), params: requestParams(options.config?.params) };
    const model = await openModel(settings, options);
    return { model, reason: `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} set`, tried: [] };
  }
  return undefined;
}

/** If the base URL of OpenAI points to another host, that server speaks the chat completions protocol, with or without a key. */
function otherServer(env: AgentModelOptions['env']): ModelSettings | undefined {
  const server = compatibleServer(env);
  const baseUrl = server?.baseUrl ?? '';
  const isOpenAi = URL.canParse(baseUrl) && new URL(baseUrl).origin === new URL(VENDORS.openai.baseUrl).origin;
  return isOpenAi ? undefined : server;
}

/** The server that `OPENAI_BASE_URL` names, with the key and the model beside it. */
function compatibleServer({
  OPENAI_BASE_URL: baseUrl,
  OPENAI_API_KEY: apiKey,
  OPENAI_MODEL: model,
}: AgentModelOptions['env']) {
  if (!isSet(baseUrl)) return undefined;
  return {
    provider: 'openai-compatible',
    baseUrl,
    ...(isSet(apiKey) ? { apiKey } : {}),
    ...(isSet(model) ? { model } : {}),
  } satisfies ModelSettings;
}

async function localModel(options: AgentModelOptions): Promise<AgentModel> {
  const { env, signal, addresses, probeMs } = options;
  const look = { signal, timeoutMs: probeMs };
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
  return { model: openRules(), reason: 'no language model was found', tried };
}

function whyNot(looked: ServerProbe): string {
  return looked.type === 'missing' ? looked.reason : `no model is loaded at ${looked.address}`;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

export interface OpenModelOptions extends ReachOptions {
  readonly limits?: Partial<AnswerLimits>;
  readonly retries?: Partial<RetryPolicy>;
  readonly surroundings?: RetrySurroundings;
}

/**
 * Opens the model that the settings name. Sends no request, unless no model is named and the server has to be asked for its models.
 * Throws `model/unavailable` for an unknown provider, a missing key or an unreachable server, and `input/invalid` for an invalid base URL.
 */
export async function openModel(settings: ModelSettings, options: OpenModelOptions = {}): Promise<Model> {
  const provider = readProvider(settings.provider);
  const reached = await reach(provider, settings, options);
  const { model, baseUrl, apiKey, contextWindow = publishedWindow(model) } = reached;
  const { headers = {}, params: { structured_outputs: hasSchemas = isLocalProvider(provider), ...params } = {} } =
    settings;
  const library = isVendor(provider) ? provider : COMPATIBLE;
  const connect = await CONNECTIONS[library]();
  return aiSdkModel({
    id: `${provider}/${model}`,
    settings: sha256(stableJson({ library, baseUrl, apiKey, headers, params, hasSchemas, limits: options.limits })),
    contextWindow,
    // A local server turns the schema into a grammar, which the model does not see.
    ...(isVendor(provider) ? { answerSchemas: 'shown' } : hasSchemas === true ? { answerSchemas: 'enforced' } : {}),
    takesImages: takesImages(model),
    connect: (fetch) => connect({ model, baseUrl, apiKey, headers, fetch, hasSchemas: hasSchemas === true }),
    fetch: options.env === undefined ? undefined : proxiedFetch(options.env),
    params,
    optionsKey: library,
    defaults: DEFAULTS[library],
    saysNotStrict: library === 'openai',
    signsCalls: library === 'google',
    marksPrefix: library === 'anthropic',
    limits: { ...ANSWER_LIMITS, ...options.limits },
    retries: { ...RETRY_POLICY, ...options.retries },
    surroundings: options.surroundings ?? REAL_SURROUNDINGS,
    hide: hideSecrets([apiKey, ...Object.values(headers)]),
  });
}

/** The vendor must not store requests, and optional parameters are allowed in schemas. The user's `params` override this. */
const DEFAULTS: Readonly<Record<keyof typeof CONNECTIONS, Readonly<Record<string, unknown>>>> = {
  anthropic: {},
  google: {},
  openai: { store: false, strictJsonSchema: false },
  [COMPATIBLE]: { strictJsonSchema: false },
};

interface Endpoint {
  readonly model: string;
  readonly baseUrl: string;
  /** Empty if there is no key: without a value the libraries would read one from the environment. */
  readonly apiKey: string;
  readonly contextWindow?: number | undefined;
}

interface ReachOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Aborts the request for the list of models; each call has its own signal. */
  readonly signal?: AbortSignal;
}

async function reach(provider: ProviderName, settings: ModelSettings, options: ReachOptions): Promise<Endpoint> {
  // Copied keys often end with a line break.
  const trimmed = settings.apiKey === undefined ? settings : { ...settings, apiKey: settings.apiKey.trim() };
  if (isVendor(provider)) return reachVendor(provider, trimmed, options);
  return isLocalProvider(provider) ? reachLocal(provider, trimmed, options) : reachCompatible(trimmed, options);
}

/**
 * An API key from the environment is sent to its vendor, or to the base URL that the environment names for it, and nowhere else. A
 * base URL of the settings needs a key that was set for it.
 */
function reachVendor(provider: VendorName, settings: ModelSettings, { env = {} }: ReachOptions): Endpoint {
  const { baseUrl: own, keyNames, baseUrlName = '', usualModel }: Vendor = VENDORS[provider];
  const { model = usualModel, contextWindow, baseUrl, apiKey } = settings;
  if (baseUrl !== undefined || apiKey !== undefined)
    return { model, baseUrl: readBaseUrl(baseUrl ?? own), apiKey: apiKey ?? '', contextWindow };
  const found = keyNames.map((name) => env[name]?.trim()).find(Boolean);
  if (found === undefined)
    throw unavailable(`${provider}/${model}`, `no API key for ${provider}`, `set ${keyNames[0] ?? ''}`);
  const beside = env[baseUrlName]?.trim() ?? '';
  return {
    model,
    baseUrl: readBaseUrl(beside === '' ? own : versioned(provider, beside)),
    apiKey: found,
    contextWindow,
  };
}

/** The tools of Anthropic append the version to the base URL of the environment. */
function versioned(provider: VendorName, baseUrl: string): string {
  return provider === 'anthropic' ? baseUrl.replace(/\/*(?:\/v1\/*)?$/, '/v1') : baseUrl;
}

async function reachLocal(
  provider: LocalProvider,
  settings: ModelSettings,
  { env = {}, signal = new AbortController().signal }: ReachOptions,
): Promise<Endpoint> {
  const address = readBaseUrl(settings.baseUrl ?? usualAddress(provider, env)).replace(/\/v1$/, '');
  const { model, contextWindow, apiKey = '' } = settings;
  const rest = { baseUrl: `${address}/v1`, apiKey };
  if (model !== undefined) return { model, contextWindow, ...rest };
  const looked = await probeServer(provider, address, { signal, timeoutMs: ASK_MS, headers: bearer(apiKey) });
  if (looked.type === 'missing')
    throw unavailable(provider, looked.reason, `start ${provider}, or choose another provider`);
  const [first] = looked.models;
  if (first === undefined) throw unavailable(provider, `${provider} has no model loaded`, 'load a model into it first');
  return { model: first.name, contextWindow: contextWindow ?? first.contextWindow, ...rest };
}

async function reachCompatible(
  settings: ModelSettings,
  { signal = new AbortController().signal }: ReachOptions,
): Promise<Endpoint> {
  const { apiKey = '', model, contextWindow } = settings;
  if (settings.baseUrl === undefined)
    throw unavailable(
      'openai-compatible',
      'the base URL is missing',
      'set OPENAI_BASE_URL, or base_url in the configuration, for example http://127.0.0.1:8000/v1',
    );
  const baseUrl = readBaseUrl(settings.baseUrl);
  if (model !== undefined) return { model, baseUrl, apiKey, contextWindow };
  const models = await askForModels(baseUrl, apiKey, signal);
  const [only] = models;
  if (only === undefined || models.length > 1)
    throw unavailable(
      'openai-compatible',
      `${new URL(baseUrl).host} offers ${String(models.length)} models`,
      only === undefined
        ? 'name the model'
        : `name one: ${models
            .slice(0, 5)
            .map(({ name }) => name)
            .join(', ')}`,
    );
  return { model: only.name, baseUrl, apiKey, contextWindow };
}

/** The server may be remote. */
const ASK_MS = 10_000;

async function askForModels(baseUrl: string, apiKey: string, signal: AbortSignal): Promise<readonly ServedModel[]> {
  try {
    return await servedModels(baseUrl, { signal, timeoutMs: ASK_MS, headers: bearer(apiKey) });
  } catch (error) {
    const { message } = toProblem(error, isModelProblem);
    throw unavailable('openai-compatible', message, 'name the model, or check the base URL');
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
    // The value is not printed, because it may contain a password.
    message: 'the base URL of the model is invalid',
    hint: 'use http:// or https://, a host and a path; keys have their own setting',
    data: { expected: 'a URL without user, query and fragment' },
  });
}
