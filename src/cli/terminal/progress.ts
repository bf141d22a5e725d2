import { monotonicMs } from '#platform';
import type { Terminal } from './terminal.ts';
import { sliceStart } from '#core';

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
  let latest = '';
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    drawn = monotonicMs();
    terminal.overwrite(sliceStart(latest, terminal.width - 1));
  };
  return {
    show(text) {
      if (!terminal.isInteractive) return;
      latest = text;
      const time = monotonicMs();
      if (time - started >= DELAY_MS && time - drawn >= REDRAW_MS) draw();
      // A download reports its start and then nothing for a while.
      else if (drawn === 0) timer ??= setTimeout(draw, DELAY_MS - (time - started)).unref();
    },
    end() {
      clearTimeout(timer);
      timer = undefined;
      if (drawn > 0) terminal.overwrite('');
    },
  };
}
