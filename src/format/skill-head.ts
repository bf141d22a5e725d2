/** Level 1 without the YAML library: what a scan of many skills uses. Must not import `yaml`, which takes 25 ms to load. */
import { assembleHead } from './assemble.ts';
import { checkFile, checkText, isTooLarge } from './checks.ts';
import type { Fences } from './fences.ts';
import { findFences } from './fences.ts';
import type { RestrictingField } from './fields.ts';
import type { MapNode } from './node.ts';
import { readPlain } from './plain.ts';
import type { Report } from './report.ts';
import { inOrder } from './report.ts';
import type { HeadOptions, HeadReading, HeadSource } from './source.ts';
import { isVisible } from '../core/text/text.ts';

export type { HeadOptions, HeadReading, HeadSource } from './source.ts';

const NONE: ReadonlySet<RestrictingField> = new Set();

/** Reads the head if the frontmatter is plain; `undefined` where `readHead` must be asked. */
export function readPlainHead(source: HeadSource, options: HeadOptions): HeadReading | undefined {
  const found = findFences(source.text);
  if (found.type !== 'found') return undefined;
  const { fences } = found;
  if (fences.openRest.trim() !== '' || isTooLarge(source.text, fences.end)) return undefined;
  const map = readPlain(source.text, fences.start, fences.close);
  if (map === undefined) return undefined;
  return finishHead({ source, options, report: openReport(source, options, fences), fences, map, unreadable: NONE });
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

export interface FinishInput {
  readonly source: HeadSource;
  readonly options: HeadOptions;
  readonly report: Report;
  readonly fences: Fences;
  readonly map: MapNode;
  readonly unreadable: ReadonlySet<RestrictingField>;
}

/** The common end of every way to read: all checks, then the head. */
export function finishHead({ source, options, report, fences, map, unreadable }: FinishInput): HeadReading {
  checkFile(report, source);
  checkText(report, fences, map);
  const head = assembleHead({ report, source, options, map, start: fences.start, unreadable });
  const diagnostics = inOrder(report);
  return head === undefined ? { diagnostics } : { head, diagnostics };
}
