/** What the models of a chat cost. A model without a price, or without reported tokens, is named and never counted as 0. */
import { printable } from '#core';
import type { EventSink } from '#journal';
import type { Runtime } from '#runtime';

interface Spent {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  isComplete: boolean;
}

/** Counts what the models report; `lines` says what it costs. */
export function openSpending({ config }: Pick<Runtime, 'config'>): {
  readonly sink: EventSink;
  readonly lines: () => Promise<readonly string[]>;
} {
  const models = new Map<string, Spent>();
  let current = '';
  return {
    sink({ event }) {
      if (event.type === 'model-call') current = event.model;
      if (event.type !== 'model-answer') return;
      const before = models.get(current);
      const { inputTokens, outputTokens = 0, cachedInputTokens = 0, cacheWriteInputTokens = 0 } = event.usage;
      models.set(current, {
        inputTokens: (before?.inputTokens ?? 0) + (inputTokens ?? 0),
        outputTokens: (before?.outputTokens ?? 0) + outputTokens,
        cachedTokens: (before?.cachedTokens ?? 0) + cachedInputTokens,
        cacheWriteTokens: (before?.cacheWriteTokens ?? 0) + cacheWriteInputTokens,
        isComplete: before?.isComplete !== false && inputTokens !== undefined && event.outputIsEstimated !== true,
      });
    },
    async lines() {
      if (models.size === 0) return [];
      const { priceTokens } = await import('#evals');
      return [...models].flatMap(([model, spent]) => {
        // The rule model and scripted models use no tokens of a server.
        if (spent.inputTokens === 0) return [];
        const price = priceTokens(model, spent, config.evals?.prices);
        const name = printable(model);
        if (price === undefined) return `${name}: no price known; set evals.prices in the configuration`;
        if (!spent.isComplete) return `${name}: cost unknown, because the server did not report all tokens`;
        return `${name}: $${price.usd.toFixed(price.usd < 1 ? 4 : 2)} at prices of ${printable(price.date)}`;
      });
    },
  };
}
