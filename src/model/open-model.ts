import type { Model } from '../core/model.ts';
import { aiSdkModel } from './ai-sdk/ai-sdk.ts';
import { COMPATIBLE, CONNECTIONS } from './ai-sdk/connections.ts';
import { ANSWER_LIMITS } from './guarded-fetch.ts';
import type { AnswerLimits } from './guarded-fetch.ts';
import { isLocalProvider } from './local-servers.ts';
import { proxiedFetch } from './proxied-fetch.ts';
import { hideSecrets } from './problem.ts';
import { isVendor, publishedWindow, readProvider } from './providers.ts';
import { reach } from './endpoint.ts';
import type { ReachOptions } from './endpoint.ts';
import { REAL_SURROUNDINGS, RETRY_POLICY } from './retry.ts';
import type { RetryPolicy, RetrySurroundings } from './retry.ts';
import type { ModelSettings } from './settings.ts';

export interface OpenModelOptions extends ReachOptions {
  readonly limits?: Partial<AnswerLimits>;
  readonly retries?: Partial<RetryPolicy>;
  readonly surroundings?: RetrySurroundings;
}

/**
 * Opens the model that the settings name. Sends no request, unless no model is named and the server has to be asked for its models.
 * Throws `model/unavailable` for an unknown provider, a missing key or an unreachable server, `input/invalid` for an invalid base URL,
 * and `package/missing` if the vendor's library is not installed.
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
    ...(contextWindow === undefined ? {} : { contextWindow }),
    // A local server turns the schema into a grammar, which the model does not see.
    ...(isVendor(provider) ? { answerSchemas: 'shown' } : hasSchemas === true ? { answerSchemas: 'enforced' } : {}),
    connect: (fetch) => connect({ model, baseUrl, apiKey, headers, fetch, hasSchemas: hasSchemas === true }),
    ...(options.env === undefined ? {} : { fetch: proxiedFetch(options.env) }),
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
