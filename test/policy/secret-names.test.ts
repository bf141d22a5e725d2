import { expect, test } from 'vitest';

import { declaredSecrets } from '../../src/policy/secret-names.ts';
import { isProviderKey } from '../../src/runtime/secrets/provider-keys.ts';

test('a skill declares variables with env:, each once and nothing else', () => {
  const requires = [
    'env:API_TOKEN',
    ' ENV: OTHER_TOKEN ',
    'env:API_TOKEN',
    'env:RANGED >=2',
    'env:__proto__',
    'jq',
    'bin:API_BIN',
    'env:',
    'env:2BAD',
    'env:A-B',
    'env:A B',
    'env:A\nB',
    `env:${'X'.repeat(101)}`,
    `env:X${' '.repeat(600)}`,
    'xenv:NO',
  ];
  expect(declaredSecrets(requires)).toEqual(['API_TOKEN', 'OTHER_TOKEN', 'RANGED', '__proto__']);
  expect(declaredSecrets()).toEqual([]);
});

test('keys to model providers are known by their names', () => {
  const keys = `
    ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN OPENAI_API_KEY openai_api_key OPENAI_API_KEY_2 OPENAI_ADMIN_KEY
    AZURE_OPENAI_API_KEY AZURE_OPENAI_AD_TOKEN AZURE_API_KEY GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_GENERATIVE_AI_API_KEY
    MISTRAL_API_KEY GROQ_API_KEY XAI_API_KEY DEEPSEEK_API_KEY OPENROUTER_API_KEY TOGETHER_API_KEY TOGETHER_AI_API_KEY
    COHERE_API_KEY CO_API_KEY FIREWORKS_API_KEY HF_TOKEN HUGGINGFACE_API_KEY HUGGING_FACE_HUB_TOKEN HUGGINGFACEHUB_API_TOKEN
    AWS_BEDROCK_API_KEY AWS_BEARER_TOKEN_BEDROCK DASHSCOPE_API_KEY MOONSHOT_API_KEY AI_GATEWAY_API_KEY`
    .trim()
    .split(/\s+/);
  expect(keys.filter((name) => !isProviderKey(name))).toEqual([]);
  const others = `
    API_TOKEN MY_API_TOKEN GITHUB_TOKEN AWS_ACCESS_KEY_ID GOOGLE_MAPS_API_KEY OPENAI_BASE_URL OPENAI_MAX_TOKENS OPENAI
    AZURE_OPENAI_ENDPOINT ANTHROPIC_MODEL HF_HOME SHIELD_HF_TOKEN DATABASE_URL constructor`
    .trim()
    .split(/\s+/);
  expect([...others, ''].filter((name) => isProviderKey(name))).toEqual([]);
});
