import { approvalLines } from '../../policy/approval-text.ts';
import type { ApprovalRequest, ApprovalScope } from '../../core/approval.ts';
import { sha256 } from '../../platform/hash.ts';
import type { Asker } from '../../policy/approval/approver.ts';
import type { Stream } from './terminal.ts';

/** Where keys come from: `process.stdin`, as far as it is needed. */
export interface KeyInput {
  readonly isTTY?: boolean;
  readonly isRaw?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: 'data' | 'end' | 'error', listener: (data: unknown) => void): unknown;
  off(event: 'data' | 'end' | 'error', listener: (data: unknown) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

export interface AskStreams {
  readonly input: KeyInput;
  /** Stderr: the answer of a command goes to stdout and may go into a file. */
  readonly output: Stream;
  /** What Ctrl-C does besides being a no: in raw mode the terminal sends no signal. */
  readonly interrupt: () => void;
}

/**
 * Keys count only after the question has been on the screen for this long and nothing was typed meanwhile: what somebody typed
 * ahead, or is typing for something else, is no answer.
 */
export const SETTLE_MS = 300;

const DEFAULT_WIDTH = 80;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

export function askStreams(process: NodeJS.Process): AskStreams {
  return {
    input: process.stdin,
    output: process.stderr,
    interrupt: () => {
      // At once where somebody listens, so that whoever asked finds it done; a signal comes later.
      if (!process.emit('SIGINT')) process.kill(process.pid, 'SIGINT');
    },
  };
}

/** A person at this terminal; nothing where there is none, because keys and screen must both be one. */
export function openTerminalAsker(streams: AskStreams): Asker | undefined {
  if (!isTerminal(streams)) return undefined;
  return {
    by: 'terminal',
    async ask(request, { signal }) {
      const { output } = streams;
      const answer = await converse(streams, questionOf(request, widthOf(output)), signal);
      output.write(answer.verdict === 'no' ? 'no\n' : `yes, ${SCOPES[answer.scope]}\n`);
      return answer;
    },
  };
}

/** A plain yes or no; no where nobody is at a terminal. */
export async function confirm(
  streams: AskStreams,
  text: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<boolean> {
  if (!isTerminal(streams)) return false;
  const said = await converse<boolean>(
    streams,
    {
      text: `${text}\n[y] yes  [n] no > `,
      isWord: false,
      read: (key) => (key === 'y' ? { answer: true } : key === 'n' ? { answer: false } : undefined),
      otherwise: false,
    },
    signal,
  );
  streams.output.write(said ? 'yes\n' : 'no\n');
  return said;
}

/** Some terminals say that they have no columns. */
function widthOf({ columns = 0 }: Stream): number {
  return columns > 0 ? columns : DEFAULT_WIDTH;
}

export function isTerminal({ input, output }: AskStreams): boolean {
  return input.isTTY === true && output.isTTY === true && input.setRawMode !== undefined;
}

interface Answer {
  readonly verdict: 'yes' | 'no';
  readonly scope: ApprovalScope;
}

const SCOPES: Readonly<Record<ApprovalScope, string>> = {
  once: 'once',
  run: 'for this run',
  skill: 'for this skill as it is now',
};
const KEYS: Readonly<Record<ApprovalScope, string>> = { once: 'y', run: 'r', skill: 's' };

const NO: Answer = { verdict: 'no', scope: 'once' };

/** High risk takes a word: no single key, hit by chance, does it. */
function questionOf(request: ApprovalRequest, width: number): Dialog<Answer> {
  const isWord = request.risk === 'high';
  const words: ReadonlyMap<string, ApprovalScope> = new Map(
    request.scopes.map((scope) => [isWord ? `yes${scope === 'once' ? '' : ` ${scope}`}` : KEYS[scope], scope]),
  );
  const offered = [...words].map(([word, scope]) =>
    isWord ? `${word} (${SCOPES[scope]})` : `[${word}] ${SCOPES[scope]}`,
  );
  const choices = isWord
    ? `type ${offered.join(', ')}; d for details; all else is no > `
    : `${[...offered, '[n] no', '[d] details'].join('  ')} > `;
  const lines = (isWhole: boolean): string => approvalLines(request, { width, hash: sha256, isWhole }).join('\n');
  return {
    text: `\n${lines(false)}\n${choices}`,
    isWord,
    read(typed) {
      if (typed === 'd') return { more: `\n${lines(true)}\n${choices}` };
      const scope = words.get(typed);
      if (scope !== undefined) return { answer: { verdict: 'yes', scope } };
      return isWord || typed === 'n' ? { answer: NO } : undefined;
    },
    otherwise: NO,
  };
}

interface Dialog<T> {
  readonly text: string;
  /** A word and the enter key, not one key. */
  readonly isWord: boolean;
  /** Nothing: it means nothing, and is waited on. */
  readonly read: (typed: string) => { readonly answer: T } | { readonly more: string } | undefined;
  /** For the enter key alone, Ctrl-C, Ctrl-D, and an input that ends. */
  readonly otherwise: T;
}

/** Shows a question and reads until it is answered. The terminal is left as it was. */
async function converse<T>(
  { input, output, interrupt }: AskStreams,
  dialog: Dialog<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const quiet = openQuiet();
    let word = '';

    const show = (text: string): void => {
      output.write(text);
      word = '';
      quiet.begin();
    };
    const finish = (answer: T): void => {
      leave();
      resolve(answer);
    };
    const judge = (typed: string): void => {
      const read = dialog.read(typed.trim().toLowerCase());
      if (read === undefined) return;
      if ('more' in read) show(read.more);
      else finish(read.answer);
    };
    const addToWord = (typed: string): void => {
      const { text, isEntered } = edited(word, typed);
      output.write(echoOf(word, text) + (isEntered ? '\n' : ''));
      word = text;
      if (isEntered) judge(word);
    };
    const onKeys = (typed: string): void => {
      if (typed.includes(CTRL_C)) {
        finish(dialog.otherwise);
        interrupt();
      } else if (!quiet.isOver()) quiet.begin();
      else if (typed === CTRL_D || (isEnter(typed) && word === '')) finish(dialog.otherwise);
      // An arrow key or something pasted comes as several characters at once.
      else if (typed.includes('\u001B') || (!dialog.isWord && typed.length > 1)) quiet.begin();
      else if (dialog.isWord) addToWord(typed);
      else judge(typed);
    };
    const onAbort = (): void => {
      leave();
      output.write('\n');
      reject(signal.reason);
    };
    const leave = (): void => {
      quiet.stop();
      release();
      signal.removeEventListener('abort', onAbort);
    };

    signal.addEventListener('abort', onAbort, { once: true });
    show(dialog.text);
    const release = takeKeys(input, onKeys, () => {
      finish(dialog.otherwise);
    });
  });
}

/** Whether nothing has been typed for long enough, since the last beginning. */
function openQuiet(): { readonly begin: () => void; readonly isOver: () => boolean; readonly stop: () => void } {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
  };
  return {
    begin() {
      stop();
      isOver = false;
      timer = setTimeout(() => (isOver = true), SETTLE_MS);
    },
    isOver: () => isOver,
    stop,
  };
}

/** Every key goes to `onKeys`, unseen, until the keys are released by what is given back. */
export function takeKeys(input: KeyInput, onKeys: (typed: string) => void, onEnd: () => void): () => void {
  const wasRaw = input.isRaw === true;
  const onData = (data: unknown): void => {
    onKeys(String(data));
  };
  setRawMode(input, true);
  input.on('data', onData);
  input.on('end', onEnd);
  input.on('error', onEnd);
  input.resume();
  return () => {
    input.off('data', onData);
    input.off('end', onEnd);
    input.off('error', onEnd);
    setRawMode(input, wasRaw);
    input.pause();
  };
}

/** A terminal that is gone has no mode, and says so as an error of the keys. */
export function setRawMode(input: KeyInput, isRaw: boolean): void {
  const ignore = (): void => undefined;
  input.on('error', ignore);
  input.setRawMode?.(isRaw);
  input.off('error', ignore);
}

const MAX_WORD = 40;

/** A word after more keys: backspace and Ctrl-U work, all else that is no plain character is ignored. */
function edited(word: string, typed: string): { readonly text: string; readonly isEntered: boolean } {
  let text = word;
  for (const key of typed) {
    if (isEnter(key)) return { text, isEntered: true };
    if (key === '\u007F' || key === '\b') text = text.slice(0, -1);
    else if (key === '\u0015') text = '';
    else if (key >= ' ' && key <= '~' && text.length < MAX_WORD) text += key;
  }
  return { text, isEntered: false };
}

function isEnter(key: string): boolean {
  return key === '\r' || key === '\n';
}

/** What makes the screen show `text` where it showed `word`. */
function echoOf(word: string, text: string): string {
  return text.startsWith(word) ? text.slice(word.length) : '\b \b'.repeat(word.length) + text;
}
