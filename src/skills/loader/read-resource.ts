import { isUtf8 } from 'node:buffer';

import {
  codePointAt,
  countCharacters,
  countLines,
  countText,
  failure,
  detectMediaType,
  nearest,
  offsetOfLine,
  quoted,
  startOfText,
  toRelativePath,
  type RelativePath,
  type Observation,
  type OfType,
  type Action,
  isProblem,
} from '#core';
import { findSection, listHeadings } from './markdown-sections.ts';
import { sha256, shownText, type ConfinedDirectory } from '#platform';
import { listFiles } from './files.ts';
import { failed, fileFailure, inSkill, type Failed, type SkillLocation } from './skill-directory.ts';
import { isOfferedPath } from './file-kind.ts';

type LineRange = NonNullable<OfType<Action, 'read_file'>['lines']>;

/** The default length of one answer. */
const MAX_RESOURCE_CHARACTERS = 12_000;

export interface ReadResourceOptions {
  /** The heading of the section to read. */
  readonly section?: string;
  /** Lines of the whole file; takes precedence over `section`. */
  readonly lines?: LineRange;
  /** The position in the text to start at; takes precedence over both. */
  readonly offset?: number;
  /** Larger files are rejected (default: 2,000,000, or more if one answer can hold more). */
  readonly maxBytes?: number;
  /** The maximum length of one answer (default: 12,000). */
  readonly maxCharacters?: number | undefined;
}

export interface ReadFile extends Omit<OfType<Observation, 'resource-read'>, 'type' | 'action' | 'skill'> {
  readonly type: 'read';
}

/** Reads one file of a skill, or the requested part of it. */
export function readResourceFile(
  skill: SkillLocation,
  path: string,
  options: ReadResourceOptions = {},
): ReadFile | Failed {
  // A character has at most 4 bytes.
  const { maxCharacters = MAX_RESOURCE_CHARACTERS, maxBytes = Math.max(2_000_000, 4 * maxCharacters) } = options;
  const asked = toRelativePath(path);
  if (isProblem(asked)) return failed(asked);
  return inSkill(skill, (directory) => {
    if (!isOfferedPath(asked)) return notOffered(directory, skill, asked);
    const read = directory.read(asked, { maxBytes });
    if (read.type === 'read') return describe(skill, asked, read.bytes, options);
    const meant = read.code === 'file/missing' ? nearest(asked, offeredPaths(directory)) : [];
    return fileFailure(skill, asked, read, meant);
  });
}

/** A missing file is reported before a file that is not offered, because the name may be misspelled. */
function notOffered(directory: ConfinedDirectory, skill: SkillLocation, path: RelativePath): Failed {
  const found = directory.resolve(path, { allowHardLinks: true });
  const meant = nearest(path, offeredPaths(directory));
  if (found.type === 'failed') return fileFailure(skill, path, found, meant);
  const message = `${quoted(path, 200)} is not among the files that the skill ${quoted(skill.name)} offers`;
  return failed(failure('path/not-offered', message, { nearest: meant }));
}

function offeredPaths(directory: ConfinedDirectory): readonly string[] {
  return listFiles(directory)
    .files.map(({ path }) => path)
    .filter(isOfferedPath);
}

function describe(
  skill: SkillLocation,
  path: RelativePath,
  bytes: Buffer,
  options: ReadResourceOptions,
): ReadFile | Failed {
  const { mediaType, isBinary } = detectMediaType(path, bytes);
  // No spread, which takes longer than hashing a small file.
  const reportOf = (characters: number): OfType<Observation, 'skill-loaded'>['report'] => ({
    path,
    digest: `sha256:${sha256(bytes)}`,
    bytes: bytes.length,
    reference: `skill://${skill.name}/${path}`,
    characters,
    truncated: false,
  });
  if (isBinary) return binaryFile(mediaType, reportOf(0));
  if (!isUtf8(bytes)) return failed(failure('file/not-utf8', `${quoted(path, 200)} is text in another encoding`));
  const { text, notes } = shownText(bytes);
  const totalLines = countLines(text);
  const asked = choosePart(text, totalLines, options);
  if (asked.type === 'outside') {
    const hint = asked.hint;
    return failed(
      failure('lines/invalid', `${quoted(path, 200)} has ${asked.size}; ${asked.requested} requested`, { hint }),
    );
  }
  const shown = showPart(text, asked, options.maxCharacters ?? MAX_RESOURCE_CHARACTERS);
  const report = reportOf(countCharacters(shown.text));
  return {
    type: 'read',
    mediaType,
    isBinary,
    text: shown.text,
    lines: shown.lines,
    totalLines,
    report: shown.next === undefined ? report : { ...report, truncated: true, next: shown.next },
    notes: [...asked.notes, ...notes],
    headings: asked.headings,
  };
}

function binaryFile(mediaType: string, report: OfType<Observation, 'skill-loaded'>['report']): ReadFile {
  return {
    type: 'read',
    mediaType,
    isBinary: true,
    text: '',
    lines: { from: 0, to: 0 },
    totalLines: 0,
    report,
    notes: [],
    headings: [],
  };
}

/** A part of a text: offsets and the number of its first line. */
interface Part {
  readonly type: 'part';
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly notes: readonly string[];
  readonly headings: readonly string[];
}

type Choice =
  | Part
  | { readonly type: 'outside'; readonly size: string; readonly requested: string; readonly hint?: string };

function choosePart(text: string, totalLines: number, { section, lines, offset }: ReadResourceOptions): Choice {
  const whole: Part = { type: 'part', start: 0, end: text.length, line: 1, notes: [], headings: [] };
  if (offset !== undefined && offset > 0) return chooseRest(text, offset);
  if (lines !== undefined) return chooseLines(text, totalLines, lines);
  if (section === undefined) return whole;
  const found = findSection(text, section);
  if (found !== undefined) return { ...whole, start: found.start, end: found.end, line: found.line };
  const notes = [`section ${quoted(section)} not found; this is the start of the file`];
  return { ...whole, notes, headings: listHeadings(text) };
}

function chooseRest(text: string, offset: number): Choice {
  if (offset >= text.length)
    return {
      type: 'outside',
      size: countText(text.length, 'character'),
      requested: `offset ${String(offset)} was`,
      hint: 'use the offset in characters that the note of a cut file names, or none',
    };
  // An offset that the caller made up may be inside a surrogate pair.
  const start = codePointAt(text, offset - 1) > 0xffff ? offset - 1 : offset;
  const line = countLines(text.slice(0, start)) + (text[start - 1] === '\n' ? 1 : 0);
  return { type: 'part', start, end: text.length, line, notes: [], headings: [] };
}

/** A last line beyond the end of the file means the end. */
function chooseLines(text: string, totalLines: number, lines: LineRange): Choice {
  const { from, to = totalLines } = lines;
  const isRange = Number.isInteger(from) && Number.isInteger(to) && from >= 1 && from <= to && from <= totalLines;
  const start = isRange ? offsetOfLine(text, from - 1) : undefined;
  if (start === undefined)
    return { type: 'outside', size: countText(totalLines, 'line'), requested: `${rangeText(lines)} were` };
  return { type: 'part', start, end: offsetOfLine(text, to) ?? text.length, line: from, notes: [], headings: [] };
}

function rangeText({ from, to }: LineRange): string {
  return `lines ${String(from)} to ${to === undefined ? 'the end' : String(to)}`;
}

interface ShownPart {
  readonly text: string;
  readonly lines: Required<LineRange>;
  /** Where to continue, if the part was cut. */
  readonly next?: number;
}

function showPart(text: string, { start, end, line }: Part, maxCharacters: number): ShownPart {
  const part = text.slice(start, end);
  const shown = startOfText(part, maxCharacters);
  const count = countLines(shown);
  const lines = count === 0 ? { from: 0, to: 0 } : { from: line, to: line + count - 1 };
  const isCut = shown.length < part.length;
  return { text: shown, lines, ...(isCut ? { next: start + shown.length } : {}) };
}
