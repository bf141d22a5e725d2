import { invalidInput, isObject, type SkillError } from '#core';

/** Folders of a run for content that is too large for an event line. */
export const CONTENT_KINDS = ['observations', 'inputs', 'artifacts'] as const;

export type ContentKind = (typeof CONTENT_KINDS)[number];

/** Replaces content that is stored in a separate file, named by its hash. */
export interface ContentReference {
  /** `observations/<sha256>`, relative to the run folder. */
  readonly $ref: string;
  readonly bytes: number;
  /** The first characters, for readers of the event log. */
  readonly start: string;
  /** The file contains JSON: for text that is not valid UTF-8, and for whole events that are large. */
  readonly json?: true;
}

/** Longer strings are stored in files. */
export const LONG_TEXT = 4096;
/** Events with longer JSON are stored in a file as a whole, so that no line gets close to `MAX_LINE_BYTES`. */
const LARGE_EVENT = 1024 * 1024;
/** The deepest nesting of lists and objects. */
export const MAX_DEPTH = 200;
const START_CHARACTERS = 200;
/** An event in a file may refer to texts in files; there are no further levels. */
const MAX_FILES = 2;

export type Keep = (bytes: Uint8Array) => { readonly $ref: string; readonly bytes: number };
/** Replaces secrets in a text. */
type RedactText = (text: string) => string;

export interface Storing {
  /** Absent if no secrets are known. */
  readonly redact?: RedactText | undefined;
  /** Absent if nothing is moved to files. */
  readonly keep?: Keep;
}

/**
 * Converts a value to its stored form: redacted, with references for long strings. Throws `input/invalid` for values that are nested
 * too deeply.
 */
export interface StoreValue {
  (value: object): object;
  (value: unknown): unknown;
}

/** Prepares the conversion once for many values. */
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

/** Returns the JSON of a stored event; a very large event becomes a reference itself. */
export function storedJson(stored: unknown, keep: Keep): string {
  const json = JSON.stringify(stored);
  if (json.length <= LARGE_EVENT) return json;
  return JSON.stringify({ ...keep(Buffer.from(json, 'utf8')), start: '', json: true });
}

/** Resolves a reference to its text, or to a replacement. */
export type ReadText = (reference: ContentReference) => string;

/** Restores a value. Throws `input/invalid` for values that are nested too deeply, and errors of `read`. */
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

/** Returns every reference in a stored value, without those inside a stored event file. */
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

/** Returns the start of the text without reading the file. Only for texts. */
export function startText({ start, bytes, $ref, json }: ContentReference): string {
  const text = `${start}… (${String(bytes)} bytes in ${$ref})`;
  return json === true ? JSON.stringify(text) : text;
}

/** The reference stands for a whole event. */
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

/** A lone surrogate cannot be stored as UTF-8; such text is stored as JSON, which escapes it. */
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

/** Replaces texts and keys; returns the same object if nothing changed, which is the common case. */
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

/** Not by assignment, because a key may be `__proto__`. */
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

/** Keys that become equal by redaction are kept apart. */
function freeName(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name)) return name;
  for (let count = 2; ; count += 1) if (!used.has(`${name} (${String(count)})`)) return `${name} (${String(count)})`;
}

function tooDeep(): SkillError {
  return invalidInput(
    `a value of the run is nested more than ${String(MAX_DEPTH)} levels deep`,
    `at most ${String(MAX_DEPTH)} levels`,
    'record it as text',
  );
}
