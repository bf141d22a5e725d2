import type { ModelAnswer, ModelCallOptions, ModelDelta, ModelToolCall } from '../core/model.ts';

/** An answer that is known before it is asked for. */
export function madeAnswer(text: string, toolCalls: readonly ModelToolCall[] = []): ModelAnswer {
  return { text, toolCalls, finish: toolCalls.length > 0 ? 'tool-calls' : 'stop', usage: {}, retries: 0 };
}

/** Tells of a known answer as of one that grows: each text in one delta. */
export function emitWhole(answer: ModelAnswer, onDelta: ModelCallOptions['onDelta']): void {
  if (onDelta !== undefined) for (const delta of deltasOf(answer)) onDelta(delta);
}

/** A known answer as it would have come in: its texts in pieces of these lengths, over and over; whole where none is given. */
export function deltasOf(
  { text, toolCalls }: Pick<ModelAnswer, 'text' | 'toolCalls'>,
  lengths: readonly number[] = [],
): readonly ModelDelta[] {
  return [
    ...piecesOf(text, lengths).map((piece): ModelDelta => ({ type: 'text', text: piece })),
    ...toolCalls.flatMap(({ id, name, input }) =>
      piecesOf(input, lengths).map((piece): ModelDelta => ({ type: 'tool-input', id, name, text: piece })),
    ),
  ];
}

/** A piece may end between the halves of a character, as with real servers. */
function piecesOf(text: string, lengths: readonly number[]): readonly string[] {
  const usable = lengths.filter((length) => Number.isInteger(length) && length > 0);
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + (usable[pieces.length % usable.length] ?? text.length);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}
