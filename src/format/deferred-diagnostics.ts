/** The notes of the quick reader, told in the words of the readers that know every case: of the same text those say the same. */
import { splitToolList } from '../core/allowed-tools.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { readWrittenName, tellAngleBracket, tellExtension, tellUnknown } from './assemble.ts';
import { tellLongLine } from './checks.ts';
import { spacedTools, tellSeparator } from './controls.ts';
import { mendPiece } from './repair.ts';
import { tellNotText, tellUnquoted } from './metadata.ts';
import type { ScalarNode } from './node.ts';
import type { Report } from './report.ts';
import { inOrder } from './report.ts';
import { DOUBLE_QUOTE, SINGLE_QUOTE } from './scalars.ts';
import type { HeadOptions, HeadSource } from './source.ts';
import type { Notes } from './quick-notes.ts';
import {
  EXTENSION_FIELD,
  LESS_SIGN,
  LONG_LINE,
  META_LIST,
  META_MAP,
  META_UNQUOTED,
  ODD_NAME,
  SEPARATOR,
  UNKNOWN_FIELD,
  UNQUOTED_COLON,
  completeNotes,
  kindOf,
  startOf,
  takeAll,
} from './quick-notes.ts';
import { textOf } from './quick-text.ts';
import type { SkillHead } from '../core/skill.ts';

const NONE: readonly Diagnostic[] = [];
const NESTED_COLUMNS = 4;
/** Strangers write the keys: no scan is to hold all that they can think of. */
const MAX_REMEMBERED = 500;
const MAX_KEY = 40;
const MAX_LIST = 300;

/**
 * Tells of one text after the other. Skills share their keys and often their tools: what was said of one is said again at another
 * place, without the steps that led to it.
 */
export class NoteTeller {
  readonly #options: HeadOptions;
  readonly #diagnostics: Diagnostic[] = [];
  /** What was told first of each key, by kind. */
  readonly #told = new Map<number, Map<string, Diagnostic>>();
  /** Lists of tools as they should be, by how they are written. */
  readonly #spaced = new Map<string, string>();

  constructor(options: HeadOptions) {
    this.#options = options;
    for (const kind of [UNKNOWN_FIELD, EXTENSION_FIELD, META_LIST, META_MAP]) this.#told.set(kind, new Map());
  }

  /** The diagnostics of these notes; nothing where the full readers must be asked. */
  tell({ path, text, directory }: HeadSource, head: SkillHead, noted: Notes): readonly Diagnostic[] | undefined {
    const notes = completeNotes(text, head, noted);
    if (notes === undefined || notes.length === 0) return notes === undefined ? undefined : NONE;
    const { mode } = this.#options;
    const diagnostics = this.#diagnostics;
    const report: Report = { path, text, mode, isVisible: true, diagnostics };
    let line = 1;
    let start = 0;
    for (let at = 0; at < notes.length; at += 1) {
      const note = notes[at] ?? 0;
      const kind = kindOf(note);
      const offset = startOf(note);
      for (; start < offset; start = text.indexOf('\n', start) + 1) line += 1;
      const told = this.#told.get(kind);
      if (told === undefined) {
        // Where lines are folded, the value must be known as the full readers know it.
        if (kind === LONG_LINE && mode === 'strict') {
          takeAll(diagnostics);
          return undefined;
        }
        this.#tellValue(report, directory, kind, offset);
        continue;
      }
      const colon = text.indexOf(':', offset);
      const key = text.slice(offset, colon);
      const like = told.get(key);
      if (like !== undefined) {
        const { code, severity, message, hint } = like;
        const column = kind === META_LIST ? colon - offset + 3 : kind === META_MAP ? NESTED_COLUMNS + 1 : 1;
        diagnostics.push({ code, severity, path, line: kind === META_MAP ? line + 1 : line, column, message, hint });
        continue;
      }
      tellKey(report, kind, { key, offset, colon });
      const first = diagnostics.at(-1);
      if (first !== undefined && key.length <= MAX_KEY && told.size < MAX_REMEMBERED) told.set(key, first);
    }
    return inOrder({ diagnostics: takeAll(diagnostics) });
  }

  #tellValue(report: Report, directory: string, kind: number, offset: number): void {
    const { text } = report;
    if (kind === LONG_LINE) {
      tellLongLine(report, { line: offset, feed: text.indexOf('\n', offset) });
      return;
    }
    const colon = text.indexOf(':', offset);
    const key = text.slice(offset, colon);
    switch (kind) {
      case META_UNQUOTED: {
        tellUnquoted(report, key.trim(), valueAfter(text, colon));
        break;
      }
      case SEPARATOR: {
        const value = valueAfter(text, colon);
        tellSeparator(report, key, value, this.#spacedOf(value.value));
        break;
      }
      case ODD_NAME: {
        readWrittenName(report, directory, valueAfter(text, colon));
        break;
      }
      case UNQUOTED_COLON: {
        const end = text.indexOf('\n', colon) + 1;
        mendPiece(report, text, { key, keyStart: offset, valueStart: colon + 1, column: 0, end }, { isText: true });
        break;
      }
      default: {
        const bracket = kind === LESS_SIGN ? '<' : '>';
        tellAngleBracket(report, this.#options, bracket, text.indexOf(bracket, colon + 2));
      }
    }
  }

  #spacedOf(written: string): string {
    const known = this.#spaced.get(written);
    if (known !== undefined) return known;
    const spaced = spacedTools(splitToolList(written.trim()));
    if (written.length < MAX_LIST && this.#spaced.size < MAX_REMEMBERED) this.#spaced.set(written, spaced);
    return spaced;
  }
}

/** Tells what depends on nothing but the key. */
function tellKey(
  report: Report,
  kind: number,
  { key, offset, colon }: { readonly key: string; readonly offset: number; readonly colon: number },
): void {
  if (kind === UNKNOWN_FIELD) tellUnknown(report, { key, keyStart: offset });
  else if (kind === EXTENSION_FIELD) tellExtension(report, { key, keyStart: offset });
  else if (kind === META_LIST) tellNotText(report, key.trim(), { type: 'list', start: colon + 2 });
  else tellNotText(report, key.trim(), { type: 'map', start: report.text.indexOf('\n', colon) + 1 + NESTED_COLUMNS });
}

/** A value that `textOf` takes, on one line, as the full readers see it. */
function valueAfter(text: string, colon: number): ScalarNode {
  const start = colon + 2;
  const end = text.indexOf('\n', colon);
  const first = text.charCodeAt(start);
  const style = first === DOUBLE_QUOTE ? 'double' : first === SINGLE_QUOTE ? 'single' : 'plain';
  return { type: 'scalar', value: textOf(text.slice(start, end)) ?? '', style, start, end };
}
