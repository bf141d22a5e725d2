import type { RunScript } from './action.ts';
import { failure, type ActionProblem } from './failure-codes.ts';

import { findHidden, quoted } from './text/text.ts';

declare const relative: unique symbol;

/** A path below a folder: segments separated by `/`, none of them empty, `.` or `..`, without invisible characters. */
export type RelativePath = string & { readonly [relative]: true };

const MAX_CHARACTERS = 1024;
/** The longest file name that common file systems support. */
const MAX_SEGMENT_BYTES = 255;

const CONTROL = /[\x00-\x1f\x7f-\x9f]/;
/** Absolute, home-relative, UNC, drive and scheme paths. */
const ABSOLUTE = /^(?:[/~]|\\\\|[a-z][a-z0-9+.-]*:)/i;
/**
 * Encoded dots, slashes, backslashes and NUL, also with repeated encoding and overlong forms. Paths are never decoded, so these are
 * attacks.
 */
const ENCODED = /%(?:25)*(?:2e|2f|5c|00|c0%(?:25)*a[ef]|e0%(?:25)*80%(?:25)*a[ef])/i;

/** Parses an untrusted path. The file system is not accessed; what the path leads to is checked when the file is opened. */
export function toRelativePath(text: string): RelativePath | ActionProblem {
  if (text.trim() === '') return failure('path/empty', 'the path is empty');
  if (text.length > MAX_CHARACTERS)
    return failure('path/too-long', `the path ${quoted(text)} has more than ${MAX_CHARACTERS} characters`);
  if (CONTROL.test(text) || findHidden(text) !== undefined)
    return failure('path/control-character', `the path ${quoted(text)} contains an invisible character`);
  if (ABSOLUTE.test(text))
    return failure('path/absolute', `the path ${quoted(text)} is absolute, expected a relative one`);
  if (text.includes('\\')) return failure('path/backslash', `the path ${quoted(text)} contains a backslash`);
  if (ENCODED.test(text)) return failure('path/encoded', `the path ${quoted(text)} contains encoded characters`);
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) return failure('path/parent', `the path ${quoted(text)} contains ".."`);
  if (segments.length === 0) return failure('path/empty', `the path ${quoted(text)} names no file`);
  if (segments.some(isTooLong))
    return failure('path/too-long', `a segment of the path ${quoted(text)} has more than ${MAX_SEGMENT_BYTES} bytes`);
  // The one place that makes the brand: everything above is what it promises.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return segments.join('/') as RelativePath;
}

function isTooLong(segment: string): boolean {
  return segment.length * 3 > MAX_SEGMENT_BYTES && new TextEncoder().encode(segment).length > MAX_SEGMENT_BYTES;
}

/**
 * The path of a script in its skill folder, to be parsed. Below `scripts/`, a name such as `~x.py` or `ab:c.py` is only a name, but a path
 * with folders that starts elsewhere stays one.
 */
export function scriptPath({ script, anywhere }: Pick<RunScript, 'script' | 'anywhere'>): string {
  const bare = script.replace(/^(?:\.\/+)+/, '');
  const isElsewhere = bare.trim() === '' || (ABSOLUTE.test(bare) && bare.includes('/'));
  return anywhere === true || isElsewhere || bare.startsWith('scripts/') ? bare : `scripts/${bare}`;
}

/** The parent folder of a path; empty at the top. */
export function parentFolder(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** All ancestor folders except the top: `a/b/c` gives `a` and `a/b`. */
export function listParentFolders(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/**
 * Equal for names that are the same file on some system, which may ignore case, composition, width, invisible characters, and trailing dots
 * and spaces. Converts to upper case first, so that `ß` equals `SS`.
 */
export function collisionKey(path: string): string {
  const folded = PLAIN.test(path)
    ? path.toLowerCase()
    : path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replaceAll(INVISIBLE, '').normalize('NFKC');
  return /[. ](?:\/|$)/.test(folded) ? folded.replaceAll(/(?<=[^/. ])[. ]+(?=\/|$)/g, '') : folded;
}

/** ASCII has only one spelling per letter. */
const PLAIN = /^[\x20-\x7e]*$/;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
