import { monotonicMs } from '#platform';
import type { Terminal } from './terminal.ts';
import { sliceStart } from '#core';

/** Shorter work shows no progress: a line that flashes is worse than no line. */
const DELAY_MS = 500;
const REDRAW_MS = 100;
/** A log keeps every line, so that it gets few of them, and none for work that ends soon. */
const FIRST_LINE_MS = 10_000;
const LINE_MS = 30_000;

export interface Progress {
  show(text: string): void;
  end(): void;
}

/**
 * A status line that is redrawn in place and cleared at the end. Without a terminal, such as in CI, work that takes minutes logs lines on
 * stderr (none with --quiet), and other work shows nothing.
 */
export function openProgress(terminal: Terminal, { isLogged = false }: { readonly isLogged?: boolean } = {}): Progress {
  if (terminal.isInteractive) return drawnLine(terminal);
  return isLogged ? loggedLines(terminal) : { show: () => undefined, end: () => undefined };
}

function drawnLine(terminal: Terminal): Progress {
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

/** A timer prints the latest text, so that the log goes on while a single step takes minutes. */
function loggedLines(terminal: Terminal): Progress {
  let latest = '';
  let printed = '';
  let timer: NodeJS.Timeout | undefined;
  const print = (): void => {
    if (latest !== printed) terminal.remark(latest);
    printed = latest;
    timer = setTimeout(print, LINE_MS).unref();
  };
  return {
    show(text) {
      latest = text;
      timer ??= setTimeout(print, FIRST_LINE_MS).unref();
    },
    end() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
