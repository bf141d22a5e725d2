/** Where a run is recorded: a folder, or memory that the caller copies elsewhere. */
import { fdatasync } from 'node:fs';
import path from 'node:path';

import {
  writeFilesAtomically,
  writeNewFile,
  writePendingFiles,
  type FileContent,
  type PendingFiles,
} from './write-files.ts';
import { AppendFile } from './append-file.ts';
import { keepContent } from './content.ts';
import { EVENTS_FILE, makeRunFolder } from './run-folder.ts';

export interface RecordStorage {
  readonly id: string;
  /** The folder of the record, or where it would be. */
  readonly path: string;
  /** Appends whole lines to the journal. */
  append(lines: string, sync: boolean): void;
  /** Adds a file that no reader opens before a line names it. */
  add(name: string, bytes: Uint8Array, sync: boolean): void;
  /** Adds a file that is named by the hash of its bytes. Returns false if it is there. */
  keep(name: string, bytes: Uint8Array, sync: boolean): boolean;
  /** Replaces files that belong together; calls `syncLines` after they are written and before they are visible. */
  replace(files: readonly NamedText[], options: { readonly sync: boolean; readonly syncLines: () => void }): void;
  /** Writes files that belong together. They are replaced after the journal and they are on disk: after all `descriptors` are synced. */
  prepare(files: readonly NamedText[]): PendingFiles;
  /** Waits until the lines are on disk; with `isWaiting: false` only begins it. */
  syncLines(isWaiting?: boolean): void;
  close(): void;
}

export type NamedText = readonly [name: string, text: string];

/** Creates a run folder that only this user can access. Throws the system's error. */
export function openFolderPlace(directory: string, now: Date): RecordStorage {
  const { id, path: folder } = makeRunFolder(path.resolve(directory), now);
  let opened: AppendFile | undefined;
  // Opened with the first line: an empty journal says that files beside it are missing.
  const events = (): AppendFile => (opened ??= new AppendFile(path.join(folder, EVENTS_FILE)));
  const named = (files: readonly NamedText[]): readonly FileContent[] =>
    files.map(([name, text]) => ({ file: path.join(folder, name), data: Buffer.from(text, 'utf8') }));
  return {
    id,
    path: folder,
    append(lines, sync) {
      events().append(lines);
      if (sync) events().sync();
    },
    add: (name, bytes, sync) => writeNewFile(path.join(folder, name), bytes, { sync }),
    keep: (name, bytes, sync) => keepContent(folder, name, bytes, sync),
    replace: (files, { sync, syncLines }) => writeFilesAtomically(named(files), syncLines, { sync }),
    prepare(files) {
      const pending = writePendingFiles(named(files));
      return { ...pending, descriptors: [events().descriptor, ...pending.descriptors] };
    },
    syncLines: (isWaiting = true) => (isWaiting ? events().sync() : fdatasync(events().descriptor, () => undefined)),
    close: () => opened?.close(),
  };
}
