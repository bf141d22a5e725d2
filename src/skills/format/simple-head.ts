/** Reads frontmatter without the YAML library, which takes 45 ms to load. This file must not import `yaml`. */
import { assembleHead } from './assemble.ts';
import { checkAngleBrackets, checkFile, checkText, isTooLarge } from './checks.ts';
import { findFences, type Fences } from './fences.ts';
import type { RestrictingField } from './fields.ts';
import { MAX_LIBRARY_TEXT, findTooDeep } from './guard.ts';
import { missingFrontmatter } from './missing.ts';
import type { MapNode } from './node.ts';
import { splitPieces, type Piece } from './pieces.ts';
import { readPlain } from './plain.ts';
import { sortedDiagnostics, addDiagnostic, type Problem, type Report } from './report.ts';
import { rescueFields } from './rescue.ts';
import { NESTED_KEY, isPlainStart } from './scalars.ts';
import type { HeadOptions, HeadReading, HeadSource } from './source.ts';
import type { YamlReading } from './yaml.ts';
import { isVisible } from '#core';

export type { HeadOptions, HeadReading, HeadSource } from './source.ts';

const NO_FIELDS: ReadonlySet<RestrictingField> = new Set();

/** Reads the head of any file that needs no YAML library; returns `undefined` for the others. */
export function readSimpleHead(source: HeadSource, options: HeadOptions): HeadReading | undefined {
  const { text } = source;
  const found = findFences(text);
  if (found.type !== 'found') {
    return rejectHead(source, openReport(source, options), missingFrontmatter(text, found));
  }
  const { fences } = found;
  if (fences.openRest.trim() !== '' || isTooLarge(text, fences.end)) return undefined;
  const plain = readPlain(text, fences.start, fences.close);
  if (plain === undefined && !isBrokenByColons(text, fences)) return undefined;
  const report = openReport(source, options, fences);
  // Plain object literals: this runs for every skill of a scan, and a spread costs a tenth of the whole scan.
  if (plain !== undefined) return finishHead({ source, options, report, fences, map: plain, unreadable: NO_FIELDS });
  const rescue = rescueFields(report, () => BROKEN, { text, start: fences.start, end: fences.close });
  if (rescue === undefined || report.diagnostics.length === 0) return undefined;
  const { map, unreadable } = rescue;
  return finishHead({ source, options, report, fences, map, unreadable });
}

export function openReport({ path, text }: HeadSource, { mode }: HeadOptions, fences?: Fences): Report {
  return {
    path,
    text,
    mode,
    isVisible: fences !== undefined && isVisible(text.slice(fences.start, fences.close)),
    diagnostics: [],
  };
}

/** The result for a file that is excluded because of `problem`. */
export function rejectHead(source: HeadSource, report: Report, problem: Problem): HeadReading {
  checkFile(report, source);
  addDiagnostic(report, problem);
  return { diagnostics: sortedDiagnostics(report) };
}

export interface FinishInput {
  readonly source: HeadSource;
  readonly options: HeadOptions;
  readonly report: Report;
  readonly fences: Fences;
  readonly map: MapNode;
  readonly unreadable: ReadonlySet<RestrictingField>;
}

/** Validates the fields, whichever reader found them, and builds the head. */
export function finishHead({ source, options, report, fences, map, unreadable }: FinishInput): HeadReading {
  checkFile(report, source);
  checkText(report, fences, map);
  const hasBrackets = options.blockAngleBrackets === true && checkAngleBrackets(report, fences, map);
  const assembled = assembleHead({ report, source, options, map, start: fences.start, unreadable });
  const head = hasBrackets ? undefined : assembled;
  const diagnostics = sortedDiagnostics(report);
  return head === undefined ? { diagnostics } : { head, diagnostics };
}

const BROKEN: YamlReading = { type: 'broken', at: 0, message: '' };
/** Tabs, CR LF and control characters, which the library treats in more ways than this file knows. */
const DOUBTFUL = /[\0-\x09\x0b-\x1f]/;
/** Sticky, and set before each use. */
const PLAIN_KEY = /[A-Za-z_][\w-]*: +/y;

/**
 * The library is certain to reject this frontmatter: each field is plain, or is text on one line with an unquoted colon, such as
 * `description: Use when: asked`. That is by far the most common YAML error in skills, so the library is not loaded for it.
 */
function isBrokenByColons(text: string, { start, close }: Fences): boolean {
  if (close - start > MAX_LIBRARY_TEXT || DOUBTFUL.test(text) || findTooDeep(text, start, close) !== undefined)
    return false;
  const { pieces, stray } = splitPieces(text, start, close);
  if (stray !== undefined) return false;
  let broken = 0;
  for (const piece of pieces) {
    if (piece.column !== 0 || piece.tailEnd > piece.end) return false;
    if (readPlain(text, piece.start, piece.end)?.entries.length === 1) continue;
    if (!isColonText(text, piece)) return false;
    broken += 1;
  }
  return broken > 0;
}

/** A map inside a map on one line, which is always an error in YAML. */
function isColonText(text: string, { start, bodyStart, end }: Piece): boolean {
  PLAIN_KEY.lastIndex = start;
  if (bodyStart !== end || !PLAIN_KEY.test(text)) return false;
  const valueStart = PLAIN_KEY.lastIndex;
  return isPlainStart(text, valueStart) && NESTED_KEY.test(text.slice(valueStart, end - 1));
}
