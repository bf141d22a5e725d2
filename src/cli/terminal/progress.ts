import type { Terminal } from './terminal.ts';

/** Work shorter than this shows nothing: a line that flashes is worse than none. */
const QUIET_MS = 500;
const BETWEEN_MS = 100;

export interface Progress {
  show(text: string): void;
  end(): void;
}

/** A line on the terminal that is drawn over itself and leaves nothing behind. */
export function openProgress(terminal: Terminal, now: () => number = () => performance.now()): Progress {
  const started = now();
  let drawn = 0;
  return {
    show(text) {
      const time = now();
      if (time - started < QUIET_MS || time - drawn < BETWEEN_MS || !terminal.isInteractive) return;
      drawn = time;
      terminal.overwrite(text);
    },
    end() {
      if (drawn > 0) terminal.overwrite('');
    },
  };
}
