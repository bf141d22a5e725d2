/**
 * What the quick reader saw that is to be told, a number for each: a scan of very many skills holds them until somebody asks. Each is a
 * kind and the start of the line that it is of.
 */
import { MAX_COMPATIBILITY, MAX_DESCRIPTION } from './assemble.ts';
import { MAX_LINE, MAX_LINES } from './checks.ts';
import type { SkillHead } from '../core/skill.ts';

export type Notes = readonly number[];

export const UNKNOWN_FIELD = 0;
export const EXTENSION_FIELD = 1;
/** The name is not that of the folder, or none that keeps the rules. */
export const ODD_NAME = 2;
/** Commas between tools. */
export const SEPARATOR = 3;
/** Under `metadata`: a list, a map on the lines below, a number or a boolean without quotes. */
export const META_LIST = 4;
export const META_MAP = 5;
export const META_UNQUOTED = 6;
export const LONG_LINE = 7;
/** Angle brackets in the description. */
export const LESS_SIGN = 8;
export const GREATER_SIGN = 9;
/** A colon in the description that breaks YAML. */
export const UNQUOTED_COLON = 10;
const KIND_BITS = 4;
const KIND_MASK = (1 << KIND_BITS) - 1;

/** With so many no limit on what is told of one file is near. */
const MAX_NOTES = 30;
/** No line that is read by itself is shorter, its end included. */
const SHORTEST_LINE = 3;

export function noteOf(kind: number, line: number): number {
  return (line << KIND_BITS) | kind;
}

export function kindOf(note: number): number {
  return note & KIND_MASK;
}

/** Of its line. */
export function startOf(note: number): number {
  return note >> KIND_BITS;
}

/** Puts a note among those of the lines before and after: what is told in order need not be sorted. */
export function insertNote(notes: number[], note: number): void {
  let at = notes.length;
  while (at > 0 && (notes[at - 1] ?? 0) > note) at -= 1;
  notes.splice(at, 0, note);
}

/** What a list holds, with room for no more; the list is empty then, and has room for the next. That is why it is not cut. */
export function takeAll<T>(list: T[]): T[] {
  const all = list.slice();
  while (list.length > 0) list.pop();
  return all;
}

export function hasBracket(text: string): boolean {
  return text.includes('<') || text.includes('>');
}

/**
 * With what the head and the length of lines say, which is looked at when somebody asks; nothing where few files come, and the full
 * readers must be asked.
 */
export function completeNotes(
  text: string,
  { description, compatibility }: SkillHead,
  notes: Notes,
): Notes | undefined {
  if (description.length > MAX_DESCRIPTION || notes.length > MAX_NOTES) return undefined;
  if (compatibility !== undefined && compatibility.length > MAX_COMPATIBILITY) return undefined;
  const isMarked = hasBracket(description);
  if (!isMarked && text.length <= MAX_LINE) return notes;
  const all = notes.slice();
  if (isMarked) {
    const sign = description.includes('<') ? LESS_SIGN : GREATER_SIGN;
    insertNote(all, noteOf(sign, text.indexOf('\ndescription:') + 1));
  }
  noteLongLines(all, text);
  return all;
}

/** Notes the lines that are too long. Steps from line to line only where one could be. */
function noteLongLines(notes: number[], text: string): void {
  let line = 0;
  while (text.length - line > MAX_LINE) {
    const feed = text.lastIndexOf('\n', line + MAX_LINE);
    if (feed >= line) line = feed + 1;
    else {
      insertNote(notes, noteOf(LONG_LINE, line));
      line = text.indexOf('\n', line) + 1;
    }
  }
}

/** `isLineByLine`: no line of it is blank or a comment. */
export function hasFewLines(text: string, isLineByLine: boolean): boolean {
  if (isLineByLine && text.length <= MAX_LINES * SHORTEST_LINE) return true;
  let count = 0;
  for (let feed = text.indexOf('\n'); feed !== -1; feed = text.indexOf('\n', feed + 1)) count += 1;
  return count <= MAX_LINES;
}
