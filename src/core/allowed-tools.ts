/** `allowed-tools` as text: entries such as `Read` or `Bash(git add *)`. What they match is decided elsewhere. */

const MAX_ENTRY = 300;

/** Splits on commas and white space, but not inside parentheses. */
export function splitToolList(text: string): readonly string[] {
  const entries: string[] = [];
  let depth = 0;
  let from = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const character = index === text.length ? ' ' : text.charAt(index);
    if (character === '(') depth += 1;
    else if (character === ')' && depth > 0) depth -= 1;
    const separates = index === text.length || (depth === 0 && (character === ',' || isSpace(character)));
    if (!separates) continue;
    if (index > from) entries.push(text.slice(from, index));
    from = index + 1;
  }
  return entries;
}

/** Whether commas separate entries, where the specification has spaces. */
export function hasSeparatingComma(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x28) depth += 1;
    else if (code === 0x29 && depth > 0) depth -= 1;
    else if (code === 0x2c && depth === 0) return true;
  }
  return false;
}

/** A tool name, or a tool name with a pattern in parentheses that ends the entry. `*` alone is every tool. */
export function isToolPattern(entry: string): boolean {
  if (entry.length > MAX_ENTRY) return false;
  if (entry === '*') return true;
  const open = entry.indexOf('(');
  const name = open === -1 ? entry : entry.slice(0, open);
  if (!SIMPLE_TOOL_NAME.test(name) && !TOOL_NAME.test(name)) return false;
  if (open === -1) return true;
  return entry.endsWith(')') && open < entry.length - 2 && isBalanced(entry, open);
}

/** Nearly every name; kinds of letters take a process half a millisecond before the first match. */
const SIMPLE_TOOL_NAME = /^[A-Za-z_$][\w$.:/*@-]*$/;
const TOOL_NAME = /^[\p{L}_$][\p{L}\p{N}_$.:/*@-]*$/u;

/** One pair around all the rest; pairs inside it are the pattern's own. */
function isBalanced(entry: string, open: number): boolean {
  let depth = 0;
  for (let index = open; index < entry.length; index += 1) {
    const code = entry.charCodeAt(index);
    if (code === 0x28) depth += 1;
    else if (code === 0x29) {
      depth -= 1;
      if (depth === 0) return index === entry.length - 1;
    }
  }
  return false;
}

/** What both lists allow, as far as the text tells: an entry counts if the other list has it or has its whole tool. */
export function narrowTools(a: readonly string[], b: readonly string[]): readonly string[] {
  const kept = a.filter((entry) => covers(b, entry));
  for (const entry of b) if (covers(a, entry) && !kept.includes(entry)) kept.push(entry);
  return kept;
}

/**
 * What is left of `allowed` without what `forbidden` takes away whole. `Bash` without `Bash(rm:*)` is still `Bash`: whoever decides
 * about a use must ask both lists.
 */
export function withoutTools(allowed: readonly string[], forbidden: readonly string[]): readonly string[] {
  return forbidden.length === 0 ? allowed : allowed.filter((entry) => !covers(forbidden, entry));
}

function covers(list: readonly string[], entry: string): boolean {
  return list.includes(entry) || list.includes(toolOf(entry)) || list.includes('*');
}

function toolOf(entry: string): string {
  const open = entry.indexOf('(');
  return open === -1 ? entry : entry.slice(0, open);
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r';
}
