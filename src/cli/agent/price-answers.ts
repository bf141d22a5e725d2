import { priceTokens } from '#evals';
import type { Runtime } from '#runtime';

/** The money that the console shows for an answer of a model, with the prices of the configuration. */
export function priceAnswers({ config }: Pick<Runtime, 'config'>) {
  return (model: string, usage: TokenUsage): number | undefined => {
    const { inputTokens = 0, outputTokens = 0 } = usage;
    const [cachedTokens, cacheWriteTokens] = [usage.cachedInputTokens, usage.cacheWriteInputTokens];
    return priceTokens(model, { inputTokens, outputTokens, cachedTokens, cacheWriteTokens }, config.evals?.prices)?.usd;
  };
}

interface TokenUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}
