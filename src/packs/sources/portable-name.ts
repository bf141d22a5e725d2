/** Validates untrusted file names: portable to all common systems, and unique on case-insensitive ones. */
import { ARCHIVE_LIMITS, collisionKey, findHidden, printable, problemError, quoted, type SkillError } from '#core';
import type { LeftOut } from './skill-folders.ts';
import { packRefusal, refused, type PackProblem, type PackRefusal } from '../problems.ts';
import type { ArchiveLimits } from '../archive-limits.ts';

/** Limit of common file systems, in bytes. */
const MAX_PART_BYTES = 255;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;
/** Absolute paths, shares, home folders and drives. */
const ABSOLUTE = /^(?:\/|\\\\|~(?:\/|$)|[a-z]:)/i;
/** Device names on Windows, with any extension. Windows treats superscript digits as digits. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)/i;
/** Characters that Windows does not allow; a colon would address an alternate data stream. */
const NOT_ON_WINDOWS = /[<>:"|?*]/;
/** Windows drops these at the end, so the name would refer to another file. Its file dialogs also drop a leading space. */
const DROPPED = /^ |[. ]$/;

type NameLimits = Pick<ArchiveLimits, 'maxDepth' | 'maxNameBytes'>;

/** Why a path is not portable, the most dangerous reason first; undefined if it is portable. */
export function portableNameProblem(path: string, limits: NameLimits = ARCHIVE_LIMITS): PackRefusal | undefined {
  const because = (code: PackProblem, what: string): PackRefusal => nameRefusal(code, path, what);
  if (path === '') return packRefusal('archive/name', 'an entry has no name');
  if (CONTROL.test(path) || findHidden(path) !== undefined)
    return because('archive/name', 'has an invisible character');
  if (path.includes('..') && path.split(/[\\/]/).includes('..')) return because('archive/traversal', 'contains ..');
  if (ABSOLUTE.test(path)) return because('archive/absolute', 'is not a relative path');
  if (path.includes('\\')) return because('archive/backslash', 'has a backslash');
  const parts = path.split('/');
  const { maxDepth, maxNameBytes } = limits;
  if (parts.length - 1 > maxDepth) return because('archive/too-deep', `is more than ${String(maxDepth)} folders deep`);
  if (isLonger(path, maxNameBytes)) return because('archive/name', `has more than ${String(maxNameBytes)} bytes`);
  for (const part of parts) {
    if (part === '' || part === '.') return because('archive/name', 'has an empty segment');
    if (isLonger(part, MAX_PART_BYTES))
      return because('archive/name', `has a segment of more than ${String(MAX_PART_BYTES)} bytes`);
    if (DEVICE.test(part) || NOT_ON_WINDOWS.test(part) || DROPPED.test(part))
      return because('archive/reserved-name', `cannot exist on Windows: ${quoted(part)}`);
  }
  return undefined;
}

/** A refusal for one name. It becomes the path of the refusal only if all its characters are visible. */
function nameRefusal(code: PackProblem, name: string, what: string): PackRefusal {
  return packRefusal(code, `${quoted(name)} ${what}`, printable(name) === name ? name : undefined);
}

/** The error for one name. */
export function entryRefused(code: PackProblem, name: string, what: string): SkillError {
  return problemError(nameRefusal(code, name, what));
}

/** Validates the names of one tree, each alone and against the earlier ones. Returns them in NFC, as in every source. Throws a refusal. */
export interface PathValidator {
  /** Parent folders need no entry of their own. */
  check(path: string, type: 'file' | 'folder'): string;
  /**
   * For entries that are not extracted. `leftOut` is the entry or an excluded parent: it cannot collide with other names, but it must not
   * be both a file and a folder.
   */
  checkLeftOut(path: string, leftOut: LeftOut): string;
}

interface KnownName {
  readonly spelling: string;
  readonly type: 'file' | 'folder';
  /** Has its own entry; a folder may also be known only from its contents. */
  isEntry: boolean;
}

/** Each name has one spelling, one type and at most one entry. */
export function openPathValidator(limits: NameLimits & Pick<ArchiveLimits, 'maxEntries'>): PathValidator {
  const known = new Map<string, KnownName>();
  /** Known folders, whose parents need no further check. */
  const folders = new Set<string>();
  const leftOutTypes = new Map<string, 'file' | 'folder'>();
  /** Number of entries that are not extracted. They count towards the limit. */
  let unwritten = 0;
  const inConflict = (spelling: string): SkillError =>
    entryRefused('archive/conflict', spelling, 'is both a file and a folder');
  const refuseName = (path: string): void => {
    const problem = portableNameProblem(path, limits);
    if (problem !== undefined) throw problemError(problem);
  };
  const meet = (spelling: string, type: 'file' | 'folder', isEntry: boolean): void => {
    const key = collisionKey(spelling);
    const before = known.get(key);
    if ((leftOutTypes.get(spelling) ?? type) !== type) throw inConflict(spelling);
    if (before === undefined) {
      // Implicit folders count, because they are created.
      if (known.size + unwritten >= limits.maxEntries) throw tooMany(limits);
      known.set(key, { spelling, type, isEntry });
      if (type === 'folder') folders.add(spelling);
      return;
    }
    if (before.spelling !== spelling)
      throw entryRefused(
        'archive/collision',
        spelling,
        `is the same file on some systems as ${quoted(before.spelling)}`,
      );
    if (before.type !== type) throw inConflict(spelling);
    if (isEntry && before.isEntry) throw entryRefused('archive/duplicate', spelling, 'occurs twice');
    before.isEntry ||= isEntry;
  };
  const meetLeftOut = ({ path, type }: LeftOut): void => {
    const other = known.get(collisionKey(path));
    const before = other?.spelling === path ? other.type : leftOutTypes.get(path);
    leftOutTypes.set(path, type);
    if ((before ?? type) !== type) throw inConflict(path);
  };
  const meetAbove = (path: string): void => {
    for (const folder of listNewFolders(path, folders)) meet(folder, 'folder', false);
  };
  return {
    check(path, type) {
      refuseName(path);
      meetAbove(path);
      meet(path, type, true);
      return path.normalize('NFC');
    },
    checkLeftOut(path, leftOut) {
      try {
        refuseName(path);
        meetAbove(leftOut.path);
        meetLeftOut(leftOut);
      } finally {
        unwritten += 1;
      }
      if (known.size + unwritten > limits.maxEntries) throw tooMany(limits);
      return path.normalize('NFC');
    },
  };
}

export function tooMany({ maxEntries }: Pick<ArchiveLimits, 'maxEntries'>): SkillError {
  return refused('archive/too-many', `there are more than ${String(maxEntries)} files and folders`);
}

/** The unknown parent folders of a path, outermost first. */
function listNewFolders(path: string, known: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end);
    if (known.has(folder)) break;
    found.push(folder);
  }
  return found.reverse();
}

/** A UTF-16 unit has at most three bytes in UTF-8. */
function isLonger(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}
