/** Reads the folder of a skill for the scan: decodes text and classifies binary files. Does not follow links. */
import { isUtf8 } from 'node:buffer';

import { packRefusal, type PackProblem, type PackRefusal, type TreeRefusal } from '../problems.ts';
import { applyScanPolicy, type PolicyResult, type ScanFile } from '#scan';
import type { PackSettings } from '../pack-settings.ts';
import { findTreeRefusal, walkOpened, type TreeEntry } from '#platform';
import type { OfType } from '#core';

/** Bytes per text file. */
const MAX_TEXT = 2 * 1024 * 1024;
/** Bytes of all text files together; bounds the memory and the time of a scan. */
const MAX_TEXTS = 16 * 1024 * 1024;
/** Bytes that determine the kind of a file. */
const HEAD = 4_096;

export interface ScanFilesOptions {
  readonly limits?: NonNullable<Parameters<typeof walkOpened>[1]>['limits'];
  readonly signal?: AbortSignal;
}

/** Returns all files of a folder, sorted by path. Refuses a tree that cannot be read completely, because a partial scan proves nothing. */
export function readScanFiles(
  folder: string,
  { limits, signal }: ScanFilesOptions = {},
): readonly ScanFile[] | PackRefusal {
  try {
    const files: ScanFile[] = [];
    let room = MAX_TEXTS;
    for (const entry of walkOpened(folder, { limits })) {
      signal?.throwIfAborted();
      if (entry.type !== 'file') continue;
      const file = readScanFile(entry, Math.min(MAX_TEXT, room));
      room = Math.max(0, room - file.text.length);
      files.push(file);
    }
    return files;
  } catch (error) {
    const refusal = findTreeRefusal(error);
    if (refusal === undefined) throw error;
    return packRefusal(toPackProblem(refusal.problem), refusal.message, refusal.path);
  }
}

function toPackProblem(problem: TreeRefusal['problem']): PackProblem {
  if (problem === 'changed') return 'source/changed';
  if (problem === 'gone') return 'source/missing';
  if (problem === 'too-many') return 'archive/too-many';
  if (problem === 'too-large') return 'archive/too-large';
  if (problem === 'too-deep') return 'archive/too-deep';
  return 'source/failed';
}

function readScanFile(entry: OfType<TreeEntry, 'file'>, room: number): ScanFile {
  const { path, stats } = entry;
  const isExecutable = (stats.mode & 0o111) !== 0;
  const bytes = readStart(entry, room);
  const file = toScanFile(path, bytes, isExecutable);
  return file.binary === undefined && bytes.length < stats.size ? { ...file, isCut: true } : file;
}

export function toScanFile(path: string, bytes: Buffer, isExecutable: boolean): ScanFile {
  const binary = binaryKind(path, bytes);
  return binary === undefined ? { path, text: decode(bytes), isExecutable } : { path, text: '', binary, isExecutable };
}

/** Reads at most `room` bytes, but always enough to determine the kind of the file. */
function readStart(entry: OfType<TreeEntry, 'file'>, room: number): Buffer {
  const kept: Buffer[] = [];
  let left = Math.max(room, HEAD);
  entry.read((piece) => {
    const part = Buffer.from(piece.subarray(0, left));
    left -= part.length;
    if (part.length > 0) kept.push(part);
  });
  return Buffer.concat(kept);
}

/** Decodes invalid UTF-8 as Latin-1: most patterns are ASCII, so a wrong letter hides nothing from them. */
function decode(bytes: Buffer): string {
  const encoding = detectUtf16(bytes);
  if (encoding !== undefined) return new TextDecoder(encoding).decode(bytes);
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
}

function detectUtf16(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

/** How files start, in Latin-1. */
const ARCHIVE_STARTS = [
  'PK\x03\x04',
  'PK\x05\x06',
  'Rar!\x1a\x07',
  '7z\xbc\xaf\x27\x1c',
  '\x1f\x8b',
  'BZh',
  '\xfd7zXZ\0',
  '\x28\xb5\x2f\xfd',
  'MSCF',
  '!<arch>\n',
  'xar!',
];
const PROGRAM_STARTS = [
  '\x7fELF',
  '\xfe\xed\xfa\xce',
  '\xfe\xed\xfa\xcf',
  '\xce\xfa\xed\xfe',
  '\xcf\xfa\xed\xfe',
  '\xca\xfe\xba\xbe',
  '\0asm',
  'dex\n',
  'BC\xc0\xde',
];
const TAR_MARK = { at: 257, text: 'ustar' };

/** Office documents are zip archives, but not a way to hide files. */
const DOCUMENT_NAME = /\.(?:docx|xlsx|pptx|dotx|xltx|potx|odt|ods|odp|epub|vsdx)$/i;
const PROGRAM_NAME =
  /\.(?:pyc|pyo|pyd|so|dylib|dll|exe|com|scr|msi|class|jar|war|wasm|node|o|a|deb|rpm|dmg|pkg|apk|ipa|app)$/i;

function binaryKind(path: string, bytes: Buffer): ScanFile['binary'] {
  const head = bytes.toString('latin1', 0, HEAD);
  const startsWith = (starts: readonly string[]): boolean => starts.some((start) => head.startsWith(start));
  const isArchive = startsWith(ARCHIVE_STARTS) || head.startsWith(TAR_MARK.text, TAR_MARK.at);
  const kind = isArchive ? 'archive' : startsWith(PROGRAM_STARTS) ? 'program' : undefined;
  if (isArchive && DOCUMENT_NAME.test(path)) return 'other';
  const isText = kind === undefined && !head.includes('\0');
  if (PROGRAM_NAME.test(path) && !isText) return 'program';
  // Windows programs start with `MZ`, as some texts do.
  if (head.startsWith('MZ') && head.includes('\0')) return 'program';
  if (kind !== undefined) return kind;
  return isText || detectUtf16(bytes) !== undefined ? undefined : 'other';
}

/** A skill at one digest, as `install.scan_allow` names it. */
export interface ReviewedSkill {
  readonly name: string;
  readonly digest: string;
  /** Rules that were accepted when exactly these files were installed. */
  readonly accepted?: readonly string[];
}

/** The options that accept what stops the install of one skill. */
export function acceptOptions(stops: PolicyResult['stops']): string {
  return [...new Set(stops.map(({ rule }) => `--accept ${rule}`))].join(' ');
}

/** Applies the scan policy. What the user accepted for these files stops nothing. */
export function judgeFindings(
  findings: PolicyResult['stops'],
  { name, digest, accepted = [] }: ReviewedSkill,
  { scanPolicy, scanAllow, accepts = [] }: Pick<PackSettings, 'scanPolicy' | 'scanAllow' | 'accepts'>,
): PolicyResult {
  const isAllowed = Object.hasOwn(scanAllow, name) && scanAllow[name] === digest;
  return applyScanPolicy(
    findings,
    scanPolicy,
    (rule) => isAllowed || accepts.includes(rule) || accepted.includes(rule),
  );
}
