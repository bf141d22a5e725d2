import { isUtf8 } from 'node:buffer';
import { parentPort, workerData } from 'node:worker_threads';

import { detectMediaType, type RelativePath } from '#core';
import { openConfined, shownText, type ConfinedDirectory } from '#platform';

/** Policy has decided on the files; the worker opens them without following links. */
export interface GrepRequest {
  readonly root: string;
  readonly files: readonly RelativePath[];
  readonly pattern: string;
  readonly flags: string;
  readonly allowHardLinks: boolean;
  readonly maxMatches: number;
  readonly maxFileBytes: number;
  readonly maxBytes: number;
  readonly maxLineCharacters: number;
}

interface GrepMatch {
  readonly file: RelativePath;
  readonly line: number;
  readonly text: string;
}

export type GrepAnswer =
  | {
      readonly type: 'found';
      readonly matches: readonly GrepMatch[];
      readonly files: number;
      readonly notText: number;
      readonly tooLarge: number;
      readonly unreadable: number;
      readonly isCut: boolean;
    }
  /** The engine failed: the expression is too large or too deeply nested. */
  | { readonly type: 'given-up'; readonly reason: string };

interface Search extends GrepRequest {
  readonly expression: RegExp;
  readonly matches: GrepMatch[];
  bytes: number;
  searched: number;
  notText: number;
  tooLarge: number;
  unreadable: number;
  isCut: boolean;
}

function search(request: GrepRequest): GrepAnswer {
  const opening = openConfined(request.root);
  const state: Search = {
    ...request,
    expression: new RegExp(request.pattern, request.flags),
    matches: [],
    bytes: 0,
    searched: 0,
    notText: 0,
    tooLarge: 0,
    unreadable: opening.type === 'failed' ? request.files.length : 0,
    isCut: false,
  };
  if (opening.type === 'open') {
    for (const file of request.files) {
      if (state.isCut) break;
      searchFile(state, opening.directory, file);
    }
    opening.directory.close();
  }
  const { matches, searched, notText, tooLarge, unreadable, isCut } = state;
  return { type: 'found', matches, files: searched, notText, tooLarge, unreadable, isCut };
}

function searchFile(state: Search, directory: ConfinedDirectory, file: RelativePath): void {
  const { allowHardLinks, maxFileBytes } = state;
  const read = directory.read(file, { maxBytes: maxFileBytes, followLinks: false, allowHardLinks });
  if (read.type === 'failed') {
    if (read.code === 'file/too-large') state.tooLarge += 1;
    else state.unreadable += 1;
    return;
  }
  state.bytes += read.bytes.length;
  if (state.bytes > state.maxBytes) state.isCut = true;
  else if (!isText(file, read.bytes)) state.notText += 1;
  else {
    state.searched += 1;
    // Searches the text as it is shown: hidden characters inside a word do not hide it.
    searchText(state, file, shownText(read.bytes).text);
  }
}

/** Bytes used to detect the media type: checking every byte would take longer than the search. */
const START = 16 * 1024;

function isText(file: RelativePath, bytes: Buffer): boolean {
  return !bytes.includes(0) && isUtf8(bytes) && !detectMediaType(file, bytes.subarray(0, START)).isBinary;
}

function searchText(state: Search, file: RelativePath, text: string): void {
  for (let at = 0, line = 1; at < text.length; line += 1) {
    const lineEnd = text.indexOf('\n', at);
    const end = lineEnd === -1 ? text.length : lineEnd;
    const content = text.slice(at, end);
    at = end + 1;
    const match = state.expression.exec(content);
    if (match === null) continue;
    if (state.matches.length >= state.maxMatches) {
      state.isCut = true;
      return;
    }
    state.matches.push({ file, line, text: excerpt(content, match.index, state.maxLineCharacters) });
  }
}

/** The start of a line, or the part around the match if it is further on. Never splits a surrogate pair. */
function excerpt(line: string, at: number, limit: number): string {
  if (line.length <= limit) return line;
  const start = at < limit / 2 ? 0 : boundary(line, at - Math.floor(limit / 4));
  const end = boundary(line, Math.min(line.length, start + limit));
  return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`;
}

function boundary(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

function answer(request: GrepRequest): GrepAnswer {
  try {
    return search(request);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return { type: 'given-up', reason: error.message };
    throw error;
  }
}

if (parentPort !== null) parentPort.postMessage(answer(workerData));
