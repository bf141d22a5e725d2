/** Reads frontmatter without the YAML library. This file must not import `yaml`. */
import { assembleHead } from './assemble.ts';
import { checkAngleBrackets, checkFile, checkText, isTooLarge } from './checks.ts';
import { findFences, type Fences } from './fences.ts';
import type { RestrictingField } from './fields.ts';
import { missingFrontmatter } from './missing.ts';
import type { MapNode } from './node.ts';
import { readPlain } from './plain.ts';
import { sortedDiagnostics, addDiagnostic, type Problem, type Report } from './report.ts';
import type { HeadOptions, HeadReading, HeadSource } from './source.ts';
import { cleanText } from '#core';

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
  const map = readPlain(text, fences.start, fences.close);
  if (map === undefined) return undefined;
  return finishHead({
    source,
    options,
    report: openReport(source, options, fences),
    fences,
    map,
    unreadable: NO_FIELDS,
  });
}

export function openReport({ path, text }: HeadSource, { mode }: HeadOptions, fences?: Fences): Report {
  const head = fences && text.slice(fences.start, fences.close);
  return {
    path,
    text,
    mode,
    isVisible: head !== undefined && cleanText(head) === head,
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
