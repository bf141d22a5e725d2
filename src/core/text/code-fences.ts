/** Fenced code in Markdown: ``` and ~~~, whatever their indent, because fences inside list items are indented too. */

/** The run of three or more backticks or tildes that a line starts with. */
export function fenceMark(line: string): string | undefined {
  let at = 0;
  while (line.charCodeAt(at) === 0x20 || line.charCodeAt(at) === 0x09) at += 1;
  const first = line.charAt(at);
  if (first !== '`' && first !== '~') return undefined;
  let end = at;
  while (line.charAt(end) === first) end += 1;
  // Backticks that end on the same line are inline code.
  if (end - at < 3 || (first === '`' && line.includes('`', end))) return undefined;
  return line.slice(at, end);
}

/** Whether the line ends code that `fence` opened: at least as many of the same marks, and nothing after them. */
export function closesFence(line: string, fence: string): boolean {
  const mark = fenceMark(line);
  return mark?.startsWith(fence) === true && line.trim() === mark;
}
