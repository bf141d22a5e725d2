/** Fenced code in Markdown: ``` and ~~~ with any indent, because fences in list items are indented. */

/** The opening run of three or more backticks or tildes. */
export function fenceMark(line: string): string | undefined {
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

/** Whether the line closes a fence: at least as many of the same marks and nothing else. */
export function closesFence(line: string, fence: string): boolean {
  const mark = fenceMark(line);
  return mark?.startsWith(fence) === true && line.trim() === mark;
}
