import { mkdirSync, statSync } from 'node:fs';
import Module from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';

import { writeFileAtomically } from '../platform/atomic-write.ts';
import { nameHash } from '../platform/hash.ts';
import { isSystemError } from '../platform/paths.ts';
import { readPrivateFile } from '../platform/private-file.ts';

/**
 * Keeps what V8 compiled of the command's own files, so that the next start need not compile them again: a third of the time that
 * `list` takes beyond an empty process. Node has this built in from 22.8 on; for older versions the same is done here.
 *
 * What is kept is code. It is read only where it belongs to this user and to nobody else, like Node's own.
 */
export function keepCompiledCode(commandDir: string, cacheDir: string): void {
  // Two installed copies must not overwrite each other's at every start.
  const file = path.join(cacheDir, `code-${process.version}-${process.arch}-${nameHash(commandDir)}.bin`);
  const known = readEntries(file);
  const compiled = new Map<string, { readonly stamp: string; readonly script: Script; readonly isNew: boolean }>();
  const prototype: object = Module.prototype;
  if (!canCompile(prototype)) return;
  const compile = prototype._compile;

  prototype._compile = function compileKept(this: Module, content: string, filename: string): unknown {
    if (path.dirname(filename) !== commandDir) return compile.call(this, content, filename);
    const { size, mtimeMs } = statSync(filename);
    // V8 looks at the length of the source only.
    const stamp = `${String(size)}-${String(mtimeMs)}`;
    const name = path.basename(filename);
    const entry = known.get(name);
    const cachedData = entry?.stamp === stamp ? entry.bytes : undefined;
    const script = new Script(Module.wrap(content), { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    compiled.set(name, { stamp, script, isNew: cachedData === undefined || script.cachedDataRejected === true });
    const run: (...values: unknown[]) => unknown = script.runInThisContext();
    return run.call(
      this.exports,
      this.exports,
      (id: string) => this.require(id) as unknown,
      this,
      filename,
      commandDir,
    );
  };

  process.once('exit', () => {
    if (![...compiled.values()].some(({ isNew }) => isNew)) return;
    const entries = new Map(known);
    // After the run: functions that were called are in it too.
    for (const [name, { stamp, script }] of compiled) entries.set(name, { stamp, bytes: script.createCachedData() });
    writeEntries(file, entries);
  });
}

/** The step of Node's loader that everybody hooks who does this; not documented, so it is looked for and not counted on. */
interface Compiling {
  _compile: (this: Module, content: string, filename: string) => unknown;
}

function canCompile(prototype: object): prototype is Compiling {
  return '_compile' in prototype && typeof prototype._compile === 'function';
}

/** A few times what the whole command takes. */
const MAX_BYTES = 32 * 1024 * 1024;

interface Entry {
  readonly stamp: string;
  readonly bytes: Buffer;
}

function readEntries(file: string): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  const read = readPrivateFile(file, { maxBytes: MAX_BYTES });
  if (read.type !== 'read' || read.bytes.length < 4) return entries;
  const { bytes } = read;
  const tableEnd = 4 + bytes.readUInt32LE(0);
  for (const line of bytes.toString('utf8', 4, tableEnd).split('\n')) {
    const [name, stamp, start, end] = line.split('\t');
    if (name !== undefined && stamp !== undefined)
      entries.set(name, { stamp, bytes: bytes.subarray(tableEnd + Number(start), tableEnd + Number(end)) });
  }
  return entries;
}

function writeEntries(file: string, entries: ReadonlyMap<string, Entry>): void {
  let at = 0;
  const lines = [...entries].map(
    ([name, { stamp, bytes }]) => `${name}\t${stamp}\t${String(at)}\t${String((at += bytes.length))}`,
  );
  const table = Buffer.from(lines.join('\n'));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(table.length);
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileAtomically(file, [length, table, ...[...entries.values()].map(({ bytes }) => bytes)]);
  } catch (error) {
    // A cache that cannot be written is no failure.
    if (!isSystemError(error)) throw error;
  }
}
