/** Text of a skill between delimiters of ours, from which it cannot break out and which it cannot imitate. */
import { codePointAt } from './code-point.ts';
import { cleanText, escapeXml, isVisible } from './text.ts';

export interface Delimited {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Every tag that we write ourselves. */
const OUR_TAGS = ['skill_content', 'skill_file', 'available_skills', 'skill', 'skill_files', 'skills_note'];

/** Text that opens and closes none of our tags, for places where something else marks its ends. */
export function withoutOurTags(text: string): string {
  return withoutTags(text);
}

/** The text as an element. What opens or closes a tag of ours in it has `&lt;` for `<`; any other `<` stays, because skills hold code. */
export function delimit({ tag, attributes, text }: Delimited): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${attributeText(value)}"`);
  return `<${tag}${written.join('')}>\n${withoutTags(text, tag.toLowerCase())}\n</${tag}>`;
}

function attributeText(value: string): string {
  return escapeXml(cleanText(value).replaceAll('\n', ' '));
}

/** `<`, full width and small. */
const OPENING = /[<＜﹤]/g;

function withoutTags(text: string, ...more: readonly string[]): string {
  // Looking for one character at a time takes a tenth of the time, and most texts hold none of them.
  if (!text.includes('<') && !text.includes('＜') && !text.includes('﹤')) return text;
  const tags = new Set([...OUR_TAGS, ...more]);
  return text.replaceAll(OPENING, (opening, offset: number) => (opensTag(text, offset + 1, tags) ? '&lt;' : opening));
}

/**
 * Whether a forgiving reader would see one of the tags here: slashes, white space and invisible characters before its name, invisible
 * ones inside it, any case and width. Stops at the next `<` at the latest, so a text is read twice at most.
 */
function opensTag(text: string, from: number, tags: ReadonlySet<string>): boolean {
  let name = '';
  for (let at = from; at < text.length;) {
    const character = String.fromCodePoint(codePointAt(text, at));
    at += character.length;
    if (isIgnored(character)) {
      // To a reader that stops here, the name is complete.
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
/** Backslashes too: `<\/tag>` is how JSON may have it. */
const SLASH_OR_SPACE = /^[\s/\\\u2044\u2215]+$/;
const MARK_OR_CONTROL = /[\p{M}\p{C}]/u;

/** What shows nothing of its own. Line ends and tabs are white space. */
function isIgnored(character: string): boolean {
  if (character >= ' ' && character <= '~') return false;
  return !isVisible(character) || (MARK_OR_CONTROL.test(character) && !/\s/.test(character));
}

function fold(character: string): string {
  return (character <= '~' ? character : character.normalize('NFKC')).toLowerCase();
}

/** The text with a backslash before every line that starts like one of the headers, white space, case and width aside. */
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

/** Everything that some reader takes for the end of a line. */
const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;
const STARTS_LINE_END = /[\n\v\f\r\u0085\u2028\u2029]/;

/** The first `length` characters that count, from `from` to the end of the line. */
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
