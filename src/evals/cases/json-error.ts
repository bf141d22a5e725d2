/** Locates a JSON syntax error. V8 does not always report a position, and its messages differ between versions. */

const STRING = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y;
const PLAIN = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\r\n]*/y;

type Wanted = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

/** The offset of the first unexpected character; the length of the text if its end is missing. */
export function jsonErrorOffset(text: string): number {
  const open: string[] = [];
  let wanted: Wanted = 'value';
  let at = endOf(SPACE, text, 0) ?? 0;
  while (at < text.length) {
    const character = text.charAt(at);
    const next = step(text, at, wanted, open);
    if (next === undefined) return at;
    if (character === '{' || character === '[') open.push(character);
    else if (character === '}' || character === ']') open.pop();
    wanted = next.wanted === 'nothing' && open.length > 0 ? 'comma or end' : next.wanted;
    at = endOf(SPACE, text, next.at) ?? next.at;
  }
  return at;
}

interface Step {
  readonly at: number;
  readonly wanted: Wanted;
}

/** Reads one token. `nothing` after a value means that the enclosing bracket decides what may follow. */
function step(text: string, at: number, wanted: Wanted, open: readonly string[]): Step | undefined {
  const character = text.charAt(at);
  const isEnd = wanted.endsWith('or end') && character === (open.at(-1) === '{' ? '}' : ']');
  if (isEnd) return { at: at + 1, wanted: 'nothing' };
  switch (wanted) {
    case 'value':
    case 'value or end':
      return value(text, at);
    case 'key':
    case 'key or end': {
      const end = endOf(STRING, text, at);
      return end === undefined ? undefined : { at: end, wanted: 'colon' };
    }
    case 'colon':
      return character === ':' ? { at: at + 1, wanted: 'value' } : undefined;
    case 'comma or end':
      return character === ',' ? { at: at + 1, wanted: open.at(-1) === '{' ? 'key' : 'value' } : undefined;
    case 'nothing':
      return undefined;
  }
}

function value(text: string, at: number): Step | undefined {
  const character = text.charAt(at);
  if (character === '{') return { at: at + 1, wanted: 'key or end' };
  if (character === '[') return { at: at + 1, wanted: 'value or end' };
  const end = endOf(character === '"' ? STRING : PLAIN, text, at);
  return end === undefined ? undefined : { at: end, wanted: 'nothing' };
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
