/** The static scan of a skill: triage by rules, without running or fetching anything. */
import { compareText } from '../../core/diagnostic.ts';
import { printable } from '../../core/text/text.ts';
import { judgeFile } from './files.ts';
import type { ScanFile, ScanFinding } from './finding.ts';
import { openTextLook } from './folded-line.ts';
import { findHidden } from './hidden.ts';
import { findingOf, openMatcher } from './match.ts';
import { passagesOf } from './passages.ts';
import { findAcrossFiles, findTogether } from './combined-rules.ts';
import type { ScannedFile } from './combined-rules.ts';
import { SCAN_RULES } from './rules.ts';
import { findUndeclared } from './undeclared.ts';

/** Of one file; what lies behind is said to be unread. */
export const MAX_SCANNED = 500_000;

export interface ScanOptions {
  readonly declared?: {
    /** The tool patterns of the frontmatter; absent where it has none. */
    readonly allowedTools?: readonly string[];
  };
}

export type ScanSkill = (files: readonly ScanFile[], options?: ScanOptions) => readonly ScanFinding[];

/** Every finding, by path, line, column and rule. Equal files give equal findings, in whatever order they come. */
export const scanSkill: ScanSkill = (files, options) => openScan()(files, options);

/** The same for one skill after the other: it keeps the memory that it needs, and nothing of what it saw. */
export function openScan(): ScanSkill {
  const scanning: Scanning = { match: openMatcher(), look: openTextLook() };
  return (files, { declared = {} } = {}) => {
    const scanned = files.map((file) => scanOne(file, scanning));
    return ordered([
      ...scanned.flatMap(({ findings }) => findings),
      ...findAcrossFiles(scanned),
      ...findUndeclared(scanned, declared.allowedTools),
    ]);
  };
}

/** Rules that look at more than one file. */
export const CROSS_FILE_RULES: ReadonlySet<string> = new Set(['effect-of-script', 'undeclared-access']);

interface Scanned extends ScannedFile {
  readonly findings: readonly ScanFinding[];
}

/** What serves one file after the other. */
interface Scanning {
  readonly match: ReturnType<typeof openMatcher>;
  readonly look: ReturnType<typeof openTextLook>;
}

function scanOne(whole: ScanFile, { match, look }: Scanning): Scanned {
  const path = printable(whole.path);
  const named = judgeFile(whole, path);
  if (whole.binary !== undefined) return { file: whole, path, hits: [], findings: named };
  const isLong = whole.text.length > MAX_SCANNED;
  const file = isLong ? { ...whole, text: whole.text.slice(0, MAX_SCANNED) } : whole;
  const looks = look(file.text);
  const hits = match(passagesOf(file, looks));
  const scanned = { file, path, hits };
  const findings = [
    ...named,
    ...hits.flatMap((hit) => findingOf(hit, path) ?? []),
    ...findHidden(file, path, looks.isPlain),
    ...findTogether(scanned),
    ...(isLong || whole.isCut === true ? [unread(path, file.text.length)] : []),
  ];
  return { ...scanned, findings: withoutRepeats(findings) };
}

/** A file that says the same thing again says nothing new: the first place is enough. */
function withoutRepeats(findings: readonly ScanFinding[]): readonly ScanFinding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, message }) => {
    const key = `${rule} ${message}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function unread(path: string, length: number): ScanFinding {
  const message = `only its first ${String(length)} characters were scanned`;
  return { rule: 'not-scanned', severity: SCAN_RULES['not-scanned'].severity, path, line: 1, column: 1, message };
}

/** In order; of one rule at one line the first and worst is enough. */
function ordered(findings: readonly ScanFinding[]): readonly ScanFinding[] {
  const sorted = findings.toSorted(compareFindings);
  return sorted.filter((finding, at) => {
    const before = sorted[at - 1];
    return before?.path !== finding.path || before.line !== finding.line || before.rule !== finding.rule;
  });
}

const RANKS = { critical: 0, high: 1, medium: 2, low: 3 } as const;

function compareFindings(a: ScanFinding, b: ScanFinding): number {
  return (
    compareText(a.path, b.path) ||
    a.line - b.line ||
    compareText(a.rule, b.rule) ||
    RANKS[a.severity] - RANKS[b.severity] ||
    a.column - b.column ||
    compareText(a.message, b.message)
  );
}
