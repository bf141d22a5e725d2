/**
 * Formats an update for review: new capabilities first, then changed files, then the diff. Untrusted text is framed (`framed-text.ts`) or
 * quoted, so that it cannot imitate our labels.
 */
import { compareText, countText, diffLines, frameText, isBelowScripts, quoted, type TextDiff } from '#core';
import type { FileConflict } from './apply-update.ts';
import type { MergeSide } from './merge-text.ts';
import { newCapabilities, type UpdatedFile } from './capability-diff.ts';

export interface UpdateView {
  readonly name: string;
  /** Versions or revisions, if known. */
  readonly from?: string;
  readonly to?: string;
  /** All files of both versions; unchanged files are not shown. */
  readonly files: readonly UpdatedFile[];
}

export interface UpdateTextOptions {
  /** Terminal columns. */
  readonly width: number;
  /** Diff lines of all files together; the rest is only counted. */
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
/** Terminal rows per list item or diff line. */
const MAX_ROWS = 3;
const MAX_ITEMS = 20;
const MAX_FILES = 200;

interface ComparedFile extends UpdatedFile {
  /** Absent if a side has no text. */
  readonly diff?: TextDiff;
}

export function updateLines(view: UpdateView, { width, maxLines = MAX_LINES }: UpdateTextOptions): readonly string[] {
  const files = changedFiles(view.files);
  const capabilities = newCapabilities(view.name, view.files);
  return [
    formatTitle(view, width),
    countsText(countChanges(files)),
    ...(capabilities.length === 0
      ? ['no new capabilities found in its files']
      : capabilities.flatMap(({ what, items }) => [
          `now it ${what}${items.length === 0 ? '' : ':'}`,
          ...itemLines(items, width),
        ])),
    ...files.slice(0, MAX_FILES).map((file) => fileLine(file, width)),
    ...(files.length > MAX_FILES ? [`  … ${String(files.length - MAX_FILES)} more files`] : []),
    ...diffSections(files, width, maxLines),
  ];
}

/** The lines that both sides changed: yours first, then those of the new version. */
export function conflictLines(conflicts: readonly FileConflict[], width: number): readonly string[] {
  const rows = conflicts.flatMap(({ path, conflicts: parts = [] }) =>
    parts.flatMap(({ local, incoming }) => [
      `conflict in ${fitQuoted(path, width - 40)} at line ${String(local.line)}`,
      ...sideLines('yours', local, width),
      ...sideLines('new version', incoming, width),
    ]),
  );
  const more = rows.length - MAX_LINES;
  return more > 0 ? [...rows.slice(0, MAX_LINES), `… ${String(more)} more lines not shown`] : rows;
}

function sideLines(whose: string, { lines }: MergeSide, width: number): readonly string[] {
  return [
    `${whose}:${lines.length === 0 ? ' removed' : ''}`,
    ...lines.flatMap((line) => framedLine(line.replace(/\r?\n$/, ''), width)),
  ];
}

/** Counts changed files and lines; lines of text files only. */
export function countUpdate(files: readonly UpdatedFile[]): UpdateCounts {
  return countChanges(changedFiles(files));
}

/** The files that differ: SKILL.md first, then programs, then the others by path. */
function changedFiles(files: readonly UpdatedFile[]): readonly ComparedFile[] {
  return files
    .filter(({ before, after }) => before?.sha256 !== after?.sha256 || before?.isExecutable !== after?.isExecutable)
    .toSorted((a, b) => rankFile(a) - rankFile(b) || compareText(a.path, b.path))
    .map((file) => {
      const [before, after] = [readSideText(file.before), readSideText(file.after)];
      return before === undefined || after === undefined ? file : { ...file, diff: diffLines(before, after) };
    });
}

function rankFile({ path, after, before }: UpdatedFile): number {
  if (path === 'SKILL.md') return 0;
  return isBelowScripts(path) || (after ?? before)?.isExecutable === true ? 1 : 2;
}

/** A missing file counts as empty. */
function readSideText(side: UpdatedFile['before']): string | undefined {
  return side === undefined ? '' : side.text;
}

function countChanges(files: readonly ComparedFile[]): UpdateCounts {
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
  const files = `${countText(changed, 'file')} changed, ${String(added)} added, ${String(removed)} removed`;
  return `${files}; ${String(linesAdded)} lines added, ${String(linesRemoved)} removed`;
}

function formatTitle({ name, from, to }: UpdateView, width: number): string {
  const part = (text: string): string => fitQuoted(text, (width - 12) / 3);
  const versions =
    to === undefined ? '' : from === undefined ? ` to ${part(to)}` : ` from ${part(from)} to ${part(to)}`;
  return `${part(name)}${versions}`;
}

const MIN_COLUMNS = 12;

/** Quotes untrusted text and truncates it to a width. If it wrapped, the next row would start with untrusted text. */
function fitQuoted(text: string, columns: number): string {
  const room = Math.max(MIN_COLUMNS, Math.floor(columns));
  let limit = room - 2;
  let shown = quoted(text, limit);
  while (limit > 1 && measureMaxWidth(shown) > room) {
    limit -= Math.ceil(limit / 8);
    shown = quoted(text, limit);
  }
  return shown;
}

/** An upper bound: terminals draw a non-ASCII character at most two columns wide. */
function measureMaxWidth(text: string): number {
  let width = 0;
  for (const character of text) width += character > '~' ? 2 : 1;
  return width;
}

function itemLines(items: readonly string[], width: number): readonly string[] {
  const rows = items.slice(0, MAX_ITEMS).flatMap((item) => framedLine(item, width));
  return items.length <= MAX_ITEMS ? rows : [...rows, `  … ${String(items.length - MAX_ITEMS)} more`];
}

/** Frames one line; the middle of a very long line is replaced by its length. */
function framedLine(text: string, width: number): readonly string[] {
  const { start, end, leftOut } = frameText(text, { width, maxRows: MAX_ROWS, isOneLine: true });
  return leftOut === 0 ? [...start, ...end] : [...start, `  … ${String(leftOut)} characters left out`, ...end];
}

function fileLine({ path, before, after, diff }: ComparedFile, width: number): string {
  const word = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const lines = diff === undefined ? ' (not shown)' : ` +${String(diff.added)} -${String(diff.removed)}`;
  const isNowExecutable = after?.isExecutable === true && before?.isExecutable !== true;
  return `  ${word} ${fitQuoted(path, width - 42)}${lines}${isNowExecutable ? ', now executable' : ''}`;
}

function diffSections(files: readonly ComparedFile[], width: number, maxLines: number): readonly string[] {
  const rows: string[] = [];
  let [shown, left] = [0, 0];
  for (const { path, diff } of files) {
    if (diff === undefined) continue;
    const total = diff.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
    const room = Math.max(0, maxLines - shown);
    left += Math.max(0, total - room);
    shown += Math.min(total, room);
    if (room > 0 && (total > 0 || diff.isEndChanged))
      rows.push(`changes in ${fitQuoted(path, width - 12)}`, ...hunkLines(diff, width, room));
  }
  return left === 0 ? rows : [...rows, `… ${String(left)} more diff lines not shown`];
}

const MARKS: Readonly<Record<TextDiff['hunks'][number]['lines'][number]['kind'], string>> = {
  same: ' ',
  removed: '-',
  added: '+',
};

/** Hunks in unified diff format. The header of a truncated hunk still counts all its lines. */
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
  return isEndChanged ? [...rows, '  the newline at the end of the file was added or removed'] : rows;
}

/** `moved`: lines removed minus lines added in earlier hunks. */
function hunkHeader(hunk: TextDiff['hunks'][number], moved: number): string {
  const [same, removed, added] = [count(hunk, 'same'), count(hunk, 'removed'), count(hunk, 'added')];
  const [old, now] = [same + removed, same + added];
  // By convention, an empty side has the number of the line before it.
  const place = (line: number, length: number): string => `${String(length === 0 ? line - 1 : line)},${String(length)}`;
  return `@@ -${place(hunk.line + moved, old)} +${place(hunk.line, now)} @@`;
}

function count(
  { lines }: TextDiff['hunks'][number],
  wanted: TextDiff['hunks'][number]['lines'][number]['kind'],
): number {
  return lines.reduce((sum, { kind }) => sum + (kind === wanted ? 1 : 0), 0);
}
