/** Puts untrusted text between delimiters that it cannot close or imitate. */
import { codePointAt } from './code-point.ts';
import { cleanText, escapeXml, isVisible } from './text.ts';

export interface Delimited {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

/** All tags that this program writes. */
const OUR_TAGS = [
  'skill_content',
  'skill_file',
  'available_skills',
  'skill',
  'skill_files',
  'skills_note',
  'project_instructions',
  'project_file',
];

/** Escapes our tags in text that is delimited in another way. */
export function withoutOurTags(text: string): string {
  return withoutTags(text);
}

/** Wraps text in an element. Only `<` of our own tags is escaped, because skills contain code. */
export function delimit({ tag, attributes, text }: Delimited): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${attributeText(value)}"`);
  return `<${tag}${written.join('')}>\n${withoutTags(text, tag.toLowerCase())}\n</${tag}>`;
}

function attributeText(value: string): string {
  return escapeXml(cleanText(value).replaceAll('\n', ' '));
}

/** `<` in normal, full and small width. */
const OPENING = /[<＜﹤]/g;

function withoutTags(text: string, ...more: readonly string[]): string {
  // Fast path: `includes` is much faster than the expression, and most texts have none of these.
  if (!text.includes('<') && !text.includes('＜') && !text.includes('﹤')) return text;
  const tags = new Set([...OUR_TAGS, ...more]);
  return text.replaceAll(OPENING, (opening, offset: number) => (opensTag(text, offset + 1, tags) ? '&lt;' : opening));
}

/**
 * Whether a lenient parser would see one of the tags here: with slashes, white space and invisible characters before the name, invisible
 * ones inside it, in any case and width. Stops at the next `<`, so the total work stays linear.
 */
function opensTag(text: string, from: number, tags: ReadonlySet<string>): boolean {
  let name = '';
  for (let at = from; at < text.length;) {
    const character = String.fromCodePoint(codePointAt(text, at));
    at += character.length;
    if (isIgnored(character)) {
      // A parser that stops here sees a complete name.
      if (tags.has(name)) return true;
      continue;
    }
    const folded = fold(character);
    if (name === '' && SLASH_OR_SPACE.test(folded)) continue;
    if (!NAME.test(folded)) break;
    name += folded;
    if (name.length > MAX_TAG) return false;
  }
  return tags.has(name);
}

const MAX_TAG = 100;
const NAME = /^[a-z0-9_.:-]+$/;
/** Includes backslashes, because JSON may contain `<\/tag>`. */
const SLASH_OR_SPACE = /^[\s/\\\u2044\u2215]+$/;

/** Whether a character is invisible. Line ends and tabs count as white space. */
function isIgnored(character: string): boolean {
  if (character >= ' ' && character <= '~') return false;
  return !isVisible(character) || (/[\p{M}\p{C}]/u.test(character) && !/\s/.test(character));
}

function fold(character: string): string {
  return (character <= '~' ? character : character.normalize('NFKC')).toLowerCase();
}

/** Puts a backslash before every line that starts with one of the headers, ignoring white space, case and width. */
export function escapeHeaderLines(text: string, headers: readonly string[]): string {
  const starts = headers
    .map((header) => foldedStart(header, 0, Number.POSITIVE_INFINITY))
    .filter((start) => start !== '');
  const longest = Math.max(0, ...starts.map((start) => start.length));
  if (longest === 0) return text;
  const escape = (at: number): string => {
    const line = foldedStart(text, at, longest);
    return starts.some((start) => line.startsWith(start)) ? '\\' : '';
  };
  return escape(0) + text.replaceAll(LINE_END, (end, offset: number) => end + escape(offset + end.length));
}

/** Everything that some program treats as a line end. */
const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;
const STARTS_LINE_END = /[\n\v\f\r\u0085\u2028\u2029]/;

/** The first `length` significant characters from `from` to the end of the line. */
function foldedStart(text: string, from: number, length: number): string {
  let out = '';
  for (let at = from; at < text.length && out.length < length;) {
    const character = String.fromCodePoint(codePointAt(text, at));
    if (STARTS_LINE_END.test(character)) break;
    at += character.length;
    if (!isIgnored(character) && !/\s/.test(character)) out += fold(character);
  }
  return out;
}
