/** `metadata` of the quick reader: what `readMetadata` gives, without a tree of nodes where every line is of a common kind. */
import { isExtension, likelyField, restrictingField } from './fields.ts';
import type { YamlNode } from './node.ts';
import { isJsonWord, isUnsafeKey, jsonText } from './node.ts';
import { readValue } from './plain.ts';
import type { Cursor } from './scalars.ts';
import { SPACE } from './scalars.ts';
import { META_LIST, META_MAP, META_UNQUOTED, noteOf } from './quick-notes.ts';
import { PLAIN_KEY, shownText, textOf } from './quick-text.ts';
import { cleanText } from '../core/text/text.ts';

/** Keys and values in turn. */
export type MetaPairs = readonly string[];

export interface QuickCursor extends Cursor {
  /** No value so far needed the plain reader. */
  isLineByLine: boolean;
  readonly notes: number[];
  /** All that is to be told so far is among the notes. */
  isNoted: boolean;
}

/** Strangers write the keys: no scan is to hold all that they can think of. */
const MAX_REMEMBERED = 500;
const MAX_KEY = 40;
/** A key that must be left to the readers that know it. */
const REFUSED = '';
/** Words that JSON writes in quotes. */
const FLOW_WORDS =
  /^\[(?!true|false|[nN]ull|NULL)[A-Za-z](?:[\w.-]| (?=\w))*(?:, (?!true|false|[nN]ull|NULL)[A-Za-z](?:[\w.-]| (?=\w))*)*\]$/;
const NESTED = '    ';
const OPEN_BRACKET = 0x5b;

/** Reads one `metadata` after the other, and remembers the keys. */
export class QuickMetadata {
  readonly #keys = new Map<string, string>();

  /** The value after the colon at `from - 1`, whose line ends at `feed`; the cursor is set after it. Nothing where it is not sure. */
  read(cursor: QuickCursor, from: number, feed: number): MetaPairs | undefined {
    const lines = from === feed ? this.#readLines(cursor, feed + 1) : undefined;
    if (lines !== undefined) return lines;
    cursor.isLineByLine = false;
    cursor.isNoted = false;
    return this.#pairsOf(readValue(cursor, from, 0, 0));
  }

  /** Lines that each are a key and its value, two columns in. */
  #readLines(cursor: QuickCursor, first: number): MetaPairs | undefined {
    const { text, notes } = cursor;
    const pairs: string[] = [];
    let line = first;
    while (text.charCodeAt(line) === SPACE) {
      const colon = text.indexOf(':', line);
      const key = this.#keyOf(text.slice(line + 2, colon));
      if (text.charCodeAt(line + 1) !== SPACE || key === REFUSED) return undefined;
      if (pairs.includes(key)) cursor.isNoted = false;
      const feed = text.indexOf('\n', colon);
      if (text.charCodeAt(colon + 1) === SPACE) {
        const written = text.slice(colon + 2, feed);
        const value = textOf(written) ?? listOf(written);
        if (value === undefined) return undefined;
        if (written.charCodeAt(0) === OPEN_BRACKET) notes.push(noteOf(META_LIST, line));
        else if (isJsonWord(written)) notes.push(noteOf(META_UNQUOTED, line));
        pairs.push(key, value);
        line = feed + 1;
      } else {
        if (feed !== colon + 1) return undefined;
        const end = endOfNested(text, feed + 1);
        const value = this.#nestedMap(text, feed + 1, end);
        if (value === undefined) return undefined;
        notes.push(noteOf(META_MAP, line));
        pairs.push(key, value);
        line = end;
      }
    }
    cursor.at = line;
    return pairs.length === 0 ? undefined : pairs;
  }

  /** A map of text, four columns in, as JSON text. */
  #nestedMap(text: string, start: number, end: number): string | undefined {
    let json = '';
    const seen: string[] = [];
    for (let line = start; line < end;) {
      const colon = text.indexOf(':', line);
      const key = this.#keyOf(text.slice(line + NESTED.length, colon));
      const feed = text.indexOf('\n', colon);
      if (key === REFUSED || seen.includes(key) || text.charCodeAt(colon + 1) !== SPACE) return undefined;
      seen.push(key);
      const written = text.slice(colon + 2, feed);
      const value = textOf(written);
      if (value === undefined) return undefined;
      const shown = value === written && isJsonWord(value) ? value : JSON.stringify(value);
      json += `${json === '' ? '{' : ','}"${key}":${shown}`;
      line = feed + 1;
    }
    return json === '' ? undefined : `${json}}`;
  }

  /** The same of any map; nothing where a value is missing, which counts where its key comes again. */
  #pairsOf(node: YamlNode | undefined): MetaPairs | undefined {
    if (node?.type !== 'map') return undefined;
    const pairs: string[] = [];
    for (const { key, value } of node.entries) {
      if (value === undefined || (this.#keyOf(key) === REFUSED && isRefused(key))) return undefined;
      pairs.push(key, value.type === 'scalar' ? shownText(value) : cleanText(jsonText(value)));
    }
    return pairs;
  }

  /** The key, as the one text that stands for all that are equal to it: objects take such a text for a key much sooner. */
  #keyOf(key: string): string {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const kept = PLAIN_KEY.test(key) && !isRefused(key) ? key : REFUSED;
    if (key.length <= MAX_KEY && this.#keys.size < MAX_REMEMBERED) this.#keys.set(key, kept);
    return kept;
  }
}

/** A flow list of words as JSON text. */
function listOf(line: string): string | undefined {
  return FLOW_WORDS.test(line) ? `["${line.slice(1, -1).replaceAll(', ', '","')}"]` : undefined;
}

/** The start of the first line that is not four columns in. */
function endOfNested(text: string, start: number): number {
  let line = start;
  while (text.startsWith(NESTED, line)) line = text.indexOf('\n', line) + 1;
  return line;
}

function isRefused(key: string): boolean {
  return isUnsafeKey(key) || carriesControl(key);
}

/** A field under `metadata` that counts as if it stood outside. */
function carriesControl(key: string): boolean {
  if (key === 'version' || key === 'author') return false;
  const field = likelyField(key);
  if (field === undefined || field === 'version' || field === 'author') return false;
  return isExtension(field) || restrictingField(field) !== undefined;
}
