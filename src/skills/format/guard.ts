/** Checks before the YAML library parses a text: nesting depth and number of documents. */

const MAX_DEPTH = 16;
/**
 * The limit for the text that the library parses at once, and again in total when broken text is parsed field by field. The library
 * takes up to 15 µs per character. Of 107,207 real files, 20 have more than 4 KiB of frontmatter, and almost all of those are plain.
 */
export const MAX_LIBRARY_TEXT = 8 * 1024;

/**
 * The offset of the first character that is nested too deep. It counts brackets, columns and dashes and ignores quotes, which is
 * cheap, never too low, and too high only for text that looks like a denial-of-service attack.
 */
export function findTooDeep(text: string, start: number, end: number): number | undefined {
  const columns: number[] = [];
  let brackets = 0;
  for (let line = start; line < end;) {
    const feed = text.indexOf('\n', line);
    const lineEnd = feed === -1 || feed > end ? end : feed;
    let at = line;
    while (at < lineEnd && isIndicator(text, at, lineEnd)) at += 1;
    if (at < lineEnd) {
      const column = at - line;
      while ((columns.at(-1) ?? -1) >= column) columns.pop();
      columns.push(column);
      const dashes = countDashes(text, line, at);
      if (columns.length + dashes > MAX_DEPTH) return at;
    }
    for (; at < lineEnd; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x5b || code === 0x7b) {
        brackets += 1;
        if (brackets > MAX_DEPTH) return at;
      } else if ((code === 0x5d || code === 0x7d) && brackets > 0) brackets -= 1;
    }
    line = lineEnd + 1;
  }
  return undefined;
}

/** A line `--- x` or a directive: the start of another document. */
export function findSecondDocument(text: string, start: number, end: number): number | undefined {
  for (let line = start; line < end; line = text.indexOf('\n', line) + 1) {
    const code = text.charCodeAt(line);
    if (code === 0x25) return line;
    if (code === 0x2d && text.startsWith('---', line) && text.charCodeAt(line + 3) <= 0x20) return line;
    if (text.indexOf('\n', line) === -1) break;
  }
  return undefined;
}

/** White space, or a dash or question mark that opens a collection. */
function isIndicator(text: string, at: number, end: number): boolean {
  const code = text.charCodeAt(at);
  if (code === 0x20 || code === 0x09) return true;
  return (code === 0x2d || code === 0x3f) && (at + 1 >= end || text.charCodeAt(at + 1) <= 0x20);
}

function countDashes(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) > 0x20) count += 1;
  return count;
}
