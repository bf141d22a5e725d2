/** Bracketed paste mode: the terminal puts markers around pasted text. */
import type { Stream } from './terminal.ts';

const [ON, OFF] = ['\u001B[?2004h', '\u001B[?2004l'];
const MARK = /\u001B\[20[01]~/g;
/** The start of a marker whose rest is in the next chunk. */
const HALF_MARK = /\u001B(?:\[(?:2(?:0[01]?)?)?)?$/;

/** Asks the terminal to mark pastes until the returned function is called, or the process exits. */
export function markPastes(output: Pick<Stream, 'write'>): () => void {
  const stop = (): void => {
    output.write(OFF);
  };
  output.write(ON);
  process.once('exit', stop);
  return () => {
    process.off('exit', stop);
    stop();
  };
}

/** Returns a function that tells of each chunk of keys, in order, whether a part of it is a marked paste. */
export function openPasteGuard(): (typed: string) => boolean {
  let half = '';
  let isPasting = false;
  return (typed) => {
    const text = half + typed;
    const marks = text.match(MARK) ?? [];
    const isPaste = isPasting || marks.length > 0;
    isPasting = marks.at(-1)?.endsWith('200~') ?? isPasting;
    half = HALF_MARK.exec(text)?.[0] ?? '';
    return isPaste;
  };
}
