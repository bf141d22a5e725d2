/** Model providers of agents that work with several, and the variables that they read. */

export const PROVIDER_KEYS: Readonly<Record<string, string>> = {
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

/** Splits `anthropic/claude-sonnet-4-5`. */
export function providerOf(model: string | undefined): { readonly provider: string; readonly name: string } {
  const [provider = '', ...name] = (model ?? '').split('/');
  return { provider, name: name.join('/') };
}

/** The key of the provider of the model, or the keys of all of them. */
export function providerKeys(model: string | undefined): readonly string[] {
  const own = PROVIDER_KEYS[providerOf(model).provider];
  return own === undefined ? Object.values(PROVIDER_KEYS) : [own];
}
