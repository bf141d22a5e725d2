import { estimateTokens } from '#core';
import { sha256 } from '#platform';

interface MeasuredText {
  readonly tokens: number;
  /** SHA-256 in hex. */
  readonly digest: string;
}

export type MeasureText = (text: string) => MeasuredText;

/** A system prompt and a tool list for a few kinds of runs. */
const REMEMBERED = 8;

export function openMeasuredTexts(): MeasureText {
  const known = new Map<string, MeasuredText>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= REMEMBERED) known.clear();
    const measured = { tokens: estimateTokens(text), digest: sha256(text) };
    known.set(text, measured);
    return measured;
  };
}
