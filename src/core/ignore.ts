/** Parses ignore files with git's syntax. */
import { compileGlob, type Glob } from './glob.ts';
import { parentFolder } from './path.ts';

/** One line of an ignore file. */
export interface IgnoreRule {
  /** The pattern as written. */
  readonly pattern: string;
  /** Path of the ignore file; empty for built-in rules. */
  readonly from: string;
  /** `!`: includes files that earlier rules excluded. */
  readonly takes: boolean;
  readonly foldersOnly: boolean;
  readonly glob: Glob;
}

const MAX_RULES = 2_000;
const MAX_LINE = 1_024;

export interface IgnoreOptions {
  /** The names of ignore files. */
  readonly names: readonly string[];
  /** The text of an ignore file; its path is relative to the top. Called once for each, when a path below its folder is asked about. */
  readonly read: (file: string) => string | undefined;
  /** Lines that precede those of all files. */
  readonly before?: string;
}

/**
 * Finds the rule that excludes a path, relative to the top. The last matching rule wins. The caller must check each folder before its
 * contents and skip excluded folders: as in git, nothing inside them can be included again.
 */
export function openIgnores({
  names,
  read,
  before = '',
}: IgnoreOptions): (path: string, isFolder: boolean) => IgnoreRule | undefined {
  const known = new Map<string, readonly IgnoreRule[]>();
  const rulesIn = (folder: string): readonly IgnoreRule[] => {
    const found = known.get(folder);
    if (found !== undefined) return found;
    const above = folder === '' ? parseIgnore(before, '', '') : rulesIn(parentFolder(folder));
    const own = names.flatMap((name) => {
      const file = folder === '' ? name : `${folder}/${name}`;
      return parseIgnore(read(file) ?? '', folder, file);
    });
    known.set(folder, [...above, ...own]);
    return [...above, ...own];
  };
  return (path, isFolder) => {
    const last = rulesIn(parentFolder(path)).findLast(
      ({ glob, foldersOnly }) => (isFolder || !foldersOnly) && glob.matches(path),
    );
    return last === undefined || last.takes ? undefined : last;
  };
}

/** Lines beyond the limits are ignored. */
function parseIgnore(text: string, folder: string, file: string): readonly IgnoreRule[] {
  const rules: IgnoreRule[] = [];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    if (rules.length >= MAX_RULES) break;
    const rule = line.length > MAX_LINE ? undefined : readLine(line, folder, file);
    if (rule !== undefined) rules.push(rule);
  }
  return rules;
}

function readLine(line: string, folder: string, from: string): IgnoreRule | undefined {
  const pattern = withoutTrailingSpaces(line);
  if (pattern === '' || pattern.startsWith('#')) return undefined;
  const takes = pattern.startsWith('!');
  const rest = takes ? pattern.slice(1) : pattern;
  const foldersOnly = rest.endsWith('/');
  const named = foldersOnly ? rest.slice(0, -1) : rest;
  if (named === '' || named === '/') return undefined;
  // A slash that is not at the end anchors the pattern to the folder of the file.
  const glob = named.includes('/') ? tiedGlob(named.replace(/^\//, '')) : `**/${toGlob(named)}`;
  const prefix = folder === '' ? '' : `${literal(folder)}/`;
  return { pattern, from, takes, foldersOnly, glob: compileGlob(prefix + glob, { hidden: true }) };
}

/** A literal start, followed directly by several stars, and then the end or a slash with more. */
const STARS_BEHIND_START = /^([^*?[\\]*[^*?[\\/])\*{2,}(?:\/(.*))?$/;
const MAX_STARS = 8;

/**
 * Git matches a literal prefix first and the rest separately, so `**` after it also matches folders. `a**` at the end matches everything
 * that starts with `a` and all below it; `b` after `a**` and a slash matches `ab`, `ax/b` and `ax/y/b`.
 */
function tiedGlob(pattern: string): string {
  const ways: string[] = [];
  let left = pattern;
  for (let found = STARS_BEHIND_START.exec(left); found !== null; found = STARS_BEHIND_START.exec(left)) {
    const [, start = '', rest = '**'] = found;
    ways.push(toGlob(`${start}*/**/${rest}`));
    left = found[2] === undefined ? `${start}*` : start + rest;
    if (ways.length >= MAX_STARS) break;
  }
  return ways.length === 0 ? toGlob(pattern) : `{${[...ways, toGlob(left)].join(',')}}`;
}

/** A trailing space counts only after a backslash. */
function withoutTrailingSpaces(line: string): string {
  const text = line.trimEnd();
  return /(?:^|[^\\])(?:\\\\)*\\$/.test(text) && text.length < line.length ? `${text} ` : text;
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ['alpha', 'a-zA-Z'],
  ['digit', '0-9'],
  ['alnum', 'a-zA-Z0-9'],
  ['lower', 'a-z'],
  ['upper', 'A-Z'],
  ['space', ' \t'],
  ['xdigit', '0-9a-fA-F'],
]);

/** Our glob syntax has braces and no backslash, so both are translated to character sets. */
function toGlob(pattern: string): string {
  let glob = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern.charAt(at);
    const set = sign === '[' ? /^\[([!^]?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]/.exec(pattern.slice(at)) : undefined;
    if (set !== null && set !== undefined) {
      const [whole, negation = '', members = ''] = set;
      glob += toCharacterClass(negation, members);
      at += whole.length - 1;
    } else if (sign === '\\') {
      at += 1;
      glob += literal(pattern.charAt(at));
    } else glob += '{},'.includes(sign) ? `[${sign}]` : sign;
  }
  return glob;
}

/** A closing bracket must come first in a set. */
function toCharacterClass(negation: string, members: string): string {
  const plain = members
    .replaceAll(/\[:(\w+):\]/g, (_whole, name: string) => CLASSES.get(name) ?? '')
    .replaceAll(/\\(.)/g, '$1');
  const others = plain.replaceAll(']', '');
  return `[${negation}${plain.length > others.length ? ']' : ''}${others}]`;
}

function literal(text: string): string {
  return text.replaceAll(/[*?[{}]/g, '[$&]');
}
