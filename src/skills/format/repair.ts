/** Repairs the value of one broken piece, reports what was wrong, and adds an edit if it is certain. */
import { quoted, type Diagnostic } from '#core';
import type { ScalarNode } from './node.ts';
import type { Piece } from './pieces.ts';
import { addDiagnostic, type Report, type Edit } from './report.ts';
import { foldYaml, quoteYaml } from './write.ts';

interface RawValue {
  /** Offset of the first character of the value, and just after its last. */
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

interface RepairedValue {
  readonly code: Diagnostic['code'];
  readonly at: number;
  readonly message: string;
  readonly value: string;
}

export type ValuePiece = Pick<Piece, 'key' | 'keyStart' | 'valueStart' | 'column' | 'end'>;

const GLOBS = /^\*[^"'#:&!|>%@`[\]]*$/;

/** Reads a restricting value that YAML rejects but that has only one meaning: globs that start with a star. */
export function textRestriction(report: Report, piece: Piece): ScalarNode | undefined {
  const written = readRawValue(report.text, piece);
  const [line] = written.lines;
  if (written.lines.length !== 1 || line === undefined || !GLOBS.test(line)) return undefined;
  addDiagnostic(report, {
    code: 'frontmatter/unquoted',
    at: written.start,
    message: `YAML reads ${quoted(line)} as an alias, expected text in quotes`,
    edit: { offset: written.start, length: written.end - written.start, text: quoteYaml(line) },
  });
  return { type: 'scalar', value: line, style: 'plain', start: written.start, end: written.end };
}

/** Reads the value as text. `isText` means that the author meant text, so that the edit may quote it. */
export function repairPiece(
  report: Report,
  text: string,
  piece: ValuePiece,
  { isText }: { readonly isText: boolean },
): ScalarNode | undefined {
  const written = readRawValue(text, piece);
  const [first] = written.lines;
  if (first === undefined) {
    addDiagnostic(report, {
      code: 'frontmatter/invalid-yaml',
      at: piece.keyStart,
      message: `the value of ${quoted(piece.key)} cannot be read`,
    });
    return undefined;
  }
  const repaired = missingSpace(text, piece, first) ?? repairText(written, first, piece.key);
  addDiagnostic(report, {
    code: repaired.code,
    at: repaired.at,
    message: repaired.message,
    edit: isText ? editFor(text, piece, written, repaired.value) : undefined,
  });
  return { type: 'scalar', value: repaired.value, style: 'plain', start: written.start, end: written.end };
}

/** Reads text that continues below its piece without indentation. */
export function repairTail(report: Report, text: string, piece: Piece): ScalarNode | undefined {
  const written = readRawValue(text, { ...piece, end: piece.tailEnd });
  const value = bare(written.lines);
  addDiagnostic(report, {
    code: 'frontmatter/invalid-yaml',
    at: piece.end,
    message: `the text of ${quoted(piece.key)} continues at the start of a line, expected indentation`,
    hint: 'indent every line of the text',
    edit: editFor(text, piece, written, value),
  });
  return { type: 'scalar', value, style: 'plain', start: written.start, end: written.end };
}

/** The text of the lines without quotes or block indicator. */
function bare(lines: readonly string[]): string {
  const joined = lines.join(' ');
  const quote = joined.charAt(0);
  if (quote !== '"' && quote !== "'") return joined.replace(/^[|>][-+]?\d?[-+]?(?: |$)/, '').trim();
  return unescaped(joined.endsWith(quote) && joined.length > 1 ? joined.slice(1, -1) : joined.slice(1), quote).trim();
}

function repairText(written: RawValue, first: string, key: string): RepairedValue {
  const joined = written.lines.join(' ');
  const sign = first.charAt(0);
  if (sign === '"' || sign === "'") return repairQuoted(written, joined, sign);
  if (sign === '|' || sign === '>') return repairBlock(written, first);
  const colon = colonIn(written);
  if (colon !== undefined) {
    const message = `the value of ${quoted(key)} has a colon and is not in quotes`;
    return { code: 'frontmatter/unquoted-colon', at: colon, message, value: joined };
  }
  const message = `YAML does not read ${quoted(joined)} as text, expected quotes around it`;
  return {
    code: written.lines.length === 1 ? 'frontmatter/unquoted' : 'frontmatter/invalid-yaml',
    at: written.start,
    message,
    value: joined,
  };
}

function repairQuoted(written: RawValue, joined: string, quote: string): RepairedValue {
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

/** Resolves only the escapes that authors commonly use. */
function unescaped(inner: string, quote: string): string {
  return quote === '"' ? inner.replaceAll('\\"', '"').replaceAll('\\n', '\n') : inner.replaceAll("''", "'");
}

function repairBlock(written: RawValue, first: string): RepairedValue {
  const header = /^[|>][-+]?\d?[-+]?/.exec(first)?.[0] ?? first.charAt(0);
  const lines = [trimYaml(first.slice(header.length)), ...written.lines.slice(1)].filter(
    (line, index) => index > 0 || line !== '',
  );
  const value = lines.join(first.startsWith('|') ? '\n' : ' ');
  const message = `YAML does not read the lines under ${header} as a text block`;
  return { code: 'frontmatter/invalid-yaml', at: written.start, message, value };
}

function missingSpace(text: string, piece: ValuePiece, first: string): RepairedValue | undefined {
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

/** The offset of the first colon that YAML reads as the end of a key. */
function colonIn({ start, lines }: RawValue): number | undefined {
  const [first = ''] = lines;
  const found = first.search(/:(?: |$)/);
  if (found !== -1) return start + found;
  return lines.slice(1).some((line) => /:(?: |$)/.test(line)) ? start : undefined;
}

function editFor(text: string, piece: ValuePiece, { start, end, lines }: RawValue, value: string): Edit | undefined {
  const colon = text.charCodeAt(piece.valueStart - 1) === 0x3a;
  const offset = colon ? piece.valueStart : piece.valueStart - 1;
  if (text.slice(piece.valueStart, start).includes('\n') || end < start) return undefined;
  const folded = lines.length > 1 && !value.includes('\n') ? foldYaml(value, piece.column) : undefined;
  return { offset, length: end - offset, text: `${colon ? '' : ':'} ${folded ?? quoteYaml(value)}` };
}

/** The value's lines, trimmed, without blank lines and comments below it. */
function readRawValue(text: string, piece: ValuePiece): RawValue {
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

/** Removes YAML white space. A no-break space is an ordinary character. */
function trimYaml(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text.charCodeAt(from) <= 0x20) from += 1;
  while (to > from && text.charCodeAt(to - 1) <= 0x20) to -= 1;
  return text.slice(from, to);
}
