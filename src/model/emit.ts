import type { ModelAnswer, ModelDelta, ModelToolCall, Model } from '#core';

export function completeAnswer(text: string, toolCalls: readonly ModelToolCall[] = []): ModelAnswer {
  return { text, toolCalls, finish: toolCalls.length > 0 ? 'tool-calls' : 'stop', usage: {}, retries: 0 };
}

export function emitWhole(answer: ModelAnswer, onDelta: Parameters<Model['call']>[1]['onDelta']): void {
  if (onDelta !== undefined) for (const delta of splitIntoDeltas(answer)) onDelta(delta);
}

/** Splits a complete answer into deltas of the given lengths, which are repeated; without lengths each text is one delta. */
export function splitIntoDeltas(
  { text, toolCalls }: Pick<ModelAnswer, 'text' | 'toolCalls'>,
  lengths: readonly number[] = [],
): readonly ModelDelta[] {
  return [
    ...splitText(text, lengths).map((piece): ModelDelta => ({ type: 'text', text: piece })),
    ...toolCalls.flatMap(({ id, name, input }) =>
      splitText(input, lengths).map((piece): ModelDelta => ({ type: 'tool-input', id, name, text: piece })),
    ),
  ];
}

/** A piece may end between the halves of a surrogate pair, as real servers do it. */
function splitText(text: string, lengths: readonly number[]): readonly string[] {
  const usable = lengths.filter((length) => Number.isInteger(length) && length > 0);
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + (usable[pieces.length % usable.length] ?? text.length);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}
