import type { ArchiveLimits } from '../../core/archive-limits.ts';
import { quoted } from '../../core/text/text.ts';
import type { FileWriter } from '../../platform/fs/atomic-replace.ts';
import { pause } from '../../platform/fs/tree-digest.ts';
import { extractTree } from './extract-tree.ts';
import type { HeldFile } from './held-file.ts';
import { openJudge } from './judge-entries.ts';
import type { ArchiveEntry, ExtractOptions, Extracted, OpenedArchive } from './opened-archive.ts';
import { refused } from './refused.ts';
import type { TreeWriter } from './tree-writer.ts';
import { unpackEntry } from './zip-content.ts';
import { readZipDirectory } from './zip-directory.ts';
import type { ZipEntry } from './zip-directory.ts';
import { findZipEnd } from './zip-end.ts';
import { inFileOrder, readLocalHeaders } from './zip-local.ts';

export interface OpenOptions {
  readonly limits: ArchiveLimits;
  readonly signal?: AbortSignal;
}

interface Judged {
  readonly told: ZipEntry;
  /** Nothing where it is left out. */
  readonly entry: ArchiveEntry | undefined;
  /** Where its bytes start. */
  readonly start: number;
}

/** Some packers write an empty folder as two deflated bytes. */
const EMPTY_DEFLATED_BYTES = 2;
const NOWHERE: FileWriter = { write: () => undefined, close: () => undefined };
/** Files between two pauses. */
const SLICE = 64;

/** Nothing where the file is no zip. Throws `PackRefused`. */
export async function openZip(file: HeldFile, { limits, signal }: OpenOptions): Promise<OpenedArchive | undefined> {
  const end = findZipEnd(file, limits);
  if (end === undefined) return undefined;
  const sorted = inFileOrder(await readZipDirectory(file, end, signal));
  const judge = openJudge(file.size, limits);
  const entries = sorted.map((told) => {
    const { entry } = judge.judge(told);
    refuseFolderContent(told);
    return entry;
  });
  const starts = await readLocalHeaders(file, sorted, end.start, signal);
  const judged = sorted.map((told, place): Judged => ({ told, entry: entries[place], start: starts[place] ?? 0 }));
  return {
    type: 'archive',
    format: 'zip',
    entries: entries.filter((entry) => entry !== undefined),
    leftOut: judge.leftOut(),
    extract: (to, options = {}) => extractTree(to, (tree) => writeAll(file, judged, tree, options)),
    close: () => file.close(),
  };
}

function refuseFolderContent({ name, packed }: ZipEntry): void {
  if (name.endsWith('/') && packed > EMPTY_DEFLATED_BYTES)
    throw refused('archive/extra-data', `the folder ${quoted(name)} has bytes of its own`);
}

async function writeAll(
  file: HeldFile,
  judged: readonly Judged[],
  tree: TreeWriter,
  { signal, onFile }: ExtractOptions,
): Promise<Omit<Extracted, 'type'>> {
  let files = 0;
  let bytes = 0;
  signal?.throwIfAborted();
  for (const { told, entry, start } of judged) {
    if (entry?.type === 'folder') tree.folder(entry.path);
    if (told.name.endsWith('/')) continue;
    // What is left out must be sound too: an archive is accepted as a whole.
    const writer = entry === undefined ? NOWHERE : tree.file(entry.path, entry.isExecutable);
    try {
      await unpackEntry(file, told, start, writer, signal);
    } finally {
      writer.close();
    }
    if (entry === undefined) continue;
    files += 1;
    bytes += entry.bytes;
    onFile?.(entry.path);
    if (files % SLICE === 0) await pause(signal);
  }
  return { files, bytes };
}
