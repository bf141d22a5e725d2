/** Parses the syntax of `allowed-tools`: entries such as `Read` or `Bash(git add *)`. The policy decides what they match. */

const MAX_ENTRY = 300;

/** Splits at commas and white space outside of parentheses. */
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

/** Whether commas separate entries; the specification requires spaces. */
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

/** Whether an entry is a tool name, or a tool name followed by a pattern in parentheses. `*` means every tool. */
export function isToolPattern(entry: string): boolean {
  if (entry.length > MAX_ENTRY) return false;
  if (entry === '*') return true;
  const open = entry.indexOf('(');
  const name = open === -1 ? entry : entry.slice(0, open);
  if (!SIMPLE_TOOL_NAME.test(name) && !TOOL_NAME.test(name)) return false;
  if (open === -1) return true;
  return entry.endsWith(')') && open < entry.length - 2 && isBalanced(entry, open);
}

/** Fast path for ASCII names, because Unicode classes are slow to compile. */
const SIMPLE_TOOL_NAME = /^[A-Za-z_$][\w$.:/*@-]*$/;
const TOOL_NAME = /^[\p{L}_$][\p{L}\p{N}_$.:/*@-]*$/u;

/** Whether the outer parentheses enclose the whole rest of the entry. */
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

/** Intersects two lists by text: an entry is kept if the other list contains it or its whole tool. */
export function narrowTools(a: readonly string[], b: readonly string[]): readonly string[] {
  const kept = a.filter((entry) => covers(b, entry));
  for (const entry of b) if (covers(a, entry) && !kept.includes(entry)) kept.push(entry);
  return kept;
}

/**
 * Removes entries whose whole tool is forbidden. `Bash` stays although `Bash(rm:*)` is forbidden, so each use must be checked against both
 * lists.
 */
export function withoutTools(allowed: readonly string[], forbidden: readonly string[]): readonly string[] {
  return forbidden.length === 0 ? allowed : allowed.filter((entry) => !covers(forbidden, entry));
}

function covers(list: readonly string[], entry: string): boolean {
  return list.includes(entry) || list.includes(readToolName(entry)) || list.includes('*');
}

function readToolName(entry: string): string {
  const open = entry.indexOf('(');
  return open === -1 ? entry : entry.slice(0, open);
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r';
}
