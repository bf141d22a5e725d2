import { isUtf8 } from 'node:buffer';

import {
  actionFailed,
  countLines,
  countText,
  detectMediaType,
  offsetOfLine,
  quoted,
  type ActionFailed,
  type Observation,
  type OfType,
  type Action,
} from '#core';
import { inConfined, sha256, shownText, type ConfinedDirectory } from '#platform';
import { fileFailed, hostFailure } from './host-failure.ts';
import type { ResolvedPath } from './resolve-path.ts';

export interface ReadFileLimits {
  readonly maxBytes?: number;
  readonly maxLines?: number;
  readonly maxCharacters?: number;
  readonly maxLineCharacters?: number;
}

/** Reads the requested lines of a file, within the limits. */
export function readFile(
  action: OfType<Action, 'read_file'>,
  placed: ResolvedPath,
  limits: ReadFileLimits = {},
): OfType<Observation, 'file-read'> | ActionFailed {
  const { maxBytes = 16 * 1024 * 1024 } = limits;
  const read = readResolved(placed, maxBytes);
  if (read.type === 'failed') return fileFailed(action.type, placed.shown, read);
  const { bytes } = read;
  const { mediaType, isBinary } = detectMediaType(placed.relative, bytes);
  const file = {
    type: 'file-read',
    action: action.type,
    path: placed.shown,
    mediaType,
    isBinary,
    bytes: bytes.length,
    digest: `sha256:${sha256(bytes)}`,
  } as const;
  if (isBinary) {
    const notes = [`binary file (${mediaType}, ${String(bytes.length)} bytes): content not shown`];
    return { ...file, text: '', lines: { from: 0, to: 0 }, totalLines: 0, truncated: false, notes };
  }
  if (!isUtf8(bytes)) {
    const message = `${quoted(placed.shown, 200)} is not UTF-8 text`;
    return actionFailed(action.type, hostFailure('file/not-utf8', message));
  }
  const { text, notes } = shownText(bytes);
  const totalLines = countLines(text);
  const part = showLines(text, totalLines, action.lines, limits);
  if (part === undefined) {
    const message = `${quoted(placed.shown, 200)} has ${countText(totalLines, 'line')}; ${rangeText(action.lines)} were requested`;
    return actionFailed(action.type, hostFailure('lines/invalid', message));
  }
  return { ...file, ...part, totalLines, notes: [...part.notes, ...notes] };
}

/**
 * Reads the file of a resolved path. Files of a project may have several names, because package managers hard-link them from their
 * stores. In a workspace or a skill a hard link could lead to a file outside, so it is refused.
 */
export function readResolved(
  { root, relative, place }: Pick<ResolvedPath, 'root' | 'relative' | 'place'>,
  maxBytes: number,
): ReturnType<ConfinedDirectory['read']> {
  if (relative === '') return { type: 'failed', code: 'file/directory' };
  return inConfined(
    root,
    (folder) => folder.read(relative, { maxBytes, followLinks: false, allowHardLinks: place === 'project' }),
    (code) => ({ type: 'failed', code: code === 'skill/gone' ? 'file/missing' : code }),
  );
}

type ShownLines = Pick<OfType<Observation, 'file-read'>, 'text' | 'lines' | 'truncated' | 'notes'>;

/** `undefined` if the range is not inside the text. A last line beyond the end means the end. */
function showLines(
  text: string,
  totalLines: number,
  range: NonNullable<OfType<Action, 'read_file'>['lines']> | undefined,
  { maxLines = 2000, maxCharacters = 256 * 1024, maxLineCharacters = 2000 }: ReadFileLimits,
): ShownLines | undefined {
  if (totalLines === 0 && range === undefined) return { text, lines: { from: 0, to: 0 }, truncated: false, notes: [] };
  const { from = 1, to = totalLines } = range ?? {};
  const isRange = Number.isInteger(from) && Number.isInteger(to) && from >= 1 && from <= to && from <= totalLines;
  const start = isRange ? offsetOfLine(text, from - 1) : undefined;
  if (start === undefined) return undefined;
  const last = Math.min(to, totalLines);
  const shown: string[] = [];
  const longLines: number[] = [];
  let characters = 0;
  for (let at = start, line = from; line <= last && shown.length < maxLines; line += 1) {
    const end = text.indexOf('\n', at) + 1 || text.length;
    const whole = text.slice(at, end);
    const piece = cutLine(whole, maxLineCharacters);
    if (shown.length > 0 && characters + piece.length > maxCharacters) break;
    if (piece !== whole) longLines.push(line);
    shown.push(piece);
    characters += piece.length;
    at = end;
  }
  const lastShown = from + shown.length - 1;
  const notes = [
    ...(lastShown < last
      ? [
          `truncated after line ${String(lastShown)} of ${String(totalLines)}; continue with lines from ${String(lastShown + 1)}`,
        ]
      : []),
    ...longLineNotes(longLines, maxLineCharacters),
  ];
  return { text: shown.join(''), lines: { from, to: lastShown }, truncated: notes.length > 0, notes };
}

/** Never splits a surrogate pair; keeps the line ending. */
function cutLine(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const lineEnd = line.endsWith('\n') ? '\n' : '';
  if (line.length - lineEnd.length <= limit) return line;
  const unit = line.charCodeAt(limit - 1);
  const end = unit >= 0xd800 && unit <= 0xdbff ? limit - 1 : limit;
  return `${line.slice(0, end)}…${lineEnd}`;
}

const MAX_NAMED = 8;

function longLineNotes(lines: readonly number[], limit: number): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_NAMED ? ` and ${String(lines.length - MAX_NAMED)} more` : '';
  const named = `${lines.slice(0, MAX_NAMED).join(', ')}${more}`;
  return [`only the first ${String(limit)} characters are shown of line${lines.length === 1 ? '' : 's'} ${named}`];
}

function rangeText(range: NonNullable<OfType<Action, 'read_file'>['lines']> | undefined): string {
  return `lines ${String(range?.from ?? 1)} to ${range?.to === undefined ? 'the end' : String(range.to)}`;
}
