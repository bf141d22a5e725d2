/**
 * What a person sees before an update: what the new version may do that the old one could not, which files change, and how. Labels are
 * ours; all that somebody else worded stands in a frame (`framed-text.ts`) or in quotes.
 */
import { compareText } from '../../core/diagnostic.ts';
import { frameText } from '../../core/text/framed-text.ts';
import { diffLines } from '../../core/text/text-diff.ts';
import type { DiffHunk, DiffLine, TextDiff } from '../../core/text/text-diff.ts';
import { quoted } from '../../core/text/text.ts';
import { kindOfFile } from '../../core/path.ts';
import { newPowers } from './capability-diff.ts';
import type { UpdatedFile } from './capability-diff.ts';

export interface UpdateView {
  readonly name: string;
  /** Versions or revisions, as they are known. */
  readonly from?: string;
  readonly to?: string;
  /** All files of both versions; those that are equal are left out by themselves. */
  readonly files: readonly UpdatedFile[];
}

export interface UpdateTextOptions {
  /** Columns of the screen. */
  readonly width: number;
  /** Of differences, over all files; what is beyond is counted. */
  readonly maxLines?: number;
}

export interface UpdateCounts {
  readonly changed: number;
  readonly added: number;
  readonly removed: number;
  readonly linesAdded: number;
  readonly linesRemoved: number;
}

const MAX_LINES = 120;
/** Of one item of a list, and of one line of a difference. */
const MAX_ROWS = 3;
const MAX_ITEMS = 20;
const MAX_FILES = 200;

interface ComparedFile extends UpdatedFile {
  /** Absent where a side is no text. */
  readonly diff?: TextDiff;
}

export function updateLines(view: UpdateView, { width, maxLines = MAX_LINES }: UpdateTextOptions): readonly string[] {
  const files = comparedFiles(view.files);
  const powers = newPowers(view.name, view.files);
  return [
    titleOf(view, width),
    countsText(countsOf(files)),
    ...(powers.length === 0
      ? ['nothing in its files says that it may do more than before']
      : powers.flatMap(({ what, items }) => [
          `now it ${what}${items.length === 0 ? '' : ':'}`,
          ...itemLines(items, width),
        ])),
    ...files.slice(0, MAX_FILES).map((file) => fileLine(file, width)),
    ...(files.length > MAX_FILES ? [`  … ${String(files.length - MAX_FILES)} more files`] : []),
    ...differences(files, width, maxLines),
  ];
}

/** How much an update changes; lines of text files only. */
export function countUpdate(files: readonly UpdatedFile[]): UpdateCounts {
  return countsOf(comparedFiles(files));
}

/** Those that differ: SKILL.md first, then programs, then the rest by path. */
function comparedFiles(files: readonly UpdatedFile[]): readonly ComparedFile[] {
  return files
    .filter(({ before, after }) => before?.sha256 !== after?.sha256 || before?.isExecutable !== after?.isExecutable)
    .toSorted((a, b) => weightOf(a) - weightOf(b) || compareText(a.path, b.path))
    .map((file) => {
      const [before, after] = [textOf(file.before), textOf(file.after)];
      return before === undefined || after === undefined ? file : { ...file, diff: diffLines(before, after) };
    });
}

function weightOf({ path, after, before }: UpdatedFile): number {
  if (path === 'SKILL.md') return 0;
  return kindOfFile(path) === 'script' || (after ?? before)?.isExecutable === true ? 1 : 2;
}

/** A file that is not there has no lines. */
function textOf(side: UpdatedFile['before']): string | undefined {
  return side === undefined ? '' : side.text;
}

function countsOf(files: readonly ComparedFile[]): UpdateCounts {
  const sum = (of: (diff: TextDiff) => number): number =>
    files.reduce((total, { diff }) => total + (diff === undefined ? 0 : of(diff)), 0);
  return {
    changed: files.filter(({ before, after }) => before !== undefined && after !== undefined).length,
    added: files.filter(({ before }) => before === undefined).length,
    removed: files.filter(({ after }) => after === undefined).length,
    linesAdded: sum(({ added }) => added),
    linesRemoved: sum(({ removed }) => removed),
  };
}

function countsText({ changed, added, removed, linesAdded, linesRemoved }: UpdateCounts): string {
  if (changed + added + removed === 0) return 'no file changes';
  const files = `${String(changed)} files changed, ${String(added)} added, ${String(removed)} removed`;
  return `${files}; ${String(linesAdded)} lines added, ${String(linesRemoved)} removed`;
}

function titleOf({ name, from, to }: UpdateView, width: number): string {
  const part = (text: string): string => fitted(text, (width - 12) / 3);
  const versions =
    to === undefined ? '' : from === undefined ? ` to ${part(to)}` : ` from ${part(from)} to ${part(to)}`;
  return `${part(name)}${versions}`;
}

const LEAST_COLUMNS = 12;

/** A stranger's word in quotes, cut to a width: one that goes on in the next row would begin it, where only we write. */
function fitted(text: string, columns: number): string {
  const room = Math.max(LEAST_COLUMNS, Math.floor(columns));
  let limit = room - 2;
  let shown = quoted(text, limit);
  while (limit > 1 && widthOf(shown) > room) {
    limit -= Math.ceil(limit / 8);
    shown = quoted(text, limit);
  }
  return shown;
}

/** Nobody can know how wide a terminal draws what is not ASCII; it is never more than two columns. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += character > '~' ? 2 : 1;
  return width;
}

function itemLines(items: readonly string[], width: number): readonly string[] {
  const rows = items.slice(0, MAX_ITEMS).flatMap((item) => framedLine(item, width));
  return items.length <= MAX_ITEMS ? rows : [...rows, `  … ${String(items.length - MAX_ITEMS)} more`];
}

/** One line in its frame; the middle of a very long one is left out and counted. */
function framedLine(text: string, width: number): readonly string[] {
  const { start, end, leftOut } = frameText(text, { width, maxRows: MAX_ROWS, isOneLine: true });
  return leftOut === 0 ? [...start, ...end] : [...start, `  … ${String(leftOut)} characters left out`, ...end];
}

function fileLine({ path, before, after, diff }: ComparedFile, width: number): string {
  const word = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const lines = diff === undefined ? ' (no text)' : ` +${String(diff.added)} -${String(diff.removed)}`;
  const isNowProgram = after?.isExecutable === true && before?.isExecutable !== true;
  return `  ${word} ${fitted(path, width - 42)}${lines}${isNowProgram ? ', may be run now' : ''}`;
}

function differences(files: readonly ComparedFile[], width: number, maxLines: number): readonly string[] {
  const rows: string[] = [];
  let [shown, left] = [0, 0];
  for (const { path, diff } of files) {
    if (diff === undefined) continue;
    const total = diff.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
    const room = Math.max(0, maxLines - shown);
    left += Math.max(0, total - room);
    shown += Math.min(total, room);
    if (room > 0 && (total > 0 || diff.isEndChanged))
      rows.push(`changes of ${fitted(path, width - 12)}`, ...hunkLines(diff, width, room));
  }
  return left === 0 ? rows : [...rows, `… ${String(left)} more lines of differences are not shown`];
}

const MARKS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', removed: '-', added: '+' };

/** Hunks with the header of a unified difference; a shown part of one is counted as it stands whole. */
function hunkLines({ hunks, isEndChanged }: TextDiff, width: number, room: number): readonly string[] {
  const rows: string[] = [];
  let left = room;
  let moved = 0;
  for (const hunk of hunks) {
    if (left <= 0) break;
    rows.push(hunkHeader(hunk, moved));
    for (const { kind, text } of hunk.lines.slice(0, left)) rows.push(...framedLine(MARKS[kind] + text, width));
    left -= hunk.lines.length;
    moved += count(hunk, 'removed') - count(hunk, 'added');
  }
  return isEndChanged ? [...rows, '  the line end at the end of the file comes or goes'] : rows;
}

/** `moved`: how many lines more the old text had up to here. */
function hunkHeader(hunk: DiffHunk, moved: number): string {
  const [same, removed, added] = [count(hunk, 'same'), count(hunk, 'removed'), count(hunk, 'added')];
  const [old, now] = [same + removed, same + added];
  // A side without lines is named by the line before.
  const place = (line: number, length: number): string => `${String(length === 0 ? line - 1 : line)},${String(length)}`;
  return `@@ -${place(hunk.line + moved, old)} +${place(hunk.line, now)} @@`;
}

function count({ lines }: DiffHunk, wanted: DiffLine['kind']): number {
  return lines.reduce((sum, { kind }) => sum + (kind === wanted ? 1 : 0), 0);
}
