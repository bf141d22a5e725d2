// The program that the hooks of agents start on each prompt. It runs hook-answer.js, whose compiled code is kept in the folder of the hook:
// compiling it again takes as long as the rest of an answer.
import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Script } from 'node:vm';

import { VERSION } from '../version.ts';
import type { answerHook } from './hook-answer.ts';

/** This file becomes CommonJS, and a module that only offers another `require` takes long to load. */
declare const require: NodeJS.Require;

/** In the folder of the hook, which belongs to the user alone and also has the script that starts this program. */
const KEPT = 'compiled.bin';
const KEY_LENGTH = 160;

async function run(folder: string): Promise<void> {
  const file = path.join(import.meta.dirname, 'hook-answer.js');
  const key = nameCode(file);
  const kept = path.join(folder, KEPT);
  const cachedData = readKept(kept, key);
  const script = new Script(readFileSync(file, 'utf8'), { filename: file, ...(cachedData && { cachedData }) });
  const module: { exports: { answerHook?: typeof answerHook } } = { exports: {} };
  script.runInThisContext()(require, module, import.meta.dirname);
  const isWhole = await module.exports.answerHook?.(process);
  // Only after a whole answer from what is kept: V8 keeps the functions that were called.
  if (isWhole === true && (cachedData === undefined || script.cachedDataRejected === true))
    keep(kept, key, script.createCachedData());
}

/** V8 checks its version and its flags, but of the source only the length. */
function nameCode(file: string): Buffer {
  const { size, mtimeMs, ctimeMs, ino } = statSync(file);
  const key = [VERSION, process.version, process.arch, size, mtimeMs, ctimeMs, ino].join(' ');
  return Buffer.from(key.padEnd(KEY_LENGTH), 'latin1');
}

/** The code is there twice, because V8 runs damaged code as it is, and comparing takes less time than any sum of it. */
function readKept(file: string, key: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const end = (KEY_LENGTH + bytes.length) / 2;
    const code = bytes.subarray(KEY_LENGTH, end);
    return key.equals(bytes.subarray(0, KEY_LENGTH)) && code.equals(bytes.subarray(end)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Failures such as a full disk are ignored: the hook works without kept code. */
function keep(file: string, key: Buffer, code: Buffer): void {
  const fresh = `${file}.${String(process.pid)}`;
  try {
    writeFileSync(fresh, Buffer.concat([key, code, code]), { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch {
    try {
      unlinkSync(fresh);
    } catch {
      // It was not written.
    }
  }
}

// oxlint-disable-next-line typescript/no-floating-promises
run(process.argv[3] ?? '');
