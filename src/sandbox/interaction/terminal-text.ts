import { cleanText } from '../../core/text/text.ts';

/** Bytes of a program to text for a model. A `\r` that is left means: what follows is written over the line. */
export interface TerminalText {
  take(bytes: Uint8Array): string;
  /** What was held back because more could have followed. */
  end(): string;
}

/** A sequence that has begun and not ended, or a return that could belong to a line end. */
const UNFINISHED = /(?:\x1b(?:\[[\x20-\x3f]{0,64}|[PX\]^_][^\x07\x1b\n]{0,4096}\x1b?|[\x20-\x2f]{0,8})?|(?<!\r)\r+)$/;
/** No unfinished one is longer. */
const MAX_UNFINISHED = 4200;

/** Line ends of terminals, which send `\r\r\n` for a program's own `\r\n`. */
const LINE_END = /(?<!\r)\r+\n/g;
/** Choice of a character set, which `cleanText` takes for two characters. */
const CHARACTER_SET = /\x1b[\x20-\x2f]+[\x30-\x7e]/g;

/** One for each stream: characters and terminal sequences that come in pieces are put together before they are judged. */
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
