/** Files that a pack leaves out: `.gitignore` and `.skillignore`, in the words of git. */
import { compileGlob } from '../../core/glob.ts';
import type { Glob } from '../../core/glob.ts';

/** In this order: what a later file says counts more. */
export const IGNORE_FILES = ['.gitignore', '.skillignore'] as const;

/** One line of an ignore file. */
export interface IgnoreRule {
  /** As it was written. */
  readonly pattern: string;
  /** The file that says so, below the skill; empty for what is left out of every pack. */
  readonly from: string;
  /** `!`: what the rules before it left out is taken after all. */
  readonly takes: boolean;
  readonly foldersOnly: boolean;
  readonly glob: Glob;
}

/** Of repositories, editors, systems and interpreters: never what an author wrote for a skill. A file may take them with `!`. */
const ALWAYS = [
  '.git',
  '.hg/',
  '.svn/',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
  '.skillignore',
  '.DS_Store',
  '._*',
  '__MACOSX/',
  'Thumbs.db',
  'desktop.ini',
  '*~',
  '*.sw[op]',
  '.idea/',
  '.vscode/',
  'node_modules/',
  '__pycache__/',
  '*.py[co]',
  '.venv/',
  '.pytest_cache/',
];

const MAX_RULES = 2_000;
const MAX_LINE = 1_024;

export interface IgnoreFile {
  /** The folder it lies in, below the skill; empty for the top. */
  readonly folder: string;
  /** Its path below the skill. */
  readonly file: string;
}

/** The rules of one file. Lines that are too long, and those after many, are no rules. */
export function parseIgnore(text: string, { folder, file }: IgnoreFile): readonly IgnoreRule[] {
  const rules: IgnoreRule[] = [];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    if (rules.length >= MAX_RULES) break;
    const rule = line.length > MAX_LINE ? undefined : readLine(line, folder, file);
    if (rule !== undefined) rules.push(rule);
  }
  return rules;
}

/**
 * The rule that leaves a path out; nothing where it is taken. The last rule that fits counts. Whoever walks asks for each folder before
 * what is in it, and does not enter those that are left out: as in git, nothing in them can be taken back.
 */
export function ignoredBy(rules: readonly IgnoreRule[], path: string, isFolder: boolean): IgnoreRule | undefined {
  const last = rules.findLast(({ glob, foldersOnly }) => (isFolder || !foldersOnly) && glob.matches(path));
  return last === undefined || last.takes ? undefined : last;
}

function readLine(line: string, folder: string, from: string): IgnoreRule | undefined {
  const pattern = withoutTrailingSpaces(line);
  if (pattern === '' || pattern.startsWith('#')) return undefined;
  const takes = pattern.startsWith('!');
  const wanted = takes ? pattern.slice(1) : pattern;
  const foldersOnly = wanted.endsWith('/');
  const named = foldersOnly ? wanted.slice(0, -1) : wanted;
  if (named === '' || named === '/') return undefined;
  // A slash that is not at the end ties the pattern to the folder of its file.
  const glob = named.includes('/') ? tiedGlob(named.replace(/^\//, '')) : `**/${toGlob(named)}`;
  const prefix = folder === '' ? '' : `${literal(folder)}/`;
  return { pattern, from, takes, foldersOnly, glob: compileGlob(prefix + glob, { hidden: true }) };
}

/** A plain start, several stars right behind it, and the end or a slash with what follows it. */
const STARS_BEHIND_START = /^([^*?[\\]*[^*?[\\/])\*{2,}(?:\/(.*))?$/;
const MAX_STARS = 8;

/**
 * Git compares a plain start first and matches the rest as if it stood alone: so `**` counts as folders behind it as well. `a**` at the end
 * means all that starts so with all below it, and `b` after `a**` and a slash means `ab`, `ax/b` and `ax/y/b`.
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

/** A space at the end counts only behind a backslash. */
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

/** Our patterns know braces, and no backslash: what either means to git is written with sets. */
function toGlob(pattern: string): string {
  let glob = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern.charAt(at);
    const set = sign === '[' ? /^\[([!^]?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]/.exec(pattern.slice(at)) : undefined;
    if (set !== null && set !== undefined) {
      const [whole, negation = '', members = ''] = set;
      glob += setOf(negation, members);
      at += whole.length - 1;
    } else if (sign === '\\') {
      at += 1;
      glob += literal(pattern.charAt(at));
    } else glob += '{},'.includes(sign) ? `[${sign}]` : sign;
  }
  return glob;
}

/** A closing bracket must stand first in a set of ours. */
function setOf(negation: string, members: string): string {
  const plain = members
    .replaceAll(/\[:(\w+):\]/g, (_whole, name: string) => CLASSES.get(name) ?? '')
    .replaceAll(/\\(.)/g, '$1');
  const others = plain.replaceAll(']', '');
  return `[${negation}${plain.length > others.length ? ']' : ''}${others}]`;
}

function literal(text: string): string {
  return text.replaceAll(/[*?[{}]/g, '[$&]');
}

/** The rules that come before those of any file. */
export const BUILT_IN_IGNORES: readonly IgnoreRule[] = parseIgnore(ALWAYS.join('\n'), { folder: '', file: '' });
