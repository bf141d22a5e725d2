import type { SkillError } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import { refused } from '../problems.ts';
import {
  extractTree,
  type ArchiveEntry,
  type ExtractOptions,
  type Extracted,
  type OpenedArchive,
  type TreeWriter,
} from './extract-tree.ts';
import { openGunzip, readTar, type ByteSource, type TarEntry } from './read-tar.ts';
import type { ArchiveFile } from './archive-file.ts';
import { openEntryValidator, type EntryValidator } from './validate-entries.ts';
import type { OpenOptions } from './open-zip.ts';

/** Reads the archive twice: once to validate, once to extract. Throws a refusal. */
export async function openTar(
  file: ArchiveFile,
  { limits, signal, perSkill = false }: OpenOptions,
): Promise<OpenedArchive> {
  const all: ArchiveEntry[] = [];
  const openValidator = (): EntryValidator => openEntryValidator({ archiveBytes: file.size, limits, perSkill });
  const validator = openValidator();
  const source = openGunzip(file, limits, signal);
  for await (const { entry } of validatedEntries(source, limits, validator)) if (entry !== undefined) all.push(entry);
  const { isExtracted, leftOut, problems } = validator.finish();
  const entries = all.filter(isExtracted);
  const extracted = new Set(entries.map((entry) => entry.path));
  const expected: Expected = { entries, extracted, digest: source.digest(), openValidator };
  return {
    type: 'archive',
    format: 'tar.gz',
    entries,
    leftOut,
    problems,
    extract: (to, options = {}) => extractTree(to, (tree) => writeAll(file, expected, tree, { limits, ...options })),
    close: () => file.close(),
  };
}

interface ValidatedTarEntry extends Pick<TarEntry, 'content'> {
  /** Absent if the entry is not extracted. */
  readonly entry?: ArchiveEntry;
}

async function* validatedEntries(
  source: ByteSource,
  limits: ArchiveLimits,
  validator: EntryValidator,
): AsyncGenerator<ValidatedTarEntry, void, undefined> {
  try {
    for await (const { raw, content } of readTar(source, limits)) yield { ...validator.check(raw), content };
  } finally {
    source.close();
  }
}

interface Expected {
  readonly entries: readonly ArchiveEntry[];
  /** Paths of `entries`. */
  readonly extracted: ReadonlySet<string>;
  readonly openValidator: () => EntryValidator;
  /** SHA-256 of the compressed file. */
  readonly digest: string;
}

async function writeAll(
  file: ArchiveFile,
  expected: Expected,
  tree: TreeWriter,
  { limits, signal, onFile }: ExtractOptions & { readonly limits: ArchiveLimits },
): Promise<Omit<Extracted, 'type'>> {
  const source = openGunzip(file, limits, signal);
  let place = 0;
  let files = 0;
  let bytes = 0;
  for await (const { entry, content } of validatedEntries(source, limits, expected.openValidator())) {
    signal?.throwIfAborted();
    if (entry === undefined || !expected.extracted.has(entry.path)) continue;
    // Compares early, so that nothing is written for a changed entry. The digest at the end would detect it as well.
    if (!isSame(entry, expected.entries[place])) throw changed();
    place += 1;
    if (entry.type === 'folder') {
      tree.folder(entry.path);
      continue;
    }
    const writer = tree.file(entry.path, entry.isExecutable);
    try {
      for await (const piece of content()) writer.write(piece);
    } finally {
      writer.close();
    }
    files += 1;
    bytes += entry.bytes;
    onFile?.(entry.path);
  }
  if (source.digest() !== expected.digest) throw changed();
  return { files, bytes };
}

function isSame(one: ArchiveEntry, other: ArchiveEntry | undefined): boolean {
  return (
    one.path === other?.path &&
    one.type === other.type &&
    one.bytes === other.bytes &&
    one.isExecutable === other.isExecutable
  );
}

/** Another process wrote to the open file. */
function changed(): SkillError {
  return refused('source/changed', 'the archive changed while it was unpacked');
}
