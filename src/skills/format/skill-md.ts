/** Parses a whole SKILL.md: head and body. Imports `yaml`; a scan needs only heads and uses `simple-head.ts`. */
import {
  cleanText,
  codePointAt,
  countCharacters,
  findHidden,
  offsetOfLine,
  type Diagnostic,
  type SkillHead,
} from '#core';
import { lengthWithoutTrailingSpace, type HeadOptions, type HeadSource } from './source.ts';
import { findFences } from './fences.ts';
import { sortedDiagnostics, findPosition, addDiagnostic, type Report } from './report.ts';
import { readHead } from './read-head.ts';

export interface SkillMd {
  /** Absent if the skill is excluded; `diagnostics` then contains the reason. */
  readonly head?: SkillHead;
  /** The text after the closing fence, unchanged: sanitize it before a model sees it. */
  readonly body: string;
  /** The 1-based line number of the start of the body. */
  readonly bodyLine: number;
  readonly diagnostics: readonly Diagnostic[];
}

export interface SkillMdOptions extends HeadOptions {
  readonly maxBodyLines?: number;
  readonly maxBodyCharacters?: number;
}

/** Parses a SKILL.md; `source.text` is the whole file. */
export function parseSkillMd(source: HeadSource, options: SkillMdOptions): SkillMd {
  const { text, path } = source;
  const reading = readHead(source, options);
  const start = bodyStart(text);
  const report: Report = { path, text, mode: options.mode, isVisible: false, diagnostics: [...reading.diagnostics] };
  const body = text.slice(start);
  // A file without frontmatter has one problem, not two.
  if (start > 0) checkBody(report, body, start, options);
  return {
    head: reading.head,
    body,
    bodyLine: findPosition(text, start).line,
    diagnostics: sortedDiagnostics(report),
  };
}

/** The body starts after the closing fence, or at the top of a file without frontmatter. An unclosed frontmatter has no body. */
function bodyStart(text: string): number {
  const found = findFences(text);
  if (found.type === 'found') return found.fences.end;
  return found.type === 'none' ? 0 : text.length;
}

function checkBody(report: Report, body: string, start: number, options: SkillMdOptions): void {
  const { maxBodyLines = 500, maxBodyCharacters = 40_000 } = options;
  const length = lengthWithoutTrailingSpace(body);
  if (length === 0) {
    if (start < report.text.length || report.diagnostics.length === 0) {
      addDiagnostic(report, { code: 'body/empty', at: start, message: 'the file has no text after the frontmatter' });
    }
    return;
  }
  const overLine = offsetOfLine(body, maxBodyLines, length);
  if (overLine !== undefined) {
    const message = `the body has more than ${maxBodyLines} lines`;
    addDiagnostic(report, { code: 'body/too-long', at: start + overLine, message });
  } else if (countCharacters(body) > maxBodyCharacters) {
    const message = `the body has ${countCharacters(body)} characters, expected at most ${maxBodyCharacters}`;
    addDiagnostic(report, { code: 'body/too-long', at: start, message });
  }
  const hidden = findHidden(body);
  if (hidden !== undefined) reportHidden(report, body, start, hidden.index);
}

function reportHidden(report: Report, body: string, start: number, first: number): void {
  let last = first;
  for (let next = findHidden(body, first); next !== undefined; next = findHidden(body, next.index + 1))
    last = next.index;
  const feed = body.indexOf('\n', last);
  const end = feed === -1 ? body.length : feed;
  const code = codePointAt(body, first);
  addDiagnostic(report, {
    code: 'body/hidden-characters',
    at: start + first,
    message: `U+${code.toString(16).toUpperCase().padStart(4, '0')} in the body, expected visible text`,
    edit: { offset: start + first, length: end - first, text: cleanText(body.slice(first, end)) },
  });
}

export { localLinks } from './markdown-links.ts';
