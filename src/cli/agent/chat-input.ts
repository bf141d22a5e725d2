/** Sources of chat messages: a line editor at a terminal, or a pipe with one message per line. */
import path from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

import { isSkillError, parseJson } from '#core';
import { isSystemError, makeFolders, readPrivateFile, sha256, writeFileAtomically } from '#platform';
import { setRawMode } from '../terminal/ask.ts';
import { markPastes } from '../terminal/paste-marks.ts';
import { openHistorySearch } from './history-search.ts';
import { LINE_END, openPasteFilter, toLine, toMessage } from './paste-filter.ts';
import type { TypeAhead } from './type-ahead.ts';

type Input =
  | { readonly type: 'message'; readonly text: string }
  /** Ctrl-C; `isEmpty`: the line was empty. */
  | { readonly type: 'interrupt'; readonly isEmpty: boolean }
  | { readonly type: 'end' };

export interface ChatInput {
  /** Reads a message. `text` is on the line already, for the user to change. */
  next(text?: string): Promise<Input>;
  close(): void;
}

export interface EditorOptions {
  /** Messages that were typed while the agent worked. */
  readonly typeAhead?: TypeAhead;
  /** Reads whole lines from the terminal and draws nothing, for screen readers. */
  readonly isPlain?: boolean;
  readonly prompt: () => string;
  /** Called for Shift-Tab, after which the prompt is shown anew. */
  readonly turnMode?: () => void;
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
  const { typeAhead, isPlain = false, prompt } = options;
  return {
    next(text = '') {
      const queued = text === '' ? typeAhead?.take() : undefined;
      if (queued !== undefined) {
        process.stderr.write(`${prompt()}${toLine(queued)}\n`);
        return Promise.resolve({ type: 'message', text: queued });
      }
      const start = [text, typeAhead?.drain() ?? ''].filter((one) => one !== '').join('\n');
      return isPlain ? readPlainLine(process, options) : readMessage(process, options, toLine(start));
    },
    close: () => undefined,
  };
}

const SHIFT_TAB = Buffer.from('\u001B[Z');
/** Alt-Enter, and Shift-Enter of terminals that tell it from Enter. */
const NEW_LINE = /^\u001B(?:[\r\n]|\[13;2u|\[27;2;13~)$/;

function readMessage({ stdin, stderr }: NodeJS.Process, options: EditorOptions, text: string): Promise<Input> {
  const { prompt, turnMode, history, complete, mention, signal } = options;
  if (signal.aborted) return Promise.resolve({ type: 'end' });
  return new Promise((resolve) => {
    const keys = new PassThrough();
    const decoder = new StringDecoder('utf8');
    const filter = openPasteFilter(mention);
    const editor = createInterface({
      input: keys,
      output: stderr,
      terminal: true,
      prompt: prompt(),
      history: [...history()],
      removeHistoryDuplicates: true,
      completer: (line: string) => {
        const { hits, of } = complete(line);
        return [[...hits], of];
      },
    });
    const search = openHistorySearch(editor, { history: history(), prompt });
    const onKeys = (bytes: Buffer): void => {
      if (bytes.equals(SHIFT_TAB)) {
        turnMode?.();
        editor.setPrompt(prompt());
        return editor.prompt(true);
      }
      const raw = search(decoder.write(bytes));
      if (raw === '') return;
      if (NEW_LINE.test(raw)) return editor.write(LINE_END);
      if (raw === '\r' && editor.line.endsWith('\\') && editor.cursor === editor.line.length) {
        editor.write(null, { name: 'backspace' });
        return editor.write(LINE_END);
      }
      const typed = filter(raw);
      // Several characters of one chunk would be appended to the line wherever the cursor is, without counting the rows that they fill.
      const [several = ''] = /^\P{Cc}{2,}/u.exec(typed) ?? [];
      if (several !== '') editor.write(several);
      if (typed.length > several.length) keys.emit('data', typed.slice(several.length));
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
    if (text !== '') editor.write(text);
  });
}

/** The terminal edits the line itself. The text to change is not on it, because nothing is drawn. */
function readPlainLine({ stdin, stderr }: NodeJS.Process, { prompt, signal }: EditorOptions): Promise<Input> {
  if (signal.aborted) return Promise.resolve({ type: 'end' });
  stderr.write(prompt());
  const lines = createInterface({ input: stdin, terminal: false });
  return new Promise((resolve) => {
    const finish = (input: Input): void => {
      signal.removeEventListener('abort', end);
      lines.removeAllListeners().close();
      resolve(input);
    };
    const end = (): void => finish({ type: 'end' });
    lines.once('line', (text) => finish({ type: 'message', text }));
    lines.once('close', end);
    signal.addEventListener('abort', end, { once: true });
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

export interface ChatHistory {
  readonly lines: () => readonly string[];
  readonly add: (message: string) => void;
}

const MAX_LINES = 500;
/** Longer messages are pasted; users do not look for them with the arrow keys. */
const MAX_CHARACTERS = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Opens the history. Without a cache folder it lives in memory; read and write errors are ignored, because the chat works without it. */
export function openChatHistory(cacheDir: string | undefined, project: string): ChatHistory {
  const file = cacheDir === undefined ? undefined : path.join(cacheDir, 'chat', `${sha256(project).slice(0, 32)}.json`);
  let lines = file === undefined ? [] : readLines(file);
  return {
    lines: () => lines,
    add(message) {
      const line = toLine(message);
      if (line.length > MAX_CHARACTERS || line.trim() === '') return;
      lines = [line, ...lines.filter((other) => other !== line)].slice(0, MAX_LINES);
      if (file !== undefined) writeLines(file, lines);
    },
  };
}

function readLines(file: string): readonly string[] {
  const read = readPrivateFile(file, { maxBytes: MAX_BYTES, isSecret: true });
  if (read.type !== 'read') return [];
  const value = parseJson(read.bytes.toString('utf8'));
  const lines: readonly unknown[] = Array.isArray(value) ? value : [];
  return lines
    .filter((line) => typeof line === 'string')
    .map(toLine)
    .slice(0, MAX_LINES);
}

function writeLines(file: string, lines: readonly string[]): void {
  try {
    makeFolders(path.dirname(file), 0o700);
    writeFileAtomically(file, Buffer.from(JSON.stringify(lines)), { mode: 0o600 });
  } catch (error) {
    if (!isSystemError(error) && !isSkillError(error)) throw error;
  }
}
