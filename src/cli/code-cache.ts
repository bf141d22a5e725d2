import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import type { Script } from 'node:vm';

import { nameHash } from '../platform/hash.ts';
import { readPrivateFile } from '../platform/private-file.ts';

/** One of the command's own files that this process has loaded. */
interface LoadedFile {
  readonly module: { readonly exports: object };
  readonly script: Script;
  readonly stamp: Buffer;
  /** Where its compiled code is kept. */
  readonly keptIn: string;
  /** How many processes have added to what is kept there; 0 where that is not of this file. */
  readonly writers: number;
}

/** Keeps what was compiled in this process for the next one. */
export type SaveCode = () => Promise<void>;

/**
 * Loads the command's own files with what V8 compiled of them in an earlier process, so that it need not compile them again: a third
 * of the time that `list` takes beyond an empty process. Node has this built in from 22.8 on; for older versions the same is done here.
 *
 * The files are found and read here too: Node would look for package files around them first.
 *
 * What is kept is code. It is read only where it belongs to this user and to nobody else, like Node's own.
 */
export function keepCompiledCode(commandDir: string, cacheDir: string): SaveCode | undefined {
  // Two installed copies must not overwrite each other's at every start.
  const prefix = path.join(cacheDir, `code-${process.version}-${process.arch}-${nameHash(commandDir)}-`);
  const loaded = new Map<string, LoadedFile>();
  const prototype = modulePrototype();
  if (prototype === undefined) return undefined;
  const { require: nodeRequire } = prototype;

  function requireKept(this: NodeJS.Module, id: string): unknown {
    if (!id.startsWith('./') || this.path !== commandDir) return nodeRequire.call(this, id);
    const name = id.slice(2);
    const known = loaded.get(name);
    if (known !== undefined) return known.module.exports;
    const filename = path.join(commandDir, name);
    // The file that everything began with was loaded by Node.
    if (filename === this.filename) return this.exports;
    const file = compile(filename, `${prefix}${name}.bin`);
    // Before it runs: two files may need each other.
    loaded.set(name, file);
    const { module, script } = file;
    const run: (...values: unknown[]) => unknown = script.runInThisContext();
    const requireInner = (inner: string): unknown => requireKept.call(this, inner);
    run.call(module.exports, module.exports, requireInner, module, filename, commandDir);
    return module.exports;
  }
  prototype.require = requireKept;

  return async () => {
    const young = [...loaded.values()].filter(({ writers }) => writers < MAX_WRITERS);
    if (young.length === 0) return;
    const { writeCode } = await import('./write-code.ts');
    // After the run: functions that were called are in it too, beside those that earlier processes called.
    for (const { keptIn, stamp, writers, script } of young)
      writeCode(keptIn, [stamp, Uint8Array.of(writers + 1), script.createCachedData()]);
  };
}

interface Requiring {
  require: (this: NodeJS.Module, id: string) => unknown;
}

/** What all modules share, by way of the first one: asking for `node:module` takes a third of a millisecond. */
function modulePrototype(): Requiring | undefined {
  // oxlint-disable-next-line typescript/no-deprecated
  const prototype: unknown = process.mainModule === undefined ? undefined : Object.getPrototypeOf(process.mainModule);
  return isRequiring(prototype) ? prototype : undefined;
}

function isRequiring(value: unknown): value is Requiring {
  return typeof value === 'object' && value !== null && 'require' in value && typeof value.require === 'function';
}

/** More than the largest file takes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Size and time of the file: V8 itself looks at the length of the source only. */
const STAMP_BYTES = 16;
/** And a byte for the number of writers. */
const HEAD_BYTES = STAMP_BYTES + 1;

/**
 * The first process fills other caches, the second is the first that reads them, and the third is likely another command: each calls
 * functions that were not called before.
 */
const MAX_WRITERS = 3;

function compile(filename: string, keptIn: string): LoadedFile {
  const { bytes, size, mtimeMs } = readWrapped(filename);
  const stamp = Buffer.from(Float64Array.of(size, mtimeMs).buffer);
  const kept = readPrivateFile(keptIn, { maxBytes: MAX_BYTES });
  const isOfFile = kept.type === 'read' && kept.bytes.subarray(0, STAMP_BYTES).equals(stamp);
  // The build leaves no letters beyond ASCII in these files.
  const source = bytes.toString('latin1');
  const { Script } = process.getBuiltinModule('node:vm');
  const script = new Script(source, {
    filename,
    ...(isOfFile ? { cachedData: kept.bytes.subarray(HEAD_BYTES) } : {}),
  });
  const writers = isOfFile && script.cachedDataRejected !== true ? (kept.bytes[STAMP_BYTES] ?? 0) : 0;
  return { module: { exports: {} }, script, stamp, keptIn, writers };
}

interface WrappedFile {
  readonly bytes: Buffer;
  readonly size: number;
  readonly mtimeMs: number;
}

/** As Node wraps a module, on the same line, so that the lines of a stack are those of the file. */
const HEAD = '(function (exports, require, module, __filename, __dirname) { ';
const TAIL = '\n});';

/**
 * The text of a file in its wrapping, put together before it becomes a string: two strings that are joined have to be copied into one,
 * and megabytes of young strings have the collector run while everything waits.
 */
function readWrapped(filename: string): WrappedFile {
  const descriptor = openSync(filename, 'r');
  try {
    const { size, mtimeMs } = fstatSync(descriptor);
    const bytes = Buffer.allocUnsafeSlow(HEAD.length + size + TAIL.length);
    bytes.write(HEAD, 0, 'latin1');
    let end = HEAD.length;
    while (end < HEAD.length + size) {
      const count = readSync(descriptor, bytes, end, HEAD.length + size - end, null);
      if (count === 0) throw new Error(`${filename} became shorter while it was read`);
      end += count;
    }
    bytes.write(TAIL, end, 'latin1');
    return { bytes, size, mtimeMs };
  } finally {
    closeSync(descriptor);
  }
}
