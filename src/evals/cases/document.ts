/** Parses a case file (JSON, JSON lines, YAML, CSV or Markdown) into a value with positions. */
import path from 'node:path';
import { LineCounter, isAlias, isMap, isNode, isPair, isScalar, isSeq, parseDocument, type Document } from 'yaml';

import { isObject, positionOf, readJsonText, type JsonPath } from '#core';
import { jsonErrorOffset } from '#agent';

type Position = ReturnType<typeof positionOf>;

export interface CaseDocument {
  readonly value: unknown;
  /** Duplicate keys, of which only the last counts. */
  readonly repeated: readonly JsonPath[];
  readonly locate: (path: JsonPath) => Position;
}

export type DocumentReading =
  | { readonly type: 'read'; readonly document: CaseDocument }
  | { readonly type: 'broken'; readonly at: Position; readonly reason: string; readonly hint: string };

export const CASE_FILE_ENDINGS: readonly string[] = ['.json', '.jsonl', '.ndjson', '.yaml', '.yml', '.csv'];

/** Deeper than any real case; code may recurse to this depth. */
const MAX_DEPTH = 64;
/** The YAML library needs up to 15 µs per character. */
const MAX_YAML_CHARACTERS = 1024 * 1024;
const MAX_ALIASES = 1000;
export const TOP: Position = { line: 1, column: 1 };

export function readDocument(file: string, source: string): DocumentReading {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  switch (path.extname(file).toLowerCase()) {
    case '.csv':
      return csvDocument(text);
    case '.yaml':
    case '.yml':
      return yamlDocument(text);
    case '.jsonl':
    case '.ndjson':
      return linesDocument(text);
    case '.md':
      return markdownDocument(text);
    case '.txt':
    case '.j2':
      return { type: 'read', document: { value: text, repeated: [], locate: () => TOP } };
    default:
      return jsonDocument(text);
  }
}

function jsonDocument(text: string): DocumentReading {
  const parsed = parseJson(text);
  if (parsed.type === 'broken') return parsed;
  const read = readJsonText(text);
  if (read.depth > MAX_DEPTH) return tooDeep();
  const { repeated } = read;
  return { type: 'read', document: { value: parsed.value, repeated, locate: (path) => read.locate(path) } };
}

type ParsedJson =
  | { readonly type: 'parsed'; readonly value: unknown }
  | Extract<DocumentReading, { readonly type: 'broken' }>;

function parseJson(text: string, line = 0): ParsedJson {
  try {
    return { type: 'parsed', value: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const at = positionOf(text, jsonErrorOffset(text));
    const hint = 'fix the JSON: check for a missing or extra comma, quote or bracket';
    return { type: 'broken', at: { line: at.line + line, column: at.column }, reason: 'invalid JSON', hint };
  }
}

function linesDocument(text: string): DocumentReading {
  const values: unknown[] = [];
  const places: { readonly line: number; readonly locate: (path: JsonPath) => Position }[] = [];
  const repeated: JsonPath[] = [];
  for (const [line, written] of text.split('\n').entries()) {
    if (written.trim() === '') continue;
    const parsed = parseJson(written, line);
    if (parsed.type === 'broken') return parsed;
    const read = readJsonText(written);
    if (read.depth > MAX_DEPTH) return tooDeep();
    repeated.push(...read.repeated.map((found) => [values.length, ...found]));
    values.push(parsed.value);
    places.push({ line, locate: (path) => read.locate(path) });
  }
  const locate = ([index, ...rest]: JsonPath): Position => {
    const place = places[Number(index)];
    if (place === undefined) return TOP;
    const { line, column } = place.locate(rest);
    return { line: line + place.line, column };
  };
  return { type: 'read', document: { value: values, repeated, locate } };
}

function yamlDocument(text: string): DocumentReading {
  if (text.length > MAX_YAML_CHARACTERS) {
    const reason = `the file has ${String(text.length)} characters of YAML; the limit is ${String(MAX_YAML_CHARACTERS)}`;
    return { type: 'broken', at: TOP, reason, hint: 'split the file, or convert it to JSON' };
  }
  try {
    return parsedYaml(text);
  } catch (error) {
    // The library is recursive.
    if (error instanceof RangeError) return tooDeep();
    throw error;
  }
}

function parsedYaml(text: string): DocumentReading {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    strict: true,
    stringKeys: true,
    uniqueKeys: true,
    merge: true,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: lines,
  });
  const locateOffset = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const [error] = document.errors;
  if (error?.code === 'RESOURCE_EXHAUSTION') return tooDeep();
  if (error !== undefined) {
    const isRepeated = error.code === 'DUPLICATE_KEY';
    const reason = isRepeated ? 'duplicate key' : `invalid YAML (${error.code.toLowerCase()})`;
    const hint = isRepeated ? 'remove one of them' : 'fix the indentation, or quote the text';
    return { type: 'broken', at: locateOffset(error.pos[0]), reason, hint };
  }
  const value = expandAliases(document);
  if (value === undefined) {
    const hint = 'write the values out, or move shared keys into defaults';
    return { type: 'broken', at: TOP, reason: 'the YAML aliases expand to too much', hint };
  }
  if (isDeeperThan(value.expanded, MAX_DEPTH)) return tooDeep();
  const locate = (path: JsonPath): Position => locateOffset(offsetIn(document, path));
  return { type: 'read', document: { value: value.expanded, repeated: [], locate } };
}

/** A few aliases can expand to a huge value: returns undefined for more than MAX_ALIASES, counted with those inside aliases. */
function expandAliases(document: Document.Parsed): { readonly expanded: unknown } | undefined {
  try {
    return { expanded: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

/** Front matter, and the text below it at `body`. A path of `body` and a number is that line of the text. */
function markdownDocument(text: string): DocumentReading {
  const [whole = '', front = ''] = /^---[ \t]*\r?\n([\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  const read = yamlDocument(front);
  if (read.type === 'broken') return { ...read, at: { ...read.at, line: read.at.line + 1 } };
  const { value } = read.document;
  const above = whole.split('\n').length - 1;
  const locate = ([key, line]: JsonPath): Position =>
    key === 'body' && typeof line === 'number' ? { line: above + line + 1, column: 1 } : TOP;
  const body = text.slice(whole.length).trimEnd();
  return { type: 'read', document: { value: { head: isObject(value) ? value : {}, body }, repeated: [], locate } };
}

/** The offset of the key or value; of the nearest parent if neither exists. */
function offsetIn(document: Document.Parsed, path: JsonPath): number {
  let node: unknown = document.contents;
  let offset = findStart(node);
  for (const key of path) {
    const around: unknown = isAlias(node) ? node.resolve(document) : node;
    const below: unknown = isMap(around) || isSeq(around) ? around.items[indexIn(around.items, key)] : undefined;
    if (below === undefined) return offset;
    offset = findStart(isPair(below) ? below.key : below, offset);
    node = isPair(below) ? below.value : below;
  }
  return offset;
}

function indexIn(items: readonly unknown[], key: string | number): number {
  return typeof key === 'number'
    ? key
    : items.findIndex((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === key);
}

function findStart(node: unknown, otherwise = 0): number {
  return isNode(node) ? (node.range?.[0] ?? otherwise) : otherwise;
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((item) => isDeeperThan(item, depth - 1));
}

function csvDocument(text: string): DocumentReading {
  const read = readCsv(text);
  if (read.type === 'broken') return { ...read, hint: 'close the quote; a quote inside quotes is written twice' };
  const [header = [], ...rows] = read.rows;
  const names = header.map(({ text: written }) => {
    const words = written.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').trim();
    return words.toLowerCase().replaceAll(/[\s-]+/g, '_');
  });
  const value = rows.map((cells) => {
    const named = cells.map((cell, place) => [names[place] ?? `column_${String(place + 1)}`, cell.text] as const);
    return Object.fromEntries(named.filter(([, written]) => written !== ''));
  });
  const locate = ([index, name]: JsonPath): Position => {
    const row = rows[Number(index)];
    const { line, column } = row?.[Math.max(0, names.indexOf(String(name)))] ?? row?.[0] ?? TOP;
    return { line, column };
  };
  return { type: 'read', document: { value, repeated: [], locate } };
}

function tooDeep(): DocumentReading {
  const reason = `nested deeper than ${String(MAX_DEPTH)} levels`;
  return { type: 'broken', at: TOP, reason, hint: 'check for an extra opening bracket' };
}

interface CsvCell extends Position {
  readonly text: string;
}

type CsvReading =
  | { readonly type: 'read'; readonly rows: readonly (readonly CsvCell[])[] }
  | { readonly type: 'broken'; readonly at: Position; readonly reason: string };

interface Cursor {
  readonly text: string;
  readonly separator: string;
  offset: number;
  line: number;
  lineStart: number;
}

/** Reads CSV by RFC 4180, with positions; accepts a byte order mark and CRLF or LF. Skips empty rows. */
export function readCsv(source: string): CsvReading {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const cursor: Cursor = { text, separator: detectSeparator(text), offset: 0, line: 1, lineStart: 0 };
  const rows: CsvCell[][] = [];
  let row: CsvCell[] = [];
  while (cursor.offset < text.length) {
    const at = here(cursor);
    const cell = text[cursor.offset] === '"' ? quotedCell(cursor) : plainCell(cursor);
    if (cell === undefined) return { type: 'broken', at, reason: 'unterminated quote, or text after a closing quote' };
    row.push({ ...at, text: cell });
    if (text[cursor.offset] === cursor.separator) {
      cursor.offset += 1;
      // A separator at the end of the text is followed by an empty cell.
      if (cursor.offset === text.length) row.push({ ...here(cursor), text: '' });
      continue;
    }
    endLine(cursor);
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return { type: 'read', rows: rows.filter((cells) => cells.some(({ text: found }) => found.trim() !== '')) };
}

/** Detects semicolons and tabs, which some spreadsheets write, by the first line. */
function detectSeparator(text: string): string {
  const end = text.search(/[\r\n]/);
  const first = end === -1 ? text : text.slice(0, end);
  return [',', ';', '\t'].find((separator) => first.includes(separator)) ?? ',';
}

function here({ line, offset, lineStart }: Cursor): Position {
  return { line, column: offset - lineStart + 1 };
}

function plainCell(cursor: Cursor): string {
  const start = cursor.offset;
  while (cursor.offset < cursor.text.length && !isEnd(cursor)) cursor.offset += 1;
  return cursor.text.slice(start, cursor.offset).trim();
}

function quotedCell(cursor: Cursor): string | undefined {
  const { text } = cursor;
  const pieces: string[] = [];
  for (let from = cursor.offset + 1; ;) {
    const close = text.indexOf('"', from);
    if (close === -1) return undefined;
    pieces.push(text.slice(from, close));
    countLines(cursor, from, close);
    cursor.offset = close + 1;
    if (text[close + 1] !== '"') break;
    pieces.push('"');
    from = close + 2;
  }
  while (text[cursor.offset] === ' ') cursor.offset += 1;
  return cursor.offset === text.length || isEnd(cursor) ? pieces.join('') : undefined;
}

function isEnd({ text, offset, separator }: Cursor): boolean {
  const character = text[offset];
  return character === separator || character === '\n' || character === '\r';
}

function endLine(cursor: Cursor): void {
  if (cursor.text[cursor.offset] === '\r' && cursor.text[cursor.offset + 1] === '\n') cursor.offset += 1;
  if (cursor.offset >= cursor.text.length) return;
  cursor.offset += 1;
  cursor.line += 1;
  cursor.lineStart = cursor.offset;
}

function countLines(cursor: Cursor, from: number, to: number): void {
  for (let at = cursor.text.indexOf('\n', from); at !== -1 && at < to; at = cursor.text.indexOf('\n', at + 1)) {
    cursor.line += 1;
    cursor.lineStart = at + 1;
  }
}
