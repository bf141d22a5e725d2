/**
 * The head of plain frontmatter alone, in as few steps as can be. A scan runs it over every file, most of the time in code that the
 * engine has not compiled yet: text is looked through by built-in functions, nothing is made that the head does not hold, and what is
 * to be told is only noted. It says `undefined` wherever it is not sure; where it answers, `readPlainHead` gives the same head.
 */
import { hasSeparatingComma, isToolPattern, splitToolList } from '../core/allowed-tools.ts';
import { MAX_LIBRARY_TEXT, findTooDeep } from './guard.ts';
import { findLineRestrictions } from './restrictions.ts';
import { likelyField } from './fields.ts';
import type { YamlNode } from './node.ts';
import { isNothing, isUnsafeKey } from './node.ts';
import { readValue } from './plain.ts';
import type { Cursor } from './scalars.ts';
import { LINE_FEED, NESTED_KEY, SPACE, isPlainStart } from './scalars.ts';
import { QuickMetadata } from './quick-metadata.ts';
import { EXTENSION_FIELD, SEPARATOR, UNKNOWN_FIELD, UNQUOTED_COLON, hasBracket, noteOf } from './quick-notes.ts';
import type { Draft, QuickReading } from './quick-reading.ts';
import {
  BLANK,
  DESCRIPTION,
  DISABLED,
  INVOCABLE,
  METADATA,
  NAME,
  OPENING,
  OTHER,
  SLOTS,
  TOOLS,
  UNSURE,
  VERSION,
  readingOf,
} from './quick-reading.ts';
import { PLAIN_KEY, shownText, textOf } from './quick-text.ts';
import type { SkillHead } from '../core/skill.ts';
import { isVisible } from '../core/text/text.ts';

/** In bytes that is well below what frontmatter may have. */
const MAX_LENGTH = 16 * 1024;
const CLOSING = '\n---\n';
const OPENING_CRLF = '---\r\n';
const BYTE_ORDER_MARK = '\uFEFF';

/** Visible ASCII and line feeds need no second look. */
const BEYOND_ASCII_LINES = /[^\n\x20-\x7e]/;
/** Strangers write the keys and the lists: no scan is to hold all that they can think of. */
const MAX_REMEMBERED = 500;
const MAX_KEY = 40;

export type { QuickReading } from './quick-reading.ts';

/** Reads one text after the other. */
export interface QuickHeadReader {
  /**
   * `text` is the frontmatter with both its fences, and no fence stands between them; `directory` is the folder's base name. Where it
   * gives anything, `readPlainHead` or `readColonHead` takes the text too.
   */
  read(text: string, directory: string): QuickReading | undefined;
}

export function openQuickHeadReader(): QuickHeadReader {
  return new LineReader();
}

/** The head of a single text. */
export function readQuickHead(text: string, directory: string): SkillHead | undefined {
  return openQuickHeadReader().read(text, directory)?.head;
}

/**
 * Skills share their keys and often their tools: what was found out of a key or a list is remembered, which is also why equal ones are
 * kept once.
 */
class LineReader implements QuickHeadReader {
  readonly #slots = new Map(SLOTS);
  readonly #metadata = new QuickMetadata();
  readonly #tools = new Map<string, ToolText>();
  readonly #notes: number[] = [];
  readonly #texts: (string | undefined)[] = Array.from({ length: UNSURE });

  read(text: string, directory: string): QuickReading | undefined {
    if (text.startsWith(OPENING)) return this.#readLines(text, directory, true);
    const start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
    if (start === 0 && !text.startsWith(OPENING_CRLF)) return undefined;
    // Rare: what is left of line ends that are no line ends is seen by whoever reads on.
    return this.#readLines(text.slice(start).replaceAll('\r\n', '\n'), directory, false);
  }

  #readLines(text: string, directory: string, isAsWritten: boolean): QuickReading | undefined {
    const { length } = text;
    if (length > MAX_LENGTH || !text.startsWith(OPENING) || !text.endsWith(CLOSING)) return undefined;
    if (BEYOND_ASCII_LINES.test(text) && (text.includes('\t') || !isVisible(text))) return undefined;
    const end = length - CLOSING.length + 1;
    const texts = this.#texts.fill(undefined);
    const notes = this.#notes;
    // Of a text that was left to others.
    while (notes.length > 0) notes.pop();
    const draft: Draft = {
      text,
      end,
      at: OPENING.length,
      isLineByLine: true,
      texts,
      seen: 0,
      tools: undefined,
      metadata: undefined,
      hasColon: false,
      notes,
      isNoted: isAsWritten,
    };
    const slots = this.#slots;
    let { at } = draft;
    while (at < end) {
      const colon = text.indexOf(':', at);
      const key = text.slice(at, colon);
      const slot = slots.get(key) ?? this.#slotOf(key);
      if (slot >= BLANK) {
        if (slot === UNSURE) return undefined;
        draft.isLineByLine = false;
        at += 1;
        continue;
      }
      const bit = 1 << slot;
      if ((draft.seen & bit) !== 0) {
        if (slot !== OTHER) return undefined;
        if (text.lastIndexOf(`\n${key}:`, at - 2) !== -1) draft.isNoted = false;
      }
      draft.seen |= bit;
      if (slot >= VERSION && slot <= OTHER) notes.push(noteOf(slot === OTHER ? UNKNOWN_FIELD : EXTENSION_FIELD, at));
      const feed = text.indexOf('\n', colon);
      // Nearly every field: kept short, because it runs before the engine has compiled anything.
      if (slot <= OTHER && text.charCodeAt(colon + 1) === SPACE && text.charCodeAt(feed + 1) !== SPACE) {
        const written = textOf(text.slice(colon + 2, feed));
        if (written !== undefined) {
          texts[slot] = written;
          at = feed + 1;
          continue;
        }
      }
      draft.at = at;
      if (!this.#readField(draft, slot, colon + 1, feed)) return undefined;
      ({ at } = draft);
    }
    // The same text, but its own and not a piece of the frontmatter: all that compares names is faster for it.
    if (texts[NAME] === directory) texts[NAME] = directory;
    if (draft.hasColon && !(isAsWritten && isOnlyColon(draft))) return undefined;
    return readingOf(draft, directory);
  }

  #slotOf(key: string): number {
    if (key.startsWith('\n')) return BLANK;
    const isOther = PLAIN_KEY.test(key) && !isUnsafeKey(key) && likelyField(key) === undefined;
    const slot = isOther ? OTHER : UNSURE;
    if (key.length <= MAX_KEY && this.#slots.size < MAX_REMEMBERED) this.#slots.set(key, slot);
    return slot;
  }

  /** Any value of a field; false where it is not sure. The cursor is set after it. */
  #readField(draft: Draft, slot: number, from: number, feed: number): boolean {
    const { text } = draft;
    if (slot === METADATA) {
      draft.metadata = this.#metadata.read(draft, from, feed);
      return draft.metadata !== undefined;
    }
    const line = draft.at;
    const isBelow = text.charCodeAt(feed + 1) === SPACE;
    const written = isBelow ? textBelow(draft, from, feed) : textOnLine(draft, from, feed);
    if (written !== undefined) {
      if (slot === TOOLS) this.#takeTools(draft, written, isBelow ? undefined : line);
      else draft.texts[slot] = written;
      return true;
    }
    if (slot === OTHER && isSimpleList(draft, from)) return true;
    if (slot === DESCRIPTION && isColonText(text, from, feed)) {
      draft.hasColon = true;
      draft.notes.push(noteOf(UNQUOTED_COLON, line));
      draft.texts[DESCRIPTION] = text.slice(from, feed);
      draft.at = feed + 1;
      return true;
    }
    draft.isLineByLine = false;
    const value = readValue(draft, from, 0, 0);
    if (value === undefined) return false;
    if (slot === OTHER) return true;
    if (slot === TOOLS && value.type === 'list') {
      draft.tools = toolsIn(value.items);
      return draft.tools !== undefined;
    }
    if (value.type !== 'scalar' || isNothing(value)) return false;
    const shown = shownText(value);
    // What escapes hide, and where a bracket among them stands, is told by those who know them.
    if (shown !== value.value || (slot === DESCRIPTION && hasBracket(shown))) draft.isNoted = false;
    if (slot === TOOLS) this.#takeTools(draft, shown, undefined);
    else draft.texts[slot] = slot === NAME ? value.value : shown;
    return true;
  }

  /** `line`: where the list stands, if it stands on one line. */
  #takeTools(draft: Draft, written: string, line: number | undefined): void {
    const { tools, isWhole, hasCommas } = this.#toolsOf(written);
    draft.tools = tools;
    if (isWhole && !hasCommas) return;
    if (isWhole && line !== undefined) draft.notes.push(noteOf(SEPARATOR, line));
    else draft.isNoted = false;
  }

  #toolsOf(written: string): ToolText {
    const known = this.#tools.get(written);
    if (known !== undefined) return known;
    const tools = toolsOf(written);
    if (written.length < SHORT && this.#tools.size < MAX_REMEMBERED) this.#tools.set(written, tools);
    return tools;
  }
}

/** A colon in unquoted text on one line, as `colon-head.ts` knows it. */
function isColonText(text: string, from: number, feed: number): boolean {
  if (text.charCodeAt(from) !== SPACE || text.charCodeAt(feed + 1) === SPACE) return false;
  const line = text.slice(from + 1, feed);
  return isPlainStart(line, 0) && NESTED_KEY.test(line);
}

/** Nothing else is the matter, and no line looks like a restriction that was not read as one. */
function isOnlyColon({ text, end, seen, isLineByLine }: Draft): boolean {
  const start = OPENING.length;
  if (!isLineByLine || end - start > MAX_LIBRARY_TEXT || findTooDeep(text, start, end) !== undefined) return false;
  let controls = 0;
  for (const slot of [DISABLED, INVOCABLE, TOOLS]) if ((seen & (1 << slot)) !== 0) controls += 1;
  return findLineRestrictions(text, start, end).length === controls;
}

/** The value after a colon, and the cursor after its line, where it is plain or in quotes without escapes, and nothing follows it. */
function textOnLine(cursor: Cursor, from: number, feed: number): string | undefined {
  const { text } = cursor;
  if (text.charCodeAt(from) !== SPACE) return undefined;
  const value = textOf(text.slice(from + 1, feed));
  if (value !== undefined) cursor.at = feed + 1;
  return value;
}

const BLOCK_SIGN = / (?:>-?|\|-?)\n/y;
const BLOCK_LINES = /(?:  [^ \n][^\n]*\n)+(?![ \n])/y;

/**
 * A text block whose lines all stand two columns in, with none empty among them; the cursor is set after it. The line feed that may
 * belong to its end is left out: no field keeps white space there.
 */
function textBelow(cursor: Cursor, from: number, feed: number): string | undefined {
  const { text } = cursor;
  BLOCK_SIGN.lastIndex = from;
  BLOCK_LINES.lastIndex = feed + 1;
  if (!BLOCK_SIGN.test(text) || !BLOCK_LINES.test(text)) return undefined;
  const end = BLOCK_LINES.lastIndex;
  cursor.at = end;
  const isFolded = text.charCodeAt(from + 1) === 0x3e;
  return text.slice(feed + 3, end - 1).replaceAll('\n  ', isFolded ? ' ' : '\n');
}

const LIST_LINES = /\n(?:  - (?!null|Null|NULL)[A-Za-z][\w .-]*\n)+(?! )/y;
const FLOW_LIST = / \[(?:[A-Za-z][\w .-]*|"[^"\\\n]*")(?:, (?:[A-Za-z][\w .-]*|"[^"\\\n]*"))*\]\n(?! )/y;

/** A list of words that nobody reads; the cursor is set after it. */
function isSimpleList(cursor: Cursor, from: number): boolean {
  const pattern = cursor.text.charCodeAt(from) === LINE_FEED ? LIST_LINES : FLOW_LIST;
  pattern.lastIndex = from;
  const found = pattern.test(cursor.text);
  if (found) cursor.at = pattern.lastIndex;
  return found;
}

const SIMPLE_TOOLS = /^[A-Za-z_][\w.:*/@-]*(?:\([^()]+\))?(?:[ ,]+[A-Za-z_][\w.:*/@-]*(?:\([^()]+\))?)*$/;
const SIMPLE_TOOL = /[^ ,(]+(?:\([^)]+\))?/g;
/** No entry of a text so short is too long. */
const SHORT = 300;

/** A list of tools that is written as text. */
interface ToolText {
  readonly tools: readonly string[];
  /** Every entry is a tool pattern. */
  readonly isWhole: boolean;
  readonly hasCommas: boolean;
}

function toolsOf(written: string): ToolText {
  const hasCommas = hasSeparatingComma(written);
  if (written.length < SHORT && SIMPLE_TOOLS.test(written))
    return { tools: [...new Set(written.match(SIMPLE_TOOL))], isWhole: true, hasCommas };
  const entries = splitToolList(written.trim());
  const tools = entries.filter(isToolPattern);
  return { tools: [...new Set(tools)], isWhole: tools.length === entries.length, hasCommas };
}

function toolsIn(items: readonly YamlNode[]): readonly string[] | undefined {
  const tools = new Set<string>();
  for (const item of items) {
    if (item.type !== 'scalar') return undefined;
    const written = shownText(item).trim();
    if (!isToolPattern(written)) return undefined;
    tools.add(written);
  }
  return [...tools];
}
