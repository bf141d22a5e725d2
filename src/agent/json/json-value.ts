import type { JsonPath } from '../../core/json/json-schema.ts';

/**
 * An object or list that is not closed. Frames are used again for what comes later at the same depth: a text of small values is mostly
 * brackets, and to make a new one for each would be most of the work.
 */
interface Frame {
  isList: boolean;
  path: JsonPath;
  object: Record<string, unknown>;
  key: string;
  /** Keys that the object before it in its list had, in order; and how many of its own were the same. Below 0: one was not. */
  expected: readonly string[];
  met: number;
  /** Of a list: its items so far, with room for more behind them. They become a list of just the right size in the end. */
  readonly items: unknown[];
  count: number;
  /** The keys of the last object in the list. */
  itemKeys: readonly string[];
}

const HERE: JsonPath = [];
const NO_KEYS: readonly string[] = [];
const QUOTE = 0x22;
/** Keys of an object that are compared with the next one's. */
const MAX_KEYS = 64;
/** A list that was longer does not leave its room to the next one. */
const MAX_ROOM = 1024;

/** An object that is put together while its text is read, and where in it the reader stands. */
export class JsonValueBuilder {
  readonly #hasPaths: boolean;
  readonly #frames: Frame[] = [];
  /** The innermost object or list that is not closed. A field, because every sign asks for it. */
  #inside: Frame | undefined;
  #depth = 0;
  #path: JsonPath | undefined;

  /** Paths cost as much as small values do, and are made only where somebody wants them. */
  constructor(hasPaths: boolean) {
    this.#hasPaths = hasPaths;
  }

  get depth(): number {
    return this.#depth;
  }

  get isInList(): boolean {
    return this.#inside?.isList === true;
  }

  /** The place of the value that comes next or has just been completed. */
  path(): JsonPath {
    return (this.#path ??= pathIn(this.#inside));
  }

  open(type: 'object' | 'list'): void {
    const path = this.#hasPaths ? this.path() : HERE;
    const isList = type === 'list';
    const around = this.#inside;
    const frame = (this.#frames[this.#depth] ??= newFrame());
    frame.isList = isList;
    frame.path = path;
    frame.count = 0;
    frame.met = 0;
    frame.expected = !isList && around?.isList === true ? around.itemKeys : NO_KEYS;
    frame.itemKeys = NO_KEYS;
    if (!isList) frame.object = {};
    this.#inside = frame;
    this.#depth += 1;
    this.#path = undefined;
  }

  /** The object or list that is complete; the reader stands where it goes. */
  close(): Record<string, unknown> | unknown[] {
    const closed = this.#inside;
    if (closed === undefined) return {};
    this.#depth -= 1;
    const around = this.#depth === 0 ? undefined : this.#frames[this.#depth - 1];
    this.#inside = around;
    this.#path = closed.path;
    if (closed.isList) return listOf(closed);
    const { object, expected, met } = closed;
    closed.object = NOTHING;
    if (around?.isList === true && (met < 0 || met !== expected.length)) around.itemKeys = keysToExpect(object);
    return object;
  }

  /**
   * Takes the key that is written at a place of the text, where it is the one that the object before in the list had there; the place
   * behind its quote, or -1. Rows of a table have the same keys: they need neither be cut out nor looked up.
   */
  keyAsExpected(piece: string, at: number): number {
    const frame = this.#inside;
    if (frame === undefined || frame.met < 0) return -1;
    const key = frame.expected[frame.met];
    if (key === undefined || !piece.startsWith(key, at)) return -1;
    const end = at + key.length;
    if (piece.charCodeAt(end) !== QUOTE) return -1;
    frame.met += 1;
    frame.key = key;
    return end + 1;
  }

  /** The key of the next value; false where the object has it already. */
  key(key: string): boolean {
    const frame = this.#inside;
    if (frame === undefined || frame.isList || Object.hasOwn(frame.object, key)) return false;
    frame.met = -1;
    frame.key = key;
    return true;
  }

  add(value: unknown): void {
    const frame = this.#inside;
    this.#path = undefined;
    if (frame === undefined) return;
    if (frame.isList) {
      frame.items[frame.count] = value;
      frame.count += 1;
      // A plain assignment would make it the prototype.
    } else if (frame.key === '__proto__') define(frame.object, value);
    else frame.object[frame.key] = value;
  }
}

const NOTHING: Record<string, unknown> = {};

function newFrame(): Frame {
  return {
    isList: false,
    path: HERE,
    object: NOTHING,
    key: '',
    expected: NO_KEYS,
    met: 0,
    items: [],
    count: 0,
    itemKeys: NO_KEYS,
  };
}

function listOf(frame: Frame): unknown[] {
  const { items, count } = frame;
  const list = count === 0 ? [] : count === 1 ? [items[0]] : count === 2 ? [items[0], items[1]] : items.slice(0, count);
  // What was in it is the reader's no more.
  if (count > MAX_ROOM) items.length = 0;
  else for (let place = 0; place < count; place += 1) items[place] = undefined;
  return list;
}

/** None of an object with too many of them, or with one that cannot stand in a text as it is. */
function keysToExpect(object: Record<string, unknown>): readonly string[] {
  const keys = Object.keys(object);
  return keys.length <= MAX_KEYS && keys.every(isPlain) ? keys : NO_KEYS;
}

function isPlain(key: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/["\\\u0000-\u001f]/.test(key);
}

function pathIn(frame: Frame | undefined): JsonPath {
  if (frame === undefined) return HERE;
  const { path } = frame;
  const last = frame.isList ? frame.count : frame.key;
  const first = path[0];
  const second = path[1];
  const third = path[2];
  // Literals are made at once and just as large as they are; a copy of a list is not, nor is taking it apart.
  if (first === undefined) return [last];
  if (second === undefined) return [first, last];
  if (third === undefined) return [first, second, last];
  return path.length === 3 ? [first, second, third, last] : path.concat(last);
}

function define(object: Record<string, unknown>, value: unknown): void {
  Object.defineProperty(object, '__proto__', { value, enumerable: true, configurable: true, writable: true });
}
