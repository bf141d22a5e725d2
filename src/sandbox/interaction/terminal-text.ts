import { cleanText } from '#core';

/** Converts program output to text for a model. A remaining `\r` means that the following text overwrites the line. */
export interface TerminalText {
  take(bytes: Uint8Array): string;
  /** Flushes what was held back as possibly incomplete. */
  end(): string;
}

/** An incomplete escape sequence, or a return that may be part of a line end. */
const UNFINISHED = /(?:\x1b(?:\[[\x20-\x3f]{0,64}|[PX\]^_][^\x07\x1b\n]{0,4096}\x1b?|[\x20-\x2f]{0,8})?|(?<!\r)\r+)$/;
/** Upper bound for the length of an incomplete sequence. */
const MAX_UNFINISHED = 4200;

/** Terminals send `\r\r\n` where the program writes `\r\n`. */
const LINE_END = /(?<!\r)\r+\n/g;
/** Character set selection, which `cleanText` does not recognize as one sequence. */
const CHARACTER_SET = /\x1b[\x20-\x2f]+[\x30-\x7e]/g;

/** Use one per stream: joins characters and escape sequences that are split between chunks. */
export function terminalText(): TerminalText {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let held = '';
  const clean = (text: string): string => {
    const plain = text.replace(CHARACTER_SET, '').replace(LINE_END, '\n');
    return plain.split('\r').map(cleanText).join('\r');
  };
  return {
    take(bytes) {
      const text = held + decoder.decode(bytes, { stream: true });
      const tail = text.slice(-MAX_UNFINISHED);
      const unfinished = UNFINISHED.exec(tail);
      held = unfinished?.[0] ?? '';
      return clean(text.slice(0, text.length - held.length));
    },
    end() {
      const text = held + decoder.decode();
      held = '';
      return clean(text);
    },
  };
}
