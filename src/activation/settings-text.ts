/** Skips to the characters that begin a string or a comment, or may be a trailing comma. */
const SPECIAL = /["/,]/g;

/**
 * Reads JSON with comments and trailing commas, as the agents accept it, in linear time: a project may contain any text. Returns
 * undefined for everything but an object.
 */
export function parseSettings(text: string): Record<string, unknown> | undefined {
  const plain = removeComments(text.replace(/^\uFEFF/, ''));
  if (plain === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(plain);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : undefined;
  } catch (error) {
    // Deep nesting is a RangeError.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns undefined if a string or a comment has no end. */
function removeComments(text: string): string | undefined {
  const parts: string[] = [];
  let comma: number | undefined;
  const add = (part: string): void => {
    const next = part.trimStart().charAt(0);
    if (next !== '' && comma !== undefined) {
      if (next === '}' || next === ']') parts[comma] = '';
      comma = undefined;
    }
    parts.push(part);
  };
  let at = 0;
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const start = SPECIAL.exec(text)?.index ?? text.length;
    add(text.slice(at, start));
    const end = endOfToken(text, start);
    if (end === undefined) return undefined;
    if (text[start] === ',') {
      add(',');
      comma = parts.length - 1;
    } else add(text[start] === '/' && end > start + 1 ? ' ' : text.slice(start, end));
    at = end;
  }
  return parts.join('');
}

/** Where the string, the comment or the single character at `start` ends. */
function endOfToken(text: string, start: number): number | undefined {
  if (text[start] === '"') return endOfString(text, start + 1);
  if (text.startsWith('//', start)) return orEnd(text.indexOf('\n', start), text.length);
  if (!text.startsWith('/*', start)) return start + 1;
  const end = text.indexOf('*/', start + 2);
  return end === -1 ? undefined : end + 2;
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') return at + 1;
    if (character === '\n') return undefined;
    if (character === '\\') at += 1;
  }
  return undefined;
}

function orEnd(index: number, length: number): number {
  return index === -1 ? length : index;
}
