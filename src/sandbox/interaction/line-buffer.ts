/** A part of the output, from where the last one ended. */
export interface OutputPart {
  readonly text: string;
  /** The line at which it starts. */
  readonly offset: number;
  /** The line at which the next part starts; the same one where a line was still being written. */
  readonly nextOffset: number;
  /** Lines that are kept and were not part of it. */
  readonly remaining: number;
}

export interface LineBufferLimits {
  readonly lines: number;
  readonly characters: number;
}

/** A longer line is several. */
const MAX_LINE = 4096;
/** Of one part, whatever the number of lines. */
const MAX_PART = 64 * 1024;

/**
 * The last lines of a program that writes for as long as it likes. Read once, in order: the parts put together are the output, and what
 * fell out before it was read is said where it is missing.
 */
export class LineBuffer {
  readonly #limits: LineBufferLimits;
  /** With their line ends, but for pieces of long lines. */
  #lines: string[] = [];
  /** Where in `#lines` the kept ones start: dropping a line moves nothing. */
  #start = 0;
  /** How many lines were dropped before it. */
  #dropped = 0;
  #characters = 0;
  /** The line that is being written. */
  #open = '';
  /** The next character is written over the open line. */
  #isReturned = false;
  #cursor = { line: 0, characters: 0 };
  #missed = 0;

  constructor(limits: LineBufferLimits) {
    this.#limits = limits;
  }

  /** Cleaned text; `\r` as `TerminalText` means it. */
  append(text: string): void {
    let from = 0;
    for (const { index, 0: mark } of text.matchAll(/[\r\n]/g)) {
      this.#write(text.slice(from, index));
      if (mark === '\n') this.#endLine();
      else this.#isReturned = true;
      from = index + 1;
    }
    this.#write(text.slice(from));
  }

  /** The number of lines that nobody has read. */
  get unread(): number {
    const isOpenRead = this.#open.length <= (this.#cursor.line === this.#end ? this.#cursor.characters : 0);
    return this.#end - this.#cursor.line + (isOpenRead ? 0 : 1);
  }

  /** Up to so many lines that were not read before. */
  read(maxLines: number): OutputPart {
    const offset = this.#cursor.line;
    const parts = this.#missed === 0 ? [] : [`[${String(this.#missed)} lines were not kept]\n`];
    this.#missed = 0;
    let size = 0;
    for (let lines = 0; lines < maxLines && size < MAX_PART && this.unread > 0; lines += 1) {
      const isOpen = this.#cursor.line === this.#end;
      const line = isOpen ? this.#open : (this.#lines[this.#start + this.#cursor.line - this.#dropped] ?? '');
      const part = line.slice(this.#cursor.characters);
      parts.push(part);
      size += part.length;
      this.#cursor = isOpen
        ? { line: this.#end, characters: line.length }
        : { line: this.#cursor.line + 1, characters: 0 };
    }
    return { text: parts.join(''), offset, nextOffset: this.#cursor.line, remaining: this.unread };
  }

  /** The last lines, read or not, without line ends. The very last one is still being written, perhaps empty. */
  last(count: number): readonly string[] {
    const ended = this.#lines.slice(Math.max(this.#start, this.#lines.length - count));
    return [...ended.map((line) => (line.endsWith('\n') ? line.slice(0, -1) : line)), this.#open];
  }

  get #end(): number {
    return this.#dropped + this.#lines.length - this.#start;
  }

  #write(text: string): void {
    if (text === '') return;
    if (this.#isReturned) {
      // What somebody has seen stays a line of its own; what nobody saw is as good as never written.
      if (this.#cursor.line === this.#end && this.#cursor.characters > 0) this.#endLine();
      this.#open = '';
      this.#isReturned = false;
    }
    this.#open += text;
    while (this.#open.length > MAX_LINE) {
      const isPair = (this.#open.charCodeAt(MAX_LINE - 1) & 0xfc00) === 0xd800;
      const cut = isPair ? MAX_LINE - 1 : MAX_LINE;
      this.#push(this.#open.slice(0, cut));
      this.#open = this.#open.slice(cut);
    }
  }

  #endLine(): void {
    this.#push(`${this.#open}\n`);
    this.#open = '';
    this.#isReturned = false;
  }

  #push(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    while (this.#lines.length - this.#start > this.#limits.lines || this.#characters > this.#limits.characters) {
      this.#characters -= this.#lines[this.#start]?.length ?? 0;
      this.#lines[this.#start] = '';
      this.#start += 1;
      this.#dropped += 1;
    }
    if (this.#cursor.line < this.#dropped) {
      this.#missed += this.#dropped - this.#cursor.line;
      this.#cursor = { line: this.#dropped, characters: 0 };
    }
    if (this.#start > this.#limits.lines) {
      this.#lines = this.#lines.slice(this.#start);
      this.#start = 0;
    }
  }
}
