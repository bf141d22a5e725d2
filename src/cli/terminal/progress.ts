import { monotonicMs } from '../../platform/clock.ts';
import type { Terminal } from './terminal.ts';

/** Shorter work shows no progress: a line that flashes is worse than no line. */
const DELAY_MS = 500;
const REDRAW_MS = 100;

export interface Progress {
  show(text: string): void;
  end(): void;
}

/** A status line on the terminal that is redrawn in place and cleared at the end. */
export function openProgress(terminal: Terminal): Progress {
  const started = monotonicMs();
  let drawn = 0;
  return {
    show(text) {
      const time = monotonicMs();
      if (time - started < DELAY_MS || time - drawn < REDRAW_MS || !terminal.isInteractive) return;
      drawn = time;
      terminal.overwrite(text);
    },
    end() {
      if (drawn > 0) terminal.overwrite('');
    },
  };
}
