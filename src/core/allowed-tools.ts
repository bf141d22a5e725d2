/** Parses the syntax of `allowed-tools`: entries such as `Read` or `Bash(git add *)`. The policy decides what they match. */

const MAX_ENTRY = 300;

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
