/** The files of its own that a skill's body points at. */
import { fenceAfter } from '#core';

export interface LocalLink {
  readonly target: string;
  /** 1-based, in the file. */
  readonly line: number;
  readonly column: number;
}

const MAX_TARGET = 1000;
const FOLDERS = ['scripts/', 'references/', 'reference/', 'assets/'];
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const PLACEHOLDER = /[<>{}$*|"\\]|\.\.\./;

/**
 * Relative targets of links and images, and paths in inline code that start with a folder of a skill; not in fenced code, no
 * addresses, no anchors. `firstLine` is the line of the file that the body starts on.
 */
export function localLinks(body: string, firstLine: number): readonly LocalLink[] {
  const links: LocalLink[] = [];
  let fence: string | undefined;
  let start = 0;
  for (let line = firstLine; start < body.length; line += 1) {
    const feed = body.indexOf('\n', start);
    const end = feed === -1 ? body.length : feed;
    const text = body.slice(start, end);
    if (fence !== undefined) {
      fence = fenceAfter(text, fence);
    } else {
      fence = fenceAfter(text);
      if (fence === undefined) collect(text, line, links);
    }
    start = end + 1;
  }
  return links;
}

function collect(text: string, line: number, links: LocalLink[]): void {
  let at = 0;
  while (at < text.length) {
    const tick = text.indexOf('`', at);
    const link = text.indexOf('](', at);
    if (tick === -1 && link === -1) break;
    if (tick !== -1 && (link === -1 || tick < link)) at = collectCode(text, tick, line, links);
    else at = collectLink(text, link + 2, line, links);
  }
  const definition = text.startsWith('[') ? text.indexOf(']: ') : -1;
  if (definition !== -1 && definition < MAX_TARGET) collectLink(text, definition + 3, line, links);
}

/** Inline code from the backtick at `tick`; gives where to go on. */
function collectCode(text: string, tick: number, line: number, links: LocalLink[]): number {
  let start = tick;
  while (text.charCodeAt(start) === 0x60) start += 1;
  const marks = text.slice(tick, Math.min(start, tick + 10));
  const close = text.slice(start, start + MAX_TARGET).indexOf(marks);
  if (close === -1) return start;
  const code = text.slice(start, start + close);
  const from = code.startsWith(' ') ? 1 : 0;
  const end = endOfWord(code, from);
  const word = code.slice(from, end).replace(/^\.\//, '');
  if (FOLDERS.some((folder) => word.startsWith(folder) && word.length > folder.length) && !PLACEHOLDER.test(word)) {
    links.push({ target: withoutTrailing(word), line, column: start + from + 1 });
  }
  return start + close + marks.length;
}

function collectLink(text: string, from: number, line: number, links: LocalLink[]): number {
  const angled = text.charCodeAt(from) === 0x3c;
  const start = angled ? from + 1 : from;
  const limit = Math.min(text.length, start + MAX_TARGET);
  let depth = 0;
  let end = start;
  while (end < limit) {
    const code = text.charCodeAt(end);
    if (angled ? code === 0x3e : code === 0x20 || code === 0x09 || (code === 0x29 && depth === 0)) break;
    if (code === 0x28) depth += 1;
    else if (code === 0x29) depth -= 1;
    end += 1;
  }
  const target = localTarget(text.slice(start, end));
  if (target !== undefined) links.push({ target, line, column: start + 1 });
  return end;
}

function localTarget(raw: string): string | undefined {
  const path = raw.split(/[#?]/, 1)[0] ?? '';
  if (path === '' || path.startsWith('/') || path.startsWith('~') || SCHEME.test(path) || PLACEHOLDER.test(path))
    return undefined;
  return decoded(path.replace(/^\.\//, ''));
}

/** Decodes `%20` and other escapes; invalid escapes stay unchanged. */
function decoded(path: string): string | undefined {
  if (!path.includes('%')) return path === '' ? undefined : path;
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}

function endOfWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) > 0x20) at += 1;
  return at;
}

/** Punctuation and line references that prose puts after a path. */
function withoutTrailing(path: string): string {
  return path.replace(/[,;:]$/, '').split(/[#?]/, 1)[0] ?? path;
}
