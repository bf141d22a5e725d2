/** Model providers of agents that work with several, and the variables that they read. */

const PROVIDER_KEYS: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  google: 'GEMINI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  groq: 'GROQ_API_KEY',
  xai: 'XAI_API_KEY',
  mistral: 'MISTRAL_API_KEY',
  deepseek: 'DEEPSEEK_API_KEY',
};

export const PROVIDER_URLS: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_BASE_URL',
  openai: 'OPENAI_BASE_URL',
  google: 'GOOGLE_GEMINI_BASE_URL',
};

/** The variables hold what the vendors' own programs read: only that of OpenAI ends with a version. */
const VERSIONS: Readonly<Record<string, string>> = { anthropic: '/v1', google: '/v1beta' };

/** The address of a provider, if the user has set one; `withVersion` for programs that want the version of the API in it. */
export function providerUrl(
  provider: string,
  env: Readonly<Record<string, string>>,
  { withVersion }: { readonly withVersion: boolean },
): string | undefined {
  const url = env[PROVIDER_URLS[provider] ?? '']?.replace(/\/+$/, '');
  const version = VERSIONS[provider] ?? '';
  return url === undefined || !withVersion || url.endsWith(version) ? url : `${url}${version}`;
}

/** Splits `anthropic/claude-sonnet-5-5`. */
export function splitModelName(model: string | undefined): { readonly provider: string; readonly name: string } {
  const [provider = '', ...name] = (model ?? '').split('/');
  return { provider, name: name.join('/') };
}

/** The key of the provider of the model, or the keys of all of them. */
export function providerKeys(model: string | undefined): readonly string[] {
  const own = PROVIDER_KEYS[splitModelName(model).provider];
  return own === undefined ? Object.values(PROVIDER_KEYS) : [own];
}
