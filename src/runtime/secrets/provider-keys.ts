/** Prefixes of provider key variables. */
const PROVIDERS: readonly string[] = `
  ANTHROPIC CLAUDE OPENAI AZURE_OPENAI GEMINI GOOGLE_GENERATIVE_AI GOOGLE_GENAI GOOGLE_VERTEX VERTEX VERTEXAI
  MISTRAL MISTRALAI CODESTRAL GROQ XAI GROK DEEPSEEK OPENROUTER TOGETHER TOGETHERAI TOGETHER_AI COHERE FIREWORKS FIREWORKS_AI
  HF HUGGINGFACE HUGGING_FACE HUGGINGFACEHUB AWS_BEDROCK BEDROCK PERPLEXITY PERPLEXITYAI PPLX CEREBRAS SAMBANOVA DEEPINFRA
  REPLICATE AI21 NVIDIA_NIM NVIDIA NOVITA HYPERBOLIC BASETEN LEPTON FRIENDLI ANYSCALE VOYAGE VOYAGEAI WATSONX
  MOONSHOT KIMI ZHIPU ZHIPUAI ZAI GLM BIGMODEL DASHSCOPE QWEN MINIMAX BAICHUAN STEPFUN HUNYUAN QIANFAN SILICONFLOW VOLCENGINE ARK
  AI_GATEWAY LITELLM PORTKEY OLLAMA
`
  .trim()
  .split(/\s+/);

const EXACT: ReadonlySet<string> = new Set(
  'GOOGLE_API_KEY CO_API_KEY AZURE_API_KEY AZURE_AI_API_KEY AWS_BEARER_TOKEN_BEDROCK'.split(' '),
);

const KEY_WORDS: ReadonlySet<string> = new Set(
  'KEY KEYS APIKEY APIKEYS TOKEN SECRET SECRETS CREDENTIAL CREDENTIALS PASSWORD'.split(' '),
);

/**
 * Whether a variable holds a key of a model provider: `OPENAI_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `GROQ_API_KEY_2`. No skill gets one,
 * because the key could be used to spend the user's money. `OPENAI_BASE_URL` and `OPENAI_MAX_TOKENS` are not keys.
 */
export function isProviderKey(name: string): boolean {
  const upper = name.toUpperCase();
  if (EXACT.has(upper)) return true;
  return PROVIDERS.some(
    (provider) =>
      upper.startsWith(`${provider}_`) &&
      upper
        .slice(provider.length + 1)
        .split('_')
        .some((word) => KEY_WORDS.has(word)),
  );
}
