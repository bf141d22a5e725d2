/** Names of files that come from elsewhere: what can be written on every usual system, and which names are one file on some of them. */
import { hiddenCharacters, printable, quoted } from '../../core/text/text.ts';
import type { LeftOut } from './left-out.ts';
import { ARCHIVE_LIMITS } from '../../core/archive-limits.ts';
import type { ArchiveLimits } from '../../core/archive-limits.ts';
import { packRefusal } from '../problems.ts';
import type { PackProblem, PackRefusal } from '../problems.ts';

/** The longest name that common file systems hold, in bytes. */
const MAX_PART_BYTES = 255;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;
/** A root, a share, a home folder, a drive: all that does not start from where it is put. */
const ABSOLUTE = /^(?:\/|\\\\|~(?:\/|$)|[a-z]:)/i;
/** Names of devices on Windows, whatever follows the first dot; its superscript digits count as digits there. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)/i;
/** What no name on Windows may hold; a colon would name a second stream of a file. */
const NOT_ON_WINDOWS = /[<>:"|?*]/;
/** Windows drops these at the end, so that the name means another file; its windows drop a space at the start too. */
const DROPPED = /^ |[. ]$/;
/** ASCII, as nearly all names are: one way to write each letter. */
const PLAIN = /^[\x20-\x7e]*$/;

type NameLimits = Pick<ArchiveLimits, 'maxDepth' | 'maxNameBytes'>;

/** Why a path is none that every system can hold, from the clearest attack to the merely unusable; nothing where it is one. */
export function portableNameProblem(path: string, limits: NameLimits = ARCHIVE_LIMITS): PackRefusal | undefined {
  const because = (code: PackProblem, what: string): PackRefusal => nameRefusal(code, path, what);
  if (path === '') return packRefusal('archive/name', 'an entry has no name');
  if (CONTROL.test(path) || hiddenCharacters(path) !== undefined)
    return because('archive/name', 'has a character that does not show');
  if (path.includes('..') && path.split(/[\\/]/).includes('..')) return because('archive/traversal', 'has .. in it');
  if (ABSOLUTE.test(path)) return because('archive/absolute', 'does not start from its folder');
  if (path.includes('\\')) return because('archive/backslash', 'has a backslash');
  const parts = path.split('/');
  const { maxDepth, maxNameBytes } = limits;
  if (parts.length - 1 > maxDepth) return because('archive/too-deep', `is more than ${String(maxDepth)} folders deep`);
  if (isLonger(path, maxNameBytes)) return because('archive/name', `has more than ${String(maxNameBytes)} bytes`);
  for (const part of parts) {
    if (part === '' || part === '.') return because('archive/name', 'has an empty part');
    if (isLonger(part, MAX_PART_BYTES))
      return because('archive/name', `has a part of more than ${String(MAX_PART_BYTES)} bytes`);
    if (DEVICE.test(part) || NOT_ON_WINDOWS.test(part) || DROPPED.test(part))
      return because('archive/reserved-name', `cannot exist on Windows: ${quoted(part)}`);
  }
  return undefined;
}

/** A refusal for one name, as it was given; it is the path of the refusal only where every character of it shows. */
export function nameRefusal(code: PackProblem, name: string, what: string): PackRefusal {
  return packRefusal(code, `${quoted(name)} ${what}`, printable(name) === name ? name : undefined);
}

/**
 * Equal for names that some system takes for one file: whatever case, composition or width its letters have, whatever dots and
 * spaces follow. Upper case before lower case: so `ß` and `SS`, which some fold together, are one.
 */
export function collisionKey(path: string): string {
  const folded = PLAIN.test(path)
    ? path.toLowerCase()
    : path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  return folded.replaceAll(/[. ]+(?=\/|$)/g, '');
}

/** A name that can be taken. */
export interface UsableName {
  readonly type: 'usable';
  /** As it is written: composed, so that it is the same wherever it comes from. */
  readonly path: string;
}

/** Judges the names of one tree, one after the other: each by itself, and against those before. Memory grows with the names. */
export interface PathValidator {
  /** Folders above it need no entry of their own. */
  check(path: string, type: 'file' | 'folder'): UsableName | PackRefusal;
  /**
   * For what is not taken along: its own name must be fine. `leftOut` (it, or a folder above it) is written nowhere, so that no other name
   * can be one with it; but nothing is a file and a folder. What lies in it meets nothing.
   */
  checkLeftOut(path: string, leftOut: LeftOut): UsableName | PackRefusal;
}

interface KnownName {
  readonly spelling: string;
  readonly type: 'file' | 'folder';
  /** Has an entry of its own; a folder may also be known by what lies in it. */
  isEntry: boolean;
}

/** Each name of a path, as it is written, is one thing: one spelling, a file or a folder, and one entry. */
export function openPathValidator(limits: NameLimits & Pick<ArchiveLimits, 'maxEntries'>): PathValidator {
  const known = new Map<string, KnownName>();
  /** Spellings of folders that were met: what lies in one need not ask again for those above. */
  const folders = new Set<string>();
  const leftOutTypes = new Map<string, 'file' | 'folder'>();
  /** Entries that are left out: they are read all the same. */
  let unwritten = 0;
  const inConflict = (spelling: string): PackRefusal =>
    nameRefusal('archive/conflict', spelling, 'is a file and a folder');
  const meet = (spelling: string, type: 'file' | 'folder', isEntry: boolean): PackRefusal | undefined => {
    const key = collisionKey(spelling);
    const before = known.get(key);
    if ((leftOutTypes.get(spelling) ?? type) !== type) return inConflict(spelling);
    if (before === undefined) {
      // Folders that no entry names count too: they are made all the same.
      if (known.size + unwritten >= limits.maxEntries) return tooManyNames(limits);
      known.set(key, { spelling, type, isEntry });
      if (type === 'folder') folders.add(spelling);
      return undefined;
    }
    if (before.spelling !== spelling)
      return nameRefusal('archive/collision', spelling, `is on some systems the same as ${quoted(before.spelling)}`);
    if (before.type !== type) return inConflict(spelling);
    if (isEntry && before.isEntry) return nameRefusal('archive/duplicate', spelling, 'is there twice');
    before.isEntry ||= isEntry;
    return undefined;
  };
  const meetLeftOut = ({ path, type }: LeftOut): PackRefusal | undefined => {
    const taken = known.get(collisionKey(path));
    const before = taken?.spelling === path ? taken.type : leftOutTypes.get(path);
    leftOutTypes.set(path, type);
    return (before ?? type) === type ? undefined : inConflict(path);
  };
  const meetAbove = (path: string): PackRefusal | undefined =>
    newFoldersOf(path, folders).reduce<PackRefusal | undefined>(
      (found, folder) => found ?? meet(folder, 'folder', false),
      undefined,
    );
  const usable = (path: string): UsableName => ({ type: 'usable', path: path.normalize('NFC') });
  return {
    check: (path, type) =>
      portableNameProblem(path, limits) ?? meetAbove(path) ?? meet(path, type, true) ?? usable(path),
    checkLeftOut(path, leftOut) {
      const problem = portableNameProblem(path, limits) ?? meetAbove(leftOut.path) ?? meetLeftOut(leftOut);
      unwritten += 1;
      if (problem === undefined && known.size + unwritten > limits.maxEntries) return tooManyNames(limits);
      return problem ?? usable(path);
    },
  };
}

export function tooManyNames({ maxEntries }: Pick<ArchiveLimits, 'maxEntries'>): PackRefusal {
  return packRefusal('archive/too-many', `there are more than ${String(maxEntries)} files and folders`);
}

/** The folders that a path lies in and that are not known, from the top. */
function newFoldersOf(path: string, known: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end);
    if (known.has(folder)) break;
    found.push(folder);
  }
  return found.reverse();
}

/** In bytes; no character has more than three for each of its units. */
function isLonger(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}
