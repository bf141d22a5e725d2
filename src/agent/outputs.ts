/** Outputs that left the conversation and can be recalled. Kept for one run, up to a size limit; the oldest are dropped first. */
import { sha256 } from '#platform';

const SCHEME = 'run://observations/';
const MOST_CHARACTERS = 8 * 1024 * 1024;

export interface KeptOutputs {
  keep(text: string): string;
  find(reference: string): string | undefined;
  readonly isEmpty: boolean;
}

export function keepOutputs(most = MOST_CHARACTERS): KeptOutputs {
  const texts = new Map<string, string>();
  let characters = 0;
  return {
    keep(text) {
      const reference = `${SCHEME}${sha256(text)}`;
      if (texts.has(reference)) return reference;
      texts.set(reference, text);
      characters += text.length;
      for (const [oldest, old] of texts) {
        if (characters <= most || oldest === reference) break;
        texts.delete(oldest);
        characters -= old.length;
      }
      return reference;
    },
    find: (reference) => texts.get(reference),
    get isEmpty() {
      return texts.size === 0;
    },
  };
}
