import { approvalLines, type openApprovals } from '#policy';
import { approvalSummary } from './approval-summary.ts';
import type { ApprovalRequest, ApprovalAnswer } from '#core';
import { markPastes, openPasteGuard } from './paste-marks.ts';
import { readColumns, type Stream } from './terminal.ts';
import { wrapWords } from './wrap.ts';

/** The part of `process.stdin` that reading keys needs. */
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
  /** Stderr, because stdout carries the answer and may be redirected. */
  readonly output: Stream;
  /** Called on Ctrl-C, because in raw mode the terminal sends no signal. */
  readonly interrupt: () => void;
}

/**
 * Keys count only after the question has been on the screen for this long without input. This way, type-ahead never answers a question.
 */
export const SETTLE_MS = 300;

/** Without it, a key that is ignored looks like a program that hangs. */
const TOO_EARLY = '\n  that was typed before the question could be read; answer again > ';

/** A key, or a key and Enter: a slow line and programs that type send both at once. */
const ONE_KEY = /^.[\r\n]{0,2}$/u;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

export function askStreams(process: NodeJS.Process): AskStreams {
  return {
    input: process.stdin,
    output: process.stderr,
    interrupt: () => {
      // Emitted directly if there are listeners, because a real signal would arrive after the answer.
      if (!process.emit('SIGINT')) process.kill(process.pid, 'SIGINT');
    },
  };
}

export type Asker = NonNullable<Parameters<typeof openApprovals>[0]['asker']>;

/**
 * Asks the user at this terminal; undefined unless stdin and stderr both are terminals. `acceptEdits` is called where the answer is for all
 * edits of files that can be undone.
 */
export function openTerminalAsker(streams: AskStreams, acceptEdits?: () => void): Asker | undefined {
  if (!isTerminal(streams)) return undefined;
  return {
    by: 'terminal',
    async ask(request, { signal }) {
      const { output } = streams;
      const question = buildQuestion(request, readColumns(output), acceptEdits !== undefined);
      const { isForEdits = false, ...answer } = await converse(streams, question, signal);
      const yes = isForEdits ? 'all edits in this session' : SCOPES[answer.scope];
      output.write(answer.verdict === 'no' ? 'no\n' : `yes, ${yes}\n`);
      if (isForEdits) acceptEdits?.();
      return answer;
    },
  };
}

/** Whether a question is about a change of a file that git keeps, which `[a]` and the mode `edits` answer. */
export function isUndoableEdit({ detail, risk }: Pick<ApprovalRequest, 'detail' | 'risk'>): boolean {
  return detail.kind === 'write' && risk === 'low';
}

/** Asks a yes/no question. Without a terminal the answer is no. */
export async function confirm(
  streams: AskStreams,
  text: string,
  options: { readonly signal: AbortSignal },
): Promise<boolean> {
  const choices = [
    { key: 'y', about: 'yes', answer: true },
    { key: 'n', about: 'no', answer: false },
  ] as const;
  return choose<boolean>(streams, { text, choices, otherwise: false }, options);
}

export interface Choice<T> {
  readonly key: string;
  readonly about: string;
  readonly answer: T;
}

/** Asks a question that one key answers. Without a terminal, and for every other way to end it, the answer is `otherwise`. */
export async function choose<T>(
  streams: AskStreams,
  {
    text,
    choices,
    otherwise,
  }: { readonly text: string; readonly choices: readonly Choice<T>[]; readonly otherwise: T },
  { signal }: { readonly signal: AbortSignal },
): Promise<T> {
  if (!isTerminal(streams)) return otherwise;
  const choice = await converse<T>(
    streams,
    {
      text: `${text}\n${choices.map(({ key, about }) => `[${key}] ${about}`).join('  ')} > `,
      isWord: false,
      read: (typed) => choices.find(({ key }) => key === typed),
      otherwise,
    },
    signal,
  );
  const [word = ''] = choices.find(({ answer }) => answer === choice)?.about.split(/[,:]/, 1) ?? [];
  streams.output.write(`${word}\n`);
  return choice;
}

export function isTerminal({ input, output }: AskStreams): boolean {
  return input.isTTY === true && output.isTTY === true && input.setRawMode !== undefined;
}

interface Answer {
  readonly verdict: 'yes' | 'no';
  readonly scope: ApprovalAnswer['scope'];
  /** Also for all later edits of the session. */
  readonly isForEdits?: boolean;
}

const SCOPES: Readonly<Record<ApprovalAnswer['scope'], string>> = {
  once: 'once',
  run: 'for the rest of this run',
  skill: 'always for this version of the skill',
};
const KEYS: Readonly<Record<ApprovalAnswer['scope'], readonly [key: string, label: string]>> = {
  once: ['y', '[y]es'],
  run: ['r', '[r]est of run'],
  skill: ['a', '[a]lways for this skill'],
};

const NO: Answer = { verdict: 'no', scope: 'once' };

/** Changes of a file that are shown without asking for details. */
const SHORT_ROWS = 16;

const REPEAT = 'not approved yet: the question did not show all of this; answer again';

/**
 * What would be done, and the keys: two lines if possible. High risk requires a typed word, so that a single accidental key never approves
 * it. Where the question cannot show everything, the first yes shows the details instead, and counts only when it is repeated.
 */
function buildQuestion(request: ApprovalRequest, width: number, mayAcceptEdits: boolean): Dialog<Answer> {
  const isWord = request.risk === 'high';
  const isEdit = mayAcceptEdits && isUndoableEdit(request);
  const scopes = isEdit ? (['once'] as const) : request.scopes;
  // An answer for the rest of the run covers this file, not every write.
  const isFile = request.detail.kind === 'write' || request.detail.kind === 'delete';
  const words: ReadonlyMap<string, ApprovalAnswer['scope']> = new Map(
    scopes.map((scope) => [isWord ? `yes${scope === 'once' ? '' : ` ${scope}`}` : KEYS[scope][0], scope]),
  );
  const choices = isWord
    ? `  type yes${request.scopes.includes('run') ? `, or "yes run" for this ${isFile ? 'file' : 'run'}` : ''}; d for details; anything else is no > `
    : `  ${[...scopes.map((scope) => KEYS[scope][1]), ...(isEdit ? ['[a]ll edits in this session'] : []), '[n]o', '[d]etails'].join('  ')} > `;
  const details = (...notes: readonly string[]): string => {
    isShown = true;
    // Framed text has its width already, and stays in its frame.
    const lines = approvalLines(request, { width, show: 'whole' }).map((line) =>
      line.startsWith('  ') ? line : wrapWords(line, { width, indent: 2 }),
    );
    return ['', ...lines, ...notes, choices].join('\n');
  };
  const { lines, isWhole } = approvalSummary(request, width);
  const change = approvalLines(request, { width, show: 'change' });
  const isShort = change.length > 0 && change.length <= SHORT_ROWS;
  let isShown = isWhole || isShort;
  return {
    text: [...(isShort ? change : []), ...lines, choices].join('\n'),
    isWord,
    read(typed) {
      if (typed === 'd') return { more: details() };
      const isForEdits = isEdit && typed === 'a';
      const scope = isForEdits ? 'once' : words.get(typed);
      if (scope !== undefined)
        return isShown
          ? { answer: { verdict: 'yes', scope, ...(isForEdits ? { isForEdits } : {}) } }
          : { more: details(REPEAT) };
      return isWord || typed === 'n' ? { answer: NO } : undefined;
    },
    otherwise: NO,
  };
}

interface Dialog<T> {
  readonly text: string;
  /** The answer is a word and Enter instead of one key. */
  readonly isWord: boolean;
  /** Returns undefined for input that is not an answer. */
  readonly read: (typed: string) => { readonly answer: T } | { readonly more: string } | undefined;
  /** The answer for Enter alone, Ctrl-C, Ctrl-D, and the end of input. */
  readonly otherwise: T;
}

/** Shows a question and reads keys until it is answered, then restores the terminal mode. */
async function converse<T>(
  { input, output, interrupt }: AskStreams,
  dialog: Dialog<T>,
  signal: AbortSignal,
): Promise<T> {
  return readKeys<T>({ input, output, interrupt }, signal, dialog.otherwise, ({ finish, cancel }) => {
    let isEarly = false;
    const quiet = openQuiet(() => {
      if (isEarly) output.write(TOO_EARLY);
      isEarly = false;
    });
    const isPasted = openPasteGuard();
    let word = '';

    const show = (text: string): void => {
      output.write(text);
      word = '';
      quiet.begin();
    };
    const accept = (typed: string): void => {
      const read = dialog.read(typed.trim().toLowerCase());
      if (read === undefined) return;
      if ('more' in read) show(read.more);
      else finish(read.answer);
    };
    const addToWord = (typed: string): void => {
      const { text, isEntered } = edited(word, typed);
      output.write(renderEcho(word, text) + (isEntered ? '\n' : ''));
      word = text;
      if (isEntered) accept(word);
    };
    const onKeys = (typed: string): void => {
      const isPaste = isPasted(typed);
      // Alone, it is a key, even if the end of a paste never arrives.
      if (typed === CTRL_C || (typed.includes(CTRL_C) && !isPaste)) cancel();
      else if (isPaste || !quiet.isOver()) {
        isEarly ||= !isPaste && ONE_KEY.test(typed) && !isEnter(typed);
        quiet.begin();
      } else if (typed === CTRL_D || (isEnter(typed) && word === '')) finish(dialog.otherwise);
      // Arrow keys, and pasted text without marks, arrive as several characters at once.
      else if (typed.includes('\u001B') || (!dialog.isWord && !ONE_KEY.test(typed))) quiet.begin();
      else if (dialog.isWord) addToWord(typed);
      else accept(typed);
    };
    let unmark = (): void => undefined;
    return {
      onKeys,
      start() {
        unmark = markPastes(output);
        show(dialog.text);
      },
      leave(isAnswered) {
        quiet.stop();
        unmark();
        if (!isAnswered) output.write('\n');
      },
    };
  });
}

export interface KeyReader {
  readonly onKeys: (typed: string) => void;
  /** Shows what the keys are for. They are taken before: a key that answers must not reach the shell. */
  readonly start: () => void;
  /** Called once, before the terminal gets its mode back. */
  readonly leave: (isAnswered: boolean) => void;
}

export interface KeyEnds<T> {
  readonly finish: (answer: T) => void;
  /** For Ctrl-C: interrupts the program; if that aborts the signal, there is no answer. */
  readonly cancel: () => void;
}

/** Reads keys until there is an answer, which is `otherwise` at the end of input, and restores the terminal mode in every case. */
export async function readKeys<T>(
  { input, interrupt }: AskStreams,
  signal: AbortSignal,
  otherwise: T,
  open: (ends: KeyEnds<T>) => KeyReader,
): Promise<T> {
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const leave = (isAnswered: boolean): void => {
      reader.leave(isAnswered);
      release();
      signal.removeEventListener('abort', onAbort);
    };
    const finish = (answer: T): void => {
      leave(true);
      resolve(answer);
    };
    const cancel = (): void => {
      leave(false);
      interrupt();
      if (signal.aborted) reject(signal.reason);
      else resolve(otherwise);
    };
    const onAbort = (): void => {
      leave(false);
      reject(signal.reason);
    };
    const reader = open({ finish, cancel });
    signal.addEventListener('abort', onAbort, { once: true });
    const release = takeKeys(input, reader.onKeys, () => finish(otherwise));
    reader.start();
  });
}

/** Tracks whether SETTLE_MS have passed without input. */
function openQuiet(onOver: () => void): {
  readonly begin: () => void;
  readonly isOver: () => boolean;
  readonly stop: () => void;
} {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
  };
  return {
    begin() {
      stop();
      isOver = false;
      timer = setTimeout(() => {
        isOver = true;
        onOver();
      }, SETTLE_MS);
    },
    isOver: () => isOver,
    stop,
  };
}

/** Sends every key to `onKeys`, without echo, until the returned function is called. */
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

/** Ignores the error that stdin emits when its terminal is gone. */
export function setRawMode(input: KeyInput, isRaw: boolean): void {
  const ignore = (): void => undefined;
  input.on('error', ignore);
  input.setRawMode?.(isRaw);
  input.off('error', ignore);
}

const MAX_WORD = 40;

/** Applies keys to a word. Backspace and Ctrl-U edit; other non-printable keys are ignored. */
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

/** The output that changes `word` on the screen to `text`. */
function renderEcho(word: string, text: string): string {
  return text.startsWith(word) ? text.slice(word.length) : '\b \b'.repeat(word.length) + text;
}
