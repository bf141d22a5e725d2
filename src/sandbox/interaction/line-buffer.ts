/** A part of the output that follows the previous part. */
export interface OutputPart {
  readonly text: string;
  /** Number of its first line. */
  readonly offset: number;
  /** Number of the first line of the next part; the last line of this part if that is unfinished. */
  readonly nextOffset: number;
  /** Unread lines in the buffer. */
  readonly remaining: number;
}

/** Longer lines are split. */
const MAX_LINE = 4096;
/** Maximum characters of one part. */
const MAX_PART = 64 * 1024;

/**
 * The last lines of a program that may write without end. Lines are read once and in order: all parts together are the output. A note
 * replaces lines that were dropped before they were read.
 */
export interface LineBuffer {
  /** Takes the output of `TerminalText`. */
  append(text: string): void;
  /** Number of unread lines. */
  unread(): number;
  /** Reads up to `maxLines` unread lines. */
  read(maxLines: number): OutputPart;
  /** The last lines without line ends, read or not. The final element is the unfinished line, possibly empty. */
  last(count: number): readonly string[];
}

export function lineBuffer(limits: { readonly lines: number; readonly characters: number }): LineBuffer {
  /** With their line ends, except for parts of split lines. */
  let lines: string[] = [];
  /** Index of the first buffered line in `lines`, so that dropping a line moves nothing. */
  let start = 0;
  /** Number of lines dropped before it. */
  let dropped = 0;
  let characters = 0;
  /** The unfinished line. */
  let open = '';
  /** The next character overwrites the unfinished line. */
  let isReturned = false;
  let cursor = { line: 0, characters: 0 };
  let missed = 0;

  const end = (): number => dropped + lines.length - start;
  const push = (line: string): void => {
    lines.push(line);
    characters += line.length;
    while (lines.length - start > limits.lines || characters > limits.characters) {
      characters -= lines[start]?.length ?? 0;
      lines[start] = '';
      start += 1;
      dropped += 1;
    }
    if (cursor.line < dropped) {
      missed += dropped - cursor.line;
      cursor = { line: dropped, characters: 0 };
    }
    if (start > limits.lines) {
      lines = lines.slice(start);
      start = 0;
    }
  };
  const endLine = (): void => {
    push(`${open}\n`);
    open = '';
    isReturned = false;
  };
  const write = (text: string): void => {
    if (text === '') return;
    if (isReturned) {
      // Text that was already read stays as its own line; unread text is overwritten.
      if (cursor.line === end() && cursor.characters > 0) endLine();
      open = '';
      isReturned = false;
    }
    open += text;
    while (open.length > MAX_LINE) {
      const isPair = (open.charCodeAt(MAX_LINE - 1) & 0xfc00) === 0xd800;
      const cut = isPair ? MAX_LINE - 1 : MAX_LINE;
      push(open.slice(0, cut));
      open = open.slice(cut);
    }
  };
  const unread = (): number => {
    const isOpenRead = open.length <= (cursor.line === end() ? cursor.characters : 0);
    return end() - cursor.line + (isOpenRead ? 0 : 1);
  };

  return {
    unread,
    append(text) {
      let from = 0;
      for (const { index, 0: mark } of text.matchAll(/[\r\n]/g)) {
        write(text.slice(from, index));
        if (mark === '\n') endLine();
        else isReturned = true;
        from = index + 1;
      }
      write(text.slice(from));
    },
    read(maxLines) {
      const offset = cursor.line;
      const parts = missed === 0 ? [] : [`[${String(missed)} lines were not kept]\n`];
      missed = 0;
      let size = 0;
      for (let count = 0; count < maxLines && size < MAX_PART && unread() > 0; count += 1) {
        const isOpen = cursor.line === end();
        const line = isOpen ? open : (lines[start + cursor.line - dropped] ?? '');
        const part = line.slice(cursor.characters);
        parts.push(part);
        size += part.length;
        cursor = isOpen ? { line: end(), characters: line.length } : { line: cursor.line + 1, characters: 0 };
      }
      return { text: parts.join(''), offset, nextOffset: cursor.line, remaining: unread() };
    },
    last(count) {
      const ended = lines.slice(Math.max(start, lines.length - count));
      return [...ended.map((line) => (line.endsWith('\n') ? line.slice(0, -1) : line)), open];
    },
  };
}
