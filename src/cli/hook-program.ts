// Loaded by hook-answer.ts, and the program of the thread that indexes bodies for it.
import { wholeHook } from '#activation';

export { wholeHook };

// oxlint-disable-next-line typescript/no-floating-promises
wholeHook.indexInThread();
