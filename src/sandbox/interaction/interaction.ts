import { timerMs } from '#platform';
import type { OutputSink, ProgramEnd, RunningProgram } from '#core';
import { LineBuffer } from './line-buffer.ts';
import { PROMPT_LINES, expectedInput, type ExpectedInput } from './prompt.ts';
import { terminalText } from './terminal-text.ts';

/** State and new output of an interactive program, for the model. */
export interface InteractionView {
  readonly status: 'running' | 'exited';
  readonly sessionId: string;
  /** Output since the last view. */
  readonly output: string;
  /** Line numbers of the start of `output` and of the next one. */
  readonly offset: number;
  readonly nextOffset: number;
  /** Unread lines that the next view returns. */
  readonly remaining: number;
  readonly exitCode?: number;
  readonly end?: ProgramEnd;
  readonly interaction?: ExpectedInput;
  /** For example that a requested terminal is not available. */
  readonly warnings: readonly string[];
}

export interface InteractionTimes {
  /** Ends the program after this time without output and without requests. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface WaitOptions {
  readonly yieldMs: number;
  readonly lines: number;
  /** Ignores a prompt until there is new output, because input was just sent. */
  readonly mustBeNew: boolean;
  readonly signal?: AbortSignal | undefined;
}

const BUFFER_LIMITS = { lines: 20_000, characters: 4 * 1024 * 1024 };
/** A prompt counts after this time without further output. */
const SETTLE_MS = 75;
export const KILL_GRACE_MS = 2000;

/** One interactive program: its output, its timeouts and its end. */
export class Interaction {
  readonly id: string;
  readonly terminal: boolean;
  readonly warnings: readonly string[];
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  readonly #buffer = new LineBuffer(BUFFER_LIMITS);
  readonly #times: InteractionTimes;
  readonly #waiters = new Set<() => void>();
  #written = 0;
  #lastWritten = performance.now();
  #lastActive = performance.now();
  #program: RunningProgram | undefined;
  #timers: readonly NodeJS.Timeout[] = [];
  #stopReason: ProgramEnd['reason'] | undefined;
  #end: ProgramEnd | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(
    id: string,
    options: InteractionTimes & { readonly terminal: boolean; readonly warnings: readonly string[] },
  ) {
    this.id = id;
    this.terminal = options.terminal;
    this.warnings = options.warnings;
    this.#times = options;
    const texts = [terminalText(), terminalText()] as const;
    const sink = ({ take }: { readonly take: (bytes: Uint8Array) => string }): OutputSink => ({
      write: (bytes) => {
        this.#take(take(bytes));
        return true;
      },
    });
    this.stdout = sink(texts[0]);
    this.stderr = sink(texts[1]);
    this.#endTexts = () => texts.map((text) => text.end()).join('');
  }

  readonly #endTexts: () => string;

  get isOver(): boolean {
    return this.#end !== undefined || this.#failure !== undefined;
  }

  get end(): ProgramEnd | undefined {
    return this.#end;
  }

  /** Follows the program to its end. */
  attach(program: RunningProgram): void {
    this.#program = program;
    program.ended.then(
      (end) => {
        this.#finish();
        const isOurs = this.#stopReason !== undefined && end.reason !== 'exited';
        this.#end = isOurs ? stopped(end, this.#stopReason) : end;
        this.#changed();
      },
      (error: unknown) => {
        // The next `view` throws it.
        this.#finish();
        this.#failure = { error };
        this.#changed();
      },
    );
    const idle = (): void => {
      const left = this.#times.idleMs - (performance.now() - this.#lastActive);
      if (left <= 0) this.stop('timeout');
      else this.#timers = [...this.#timers.slice(0, 1), setTimeout(idle, timerMs(left))];
    };
    this.#timers = [
      setTimeout(() => this.stop('timeout'), timerMs(this.#times.totalMs)),
      setTimeout(idle, timerMs(this.#times.idleMs)),
    ];
  }

  write(bytes: Uint8Array): void {
    this.#lastActive = performance.now();
    this.#program?.write(bytes);
  }

  closeInput(): void {
    this.#lastActive = performance.now();
    this.#program?.closeInput();
  }

  stop(reason: ProgramEnd['reason']): void {
    if (this.isOver) return;
    this.#stopReason ??= reason;
    this.#program?.kill();
  }

  /** Waits for the end, a prompt, enough lines, or the timeout. */
  async wait({ yieldMs, lines, mustBeNew, signal }: WaitOptions): Promise<void> {
    const deadline = performance.now() + yieldMs;
    const before = this.#written;
    this.#lastActive = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const now = performance.now();
      if (this.isOver || now >= deadline || this.#buffer.unread >= lines) return;
      const isPrompting = (!mustBeNew || this.#written > before) && this.#expected() !== undefined;
      const quietFor = now - this.#lastWritten;
      if (isPrompting && quietFor >= SETTLE_MS) return;
      const until = isPrompting ? Math.min(deadline, now + SETTLE_MS - quietFor) : deadline;
      await this.#change(Math.max(1, until - now), signal);
    }
  }

  /** Returns true if the program ended within the time. */
  async whenOver(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (!this.isOver && performance.now() < deadline) await this.#change(Math.max(1, deadline - performance.now()));
    return this.isOver;
  }

  view(lines: number): InteractionView {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#lastActive = performance.now();
    const { text, offset, nextOffset, remaining } = this.#buffer.read(lines);
    const expected = this.isOver ? undefined : this.#expected();
    const exitCode = this.#end?.exitCode;
    return {
      status: this.isOver ? 'exited' : 'running',
      sessionId: this.id,
      output: text,
      offset,
      nextOffset,
      remaining,
      exitCode,
      end: this.#end,
      interaction: expected,
      warnings: this.warnings,
    };
  }

  #expected(): ExpectedInput | undefined {
    return expectedInput(this.#buffer.last(PROMPT_LINES));
  }

  #take(text: string): void {
    if (text === '') return;
    this.#buffer.append(text);
    this.#written += text.length;
    this.#lastWritten = performance.now();
    this.#lastActive = this.#lastWritten;
    this.#changed();
  }

  #finish(): void {
    this.#take(this.#endTexts());
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
  }

  #changed(): void {
    for (const wake of this.#waiters) wake();
  }

  #change(withinMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, withinMs);
      this.#waiters.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }
}

/** Replaces the executor's reason by ours, because we ended the program. */
function stopped({ signal, durationMs, warnings }: ProgramEnd, reason: ProgramEnd['reason'] | undefined): ProgramEnd {
  return { reason: reason ?? 'cancelled', signal, durationMs, warnings };
}
