/**
 * The quickstart of a skill: one of its scripts with arguments, which can be run without understanding the rest. It is fenced code
 * called `quickstart` in the body, or in `metadata`. It is never passed to a shell: it is split into words here, and values from the
 * request become single words, so that nothing in a name or a request can become an option or a second command.
 */
import { fenceAfter, findHidden, quoted, sliceStart, toRelativePath, type RelativePath, isProblem } from '#core';
import { readSimpleHead } from '#skills';

export interface Quickstart {
  /** Relative to the skill folder: `scripts/report.mjs`. */
  readonly script: RelativePath;
  readonly words: readonly QuickstartWord[];
}

type QuickstartWord =
  | { readonly type: 'literal'; readonly text: string }
  | {
      readonly type: 'placeholder';
      readonly kind: PlaceholderKind;
      /** Lower case, without the dot; empty if any file is accepted. */
      readonly endings: readonly string[];
      /** The word is omitted if there is no value. */
      readonly isOptional: boolean;
      /** The rest of the same word: `--in={file}`. */
      readonly before: string;
      readonly after: string;
    };

const PLACEHOLDER_KINDS = ['file', 'files', 'request', 'quoted'] as const;
type PlaceholderKind = (typeof PLACEHOLDER_KINDS)[number];

export type QuickstartReading =
  | { readonly type: 'found'; readonly quickstart: Quickstart }
  | { readonly type: 'absent' }
  | { readonly type: 'invalid'; readonly problem: string };

export interface QuickstartInput {
  readonly request: string;
  /** Paths that the script can open from the skill folder, in the given order. */
  readonly files: readonly string[];
}

export type QuickstartFilling =
  | {
      readonly type: 'filled';
      readonly script: RelativePath;
      readonly args: readonly string[];
      readonly files: readonly string[];
    }
  /** The missing inputs, as noun phrases. */
  | { readonly type: 'missing'; readonly placeholders: readonly string[] };

const INFO = 'quickstart';
const MAX_CHARACTERS = 2000;
const MAX_WORDS = 64;
/** The most files for `{files}`, because the length of a command line is limited. */
const MAX_FILES = 256;
const MAX_TEXT = 4000;
const MAX_ENDINGS = 16;

/** Finds the quickstart in a SKILL.md or in its body. The first block counts; one inside other fenced code is an example. */
export function findQuickstart(text: string): QuickstartReading {
  const block = fencedBlock(text);
  if (block.type === 'found') return parseQuickstart(block.code);
  if (block.type === 'open') return invalid('the quickstart block has no closing fence');
  const stated = metadataQuickstart(text);
  return stated === undefined ? { type: 'absent' } : parseQuickstart(stated);
}

/** Parses the block or `metadata.quickstart`: one line, and comments. */
export function parseQuickstart(code: string): QuickstartReading {
  if (code.length > MAX_CHARACTERS) return invalid(`the quickstart has more than ${String(MAX_CHARACTERS)} characters`);
  const lines = code.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  const [line] = lines;
  if (line === undefined) return invalid('the quickstart is empty, expected a script and its arguments');
  if (lines.length > 1) return invalid('the quickstart has several lines, expected one script and its arguments');
  const hidden = findHidden(line.replaceAll('\t', ' '));
  if (hidden !== undefined) return invalid('the quickstart contains an invisible character');
  const split = splitWords(line);
  if (typeof split === 'string') return invalid(split);
  const [first, ...rest] = split;
  if (first === undefined || split.length > MAX_WORDS)
    return invalid(`the quickstart has ${String(split.length)} words, expected 1 to ${String(MAX_WORDS)}`);
  return withWords(first, rest);
}

function withWords(first: Word, rest: readonly Word[]): QuickstartReading {
  const path = toRelativePath(first.text);
  if (isProblem(path)) return invalid(path.message);
  if (!path.startsWith('scripts/'))
    return invalid(`the quickstart starts with ${quoted(first.text)}, expected a path below scripts/`);
  const words: QuickstartWord[] = [];
  for (const word of rest) {
    const read = readWord(word);
    if (typeof read === 'string') return invalid(read);
    words.push(read);
  }
  return { type: 'found', quickstart: { script: path, words } };
}

type Block =
  | { readonly type: 'found'; readonly code: string }
  | { readonly type: 'open' }
  | { readonly type: 'absent' };

function fencedBlock(text: string): Block {
  let fence: string | undefined;
  let isQuickstart = false;
  let code: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (fence === undefined) {
      fence = fenceAfter(line);
      isQuickstart = fence !== undefined && readInfoWord(line, fence) === INFO;
      code = [];
    } else if (fenceAfter(line, fence) === undefined) {
      if (isQuickstart) return { type: 'found', code: code.join('\n') };
      fence = undefined;
    } else if (isQuickstart) code.push(line);
  }
  return fence !== undefined && isQuickstart ? { type: 'open' } : { type: 'absent' };
}

function readInfoWord(line: string, fence: string): string | undefined {
  return line.trim().slice(fence.length).trim().split(/\s+/)[0];
}

/** Only if the frontmatter is included and plain. */
function metadataQuickstart(text: string): string | undefined {
  if (!text.startsWith('---')) return undefined;
  const source = { path: 'SKILL.md', directory: '', fileName: 'SKILL.md', text, validUtf8: true };
  return readSimpleHead(source, { mode: 'lenient' })?.head?.meta[INFO];
}

/** A word of the line. Quotes group characters; a quoted word is used literally. */
interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
}

// Each character matches in one way only, so that a mismatch fails in linear time.
const WORD = /\s*(?:"([^"]*)"|'([^']*)'|(?:\{[^{}]*\}|\{(?![^{}]*\})|[^\s"'{])+)(?=\s|$)/y;

function splitWords(line: string): readonly Word[] | string {
  const text = line.trim();
  const words: Word[] = [];
  WORD.lastIndex = 0;
  for (let at = 0; at < text.length; at = WORD.lastIndex) {
    const match = WORD.exec(text);
    if (match === null)
      return `the quickstart has a quote inside a word or without an end, at ${quoted(text.slice(at).trim())}`;
    const inQuotes = match[1] ?? match[2];
    words.push({ text: inQuotes ?? match[0].trim(), isQuoted: inQuotes !== undefined });
  }
  return words;
}

const PLACEHOLDER = /^([^{}]*)\{\s*([a-z]+)\s*(?::([^{}?]*))?(\?)?\s*\}([^{}]*)$/;

function readWord({ text, isQuoted }: Word): QuickstartWord | string {
  if (isQuoted || (!text.includes('{') && !text.includes('}'))) return { type: 'literal', text };
  const match = PLACEHOLDER.exec(text);
  const kind = PLACEHOLDER_KINDS.find((known) => known === match?.[2]);
  if (match === null || kind === undefined)
    return `${quoted(text)} is not a placeholder; expected one of ${PLACEHOLDER_KINDS.map((known) => `{${known}}`).join(', ')}`;
  const [, before = '', , list = '', mark, after = ''] = match;
  const endings = list
    .split(',')
    .map((ending) => ending.trim().replace(/^\./, '').toLowerCase())
    .filter((ending) => ending !== '');
  if (endings.length > MAX_ENDINGS) return `${quoted(text)} names more than ${String(MAX_ENDINGS)} kinds of files`;
  if (endings.length > 0 && !kind.startsWith('file'))
    return `${quoted(text)} has file endings, which only file placeholders can have`;
  return { type: 'placeholder', kind, endings, isOptional: mark === '?', before, after };
}

/** The quickstart of a SKILL.md with these values; undefined if it has none that can be run with them. */
export function quickstartWith(
  text: string,
  input: QuickstartInput,
): Extract<QuickstartFilling, { readonly type: 'filled' }> | undefined {
  const read = findQuickstart(text);
  const filled = read.type === 'found' ? fillQuickstart(read.quickstart, input) : undefined;
  return filled?.type === 'filled' ? filled : undefined;
}

/** Substitutes the request and the files. Each file is used once, in the given order. */
export function fillQuickstart({ script, words }: Quickstart, input: QuickstartInput): QuickstartFilling {
  const args: string[] = [];
  const placeholders: string[] = [];
  const used: string[] = [];
  for (const word of words) {
    if (word.type === 'literal') {
      args.push(word.text);
      continue;
    }
    const values = valuesFor(word, input, used);
    if (word.kind === 'file' || word.kind === 'files') used.push(...values);
    if (values.length === 0 && !word.isOptional) placeholders.push(describePlaceholder(word));
    args.push(...values.map((value) => word.before + value + word.after));
  }
  return placeholders.length > 0 ? { type: 'missing', placeholders } : { type: 'filled', script, args, files: used };
}

type Placeholder = Extract<QuickstartWord, { readonly type: 'placeholder' }>;

function valuesFor(word: Placeholder, input: QuickstartInput, used: readonly string[]): readonly string[] {
  switch (word.kind) {
    case 'file':
      return fitting(word, input.files, used).slice(0, 1);
    case 'files':
      return fitting(word, input.files, used).slice(0, MAX_FILES);
    case 'request':
      return textValue(word, input.request.trim());
    case 'quoted':
      return textValue(
        word,
        QUOTED.exec(input.request)
          ?.slice(1)
          .find((part) => part !== undefined) ?? '',
      );
  }
}

const QUOTED = /"([^"]+)"|“([^”]+)”|「([^」]+)」|`([^`]+)`/;

function fitting(
  { endings, before }: Placeholder,
  files: readonly string[],
  used: readonly string[],
): readonly string[] {
  const isFit = (file: string): boolean =>
    endings.length === 0 || endings.some((ending) => file.toLowerCase().endsWith(`.${ending}`));
  const isSafe = (file: string): boolean => !file.includes('\0') && !isOption(before, file);
  return files.filter((file) => !used.includes(file) && isFit(file) && isSafe(file));
}

/** A value that starts with - is rejected, because the script would take it for an option. */
function textValue({ before }: Placeholder, text: string): readonly string[] {
  const value = sliceStart(text.replaceAll('\0', ''), MAX_TEXT);
  return value === '' || isOption(before, value) ? [] : [value];
}

function isOption(before: string, value: string): boolean {
  return before === '' && value.startsWith('-');
}

function describePlaceholder({ kind, endings }: Placeholder): string {
  const ends = endings.length === 0 ? '' : ` (${endings.map((ending) => `.${ending}`).join(', ')})`;
  if (kind === 'file') return `a file${ends}`;
  if (kind === 'files') return `files${ends}`;
  return kind === 'quoted' ? 'a text in quotes' : 'a request that does not start with -';
}

function invalid(problem: string): QuickstartReading {
  return { type: 'invalid', problem };
}
