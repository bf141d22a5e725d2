import { EventEmitter, once } from 'node:events';

import { timerMs } from '#platform';
import type { OutputSink, ProgramEnd } from '#core';
import { lineBuffer, type OutputPart } from './line-buffer.ts';
import { PROMPT_LINES, expectedInput, type ExpectedInput } from './prompt.ts';
import { terminalText } from './terminal-text.ts';
import type { RunningProgram } from '../program-types.ts';

/** State and new output of an interactive program, for the model. */
export interface InteractionView extends Omit<OutputPart, 'text'> {
  readonly status: 'running' | 'exited';
  readonly sessionId: string;
  /** Output since the last view. */
  readonly output: string;
  readonly exitCode?: number;
  readonly end?: ProgramEnd;
  readonly interaction?: ExpectedInput;
  /** For example that a requested terminal is not available. */
  readonly warnings: readonly string[];
}

/** One interactive program: its output, its timeout and its end. */
export interface Interaction {
  readonly id: string;
  readonly terminal: boolean;
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  /** When the program ended; absent while it runs. */
  readonly overSince: number | undefined;
  /** Follows the program to its end. */
  attach(program: RunningProgram): void;
  write(bytes: Uint8Array): void;
  closeInput(): void;
  stop(reason: ProgramEnd['reason']): void;
  /** Waits for the end, a prompt, enough lines, or the timeout. */
  wait(options: WaitOptions): Promise<void>;
  /** Waits for the end, up to a time. */
  whenOver(withinMs: number): Promise<void>;
  /** Throws what the program failed with. */
  view(lines: number): InteractionView;
}

interface WaitOptions {
  readonly yieldMs: number;
  readonly lines: number;
  /** Ignores a prompt until there is new output, because input was just sent. */
  readonly mustBeNew: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface InteractionOptions extends Pick<Interaction, 'id' | 'terminal'>, Pick<InteractionView, 'warnings'> {
  /** Ends the program after this time without output and without requests. */
  readonly idleMs: number;
  readonly now: () => number;
}

const BUFFER_LIMITS = { lines: 20_000, characters: 4 * 1024 * 1024 };
/** A prompt counts after this time without further output. */
const SETTLE_MS = 75;

export function openInteraction({ id, terminal, warnings, idleMs, now }: InteractionOptions): Interaction {
  const buffer = lineBuffer(BUFFER_LIMITS);
  const texts = [terminalText(), terminalText()] as const;
  const changes = new EventEmitter();
  let written = 0;
  let lastWritten = performance.now();
  let lastActive = performance.now();
  let program: RunningProgram | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let stopReason: ProgramEnd['reason'] | undefined;
  let overSince: number | undefined;
  let end: ProgramEnd | undefined;
  let failure: { readonly error: unknown } | undefined;

  const take = (text: string): void => {
    if (text === '') return;
    buffer.append(text);
    written += text.length;
    lastWritten = performance.now();
    lastActive = lastWritten;
    changes.emit('change');
  };
  const sinkFor = (text: (typeof texts)[number]): OutputSink => ({
    write: (bytes) => {
      take(text.take(bytes));
      return true;
    },
  });
  const finish = (): void => {
    take(texts.map((text) => text.end()).join(''));
    clearTimeout(idleTimer);
    overSince = now();
    changes.emit('change');
  };
  const expected = (): ExpectedInput | undefined => expectedInput(buffer.last(PROMPT_LINES));
  const change = async (withinMs: number, signal?: AbortSignal): Promise<void> => {
    const passed = AbortSignal.timeout(Math.max(1, Math.ceil(withinMs)));
    const until = signal === undefined ? passed : AbortSignal.any([passed, signal]);
    await once(changes, 'change', { signal: until }).catch((error: unknown) => {
      if (!until.aborted) throw error;
    });
  };
  const stop: Interaction['stop'] = (reason) => {
    if (overSince !== undefined) return;
    stopReason ??= reason;
    program?.kill();
  };
  const endIfIdle = (): void => {
    const left = idleMs - (performance.now() - lastActive);
    if (left <= 0) stop('timeout');
    else idleTimer = setTimeout(endIfIdle, timerMs(left));
  };

  return {
    id,
    terminal,
    stdout: sinkFor(texts[0]),
    stderr: sinkFor(texts[1]),
    get overSince() {
      return overSince;
    },
    attach(started) {
      program = started;
      endIfIdle();
      started.ended.then(
        (found) => {
          const { signal, durationMs, warnings: more } = found;
          // We ended the program, and know the reason.
          const isOurs = stopReason !== undefined && found.reason !== 'exited';
          end = isOurs ? { reason: stopReason ?? 'cancelled', signal, durationMs, warnings: more } : found;
          finish();
        },
        (error: unknown) => {
          failure = { error };
          finish();
        },
      );
    },
    write(bytes) {
      lastActive = performance.now();
      program?.write(bytes);
    },
    closeInput() {
      lastActive = performance.now();
      program?.closeInput();
    },
    stop,
    async wait({ yieldMs, lines, mustBeNew, signal }) {
      const deadline = performance.now() + yieldMs;
      const before = written;
      lastActive = performance.now();
      for (;;) {
        signal?.throwIfAborted();
        const time = performance.now();
        if (overSince !== undefined || time >= deadline || buffer.unread() >= lines) return;
        const isPrompting = (!mustBeNew || written > before) && expected() !== undefined;
        const quietFor = time - lastWritten;
        if (isPrompting && quietFor >= SETTLE_MS) return;
        await change(isPrompting ? Math.min(deadline - time, SETTLE_MS - quietFor) : deadline - time, signal);
      }
    },
    async whenOver(withinMs) {
      const deadline = performance.now() + withinMs;
      const isOver = (): boolean => overSince !== undefined;
      while (!isOver() && performance.now() < deadline) await change(deadline - performance.now());
    },
    view(lines) {
      if (failure !== undefined) throw failure.error;
      lastActive = performance.now();
      const { text: output, ...part } = buffer.read(lines);
      return {
        status: end === undefined ? 'running' : 'exited',
        sessionId: id,
        output,
        ...part,
        exitCode: end?.exitCode,
        end,
        interaction: end === undefined ? expected() : undefined,
        warnings,
      };
    },
  };
}
