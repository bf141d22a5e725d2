/** Mends the value of one broken piece, tells what was wrong with it, and gives an edit where one is certain. */
import type { DiagnosticCode } from '../core/diagnostic-codes.ts';
import type { Edit } from '../core/diagnostic.ts';
import type { ScalarNode } from './node.ts';
import type { Piece } from './pieces.ts';
import type { Report } from './report.ts';
import { tell } from './report.ts';
import { foldYaml, quoteYaml } from './write.ts';
import { quoted } from '../core/text/text.ts';

interface Written {
  /** Offset of the first character of the value, and just after its last. */
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

interface Mended {
  readonly code: DiagnosticCode;
  readonly at: number;
  readonly message: string;
  readonly value: string;
}

/** As much of a piece as is needed to mend its value. */
export type ValuePiece = Pick<Piece, 'key' | 'keyStart' | 'valueStart' | 'column' | 'end'>;

const GLOBS = /^\*[^"'#:&!|>%@`[\]]*$/;

/** A restricting value that YAML misreads but that can mean only one thing: globs that start with a star. */
export function textRestriction(report: Report, piece: Piece): ScalarNode | undefined {
  const written = writtenValue(report.text, piece);
  const [line] = written.lines;
  if (written.lines.length !== 1 || line === undefined || !GLOBS.test(line)) return undefined;
  tell(report, {
    code: 'frontmatter/unquoted',
    at: written.start,
    message: `YAML takes ${quoted(line)} for an alias, expected text in quotes`,
    edit: { offset: written.start, length: written.end - written.start, text: quoteYaml(line) },
  });
  return { type: 'scalar', value: line, style: 'plain', start: written.start, end: written.end };
}

/** The value as text, as well as it can be understood. `isText`: text is what was meant, so the edit may make it that. */
export function mendPiece(
  report: Report,
  text: string,
  piece: ValuePiece,
  { isText }: { readonly isText: boolean },
): ScalarNode | undefined {
  const written = writtenValue(text, piece);
  const [first] = written.lines;
  if (first === undefined) {
    tell(report, {
      code: 'frontmatter/invalid-yaml',
      at: piece.keyStart,
      message: `the value of ${quoted(piece.key)} cannot be read`,
    });
    return undefined;
  }
  const mended = missingSpace(text, piece, first) ?? mendText(written, first, piece.key);
  tell(report, {
    code: mended.code,
    at: mended.at,
    message: mended.message,
    edit: isText ? editFor(text, piece, written, mended.value) : undefined,
  });
  return { type: 'scalar', value: mended.value, style: 'plain', start: written.start, end: written.end };
}

/** Text that goes on below its piece without being indented. */
export function mendTail(report: Report, text: string, piece: Piece): ScalarNode | undefined {
  const written = writtenValue(text, { ...piece, end: piece.tailEnd });
  const value = bare(written.lines);
  tell(report, {
    code: 'frontmatter/invalid-yaml',
    at: piece.end,
    message: `the text of ${quoted(piece.key)} goes on at the start of a line, expected it indented`,
    hint: 'indent every line of the text',
    edit: editFor(text, piece, written, value),
  });
  return { type: 'scalar', value, style: 'plain', start: written.start, end: written.end };
}

/** The text of lines without the quotes around them or the block sign before them. */
function bare(lines: readonly string[]): string {
  const joined = lines.join(' ');
  const quote = joined.charAt(0);
  if (quote !== '"' && quote !== "'") return joined.replace(/^[|>][-+]?\d?[-+]?(?: |$)/, '').trim();
  return unescaped(joined.endsWith(quote) && joined.length > 1 ? joined.slice(1, -1) : joined.slice(1), quote).trim();
}

function mendText(written: Written, first: string, key: string): Mended {
  const joined = written.lines.join(' ');
  const sign = first.charAt(0);
  if (sign === '"' || sign === "'") return mendQuoted(written, joined, sign);
  if (sign === '|' || sign === '>') return mendBlock(written, first);
  const colon = colonIn(written);
  if (colon !== undefined) {
    const message = `the value of ${quoted(key)} has a colon and is not in quotes`;
    return { code: 'frontmatter/unquoted-colon', at: colon, message, value: joined };
  }
  const message = `the value ${quoted(joined)} is not text to YAML, expected quotes around it`;
  return {
    code: written.lines.length === 1 ? 'frontmatter/unquoted' : 'frontmatter/invalid-yaml',
    at: written.start,
    message,
    value: joined,
  };
}

function mendQuoted(written: Written, joined: string, quote: string): Mended {
  const inner = joined.slice(1);
  const last = inner.lastIndexOf(quote);
  if (last === -1 || (last === inner.length - 1 && inner.endsWith(`\\${quote}`))) {
    const message = `the quote that opens ${quoted(joined)} is not closed`;
    return { code: 'frontmatter/unclosed-quote', at: written.start, message, value: unescaped(inner, quote) };
  }
  if (last < inner.length - 1) {
    const message = `text follows the closing quote in ${quoted(joined)}`;
    return { code: 'frontmatter/unquoted', at: written.start, message, value: joined };
  }
  const value = unescaped(inner.slice(0, -1), quote);
  const message = `quotes or backslashes inside ${quoted(joined)} are not escaped`;
  return { code: 'frontmatter/unquoted', at: written.start, message, value };
}

/** Takes away only the escapes that people mean. */
function unescaped(inner: string, quote: string): string {
  return quote === '"' ? inner.replaceAll('\\"', '"').replaceAll('\\n', '\n') : inner.replaceAll("''", "'");
}

function mendBlock(written: Written, first: string): Mended {
  const header = /^[|>][-+]?\d?[-+]?/.exec(first)?.[0] ?? first.charAt(0);
  const lines = [trimYaml(first.slice(header.length)), ...written.lines.slice(1)].filter(
    (line, index) => index > 0 || line !== '',
  );
  const value = lines.join(first.startsWith('|') ? '\n' : ' ');
  const message = `the lines under ${header} are not a text block to YAML`;
  return { code: 'frontmatter/invalid-yaml', at: written.start, message, value };
}

function missingSpace(text: string, piece: ValuePiece, first: string): Mended | undefined {
  const sign = text.charCodeAt(piece.valueStart - 1);
  if (sign === 0x3a && text.charCodeAt(piece.valueStart) <= 0x20) return undefined;
  const quote = first.charAt(0);
  const isQuoted = first.length > 1 && (quote === '"' || quote === "'") && first.endsWith(quote);
  const message = `expected a colon and a space after ${quoted(piece.key)}`;
  return {
    code: 'frontmatter/invalid-yaml',
    at: piece.valueStart - 1,
    message,
    value: isQuoted ? first.slice(1, -1) : first,
  };
}

/** Where the first colon stands that YAML would take for the end of a key. */
function colonIn({ start, lines }: Written): number | undefined {
  const [first = ''] = lines;
  const found = first.search(/:(?: |$)/);
  if (found !== -1) return start + found;
  return lines.slice(1).some((line) => /:(?: |$)/.test(line)) ? start : undefined;
}

function editFor(text: string, piece: ValuePiece, { start, end, lines }: Written, value: string): Edit | undefined {
  const colon = text.charCodeAt(piece.valueStart - 1) === 0x3a;
  const offset = colon ? piece.valueStart : piece.valueStart - 1;
  if (text.slice(piece.valueStart, start).includes('\n') || end < start) return undefined;
  const folded = lines.length > 1 && !value.includes('\n') ? foldYaml(value, piece.column) : undefined;
  return { offset, length: end - offset, text: `${colon ? '' : ':'} ${folded ?? quoteYaml(value)}` };
}

/** The value's lines, trimmed, without blank lines and comments below it. */
function writtenValue(text: string, piece: ValuePiece): Written {
  const lines: string[] = [];
  let start = -1;
  let end = piece.valueStart;
  for (let line = piece.valueStart; line < piece.end;) {
    const feed = text.indexOf('\n', line);
    const next = feed === -1 || feed >= piece.end ? piece.end : feed + 1;
    const content = text.slice(line, next);
    const trimmed = trimYaml(content);
    if (trimmed !== '' && !trimmed.startsWith('#')) {
      const from = line + content.indexOf(trimmed);
      if (start === -1) start = from;
      lines.push(trimmed);
      end = from + trimmed.length;
    }
    line = next;
  }
  return { start: start === -1 ? piece.valueStart : start, end, lines };
}

/** Takes away what YAML takes for white space; a no-break space is a character like any other. */
function trimYaml(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text.charCodeAt(from) <= 0x20) from += 1;
  while (to > from && text.charCodeAt(to - 1) <= 0x20) to -= 1;
  return text.slice(from, to);
}
