/**
 * Values as a journal stores them. Long strings are put into files of their own and replaced by references; a key of a value that
 * could be taken for a reference gets one `$` more, which is taken off again on the way back. So whatever is stored comes back equal.
 */
import { SkillError } from '../core/errors.ts';
import { isObject } from '../core/json/json-schema.ts';
import { CONTENT_KINDS } from '../core/run-events.ts';
import type { ContentReference } from '../core/run-events.ts';

/** Strings of more characters are kept apart. */
export const LONG_TEXT = 4096;
/** Events whose JSON has more characters are kept apart as a whole, so that no line comes near `MAX_LINE_BYTES`. */
const LARGE_EVENT = 1024 * 1024;
/** Levels of lists and objects: what is deeper could not be walked safely. */
export const MAX_DEPTH = 200;
const START_CHARACTERS = 200;
/** A large event in a file may speak of a text in a file; nothing goes further. */
const MAX_FILES = 2;

export type Keep = (bytes: Uint8Array) => { readonly $ref: string; readonly bytes: number };
/** Gives the text in the place of text that may hold secrets. */
export type RedactText = (text: string) => string;

export interface Storing {
  /** Absent: there is no secret that could be found. */
  readonly redact?: RedactText | undefined;
  /** Absent: everything stays where it is. */
  readonly keep?: Keep;
}

/** A value as it is stored: redacted, long strings kept apart. Throws `input/invalid` for what is too deep. */
export interface StoreValue {
  (value: object): object;
  (value: unknown): unknown;
}

/** For many values: a run has thousands of events. */
export function openStore({ redact, keep }: Storing): StoreValue;
export function openStore({ redact, keep }: Storing): (value: unknown) => unknown {
  const keepLong = (text: string): unknown =>
    text.length > LONG_TEXT && keep !== undefined ? keptText(text, keep) : text;
  const markKey = (key: string): string => (key.startsWith('$') && REFERENCE_KEY.test(key) ? `$${key}` : key);
  const how: Walk =
    redact === undefined
      ? { text: keepLong, key: markKey }
      : { text: (text) => keepLong(redact(text)), key: (key) => redact(markKey(key)) };
  return (value) => walk(value, how);
}

/**
 * The JSON of a value in which nothing is to be replaced, told by its looks: it is too short for a long text and for too many levels, and
 * no key in it can be taken for a reference. Nothing where that cannot be told: most events are short, and need no walk through them.
 */
export function plainJson(value: object): string | undefined {
  let json: string;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    // Deeper than the stack, or without end: whoever walks through it says so.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
  return json.length < SHORT_JSON && !json.includes('$') ? json : undefined;
}

/** Each level takes two brackets. */
const SHORT_JSON = Math.min(2 * MAX_DEPTH, LONG_TEXT);

/** The JSON of a stored event; a very large one is a reference itself. */
export function storedJson(stored: unknown, keep: Keep): string {
  const json = JSON.stringify(stored);
  if (json.length <= LARGE_EVENT) return json;
  return JSON.stringify({ ...keep(Buffer.from(json, 'utf8')), start: '', json: true });
}

/** How a reference becomes a value again: the text of the file, or something in its place. */
export type ReadText = (reference: ContentReference) => string;

/** The value as it was given. Throws `input/invalid` for what is too deep, and what `read` throws. */
export function restoredValue(stored: unknown, read: ReadText, files = 0): unknown {
  if (files > MAX_FILES) throw tooDeep();
  return walk(stored, {
    text: (text) => text,
    key: (key) => (REFERENCE_KEY.test(key) && key !== '$ref' ? key.slice(1) : key),
    reference: (reference) => {
      const text = read(reference);
      return reference.json === true ? restoredValue(parsed(text), read, files + 1) : text;
    },
  });
}

/** Every reference in a stored value. Those inside a file that holds an event are not among them. */
export function referencesIn(stored: unknown): readonly ContentReference[] {
  const found: ContentReference[] = [];
  walk(stored, {
    text: (text) => text,
    key: (key) => key,
    reference: (reference) => {
      found.push(reference);
      return null;
    },
  });
  return found;
}

/** Reads nothing: gives the start of a text in the place of the text. Not for what is no text. */
export function startText({ start, bytes, $ref, json }: ContentReference): string {
  const text = `${start}… (${String(bytes)} bytes in ${$ref})`;
  return json === true ? JSON.stringify(text) : text;
}

/** The reference stands for a whole event and not for a text. */
export function isWholeEvent({ start, json }: ContentReference): boolean {
  return json === true && start === '';
}

const REFERENCE_KEY = /^\$+ref$/;
const REFERENCE = new RegExp(`^(?:${CONTENT_KINDS.join('|')})/[0-9a-f]{64}$`);

export function isContentPath(text: string): boolean {
  return REFERENCE.test(text);
}

export function isReference(value: unknown): value is ContentReference {
  return (
    typeof value === 'object' &&
    value !== null &&
    '$ref' in value &&
    typeof value.$ref === 'string' &&
    isContentPath(value.$ref) &&
    'bytes' in value &&
    Number.isSafeInteger(value.bytes) &&
    'start' in value &&
    typeof value.start === 'string' &&
    (!('json' in value) || value.json === true)
  );
}

/** Half a character is no UTF-8 and would come back as another one: such text is kept as JSON, which has escapes for it. */
const HALF_CHARACTER = /\p{Surrogate}/u;

function keptText(text: string, keep: Keep): ContentReference {
  const start = text.slice(0, START_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
  if (!HALF_CHARACTER.test(text)) return { ...keep(Buffer.from(text, 'utf8')), start };
  return { ...keep(Buffer.from(JSON.stringify(text), 'utf8')), start, json: true };
}

function parsed(text: string): unknown {
  return JSON.parse(text);
}

interface Walk {
  readonly text: (text: string) => unknown;
  readonly key: (key: string) => string;
  readonly reference?: (reference: ContentReference) => unknown;
}

/** The value with its texts and keys replaced; the same object where nothing is, which most are. */
function walk(value: unknown, how: Walk, depth = 0): unknown {
  if (typeof value === 'string') return how.text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) throw tooDeep();
  if (how.reference !== undefined && '$ref' in value && isReference(value)) return how.reference(value);
  if (Array.isArray(value)) return walkList(value, how, depth);
  return isObject(value) ? walkRecord(value, how, depth) : value;
}

function walkList(list: readonly unknown[], how: Walk, depth: number): readonly unknown[] {
  let after: unknown[] | undefined;
  for (let place = 0; place < list.length; place += 1) {
    const item = list[place];
    const walked = walk(item, how, depth + 1);
    if (walked === item) continue;
    after ??= [...list];
    after[place] = walked;
  }
  return after ?? list;
}

function walkRecord(record: Readonly<Record<string, unknown>>, how: Walk, depth: number): object {
  const keys = Object.keys(record);
  let after: [string, unknown][] | undefined;
  for (const key of keys) {
    const item = record[key];
    const name = how.key(key);
    const walked = walk(item, how, depth + 1);
    if (name !== key || walked !== item)
      after ??= keys.slice(0, keys.indexOf(key)).map((before) => [before, record[before]]);
    after?.push([name, walked]);
  }
  return after === undefined ? record : fromEntries(after);
}

/** Not by assignment: a key may be `__proto__`. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): object {
  const names = new Set<string>();
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const name = freeName(key, names);
      names.add(name);
      return [name, item];
    }),
  );
}

/** Two keys that are the same once secrets are gone from them are still two. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let count = 2; ; count += 1) if (!taken.has(`${name} (${String(count)})`)) return `${name} (${String(count)})`;
}

function tooDeep(): SkillError {
  return new SkillError({
    code: 'input/invalid',
    message: `a value of a run has more than ${String(MAX_DEPTH)} levels`,
    hint: 'record it as text',
    data: { expected: `at most ${String(MAX_DEPTH)} levels` },
  });
}
