import { nearest, printable, quoted, SkillError } from '#core';

export const PROVIDERS = [
  'anthropic',
  'openai',
  'google',
  'openai-compatible',
  'ollama',
  'lmstudio',
  'llamacpp',
] as const;
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
