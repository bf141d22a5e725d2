/** The files of judged skills once more, to be written: in the order of a pack, and only as they were judged. */
import type { LockedFile } from '../lock/lock.ts';
import type { ManifestSkill } from './manifest.ts';
import { PackRefused, packRefusal } from '../problems.ts';
import { toRelativePath } from '../../core/path.ts';
import { quoted } from '../../core/text/text.ts';
import { openConfined } from '../../platform/fs/confined-directory.ts';
import type { ConfinedDirectory } from '../../platform/fs/confined-directory.ts';
import { openSha256 } from '../../platform/hash.ts';
import { pause } from '../../platform/fs/tree-digest.ts';

export interface JudgedSkill {
  readonly dir: string;
  readonly manifest: ManifestSkill;
  /** Names on the disk, by path, where they are others. */
  readonly spellings: ReadonlyMap<string, string>;
}

export interface PackedFile {
  /** In the pack. */
  readonly name: string;
  readonly isExecutable: boolean;
  readonly bytes: Uint8Array;
}

/** Files between two pauses. */
const SLICE = 16;

/** Sorted by the bytes of their names. Throws `PackRefused` where a file is not what it was. */
export async function* packedFiles(
  skills: readonly JudgedSkill[],
  signal: AbortSignal | undefined,
): AsyncGenerator<PackedFile> {
  const folders = new Map<string, ConfinedDirectory>();
  const hash = openSha256();
  try {
    for (const { dir, manifest } of skills) folders.set(manifest.name, openFolder(dir));
    for (const [count, { skill, at, file, key }] of inOrder(skills).entries()) {
      if (count % SLICE === 0) await pause(signal);
      const bytes = readFile(folders.get(skill), at, file);
      if (hash(bytes) !== file.sha256) throw changed(at);
      yield { name: key.toString('utf8'), isExecutable: file.executable === true, bytes };
    }
  } finally {
    for (const folder of folders.values()) folder.close();
  }
}

interface Ordered {
  readonly skill: string;
  /** On the disk. */
  readonly at: string;
  readonly file: LockedFile;
  /** Its name in the pack. */
  readonly key: Buffer;
}

function inOrder(skills: readonly JudgedSkill[]): readonly Ordered[] {
  return skills
    .flatMap(({ manifest: { name, files }, spellings }) =>
      Object.entries(files).map(([path, file]) => ({
        skill: name,
        at: spellings.get(path) ?? path,
        file,
        key: Buffer.from(`${name}/${path}`, 'utf8'),
      })),
    )
    .sort((a, b) => Buffer.compare(a.key, b.key));
}

function openFolder(dir: string): ConfinedDirectory {
  const opened = openConfined(dir);
  if (opened.type === 'failed')
    throw new PackRefused(packRefusal('source/changed', `${quoted(dir, 200)} is not there any more`, dir));
  return opened.directory;
}

function readFile(folder: ConfinedDirectory | undefined, at: string, { bytes, executable }: LockedFile): Buffer {
  const path = toRelativePath(at);
  if (path.type === 'refused') throw new PackRefused(packRefusal('archive/name', path.failure.message, at));
  const read = folder?.read(path.path, { maxBytes: bytes, allowHardLinks: true, followLinks: false });
  if (read?.type !== 'read' || read.isExecutable !== (executable === true)) throw changed(at);
  return read.bytes;
}

function changed(at: string): PackRefused {
  return new PackRefused(packRefusal('source/changed', `${quoted(at, 120)} changed while it was packed`, at));
}
