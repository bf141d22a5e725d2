/** Describes what is wrong with a file that has no frontmatter, or only an opening fence. */
import { isTooLarge } from './checks.ts';
import type { FenceReading } from './fences.ts';
import type { Problem } from './report.ts';
import { quoted } from '#core';

export function missingFrontmatter(text: string, found: Exclude<FenceReading, { type: 'found' }>): Problem {
  return found.type === 'none' ? missing(found.at, text) : unterminated(text, found.open, found.start);
}

function missing(at: number, text: string): Problem {
  const line = text.slice(at, at + 200).split('\n', 1)[0] ?? '';
  const seen = line.trim() === '' ? 'nothing' : quoted(line.trim(), 40);
  return { code: 'frontmatter/missing', at, message: `the file starts with ${seen}, expected ---` };
}

function unterminated(text: string, open: number, start: number): Problem {
  if (isTooLarge(text, text.length)) {
    return { code: 'frontmatter/too-large', at: open, message: 'the frontmatter has more than 64 KiB' };
  }
  return {
    code: 'frontmatter/unterminated',
    at: open,
    message: 'the --- line that closes the frontmatter is missing',
    edit: closingEdit(text, start),
  };
}

/** Inserts the closing fence where the fields end: at the first blank line or heading after lines that are all fields. */
function closingEdit(text: string, start: number): Problem['edit'] {
  let line = start;
  while (line < text.length) {
    const feed = text.indexOf('\n', line);
    const end = feed === -1 ? text.length : feed;
    const content = text.slice(line, end);
    if (/^(?:\s*$|#|```|\*|>)/.test(content))
      return line > start ? { offset: line, length: 0, text: '---\n' } : undefined;
    if (!/^(?:[\w-]+:(?:\s|$)|[ \t]+\S|- )/.test(content)) return undefined;
    line = end + 1;
  }
  return { offset: text.length, length: 0, text: text.endsWith('\n') ? '---\n' : '\n---\n' };
}
