/** Fenced code in Markdown: ``` and ~~~ with any indent, because fences in list items are indented. */

/** The opening run of three or more backticks or tildes. */
function fenceMark(line: string): string | undefined {
  let at = 0;
  while (line.charCodeAt(at) === 0x20 || line.charCodeAt(at) === 0x09) at += 1;
  const first = line.charAt(at);
  if (first !== '`' && first !== '~') return undefined;
  let end = at;
  while (line.charAt(end) === first) end += 1;
  // Backticks that close on the same line are inline code.
  if (end - at < 3 || (first === '`' && line.includes('`', end))) return undefined;
  return line.slice(at, end);
}

/** The fence that is open after a line; `open` is the one before it. It is closed by at least as many of the same marks and nothing else. */
export function fenceAfter(line: string, open?: string): string | undefined {
  const mark = fenceMark(line);
  if (open === undefined) return mark;
  return mark?.startsWith(open) === true && line.trim() === mark ? undefined : open;
}
