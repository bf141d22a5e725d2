import { listParentFolders, problemError, quoted, type SkillError } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import {
  leftOutLine,
  findOmission,
  findSkillFolders,
  insideSkill,
  findSkillFolder,
  type LeftOut,
} from '../sources/skill-folders.ts';
import type { EntryProblem } from '../sources/source.ts';
import { entryRefused, openPathValidator } from '../sources/portable-name.ts';
import { asRefusal, refused, type PackProblem } from '../problems.ts';

export interface ArchiveEntry {
  /** Relative to the archive: `/` as separator, NFC, visible characters, portable. */
  readonly path: string;
  readonly type: 'file' | 'folder';
  /** Uncompressed size; 0 for folders. */
  readonly bytes: number;
  readonly isExecutable: boolean;
}

/** An entry as the archive describes it. Untrusted. */
export interface RawEntry {
  /** Ends with a slash if it is a folder. */
  readonly name: string;
  /** From the type field; `unsaid` if only the name tells. */
  readonly kind: 'file' | 'folder' | 'link' | 'special' | 'unsaid';
  /** Permission bits including setuid, setgid and sticky; absent if the archive has none. */
  readonly mode?: number;
  readonly bytes: number;
  /** Compressed size, if each entry is compressed separately. */
  readonly packed?: number;
}

/** What a format does: it reads the same entries again as often as it is asked to. */
export interface ArchiveReader {
  readonly format: 'zip' | 'tar.gz';
  /** In file order. The content must be read before the next entry is requested, or not at all. Throws a refusal. */
  entries(signal: AbortSignal | undefined): AsyncIterable<ReadEntry>;
}

export interface ReadEntry {
  readonly raw: RawEntry;
  readonly content: () => AsyncIterable<Buffer>;
}

/** Validates entries one after another, each alone and against the earlier ones. Throws a refusal. */
export interface EntryValidator {
  /** Returns undefined for a problem that concerns a single skill. */
  check(raw: RawEntry): ArchiveEntry | undefined;
  /** Call it after the last entry: which entries to extract depends on the skills that the archive contains. */
  finish(): {
    readonly extracted: ReadonlySet<ArchiveEntry>;
    readonly leftOut: readonly string[];
    readonly problems: readonly EntryProblem[];
  };
}

/**
 * Problems of one entry that say nothing about the rest of the archive: the entry is not extracted, so that only its skill is lost. All
 * other problems, such as paths that lead out of the archive and contradicting headers, refuse the archive.
 */
const LOCAL_PROBLEMS: ReadonlySet<PackProblem> = new Set([
  'archive/link',
  'archive/special-file',
  'archive/mode',
  'archive/name',
  'archive/reserved-name',
  'archive/duplicate',
  'archive/collision',
  'archive/too-large',
  'archive/too-deep',
]);

/** Up to this size, a high compression ratio is not suspicious. */
export const ALWAYS_ALLOWED_BYTES = 1024 * 1024;

export interface ValidatorOptions {
  readonly archiveBytes: number;
  readonly limits: ArchiveLimits;
  /** Collects problems that concern a single skill instead of refusing the archive. */
  readonly perSkill?: boolean;
}

export function openEntryValidator({ archiveBytes, limits, perSkill = false }: ValidatorOptions): EntryValidator {
  const names = openPathValidator(limits);
  const seen: SeenEntry[] = [];
  const problems: EntryProblem[] = [];
  let bytes = 0;
  const validate = (raw: RawEntry): ArchiveEntry => {
    const isFolder = raw.name.endsWith('/');
    const type = isFolder ? 'folder' : 'file';
    const name = isFolder ? raw.name.slice(0, -1) : raw.name;
    const omission = findOmission(name, type);
    const path = omission === undefined ? names.check(name, type) : names.checkLeftOut(name, omission);
    validateType(raw, type, path);
    validateSize(raw.bytes, raw.packed ?? archiveBytes, path, limits);
    const isExecutable = type === 'file' && ((raw.mode ?? 0) & 0o111) !== 0;
    const entry = { path, type, bytes: raw.bytes, isExecutable } as const;
    seen.push({ entry, name, omission });
    return entry;
  };
  const collect = <T>(name: string, act: () => T): T | undefined => {
    if (!perSkill) return act();
    try {
      return act();
    } catch (error) {
      const refusal = asRefusal(error);
      // The first problem explains the most: a file below a link conflicts with the link.
      if (!LOCAL_PROBLEMS.has(refusal.code)) throw problemError(problems[0]?.refusal ?? refusal);
      problems.push({ path: name.replace(/\/$/, ''), refusal });
      return undefined;
    }
  };
  return {
    check(raw) {
      const entry = collect(raw.name, () => validate(raw));
      bytes += raw.bytes;
      validateTotal(bytes, archiveBytes, limits);
      return entry;
    },
    finish() {
      const isFound = skillLocator(seen);
      const extracted = new Set<ArchiveEntry>();
      const leftOut = new Map<string, string>();
      for (const { entry, name, omission } of seen) {
        const inSkill = omission === undefined ? undefined : isFound(entry, omission);
        if (omission === undefined) extracted.add(entry);
        // The file of a skill in a hidden folder: its name was not compared with the others yet.
        else if (inSkill === 'extracted') {
          const path = collect(name, () => names.check(name, entry.type));
          if (path !== undefined) extracted.add(entry);
        } else if (inSkill !== undefined) leftOut.set(inSkill.path, leftOutLine(inSkill));
      }
      return { extracted, leftOut: [...leftOut.values()], problems };
    },
  };
}

interface SeenEntry {
  readonly entry: ArchiveEntry;
  /** As in the archive. */
  readonly name: string;
  /** Why it is not extracted unless it belongs to a skill in a hidden folder. */
  readonly omission: LeftOut | undefined;
}

/**
 * Returns a function for entries with a hidden part in their path: `extracted` if the hidden folder is above a skill, otherwise what is left
 * out. Undefined for the other files of a hidden folder that contains skills.
 */
function skillLocator(
  seen: readonly SeenEntry[],
): (entry: ArchiveEntry, omission: LeftOut) => 'extracted' | LeftOut | undefined {
  const { folders: found } = findSkillFolders(
    seen.filter(({ entry }) => entry.type === 'file').map(({ entry }) => entry.path),
  );
  const folders = new Set(found);
  const above = new Set(found.flatMap((folder) => listParentFolders(folder)));
  return ({ path, type }, omission) => {
    const folder = findSkillFolder(path, folders) ?? '';
    if (folder === '') return above.has(omission.path) ? undefined : omission;
    const inside = findOmission(insideSkill(path, folder), type);
    return inside === undefined ? 'extracted' : { ...inside, path: `${folder}/${inside.path}` };
  };
}

/** `type` follows from the name. */
function validateType({ kind, mode = 0, bytes }: RawEntry, type: 'file' | 'folder', path: string): void {
  if (kind === 'link') throw entryRefused('archive/link', path, 'is a link');
  if (kind === 'special') throw entryRefused('archive/special-file', path, 'is neither a file nor a folder');
  if ((mode & 0o7000) !== 0) throw entryRefused('archive/mode', path, 'has a setuid, setgid or sticky bit');
  if (kind !== 'unsaid' && kind !== type)
    throw entryRefused('archive/conflict', path, `is a ${type} by its name and a ${kind} by its type`);
  if (type === 'folder' && bytes !== 0) throw entryRefused('archive/conflict', path, 'is a folder with content');
}

function validateSize(bytes: number, packed: number, path: string, limits: ArchiveLimits): void {
  if (bytes > ALWAYS_ALLOWED_BYTES && bytes > packed * limits.maxRatio)
    throw entryRefused('archive/bomb', path, `unpacks from ${String(packed)} to ${String(bytes)} bytes`);
  if (bytes > limits.maxFileBytes)
    throw entryRefused('archive/too-large', path, `has more than ${String(limits.maxFileBytes)} bytes`);
}

function validateTotal(bytes: number, archiveBytes: number, limits: ArchiveLimits): void {
  if (bytes > ALWAYS_ALLOWED_BYTES && bytes > archiveBytes * limits.maxRatio)
    throw refused(
      'archive/bomb',
      `the archive unpacks from ${String(archiveBytes)} to more than ${String(bytes)} bytes`,
    );
  if (bytes > limits.maxBytes)
    throw refused('archive/too-large', `the archive unpacks to more than ${String(limits.maxBytes)} bytes`);
}

/** Another process wrote to the open file. */
export function archiveChanged(): SkillError {
  return refused('source/changed', 'the archive changed while it was unpacked');
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a name as UTF-8. Zip entries without the UTF-8 flag should use an old code page, but contain UTF-8 in practice; anything else is
 * refused.
 */
export function decodeName(raw: Uint8Array): string {
  try {
    return UTF8.decode(raw);
  } catch {
    throw refused('archive/name', `the name ${quoted(Buffer.from(raw).toString('latin1'))} is not UTF-8`);
  }
}
