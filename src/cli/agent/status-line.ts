import { durationText } from '../../core/text/line-text.ts';
import { printable } from '../../core/text/text.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { fitText, textWidth } from '../../platform/text-width.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface StatusLine {
  /** Shows what is waited for, with the elapsed time, until `end`. */
  begin(text: string): void;
  /** Takes what a program prints; its last line is shown after the key. */
  readonly output: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void;
  /** Makes room for another line; the status appears again below it. */
  clear(): void;
  end(): void;
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const REDRAW_MS = 100;
/** More of a line is never shown. */
const MAX_LINE = 500;
const OUTPUT_HINT = 'Ctrl-O: output';

/** One line on stderr that is redrawn in place; nothing where stderr is not a terminal. */
export function openStatus(terminal: Terminal, watchKey?: (onKey: () => void) => () => void): StatusLine {
  const decoder = new TextDecoder();
  let current: { readonly text: string; readonly startedAt: number } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let release: (() => void) | undefined;
  let isOpen = false;
  /** The last line of the running program, and the part of the next one. */
  let printed = { last: '', partial: '' };

  const draw = (): void => {
    if (current === undefined) return;
    const ms = monotonicMs() - current.startedAt;
    const frame = FRAMES.charAt(Math.floor(ms / REDRAW_MS) % FRAMES.length);
    // The elapsed time is ours and comes first, so that no name can push it away.
    const step = `${frame} ${ms < 1000 ? '' : `${durationText(Math.floor(ms / 1000) * 1000)} `}${current.text}`;
    const last = printed.partial.trim() === '' ? printed.last : printed.partial;
    const output = isOpen ? `  │ ${printable(last.trim())}` : `  ${OUTPUT_HINT}`;
    terminal.overwrite(terminal.style('dim', besides(step, release === undefined ? '' : output, terminal.width - 1)));
  };
  const end = (): void => {
    clearInterval(timer);
    timer = undefined;
    release?.();
    release = undefined;
    if (current !== undefined) terminal.overwrite('');
    current = undefined;
    printed = { last: '', partial: '' };
  };
  return {
    begin(text) {
      if (!terminal.isInteractive) return;
      end();
      current = { text, startedAt: monotonicMs() };
      draw();
      timer = setInterval(draw, REDRAW_MS).unref();
    },
    output(_stream, chunk) {
      if (current === undefined || watchKey === undefined) return;
      release ??= watchKey(() => {
        isOpen = !isOpen;
        draw();
      });
      const lines = (printed.partial + decoder.decode(chunk, { stream: true })).split(/\r\n|\r|\n/);
      const partial = (lines.pop() ?? '').slice(-MAX_LINE);
      const last = lines.findLast((line) => line.trim() !== '') ?? printed.last;
      printed = { last: last.slice(0, MAX_LINE), partial };
    },
    clear() {
      if (current !== undefined) terminal.overwrite('');
    },
    end,
  };
}

/** Shortens the step before the output, to half of the columns at most: a long command must not hide what it prints. */
function besides(step: string, output: string, columns: number): string {
  const room = Math.max(columns >> 1, columns - textWidth(output));
  return fitText(fitText(step, room) + output, columns);
}
