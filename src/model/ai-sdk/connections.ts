import type { LanguageModelV3 } from '@ai-sdk/provider';

import type { VendorName } from '../providers.ts';

interface Connection {
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  /** The server supports answer schemas; other servers are asked for plain JSON. */
  readonly hasSchemas: boolean;
}

export type Connect = (connection: Connection) => LanguageModelV3;

/** The key under which the library for compatible servers reads its options. */
export const COMPATIBLE = 'openaiCompatible';

/** The libraries of the vendors, each a chunk of its own. Everything that they would read from the environment is passed explicitly. */
export const CONNECTIONS: Readonly<Record<VendorName | typeof COMPATIBLE, () => Promise<Connect>>> = {
  anthropic: async () => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return ({ model, baseUrl, ...rest }) =>
      createAnthropic({ ...rest, baseURL: baseUrl, headers: { ...rest.headers } })(model);
  },
  openai: async () => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return ({ model, baseUrl, ...rest }) =>
      createOpenAI({ ...rest, baseURL: baseUrl, headers: { ...rest.headers } }).responses(model);
  },
  google: async () => {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return ({ model, baseUrl, ...rest }) =>
      createGoogleGenerativeAI({ ...rest, baseURL: baseUrl, headers: { ...rest.headers } })(model);
  },
  [COMPATIBLE]: async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return ({ model, baseUrl, apiKey, headers, fetch, hasSchemas }) =>
      createOpenAICompatible({
        name: COMPATIBLE,
        baseURL: baseUrl,
        ...(apiKey === '' ? {} : { apiKey }),
        headers: { ...headers },
        fetch,
        includeUsage: true,
        supportsStructuredOutputs: hasSchemas,
      })(model);
  },
};
