/** Cleaning and escaping of untrusted text. Models get cleaned text; terminals and logs get escaped text. */
import { codePointAt, sliceEnd, isHigh, isLow, sliceStart } from './code-point.ts';

const BEYOND_ASCII = /[^\t\n\x20-\x7e]/;
/** Compiled on first use, because it takes long. */
let pictograph: RegExp | undefined;

const ESCAPE = 0x1b;
const BELL = 0x07;
const JOINER = 0x200d;
const NON_JOINER = 0x200c;
const KEYCAP = 0x20e3;
const EMOJI_STYLE = 0xfe0f;

/** Longer control strings, or ones that contain a line end, are not treated as terminal sequences. */
const MAX_CONTROL_STRING = 4096;

type HiddenKind = 'control' | 'hidden';

/** A control or invisible character. */
export interface HiddenCharacter {
  readonly index: number;
  readonly codePoint: number;
  readonly kind: HiddenKind;
}

/** Text for models: `\n` line ends, no control characters, no terminal sequences, nothing invisible or direction-changing. */
export function cleanText(text: string): string {
  if (isVisible(text)) return text;
  let out = '';
  let kept = 0;
  let index = 0;
  while (index < text.length) {
    const code = codePointAt(text, index);
    const kind = classifyHidden(text, index, code);
    const width = code > 0xffff ? 2 : 1;
    if (kind === undefined) {
      index += width;
      continue;
    }
    out += text.slice(kept, index);
    if (code === 0x0d || code === 0x2028 || code === 0x2029) {
      if (text.charCodeAt(index + 1) !== 0x0a || code !== 0x0d) out += '\n';
      index += 1;
    } else {
      index = kind === 'control' ? endOfSequence(text, index, code) : index + width;
    }
    kept = index;
  }
  return out + text.slice(kept);
}

/** The first control or invisible character at or behind an index. `\t`, `\n` and `\r\n` are allowed. */
export function findHidden(text: string, from = 0): HiddenCharacter | undefined {
  if (from === 0 && isVisible(text)) return undefined;
  for (let index = from; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x20 && unit < 0x7f) continue;
    const codePoint = codePointAt(text, index);
    const kind = classifyHidden(text, index, codePoint);
    if (kind !== undefined && !(codePoint === 0x0d && text.charCodeAt(index + 1) === 0x0a)) {
      return { index, codePoint, kind };
    }
    if (codePoint > 0xffff) index += 1;
  }
  return undefined;
}

/** Text for terminals, logs and messages: one line, invisible characters escaped. */
export function printable(text: string): string {
  if (!DOUBTFUL.test(text) && !TAB_OR_LINE_FEED.test(text)) return text;
  let out = '';
  for (let index = 0; index < text.length; index += 1) {
    const code = codePointAt(text, index);
    if (code >= 0x20 && code < 0x7f) {
      out += text.charAt(index);
      continue;
    }
    const escape = SHORT_ESCAPES.get(code);
    if (escape !== undefined) out += escape;
    else if (classifyHidden(text, index, code) !== undefined) {
      out += code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
    } else out += String.fromCodePoint(code);
    if (code > 0xffff) index += 1;
  }
  return out;
}

const TAB_OR_LINE_FEED = /[\t\n]/;
const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
]);

const PATH = /^(?:host:\/\/|\.{0,2}\/)/;

/** Quotes untrusted text for a message. */
export function quoted(text: string, limit = 60): string {
  if (text.length <= limit) return `"${printable(text)}"`;
  // The end of a path says which file it is.
  return PATH.test(text)
    ? `"…${printable(sliceEnd(text, limit - 1))}"`
    : `"${printable(sliceStart(text, limit - 1))}…"`;
}

/** Escapes text for XML elements and attributes. */
export function escapeXml(text: string): string {
  return XML.test(text) ? text.replace(XML_ALL, (character) => XML_NAMES.get(character) ?? '') : text;
}

const XML = /[&<>"']/;
const XML_ALL = /[&<>"']/g;
const XML_NAMES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

const SURROGATE = /[\ud800-\udfff]/;

/** Counts code points; fast for texts without surrogates. */
export function countCharacters(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (isHigh(text.charCodeAt(index)) && isLow(text.charCodeAt(index + 1))) index += 1;
    count += 1;
  }
  return count;
}

/** Anything but ASCII, Latin, common punctuation, symbols and East Asian scripts. */
const DOUBTFUL =
  /[^\t\n\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2bff\u3000-\u303f\u3041-\u3163\u3165-\ud7ff\uf900-\ufaff\uff01-\uff9f]/;

/** Whether a text has no control or invisible characters. Runs on every frontmatter, so plain ASCII is one regular expression. */
export function isVisible(text: string): boolean {
  if (!BEYOND_ASCII.test(text) || !DOUBTFUL.test(text)) return true;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x7f) {
      if (unit >= 0x20 || unit === 0x0a || unit === 0x09) continue;
      return false;
    }
    if (unit >= 0x3165 && unit < 0xd800) continue;
    if (isHigh(unit)) {
      // Musical format controls, tags, variation selectors, and lone surrogates.
      if (unit === 0xd834 || (unit >= 0xdb40 && unit <= 0xdb43) || !isLow(text.charCodeAt(index + 1))) return false;
      index += 1;
    } else if (unit < 0xa0 || unit === 0xad || (unit >= 0x34f && isInvisible(unit))) return false;
  }
  return true;
}

function classifyHidden(text: string, index: number, code: number): HiddenKind | undefined {
  if (code < 0xa0) {
    const shown = (code >= 0x20 && code < 0x7f) || code === 0x09 || code === 0x0a;
    return shown ? undefined : 'control';
  }
  if (code < 0x300) return code === 0xad ? 'hidden' : undefined;
  if (code === JOINER) return isEmojiJoin(text, index) || isScriptJoin(text, index) ? undefined : 'hidden';
  if (code === NON_JOINER) return isScriptJoin(text, index) ? undefined : 'hidden';
  if (code === 0xfe0e || code === EMOJI_STYLE) return followsEmoji(text, index) ? undefined : 'hidden';
  return isInvisible(code) ? 'hidden' : undefined;
}

function isInvisible(code: number): boolean {
  switch (code) {
    case 0x034f: // combining grapheme joiner
    case 0x061c: // Arabic letter mark
    case 0x115f: // Hangul fillers
    case 0x1160:
    case 0x3164:
    case 0xffa0:
    case 0x17b4: // Khmer inherent vowels
    case 0x17b5:
    case 0xfeff: // byte order mark, zero-width no-break space
      return true;
    default:
      return (
        (code >= 0x180b && code <= 0x180f) ||
        (code >= 0x200b && code <= 0x200f) ||
        (code >= 0x2028 && code <= 0x202e) ||
        (code >= 0x2060 && code <= 0x206f) ||
        (code >= 0xfe00 && code <= 0xfe0f) ||
        (code >= 0xfff9 && code <= 0xfffb) ||
        (code >= 0xd800 && code <= 0xdfff) ||
        (code >= 0x1d173 && code <= 0x1d17a) ||
        (code >= 0xe0000 && code <= 0xe0fff)
      );
  }
}

/** A zero-width joiner between pictographs forms one emoji. */
function isEmojiJoin(text: string, index: number): boolean {
  return isPictograph(codePointAt(text, index + 1)) && endsEmoji(codeBefore(text, index));
}

/** Joiners between Arabic or Indic letters are part of the spelling. */
function isScriptJoin(text: string, index: number): boolean {
  return isJoiningScript(text.charCodeAt(index - 1)) && isJoiningScript(text.charCodeAt(index + 1));
}

function isJoiningScript(unit: number): boolean {
  return unit >= 0x0620 && unit <= 0x0dff;
}

/** A style selector belongs to the preceding emoji; after a digit only as part of a keycap. */
function followsEmoji(text: string, index: number): boolean {
  const before = codeBefore(text, index);
  if (before < 0x80) return isKeycapBase(before) && text.charCodeAt(index + 1) === KEYCAP;
  return isPictograph(before);
}

function isKeycapBase(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x23 || code === 0x2a;
}

function endsEmoji(code: number): boolean {
  return code === EMOJI_STYLE || (code >= 0x1f3fb && code <= 0x1f3ff) || isPictograph(code);
}

function isPictograph(code: number): boolean {
  pictograph ??= /\p{Extended_Pictographic}/u;
  return code >= 0x80 && pictograph.test(String.fromCodePoint(code));
}

function codeBefore(text: string, index: number): number {
  const unit = text.charCodeAt(index - 1);
  return isLow(unit) && isHigh(text.charCodeAt(index - 2)) ? codePointAt(text, index - 2) : unit || 0;
}
/** The end of a terminal sequence that starts here, or just after the character if none does. */
function endOfSequence(text: string, index: number, code: number): number {
  const next = text.charCodeAt(index + 1);
  if (code === 0x9b) return endOfControlSequence(text, index + 1);
  if (code === 0x90 || (code >= 0x98 && code <= 0x9f && code !== 0x99 && code !== 0x9a))
    return endOfControlString(text, index + 1);
  if (code !== ESCAPE) return index + 1;
  if (next === 0x5b) return endOfControlSequence(text, index + 2);
  // ESC P, X, ], ^ and _ open strings that end with BEL or ST.
  if (next === 0x50 || next === 0x58 || (next >= 0x5d && next <= 0x5f)) return endOfControlString(text, index + 2);
  return next >= 0x20 && next < 0x7f ? index + 2 : index + 1;
}

function endOfControlSequence(text: string, from: number): number {
  let index = from;
  while (index < text.length) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x40 && unit <= 0x7e) return index + 1;
    if (unit < 0x20 || unit > 0x3f) return index;
    index += 1;
  }
  return index;
}

function endOfControlString(text: string, from: number): number {
  const limit = Math.min(text.length, from + MAX_CONTROL_STRING);
  for (let index = from; index < limit; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === BELL || unit === 0x9c) return index + 1;
    if (unit === ESCAPE) return text.charCodeAt(index + 1) === 0x5c ? index + 2 : from;
    if (unit === 0x0a) return from;
  }
  return from;
}
