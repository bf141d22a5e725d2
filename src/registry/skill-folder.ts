import { diagnose } from '../core/diagnostic.ts';
import type { Mode } from '../core/diagnostic.ts';
import type { DiagnosticCode } from '../core/diagnostic-codes.ts';
import { readPlainHead } from '../core/skill-head.ts';
import type { HeadOptions, HeadReading, HeadSource } from '../core/skill-head.ts';
import { isSettled, statFile } from '../platform/file-stamp.ts';
import type { FileStamp } from '../platform/file-stamp.ts';
import { spellingOf } from '../platform/list-directory.ts';
import { HeadReader } from '../platform/read-head.ts';
import { isUnchanged } from './head-record.ts';
import type { HeadRecord, Memory } from './head-record.ts';

/** What a folder turned out to be. */
export type FolderReading =
  | { readonly type: 'skill'; readonly record: HeadRecord; readonly settled: boolean }
  /** As remembered, under this number. */
  | { readonly type: 'unchanged'; readonly number: number }
  /** Its frontmatter needs the whole parser, which is loaded once for all such files. */
  | { readonly type: 'pending'; readonly pending: PendingHead }
  | { readonly type: 'failed'; readonly path: string; readonly code: DiagnosticCode; readonly message: string }
  | { readonly type: 'none' };

export interface PendingHead {
  readonly source: HeadSource;
  readonly stamp: FileStamp;
  readonly digest: string;
  readonly settled: boolean;
}

export interface FolderReaderOptions {
  readonly mode: Mode;
  readonly blockAngleBrackets: boolean;
  readonly now: () => number;
  readonly memory: Memory;
  /** The file system finds `skill.md` when asked for `SKILL.md`, so that the real spelling has to be looked up. */
  readonly ignoresCase?: boolean;
}

/** Reads the frontmatter of skill folders for one scan. */
export class FolderReader {
  readonly #reader = new HeadReader();
  readonly #head: HeadOptions;
  readonly #now: () => number;
  readonly #ignoresCase: boolean;

  readonly #memory: Memory;

  constructor({
    mode,
    memory,
    blockAngleBrackets,
    now,
    ignoresCase = process.platform === 'darwin' || process.platform === 'win32',
  }: FolderReaderOptions) {
    this.#head = { mode, blockAngleBrackets };
    this.#now = now;
    this.#memory = memory;
    this.#ignoresCase = ignoresCase;
  }

  get bytesRead(): number {
    return this.#reader.bytesRead;
  }

  /** The record `known` is believed where its stamp is that of the file now. `directory` is the folder's path, `name` its own name. */
  read(
    directory: string,
    { name, file, known }: { readonly name: string; readonly file: string; readonly known: number | undefined },
  ): FolderReading {
    const path = `${directory}/${file}`;
    if (known !== undefined && this.#memory.file(known) === file && this.#isAsRemembered(path, known)) {
      return { type: 'unchanged', number: known };
    }
    if (this.#ignoresCase && file === 'SKILL.md') {
      const spelling = spellingOf(directory, file);
      if (spelling !== undefined && spelling !== file) return this.read(directory, { name, file: spelling, known });
    }
    const readAt = this.#now();
    const reading = this.#reader.read(path, directory);
    switch (reading.type) {
      case 'absent': {
        return { type: 'none' };
      }
      case 'failed': {
        return { type: 'failed', path, code: reading.code, message: reading.message };
      }
      case 'unusable': {
        const { code, message, stamp } = reading;
        const diagnostics = [diagnose({ code, path, message }, this.#head.mode)];
        const record = { ...stamp, file, digest: '', head: undefined, diagnostics };
        return { type: 'skill', record, settled: isSettled(stamp, readAt) };
      }
      default: {
        const { stamp, text, validUtf8, digest } = reading;
        const source: HeadSource = { path, directory: name, fileName: file, text, validUtf8 };
        const settled = isSettled(stamp, readAt);
        const plain = readPlainHead(source, this.#head);
        if (plain === undefined) return { type: 'pending', pending: { source, stamp, digest, settled } };
        return { type: 'skill', record: toRecord({ source, stamp, digest, settled }, plain), settled };
      }
    }
  }

  /** The record of that number is of this SKILL.md, and the file has not changed since. */
  isUnchanged(path: string, number: number): boolean {
    return this.#memory.file(number) === 'SKILL.md' && this.#isAsRemembered(path, number);
  }

  #isAsRemembered(path: string, number: number): boolean {
    const stamp = statFile(path);
    return stamp !== undefined && isUnchanged(this.#memory, number, stamp);
  }

  /** Loads the whole parser and reads with it. */
  async loadParser(): Promise<(pending: PendingHead) => HeadRecord> {
    const { readHead } = await import('../core/read-head.ts');
    return (pending) => toRecord(pending, readHead(pending.source, this.#head));
  }
}

function toRecord({ source, stamp, digest }: PendingHead, { head, diagnostics }: HeadReading): HeadRecord {
  const { size, mtimeMs, ctimeMs, ino, dev } = stamp;
  return { size, mtimeMs, ctimeMs, ino, dev, file: source.fileName, digest, head, diagnostics };
}
