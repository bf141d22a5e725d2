// Keeps what V8 compiled of a large file between starts. Compiling it again takes longer than most commands; Node before 22.8 keeps nothing,
// and newer versions keep only the functions that run while a file is loaded.
import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { Script } from 'node:vm';

import { VERSION } from '../version.ts';

interface KeptCode {
  /** Runs the file as Node runs a CommonJS module. */
  readonly run: (module: { exports: unknown }, require: (name: string) => unknown, folder: string) => void;
  /** What the last `keep` noted; `undefined` if the file was compiled again. */
  readonly note: string | undefined;
  /** Keeps the functions that were called so far. */
  readonly keep: (note: string) => void;
}

/** Compiles a CommonJS module of this package with the code that was kept in the file `kept`. */
export function compileKept(file: string, kept: string): KeptCode {
  const key = nameCode(file);
  const last = readKept(kept, key);
  const source = `(function(module,require,__dirname){${readFileSync(file, 'utf8')}\n})`;
  const script = new Script(source, { filename: file, ...(last && { cachedData: last.code }) });
  return {
    run: script.runInThisContext(),
    note: script.cachedDataRejected === true ? undefined : last?.note,
    keep: (note) => keep(kept, `${key}${note}\n`, script.createCachedData()),
  };
}

/** V8 checks its version and its flags, but of the source only the length. */
function nameCode(file: string): string {
  const { size, mtimeMs, ctimeMs, ino } = statSync(file);
  return `${[VERSION, process.version, process.arch, size, mtimeMs, ctimeMs, ino].join(' ')}\n`;
}

/** The code is there twice, because V8 runs damaged code as it is, and comparing takes less time than any sum of it. */
function readKept(file: string, key: string): { note: string; code: Buffer } | undefined {
  try {
    const bytes = readFileSync(file);
    if (bytes.toString('latin1', 0, key.length) !== key) return undefined;
    const start = bytes.indexOf('\n', key.length) + 1;
    const end = (start + bytes.length) / 2;
    const code = bytes.subarray(start, end);
    return code.equals(bytes.subarray(end))
      ? { note: bytes.toString('latin1', key.length, start - 1), code }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Failures such as a full disk are ignored: programs start without kept code, too. */
function keep(file: string, head: string, code: Buffer): void {
  const fresh = `${file}.${String(process.pid)}`;
  try {
    writeFileSync(fresh, Buffer.concat([Buffer.from(head, 'latin1'), code, code]), { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch {
    try {
      unlinkSync(fresh);
    } catch {
      // It was not written.
    }
  }
}
