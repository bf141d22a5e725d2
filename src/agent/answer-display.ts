import { openActionStream } from './action-stream.ts';
import type { ModelDelta } from '../core/model.ts';
import type { ProtocolName } from './system-prompt.ts';

/** Shows the answer to the person while a model streams it. Display only. */
export interface AnswerDisplay {
  readonly onDelta: (delta: ModelDelta) => void;
  /** Whether any text was shown. */
  readonly hasShown: boolean;
  /** Resolves when everything received so far has been shown. Later deltas are ignored. */
  close(): Promise<void>;
}

export function openAnswerDisplay(protocol: ProtocolName, show: (text: string) => void): AnswerDisplay {
  let isClosed = false;
  let hasShown = false;
  const showText = (text: string): void => {
    hasShown ||= text !== '';
    show(text);
  };
  const stream =
    protocol === 'tools'
      ? { write: showText, close: () => Promise.resolve() }
      : openActionStream({ onAnswerText: showText });
  return {
    get hasShown() {
      return hasShown;
    },
    onDelta(delta) {
      if (delta.type === 'text' && !isClosed) stream.write(delta.text);
    },
    close() {
      isClosed = true;
      return stream.close();
    },
  };
}
