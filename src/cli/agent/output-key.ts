import { readFileSync } from 'node:fs';

import { askStreams, isTerminal, setRawMode, takeKeys } from '../terminal/ask.ts';
import { quietly } from '#platform';

const CTRL_C = '\u0003';
const CTRL_O = '\u000F';
const CTRL_Z = '\u001A';

/**
 * Calls `onKey` for each Ctrl-O until the returned function is called. Ctrl-C and Ctrl-Z act as in a terminal's normal mode, and other keys
 * are kept for the next reader.
 */
export function watchOutputKey(process: NodeJS.Process, onKey: () => void): () => void {
  const streams = askStreams(process);
  const { stdin } = process;
  // A background job that changes the mode of the terminal is stopped by the system.
  if (!isTerminal(streams) || isInBackground()) return () => undefined;
  let ahead = '';
  const onContinue = (): void => {
    if (!isInBackground()) setRawMode(stdin, true);
  };
  const release = takeKeys(
    stdin,
    (typed) => {
      if (typed === CTRL_O) onKey();
      else if (typed.includes(CTRL_C)) streams.interrupt();
      else if (typed === CTRL_Z) {
        setRawMode(stdin, false);
        process.kill(process.pid, 'SIGTSTP');
      } else ahead += typed;
    },
    () => undefined,
  );
  process.on('SIGCONT', onContinue);
  return () => {
    process.off('SIGCONT', onContinue);
    release();
    if (ahead !== '') stdin.unshift(Buffer.from(ahead));
  };
}

/** Whether another process group has the terminal. Known on Linux only. */
function isInBackground(): boolean {
  return quietly(() => {
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return fields[2] !== fields[5];
  }, false);
}
