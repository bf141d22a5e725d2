import { lstatSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { compileKept } from './kept-code.ts';

/** This file becomes CommonJS, whose `require` loads the packs. */
declare const require: NodeJS.Require;

/** Files of the build that hold many chunks. */
const PACKS: ReadonlySet<string> = new Set(['start.js', 'read.js', 'run.js']);

/** A command may call other functions the next time, such as those that run a script. */
const TIMES = 3;

const OLD_MS = 30 * 24 * 3_600_000;

/** Lets `require` load the packs with the compiled code that is kept in a folder, and keeps it at the end of the first starts of a command. */
export function keepPacks(folder: string, words: readonly string[]): void {
  // Root must not run what the owner of a home folder left there.
  if (process.geteuid !== undefined && lstatSync(folder).uid !== process.geteuid()) return;
  const [command = ''] = words;
  const load = require.extensions['.js'];
  require.extensions['.js'] = (module, file) => {
    if (path.dirname(file) !== import.meta.dirname || !PACKS.has(path.basename(file))) return load?.(module, file);
    const { run, note = '', keep } = compileKept(file, keptFile(folder, file));
    run(module, (name) => module.require(name), import.meta.dirname);
    if (note.split(' ').filter((word) => word === command).length >= TIMES) return;
    process.on('exit', (code) => {
      // The first word of a command line that succeeds is a command or a flag.
      if (code !== 0) return;
      keep(`${note} ${command}`);
      removeOld(folder);
    });
  };
}

/** One for each installation and version of Node. */
function keptFile(folder: string, file: string): string {
  const { ino, mtimeMs } = statSync(file);
  const place = `${ino.toString(36)}${Math.trunc(mtimeMs).toString(36)}`;
  return path.join(folder, `${path.basename(file, '.js')}-${process.version}-${place}.bin`);
}

/** Other installations are gone or write theirs again; a process that was killed leaves what it had written. */
function removeOld(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = path.join(folder, name);
      if (/\.bin(?:\.\d+)?$/u.test(name) && Date.now() - statSync(file).mtimeMs > OLD_MS) unlinkSync(file);
    }
  } catch {
    // Another process removes them, too.
  }
}
