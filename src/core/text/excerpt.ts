/** Excerpts of a text by lines and characters. */
import { codePointAt } from './code-point.ts';

/** The offset of line `count + 1`, if it is before `length`. */
export function offsetOfLine(text: string, count: number, length = text.length): number | undefined {
  let at = 0;
  for (let line = 0; line < count; line += 1) {
    at = text.indexOf('\n', at) + 1;
    if (at === 0 || at >= length) return undefined;
  }
  return at;
}

/** A trailing line end does not start another line. */
export function countLines(text: string): number {
  if (text === '') return 0;
  let lines = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** A cut at a line end may cost at most this share of the limit. */
const NEAR = 0.25;

/** The first `limit` code points, cut at a line end if one is close. */
export function startOfText(text: string, limit: number): string {
  const end = offsetOfCharacter(text, limit);
  if (end === text.length || text.charCodeAt(end - 1) === 0x0a) return text.slice(0, end);
  const lineEnd = text.lastIndexOf('\n', end - 1) + 1;
  return text.slice(0, lineEnd > 0 && lineEnd >= end * (1 - NEAR) ? lineEnd : end);
}

/** The offset after `count` code points, or the end. */
function offsetOfCharacter(text: string, count: number): number {
  if (text.length <= count) return text.length;
  let at = 0;
  for (let seen = 0; seen < count && at < text.length; seen += 1) at += codePointAt(text, at) > 0xffff ? 2 : 1;
  return at;
}
