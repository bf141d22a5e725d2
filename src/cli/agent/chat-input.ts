/** Sources of chat messages: a line editor at a terminal, or a pipe with one message per line. */
import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createInterface } from 'node:readline';

import { setRawMode } from '../terminal/ask.ts';
import { markPastes } from '../terminal/paste-marks.ts';
import { toMessage, openPasteFilter } from './chat-paste.ts';

export type Input =
  | { readonly type: 'message'; readonly text: string }
  /** Ctrl-C; `isEmpty`: the line was empty. */
  | { readonly type: 'interrupt'; readonly isEmpty: boolean }
  | { readonly type: 'end' };

export interface ChatInput {
  next(): Promise<Input>;
  close(): void;
}

export interface EditorOptions {
  readonly prompt: string;
  readonly history: () => readonly string[];
  /** Completions of the end of a line, and the text that they replace. */
  readonly complete: (line: string) => { readonly hits: readonly string[]; readonly of: string };
  readonly mention: (pasted: string) => string | undefined;
  readonly signal: AbortSignal;
}

/**
 * A line editor that reads keys only while it waits for a message. Between messages the terminal is in its normal mode, so that Ctrl-C
 * is a signal and approval questions receive the keys.
 */
export function openEditor(process: NodeJS.Process, options: EditorOptions): ChatInput {
  // The chat must still be recorded when the terminal is gone.
  process.stderr.on('error', () => undefined);
  return { next: () => readMessage(process, options), close: () => undefined };
}

function readMessage({ stdin, stderr }: NodeJS.Process, options: EditorOptions): Promise<Input> {
  const { prompt, history, complete, mention, signal } = options;
  if (signal.aborted) return Promise.resolve({ type: 'end' });
  return new Promise((resolve) => {
    const keys = new PassThrough();
    const decoder = new StringDecoder('utf8');
    const filter = openPasteFilter(mention);
    const editor = createInterface({
      input: keys,
      output: stderr,
      terminal: true,
      prompt,
      history: [...history()],
      removeHistoryDuplicates: true,
      completer: (line: string) => {
        const { hits, of } = complete(line);
        return [[...hits], of];
      },
    });
    const onKeys = (bytes: Buffer): void => {
      const typed = filter(decoder.write(bytes));
      // Several characters of one chunk would be appended to the line wherever the cursor is, without counting the rows that they fill.
      const [text = ''] = /^\P{Cc}{2,}/u.exec(typed) ?? [];
      if (text !== '') editor.write(text);
      if (typed.length > text.length) keys.emit('data', typed.slice(text.length));
    };
    const end = (): void => finish({ type: 'end' });
    let isOver = false;
    const finish = (input: Input): void => {
      if (isOver) return;
      isOver = true;
      stdin.off('data', onKeys).off('end', end).off('error', end).pause();
      setRawMode(stdin, false);
      signal.removeEventListener('abort', end);
      editor.close();
      unmark();
      if (input.type !== 'message') stderr.write('\n');
      resolve(input);
    };
    editor.on('line', (line) => finish({ type: 'message', text: toMessage(line) }));
    editor.on('SIGINT', () => finish({ type: 'interrupt', isEmpty: editor.line === '' }));
    editor.on('close', end);
    signal.addEventListener('abort', end, { once: true });
    const unmark = markPastes(stderr);
    setRawMode(stdin, true);
    stdin.on('data', onKeys).on('end', end).on('error', end).resume();
    editor.prompt();
  });
}

export function openLines(stdin: NodeJS.ReadableStream, signal: AbortSignal): ChatInput {
  const lines = createInterface({ input: stdin, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
  const iterator = lines[Symbol.asyncIterator]();
  const stopped = new Promise<Input>((resolve) => {
    signal.addEventListener('abort', () => resolve({ type: 'end' }), { once: true });
  });
  return {
    async next() {
      if (signal.aborted) return { type: 'end' };
      const line = iterator
        .next()
        .then(({ done, value }): Input => (done === true ? { type: 'end' } : { type: 'message', text: value }));
      return Promise.race([line, stopped]);
    },
    close: () => lines.close(),
  };
}
