/** Emphasis, code, links and entities inside a line of Markdown. Linear in the length of the text, whatever a model writes. */
import type { Style } from './styles.ts';

/** Without colors, `style` returns the text, and the marks of Markdown stay. */
export interface MarkdownLook {
  readonly width: number;
  readonly style: (style: Style, text: string) => string;
  readonly isColored: boolean;
}

type Mark = '*' | '**' | '_' | '__' | '~~';

const STYLES: Readonly<Record<Mark, Style>> = {
  '*': 'italic',
  _: 'italic',
  '**': 'bold',
  __: 'bold',
  '~~': 'strike',
};

const LINK =
  /!?\[([^[\]\n]{0,500})\]\(\s{0,9}<?([^\s()<>]{0,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)>?(?:\s{1,9}"[^"\n]{0,200}")?\s{0,9}\)/y;
const AUTOLINK = /<((?:https?|mailto|ftp):[^\s<>]{1,2000})>/y;
const ENTITY = /&(?:amp|lt|gt|quot|nbsp|#39);/y;
const BREAK = /<br ?\/?>/iy;
const SPECIAL = /[\\`*_~![<&]/g;
const PUNCTUATION = /^[!-/:-@[-`{-~]/;

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&nbsp;', ' '],
  ['&#39;', "'"],
]);

export function renderInline(text: string, look: MarkdownLook): string {
  const parts: string[] = [];
  const open: { readonly mark: Mark; readonly at: number }[] = [];
  const codeEnds = openCodeEnds(text);
  let at = 0;
  const push = (shown: string, length: number): void => {
    parts.push(shown);
    at += length;
  };
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(text)?.index ?? text.length;
    if (next > at) {
      push(text.slice(at, next), next - at);
      continue;
    }
    const character = text.charAt(at);
    if (character === '\\' && PUNCTUATION.test(text.charAt(at + 1))) push(text.charAt(at + 1), 2);
    else if (character === '`') {
      const run = runLength(text, at);
      const end = codeEnds(at + run, run);
      if (end === undefined) push(text.slice(at, at + run), run);
      else push(codeText(text.slice(at + run, end), text.slice(at, at + run), look), end + run - at);
    } else {
      const found = matchAt(text, at, look);
      if (found !== undefined) push(found.text, found.length);
      else if (character === '*' || character === '_' || character === '~') {
        const run = runLength(text, at);
        const marks = toMarks(character, run);
        // The inner emphasis ends first.
        const ordered = open.at(-1)?.mark === marks.at(-1) ? marks.toReversed() : marks;
        for (const mark of ordered) addMark(mark, { text, at, run }, { parts, open, look });
        if (marks.length === 0) parts.push(text.slice(at, at + run));
        at += run;
      } else push(character, 1);
    }
  }
  return parts.join('');
}

interface Marks {
  readonly parts: string[];
  readonly open: { readonly mark: Mark; readonly at: number }[];
  readonly look: MarkdownLook;
}

/** Underscores between the parts of a word or of a path: `src/__init__.py` is a file, not bold text. */
const INSIDE_WORD = /^(?:[\p{L}\p{N}]|\/)_+(?:[\p{L}\p{N}]|[./][\p{L}\p{N}])/u;

/** Ends the emphasis that the same mark began, or begins one. A mark without a partner stays text. */
function addMark(
  mark: Mark,
  { text, at, run }: { readonly text: string; readonly at: number; readonly run: number },
  { parts, open, look }: Marks,
): void {
  const before = text.charAt(at - 1);
  const isInsideWord = mark.startsWith('_') && INSIDE_WORD.test(text.slice(Math.max(0, at - 1), at + run + 2));
  const place = open.findLastIndex((one) => one.mark === mark);
  const begun = open[place];
  if (begun !== undefined && /\S/.test(before) && !isInsideWord) {
    const inside = parts.splice(begun.at).slice(1).join('');
    open.splice(place);
    parts.push(look.isColored ? look.style(STYLES[mark], inside) : `${mark}${inside}${mark}`);
    return;
  }
  // `__init__.py`: the word goes on, so neither mark is emphasis.
  if (begun !== undefined && isInsideWord && !/\s/.test(parts.slice(begun.at).join(''))) open.splice(place);
  if (begun === undefined && /\S/.test(text.charAt(at + run)) && !isInsideWord) open.push({ mark, at: parts.length });
  parts.push(mark);
}

function toMarks(character: string, run: number): readonly Mark[] {
  if (character === '~') return run === 2 ? ['~~'] : [];
  const one: Mark = character === '*' ? '*' : '_';
  const two: Mark = character === '*' ? '**' : '__';
  return run === 1 ? [one] : run === 2 ? [two] : run === 3 ? [two, one] : [];
}

function matchAt(
  text: string,
  at: number,
  look: MarkdownLook,
): { readonly text: string; readonly length: number } | undefined {
  const character = text.charAt(at);
  if (character === '[' || character === '!') {
    const [whole, label = '', url = ''] = sticky(LINK, text, at);
    return whole === undefined ? undefined : { text: linkText(label, url, look), length: whole.length };
  }
  if (character === '<') {
    const [line] = sticky(BREAK, text, at);
    if (line !== undefined) return { text: ' ', length: line.length };
    const [whole, url = ''] = sticky(AUTOLINK, text, at);
    return whole === undefined ? undefined : { text: look.style('underline', url), length: whole.length };
  }
  if (character !== '&') return undefined;
  const [entity] = sticky(ENTITY, text, at);
  return entity === undefined ? undefined : { text: ENTITIES.get(entity) ?? '', length: entity.length };
}

/** The address is always visible, because the label is chosen by the model. */
function linkText(label: string, url: string, look: MarkdownLook): string {
  const { style } = look;
  if (url === '' || label === url) return style('underline', label === '' ? url : label);
  // A label contains no brackets, so it contains no link.
  return `${style('underline', renderInline(label, look))} ${style('dim', `(${url})`)}`;
}

function codeText(code: string, mark: string, { style, isColored }: MarkdownLook): string {
  if (!isColored) return `${mark}${code}${mark}`;
  const isPadded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
  return style('cyan', isPadded ? code.slice(1, -1) : code);
}

function runLength(text: string, at: number): number {
  const character = text.charAt(at);
  let end = at + 1;
  while (text.charAt(end) === character) end += 1;
  return end - at;
}

/** Finds where a code span ends: at the next run of as many backticks. Each run is looked at once. */
function openCodeEnds(text: string): (from: number, length: number) => number | undefined {
  const runs = new Map<number, { readonly places: number[]; next: number }>();
  for (const { index, 0: run } of text.matchAll(/`+/g)) {
    const known = runs.get(run.length);
    if (known === undefined) runs.set(run.length, { places: [index], next: 0 });
    else known.places.push(index);
  }
  return (from, length) => {
    const known = runs.get(length);
    if (known === undefined) return undefined;
    while ((known.places[known.next] ?? from) < from) known.next += 1;
    return known.places[known.next];
  };
}

function sticky(pattern: RegExp, text: string, at: number): readonly (string | undefined)[] {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? [];
}
