import { failure } from './failure-codes.ts';
import type { Failure, FailureCode } from './failure-codes.ts';
import type { FileKind } from './observation.ts';
import { hiddenCharacters, quoted } from './text/text.ts';

declare const relative: unique symbol;

/** A path below a skill's folder: `/` between the parts, none of them empty, `.` or `..`, every character visible. */
export type RelativePath = string & { readonly [relative]: true };

export type PathReading =
  | { readonly type: 'path'; readonly path: RelativePath }
  | { readonly type: 'refused'; readonly failure: Failure };

const MAX_CHARACTERS = 1024;
/** The longest name that common file systems hold. */
const MAX_SEGMENT_BYTES = 255;

const CONTROL = /[\x00-\x1f\x7f-\x9f]/;
/** A root, a home folder, a share, or a drive letter or scheme: all that does not start from the skill. */
const ABSOLUTE = /^(?:[/~]|\\\\|[a-z][a-z0-9+.-]*:)/i;
/** Dots, slashes, backslashes and NUL, encoded once or more often, overlong forms too. Nobody here decodes; whoever sends these hopes for it. */
const ENCODED = /%(?:25)*(?:2e|2f|5c|00|c0%(?:25)*a[ef]|e0%(?:25)*80%(?:25)*a[ef])/i;

/** Reads a path as a model or a person wrote it. Nothing is looked up: what it leads to is judged on the opened file. */
export function toRelativePath(text: string): PathReading {
  if (text.trim() === '') return refused('path/empty', 'the path is empty');
  if (text.length > MAX_CHARACTERS)
    return refused('path/too-long', `the path ${quoted(text)} has more than ${MAX_CHARACTERS} characters`);
  if (CONTROL.test(text) || hiddenCharacters(text) !== undefined)
    return refused('path/control-character', `the path ${quoted(text)} has a character that does not show`);
  if (ABSOLUTE.test(text)) return refused('path/absolute', `the path ${quoted(text)} does not start from the skill`);
  if (text.includes('\\')) return refused('path/backslash', `the path ${quoted(text)} has a backslash`);
  if (ENCODED.test(text)) return refused('path/encoded', `the path ${quoted(text)} has encoded characters`);
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) return refused('path/parent', `the path ${quoted(text)} has .. in it`);
  if (segments.length === 0)
    return refused('path/empty', `the path ${quoted(text)} is the folder of the skill and names no file`);
  if (segments.some(isTooLong))
    return refused('path/too-long', `a part of the path ${quoted(text)} has more than ${MAX_SEGMENT_BYTES} bytes`);
  // The one place that makes the brand: everything above is what it promises.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { type: 'path', path: segments.join('/') as RelativePath };
}

function refused(code: FailureCode, message: string): PathReading {
  return { type: 'refused', failure: failure(code, message) };
}

function isTooLong(segment: string): boolean {
  return segment.length * 3 > MAX_SEGMENT_BYTES && new TextEncoder().encode(segment).length > MAX_SEGMENT_BYTES;
}

const KINDS_BY_FOLDER: ReadonlyMap<string, FileKind> = new Map([
  ['scripts', 'script'],
  ['references', 'reference'],
  ['reference', 'reference'],
  ['assets', 'asset'],
]);

/** What a file is for, by where it lies; `.md` and `.txt` elsewhere are documents, SKILL.md too. */
export function kindOfFile(path: string): FileKind {
  const slash = path.indexOf('/');
  const kind = slash === -1 ? undefined : KINDS_BY_FOLDER.get(path.slice(0, slash));
  return kind ?? (isDocument(path) ? 'document' : 'other');
}

/** A model may ask for it: it lies in one of the folders meant for that, or is a document. */
export function isOfferedPath(path: string): boolean {
  return kindOfFile(path) !== 'other';
}

function isDocument(path: string): boolean {
  return /\.(?:md|txt)$/i.test(path);
}

/** The folder that a path lies in, by its name alone; empty at the top. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Every folder that a path lies in, from the top, which is left out: `a/b/c` lies in `a` and `a/b`. */
export function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}
