/** Where the messages of a chat come from: a person who edits lines at a terminal, or a pipe with a message a line. */
import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createInterface } from 'node:readline';

import { setRawMode } from '../terminal/ask.ts';
import { MARK_PASTES, messageOf, openPasteFilter } from './chat-paste.ts';

export type Input =
  | { readonly type: 'message'; readonly text: string }
  /** Ctrl-C; `isEmpty`: nothing was typed. */
  | { readonly type: 'interrupt'; readonly isEmpty: boolean }
  | { readonly type: 'end' };

export interface ChatInput {
  next(): Promise<Input>;
  close(): void;
}

export interface EditorOptions {
  readonly prompt: string;
  /** The newest first, each on one line. */
  readonly history: () => readonly string[];
  /** What a line may go on with. */
  readonly complete: (line: string) => readonly string[];
  readonly signal: AbortSignal;
}

/**
 * A line editor that has the keys only while it waits for a message: between messages the terminal is as it was, so that Ctrl-C is a
 * signal and questions have the keys to themselves.
 */
export function openEditor(process: NodeJS.Process, options: EditorOptions): ChatInput {
  // Where the screen is gone, what was said is still to be recorded.
  process.stderr.on('error', () => undefined);
  return { next: () => readMessage(process, options), close: () => undefined };
}

function readMessage({ stdin, stderr }: NodeJS.Process, options: EditorOptions): Promise<Input> {
  const { prompt, history, complete, signal } = options;
  if (signal.aborted) return Promise.resolve({ type: 'end' });
  return new Promise((resolve) => {
    const keys = new PassThrough();
    const decoder = new StringDecoder('utf8');
    const filter = openPasteFilter();
    const editor = createInterface({
      input: keys,
      output: stderr,
      terminal: true,
      prompt,
      history: [...history()],
      removeHistoryDuplicates: true,
      completer: (line: string) => [[...complete(line)], line],
    });
    const onKeys = (bytes: Buffer): void => void keys.write(filter(decoder.write(bytes)));
    const end = (): void => finish({ type: 'end' });
    let isOver = false;
    const finish = (input: Input): void => {
      if (isOver) return;
      isOver = true;
      stdin.off('data', onKeys).off('end', end).off('error', end).pause();
      setRawMode(stdin, false);
      signal.removeEventListener('abort', end);
      editor.close();
      stderr.write(`${MARK_PASTES.off}${input.type === 'message' ? '' : '\n'}`);
      resolve(input);
    };
    editor.on('line', (line) => finish({ type: 'message', text: messageOf(line) }));
    editor.on('SIGINT', () => finish({ type: 'interrupt', isEmpty: editor.line === '' }));
    editor.on('close', end);
    signal.addEventListener('abort', end, { once: true });
    stderr.write(MARK_PASTES.on);
    setRawMode(stdin, true);
    stdin.on('data', onKeys).on('end', end).on('error', end).resume();
    editor.prompt();
  });
}

/** Lines of a pipe or a file. */
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

export interface Interrupts {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** Until it is released, an interrupt ends what listens to this signal and not the program; the next one is for the program again. */
export function takeInterrupts(process: NodeJS.Process, outer: AbortSignal): Interrupts {
  const controller = new AbortController();
  const others = process.listeners('SIGINT');
  const onInterrupt = (): void => {
    if (controller.signal.aborted) for (const other of others) other('SIGINT');
    controller.abort(new Error('stopped by the person'));
  };
  process.removeAllListeners('SIGINT');
  process.on('SIGINT', onInterrupt);
  return {
    signal: AbortSignal.any([outer, controller.signal]),
    release() {
      process.off('SIGINT', onInterrupt);
      for (const other of others) process.on('SIGINT', other);
    },
  };
}
