import type { JsonPath } from './json-schema.ts';

interface Position {
  readonly line: number;
  readonly column: number;
}

/** What the parsed value of a JSON text does not tell. */
export interface JsonText {
  /** Maximum nesting depth. */
  readonly depth: number;
  /** Duplicate keys; `JSON.parse` silently keeps the last one. */
  readonly repeated: readonly JsonPath[];
  /** Position of the key or value at a path, or of the nearest existing ancestor. */
  locate(path: JsonPath): Position;
}

interface JsonNode {
  readonly offset: number;
  readonly below: Map<string | number, JsonNode>;
}

interface OpenValue {
  readonly place: JsonNode;
  readonly isList: boolean;
  /** The entry being read and its key; undefined before a key and after a comma. */
  entry: JsonNode | undefined;
  key: string | number;
}

/** Scans a text that `JSON.parse` accepts. One pass without recursion, because depth and length are untrusted. */
export function readJsonText(text: string): JsonText {
  const root: JsonNode = { offset: 0, below: new Map() };
  const repeated: JsonPath[] = [];
  const open: OpenValue[] = [];
  let depth = 0;
  /** Enters the entry whose key or value starts here. */
  const enter = (offset: number, name: () => string): JsonNode => {
    const around = open.at(-1);
    if (around === undefined) return root;
    if (around.entry !== undefined) return around.entry;
    around.key = around.isList ? around.place.below.size : name();
    if (around.place.below.has(around.key)) repeated.push(open.map(({ key }) => key));
    around.entry = { offset, below: new Map() };
    around.place.below.set(around.key, around.entry);
    return around.entry;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') {
      const start = at;
      at = endOfString(text, at);
      enter(start, () => String(JSON.parse(text.slice(start, at + 1))));
    } else if (character === '{' || character === '[') {
      open.push({ place: enter(at, () => ''), isList: character === '[', entry: undefined, key: '' });
      depth = Math.max(depth, open.length);
    } else if (character === '}' || character === ']') {
      open.pop();
    } else if (character === ',') {
      const around = open.at(-1);
      if (around !== undefined) around.entry = undefined;
    } else if (character !== ':' && character > ' ') {
      enter(at, () => '');
    }
  }
  let starts: readonly number[] | undefined;
  // Line starts are computed once, because a document may have many problems.
  const locate = (path: JsonPath): Position => positionAmong((starts ??= lineStarts(text)), findOffset(root, path));
  return { depth, repeated, locate };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function positionAmong(starts: readonly number[], offset: number): Position {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at;
}

function findOffset(root: JsonNode, path: JsonPath): number {
  let place = root;
  for (const key of path) {
    const next = place.below.get(key);
    if (next === undefined) break;
    place = next;
  }
  return place.offset;
}

export function positionOf(text: string, offset: number): Position {
  return positionAmong(lineStarts(text), offset);
}
