/** Checks that need no parsing: size limits, line ends, byte order marks, hidden characters. */
import { MAX_FRONTMATTER_BYTES } from './bounds.ts';
import { isSpecified } from './fields.ts';
import type { Fences } from './fences.ts';
import type { MapNode, ScalarNode, YamlNode } from './node.ts';
import { addDiagnostic, type Report } from './report.ts';
import type { HeadSource } from './source.ts';
import { foldYaml, replacing } from './write.ts';
import { cleanText, countCharacters, findHidden, quoted } from '#core';

const MAX_LINES = 200;
const MAX_LINE = 500;

/** Limits of the specification, in characters. */
export const MAX_DESCRIPTION = 1024;
export const MAX_COMPATIBILITY = 500;

export function checkFile(report: Report, { fileName, text, validUtf8 }: HeadSource): void {
  if (fileName !== 'SKILL.md') {
    addDiagnostic(report, { code: 'file/case', at: 0, message: 'the file is called skill.md, expected SKILL.md' });
  }
  if (!validUtf8) {
    const at = Math.max(0, text.indexOf('\ufffd'));
    addDiagnostic(report, { code: 'file/not-utf8', at, message: 'the bytes here are not UTF-8' });
  }
  if (text.charCodeAt(0) === 0xfeff) {
    const edit = { offset: 0, length: 1, text: '' };
    addDiagnostic(report, { code: 'frontmatter/bom', at: 0, message: 'the file starts with a byte order mark', edit });
  }
}

export function isTooLarge(text: string, length: number): boolean {
  if (length > MAX_FRONTMATTER_BYTES) return true;
  return (
    length * 3 > MAX_FRONTMATTER_BYTES && new TextEncoder().encode(text.slice(0, length)).length > MAX_FRONTMATTER_BYTES
  );
}

export function checkText(report: Report, fences: Fences, map: MapNode): void {
  const { text } = report;
  checkFences(report, fences);
  const lineEnd = text.indexOf('\r\n');
  if (lineEnd !== -1 && lineEnd < fences.end) checkLineEnds(report, lineEnd);
  checkLines(report, fences, map);
  if (!report.isVisible) checkHidden(report, text.slice(fences.start, fences.close), fences.start);
}

/** `>` and `<` as they are written, except the mark of a folded text: `description: >-`. */
const ANGLE = /[<>]/g;
const FOLDED = /[:-][ \t]+>[-+0-9]*[ \t]*(?:#.*)?\r?$/;

/**
 * Reports the first `<` or `>` of the frontmatter: it becomes a part of what models see, where it could open or close a tag. Returns
 * whether there is one.
 */
export function checkAngleBrackets(report: Report, { start, close }: Fences, map: MapNode): boolean {
  const { text } = report;
  ANGLE.lastIndex = start;
  for (let found = ANGLE.exec(text); found !== null && found.index < close; found = ANGLE.exec(text)) {
    const at = found.index;
    const feed = text.indexOf('\n', at);
    const line = text.slice(text.lastIndexOf('\n', at) + 1, feed === -1 ? text.length : feed);
    if (found[0] === '>' && FOLDED.test(line) && text.slice(at + 1, feed).replaceAll(/[-+0-9 \t\r]|#.*/g, '') === '')
      continue;
    const key = map.entries.findLast(({ keyStart }) => keyStart <= at)?.key;
    const field = key === undefined ? 'the frontmatter' : key === 'description' ? 'the description' : key;
    const before = text.slice(text.lastIndexOf('\n', at) + 1, at);
    const place = /(?:^|\s)#/.test(before) && !isWithin(map, at, before) ? 'a comment' : field;
    addDiagnostic(report, {
      code: 'text/angle-brackets',
      at,
      message: `${found[0]} in ${quoted(place).slice(1, -1)}`,
      isError: true,
    });
    return true;
  }
  return false;
}

/** Whether an offset is in a key or value. `before` is its line up to there: a `#` in the first column ends a block scalar. */
function isWithin(node: YamlNode, at: number, before: string): boolean {
  if (node.type === 'scalar')
    return node.start <= at && at < node.end && !(node.style === 'block' && before.startsWith('#'));
  if (node.type === 'list') return node.items.some((item) => isWithin(item, at, before));
  return node.entries.some(
    ({ keyStart, keyEnd, value }) =>
      (keyStart <= at && at < keyEnd) || (value !== undefined && isWithin(value, at, before)),
  );
}

function checkFences(report: Report, { open, openRest, close, closeLine }: Fences): void {
  const { text } = report;
  const mark = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  if (open > mark) {
    const edit = { offset: mark, length: open - mark, text: '' };
    addDiagnostic(report, {
      code: 'frontmatter/fence',
      at: open,
      message: 'blank space precedes the opening ---',
      edit,
    });
  }
  if (openRest !== '') {
    const edit = { offset: open + 3, length: openRest.length, text: '' };
    const spaced = openRest.trim() === '';
    addDiagnostic(report, {
      code: spaced ? 'frontmatter/fence-spaces' : 'frontmatter/fence',
      at: open + 3,
      message: `${spaced ? 'spaces follow' : 'text follows'} the opening ---`,
      edit,
    });
  }
  if (closeLine !== '---') {
    const edit = { offset: close, length: closeLine.length, text: '---' };
    const spaced = closeLine.startsWith('---') && closeLine.slice(3).trim() === '';
    addDiagnostic(report, {
      code: spaced ? 'frontmatter/fence-spaces' : 'frontmatter/fence',
      at: spaced ? close + 3 : close,
      message: spaced
        ? 'spaces follow the closing ---'
        : `the closing line is ${closeLine.trim().slice(0, 10)}, expected ---`,
      edit,
    });
  }
}

function checkLineEnds(report: Report, first: number): void {
  const { text } = report;
  const last = text.lastIndexOf('\r\n') + 2;
  addDiagnostic(report, {
    code: 'frontmatter/crlf',
    at: first,
    message: 'lines end with CR LF',
    edit: { offset: first, length: last - first, text: text.slice(first, last).replaceAll('\r\n', '\n') },
  });
}

function checkLines(report: Report, { start, close }: Fences, map: MapNode): void {
  const { text } = report;
  let count = 0;
  for (let line = start; line < close;) {
    const feed = text.indexOf('\n', line);
    count += 1;
    if (count === MAX_LINES + 1) {
      const message = `more than ${MAX_LINES} lines of frontmatter`;
      addDiagnostic(report, { code: 'frontmatter/too-many-lines', at: line, message });
    }
    if (feed - line > MAX_LINE) reportLongLine(report, line, feed, map);
    line = feed + 1;
  }
}

function reportLongLine(report: Report, line: number, feed: number, map: MapNode): void {
  const content = report.text.slice(line, report.text.charCodeAt(feed - 1) === 0x0d ? feed - 1 : feed);
  if (countCharacters(content) <= MAX_LINE || isLineOfSpecifiedField(report.text, map, line, feed)) return;
  // Folding takes time, and only strict mode is used to fix files.
  const value = report.mode === 'strict' ? valueOnLine(map, line, feed) : undefined;
  const folded = value === undefined ? undefined : foldYaml(value.value);
  addDiagnostic(report, {
    code: 'frontmatter/line-too-long',
    at: line + MAX_LINE,
    message: `the line has ${content.length} characters, expected at most ${MAX_LINE}`,
    edit: value === undefined || folded === undefined ? undefined : replacing(value, folded),
  });
}

/** Whether the line is part of a field of the specification, which has a limit of its own or none, so its length is never an error. */
function isLineOfSpecifiedField(text: string, map: MapNode, line: number, feed: number): boolean {
  const entry = map.entries.findLast(({ keyStart }) => keyStart < feed);
  const value =
    entry?.key === 'metadata' && entry.value?.type === 'map'
      ? entry.value.entries.findLast(({ keyStart }) => keyStart < feed)?.value
      : entry?.value;
  if (!isSpecified(entry?.key) || value?.type !== 'scalar' || text.charAt(line) === '#') return false;
  // A comment before or after the value on this line is not part of it.
  return value.start < feed && value.end >= feed - 1;
}

/** The value of a top-level field that starts and ends on the line, with nothing after it. */
function valueOnLine(map: MapNode, line: number, feed: number): ScalarNode | undefined {
  for (const { value } of map.entries) {
    if (
      value?.type === 'scalar' &&
      value.style !== 'block' &&
      value.start > line &&
      value.end <= feed &&
      value.end >= feed - 1
    )
      return value;
  }
  return undefined;
}

/** Reports each kind once; the edit cleans the text from the first hidden character to the end of the last one's line. */
function checkHidden(report: Report, inner: string, offset: number): void {
  let first = -1;
  let last = -1;
  const seen = new Set<string>();
  const found: { readonly kind: 'control' | 'hidden'; readonly at: number; readonly codePoint: number }[] = [];
  for (let next = findHidden(inner); next !== undefined; next = findHidden(inner, next.index + 1)) {
    if (first === -1) first = next.index;
    last = next.index;
    if (!seen.has(next.kind)) found.push({ kind: next.kind, at: next.index, codePoint: next.codePoint });
    seen.add(next.kind);
  }
  if (first === -1) return;
  const end = inner.indexOf('\n', last);
  const edit = { offset: offset + first, length: end - first, text: cleanText(inner.slice(first, end)) };
  for (const { kind, at, codePoint } of found) {
    const name = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
    addDiagnostic(report, {
      code: kind === 'control' ? 'text/control-characters' : 'text/hidden-characters',
      at: offset + at,
      message: `${name} in the frontmatter, expected visible text`,
      edit,
    });
  }
}
