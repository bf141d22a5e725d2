/**
 * Formats an update for review: new capabilities first, then changed files, then the diff. Untrusted text is framed (`framed-text.ts`) or
 * quoted, so that it cannot imitate our labels.
 */
import { countText, frameText, quoted, type diffLines } from '#core';
import type { FileConflict } from './apply-update.ts';
import type { MergeSide } from './merge-text.ts';
import { changedFiles, newCapabilities, type ComparedFile } from './capability-diff.ts';
import type { ChangedSkill, SkillUpdate } from './update-skill.ts';

type Hunk = ReturnType<typeof diffLines>['hunks'][number];

/** Diff lines of all files together; the rest is only counted. */
const MAX_LINES = 120;
/** Terminal rows per list item or diff line. */
const MAX_ROWS = 3;
const MAX_ITEMS = 20;
const MAX_FILES = 200;

/** What a user reviews before an update, or the conflicts that prevent it. `width` is that of the terminal. */
export function updateLines(update: SkillUpdate, width: number): readonly string[] {
  if (update.status === 'current') return [];
  if (update.status === 'refused') return conflictLines(update.conflicts, width);
  const files = changedFiles(update.files);
  const capabilities = newCapabilities(update.name, update.files);
  return [
    formatTitle(update, width),
    `from ${fitQuoted(update.lock.source, width - 5)}`,
    countsText(update.changes),
    ...(capabilities.length === 0
      ? ['no new capabilities found in its files']
      : capabilities.flatMap(({ what, items }) => [
          `now it ${what}${items.length === 0 ? '' : ':'}`,
          ...itemLines(items, width),
        ])),
    ...files.slice(0, MAX_FILES).map((file) => fileLine(file, width)),
    ...(files.length > MAX_FILES ? [`  … ${String(files.length - MAX_FILES)} more files`] : []),
    ...diffSections(files, width),
  ];
}

/** The lines that both sides changed: yours first, then those of the new version. */
function conflictLines(conflicts: readonly FileConflict[], width: number): readonly string[] {
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

function countsText({ changed, added, removed, linesAdded, linesRemoved }: ChangedSkill['changes']): string {
  if (changed + added + removed === 0) return 'no file changes';
  const files = `${countText(changed, 'file')} changed, ${String(added)} added, ${String(removed)} removed`;
  return `${files}; ${String(linesAdded)} lines added, ${String(linesRemoved)} removed`;
}

function formatTitle({ name, before, lock }: ChangedSkill, width: number): string {
  const part = (text: string): string => fitQuoted(text, (width - 12) / 3);
  const [from, to] = [before, lock].map((locked) => locked?.version ?? locked?.revision?.slice(0, 12));
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

function diffSections(files: readonly ComparedFile[], width: number): readonly string[] {
  const rows: string[] = [];
  let [shown, left] = [0, 0];
  for (const { path, diff } of files) {
    if (diff === undefined) continue;
    const total = diff.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
    const room = Math.max(0, MAX_LINES - shown);
    left += Math.max(0, total - room);
    shown += Math.min(total, room);
    if (room > 0 && (total > 0 || diff.isEndChanged))
      rows.push(`changes in ${fitQuoted(path, width - 12)}`, ...hunkLines(diff, width, room));
  }
  return left === 0 ? rows : [...rows, `… ${String(left)} more diff lines not shown`];
}

const MARKS: Readonly<Record<Hunk['lines'][number]['kind'], string>> = {
  same: ' ',
  removed: '-',
  added: '+',
};

/** Hunks in unified diff format. The header of a truncated hunk still counts all its lines. */
function hunkLines(
  { hunks, isEndChanged }: ReturnType<typeof diffLines>,
  width: number,
  room: number,
): readonly string[] {
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
function hunkHeader(hunk: Hunk, moved: number): string {
  const [same, removed, added] = [count(hunk, 'same'), count(hunk, 'removed'), count(hunk, 'added')];
  const [old, now] = [same + removed, same + added];
  // By convention, an empty side has the number of the line before it.
  const place = (line: number, length: number): string => `${String(length === 0 ? line - 1 : line)},${String(length)}`;
  return `@@ -${place(hunk.line + moved, old)} +${place(hunk.line, now)} @@`;
}

function count({ lines }: Hunk, counted: Hunk['lines'][number]['kind']): number {
  return lines.reduce((sum, { kind }) => sum + (kind === counted ? 1 : 0), 0);
}
