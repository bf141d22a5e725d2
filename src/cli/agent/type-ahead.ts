/** What the user types while the agent works: messages that are sent when it is done. */
import { openPasteFilter, toMessage } from './paste-filter.ts';

export interface TypeAhead {
  /** For the status line; empty if nothing is typed. */
  readonly shown: string;
  press(typed: string): void;
  /** The next whole message. */
  take(): string | undefined;
  /** Everything that was typed and not sent. Messages that were queued are part of it, for the user to look at again. */
  drain(): string;
}

const CONTROLS = /\P{Cc}/u;

export function openTypeAhead(): TypeAhead {
  const filter = openPasteFilter();
  const queue: string[] = [];
  let partial = '';
  const press = (key: string): void => {
    if (key === '\r' || key === '\n') {
      if (partial.trim() !== '') queue.push(toMessage(partial));
      partial = '';
    } else if (key === '\u007F' || key === '\b') partial = Array.from(partial).slice(0, -1).join('');
    else if (key === '\u0015') partial = '';
    else if (CONTROLS.test(key)) partial += key;
  };
  return {
    get shown() {
      const waiting = queue.length === 0 ? '' : `${String(queue.length)} queued `;
      return queue.length === 0 && partial === '' ? '' : `${waiting}> ${partial}`;
    },
    press(typed) {
      // Arrows and other keys that edit have no line here.
      if (!typed.startsWith('\u001B')) for (const key of filter(typed)) press(key);
    },
    take: () => queue.shift(),
    drain() {
      const text = [...queue.splice(0), partial].filter((one) => one !== '').join('\n');
      partial = '';
      return text;
    },
  };
}
