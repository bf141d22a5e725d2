import type { EndReason, OutputSink, ProgramEnd, RunningProgram } from '../../core/execution.ts';
import { LineBuffer } from './line-buffer.ts';
import { PROMPT_LINES, expectedInput } from './prompt.ts';
import type { ExpectedInput } from './prompt.ts';
import { terminalText } from './terminal-text.ts';

/** What a model is told of a program that it talks to. */
export interface InteractionView {
  readonly status: 'running' | 'exited';
  readonly sessionId: string;
  /** What it wrote since the last view. */
  readonly output: string;
  /** Lines: where `output` starts, and where the next one will. */
  readonly offset: number;
  readonly nextOffset: number;
  /** Lines that are there already and come with the next view. */
  readonly remaining: number;
  readonly exitCode?: number;
  readonly end?: ProgramEnd;
  readonly interaction?: ExpectedInput;
  /** What a person should know, such as a terminal that was asked for and is none. */
  readonly warnings: readonly string[];
}

export interface InteractionTimes {
  /** Nothing written, nothing asked for so long: it is ended. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface Waiting {
  readonly yieldMs: number;
  readonly lines: number;
  /** A prompt counts only where something was written since: the answer to the last one was given just now. */
  readonly mustBeNew: boolean;
  readonly signal?: AbortSignal | undefined;
}

const KEPT = { lines: 20_000, characters: 4 * 1024 * 1024 };
/** A prompt is one when nothing followed it for so long. */
const SETTLE_MS = 75;
/** Longer ones fire at once. */
const MAX_TIMER_MS = 2_147_483_647;
export const KILL_GRACE_MS = 2000;

/** One program that is talked to: its output, its clock and its end. */
export class Interaction {
  readonly id: string;
  readonly terminal: boolean;
  readonly warnings: readonly string[];
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  readonly #kept = new LineBuffer(KEPT);
  readonly #times: InteractionTimes;
  readonly #waiters = new Set<() => void>();
  #written = 0;
  #lastWritten = performance.now();
  #lastActive = performance.now();
  #program: RunningProgram | undefined;
  #timers: readonly NodeJS.Timeout[] = [];
  #stopReason: EndReason | undefined;
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

  /** From here on the program is followed to its end. */
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
        // A bug of whoever runs the program: the next who asks for it gets it.
        this.#finish();
        this.#failure = { error };
        this.#changed();
      },
    );
    const idle = (): void => {
      const left = this.#times.idleMs - (performance.now() - this.#lastActive);
      if (left <= 0) this.stop('timeout');
      else this.#timers = [...this.#timers.slice(0, 1), setTimeout(idle, Math.min(left, MAX_TIMER_MS))];
    };
    this.#timers = [setTimeout(() => this.stop('timeout'), this.#times.totalMs), setTimeout(idle, this.#times.idleMs)];
  }

  write(bytes: Uint8Array): void {
    this.#lastActive = performance.now();
    this.#program?.write(bytes);
  }

  closeInput(): void {
    this.#lastActive = performance.now();
    this.#program?.closeInput();
  }

  stop(reason: EndReason): void {
    if (this.isOver) return;
    this.#stopReason ??= reason;
    this.#program?.kill();
  }

  /** Waits until there is something to say: the end, a prompt, enough lines, or the time is over. */
  async wait({ yieldMs, lines, mustBeNew, signal }: Waiting): Promise<void> {
    const deadline = performance.now() + yieldMs;
    const before = this.#written;
    this.#lastActive = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const now = performance.now();
      if (this.isOver || now >= deadline || this.#kept.unread >= lines) return;
      const isAsked = (!mustBeNew || this.#written > before) && this.#expected() !== undefined;
      const quietFor = now - this.#lastWritten;
      if (isAsked && quietFor >= SETTLE_MS) return;
      const until = isAsked ? Math.min(deadline, now + SETTLE_MS - quietFor) : deadline;
      await this.#change(Math.max(1, until - now), signal);
    }
  }

  /** True where it was over within the time. */
  async whenOver(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (!this.isOver && performance.now() < deadline) await this.#change(Math.max(1, deadline - performance.now()));
    return this.isOver;
  }

  view(lines: number): InteractionView {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#lastActive = performance.now();
    const { text, offset, nextOffset, remaining } = this.#kept.read(lines);
    const expected = this.isOver ? undefined : this.#expected();
    const exitCode = this.#end?.exitCode;
    return {
      status: this.isOver ? 'exited' : 'running',
      sessionId: this.id,
      output: text,
      offset,
      nextOffset,
      remaining,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(this.#end === undefined ? {} : { end: this.#end }),
      ...(expected === undefined ? {} : { interaction: expected }),
      warnings: this.warnings,
    };
  }

  #expected(): ExpectedInput | undefined {
    return expectedInput(this.#kept.last(PROMPT_LINES));
  }

  #take(text: string): void {
    if (text === '') return;
    this.#kept.append(text);
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

/** Ended by us, whatever the executor calls that. */
function stopped({ signal, durationMs, warnings }: ProgramEnd, reason: EndReason | undefined): ProgramEnd {
  return { reason: reason ?? 'cancelled', ...(signal === undefined ? {} : { signal }), durationMs, warnings };
}
