// The program that the hooks of agents start on each prompt. It runs hook-answer.js, whose compiled code is kept in the folder of the hook:
// compiling it again takes as long as the rest of an answer.
import path from 'node:path';

import type { answerHook } from './hook-answer.ts';
import { compileKept } from './kept-code.ts';

/** This file becomes CommonJS, and a module that only offers another `require` takes long to load. */
declare const require: NodeJS.Require;

/** In the folder of the hook, which belongs to the user alone and also has the script that starts this program. */
const KEPT = 'compiled.bin';

async function answer(folder: string): Promise<void> {
  const file = path.join(import.meta.dirname, 'hook-answer.js');
  const { run, note, keep } = compileKept(file, path.join(folder, KEPT));
  const module: { exports: { answerHook?: typeof answerHook } } = { exports: {} };
  run(module, require, import.meta.dirname);
  const isWhole = await module.exports.answerHook?.(process);
  // Only after a whole answer from what is kept: V8 keeps the functions that were called.
  if (isWhole === true && note === undefined) keep('');
}

// oxlint-disable-next-line typescript/no-floating-promises
answer(process.argv[3] ?? '');
