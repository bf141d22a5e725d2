/** The static scan of a skill. It applies rules to the files and neither executes nor fetches anything. */
import { compareText, printable } from '#core';
import { checkFile } from './check-file.ts';
import type { ScanFile, ScanFinding } from './finding.ts';
import { findHiddenText, type HiddenText } from './hidden.ts';
import { toFinding, matchText, type Hit } from './match.ts';
import { isDocument } from './passages.ts';
import { explainsAttacks, isSkillFile, readTopic, withinSubject } from './subject.ts';
import { findAcrossFiles, findInFile, findUndeclaredAccess, type ScannedFile } from './combined-rules.ts';
import { SCAN_RULES } from './rules.ts';

/** Characters per file; a finding reports that the rest was not scanned. */
export const MAX_SCANNED = 500_000;

export interface ScanOptions {
  readonly declared?: {
    /** The tool patterns of the frontmatter; absent if it has no `allowed-tools`. */
    readonly allowedTools?: readonly string[];
  };
  /** Shared by the skills of one source: collections have the same files in several skills. */
  readonly known?: KnownTexts;
}

/** What was found in texts, so that equal ones are scanned once. By length, because hashing a text takes longer than comparing a few. */
export type KnownTexts = Map<number, TextScan[]>;

/** Texts of one length to keep. */
const MAX_KNOWN = 8;

/** What depends only on a text and on whether it is a document. */
interface TextScan {
  readonly text: string;
  readonly isDocument: boolean;
  readonly hits: readonly Hit[];
  readonly explainsAttacks: boolean;
  readonly hidden: readonly HiddenText[];
}

/** Returns the findings sorted by path, line, column and rule. The order of `files` does not matter. */
export function scanSkill(
  files: readonly ScanFile[],
  { declared = {}, known = new Map() }: ScanOptions = {},
): readonly ScanFinding[] {
  const topic = readTopic(files);
  const scanned = files.map((file) => scanFile(file, topic, known));
  return sortAndDeduplicate([
    ...scanned.flatMap(({ findings }) => findings),
    ...findAcrossFiles(scanned),
    ...findUndeclaredAccess(scanned, declared.allowedTools),
  ]);
}

/** Rules that look at more than one file. */
export const CROSS_FILE_RULES: ReadonlySet<string> = new Set(['effect-of-script', 'undeclared-access']);

interface FileScan extends ScannedFile {
  readonly findings: readonly ScanFinding[];
}

function scanFile(whole: ScanFile, topic: string, known: KnownTexts): FileScan {
  const path = printable(whole.path);
  const fileFindings = checkFile(whole, path);
  if (whole.binary !== undefined) return { file: whole, path, hits: [], findings: fileFindings };
  const isTooLong = whole.text.length > MAX_SCANNED;
  const file = isTooLong ? { ...whole, text: whole.text.slice(0, MAX_SCANNED) } : whole;
  const text = scanText(file, known);
  const subject = { topic, isAboutAttacks: text.explainsAttacks && !isSkillFile(file) };
  const hits = text.hits.map((hit) => withinSubject(hit, subject));
  const scanned = { file, path, hits };
  const findings = [
    ...fileFindings,
    ...hits.flatMap((hit) => toFinding(hit, path) ?? []),
    ...text.hidden.map(({ rule, severity, ...rest }) => ({ rule, severity, path, ...rest })),
    ...findInFile(scanned),
    ...(isTooLong || whole.isCut === true ? [notScanned(path, file.text.length)] : []),
  ];
  return { ...scanned, findings: withoutRepeats(findings) };
}

function scanText(file: ScanFile, known: KnownTexts): TextScan {
  const { text } = file;
  const isProse = isDocument(file.path);
  const alike = known.get(text.length) ?? [];
  const before = alike.find((one) => one.isDocument === isProse && one.text === text);
  if (before !== undefined) return before;
  const { passages, hits } = matchText(file);
  const scan: TextScan = {
    text,
    isDocument: isProse,
    hits,
    explainsAttacks: hits.length > 0 && explainsAttacks(passages),
    hidden: findHiddenText(file),
  };
  known.set(text.length, [scan, ...alike].slice(0, MAX_KNOWN));
  return scan;
}

/** Keeps the first of several findings with the same rule and message. */
function withoutRepeats(findings: readonly ScanFinding[]): readonly ScanFinding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, message }) => {
    const key = `${rule} ${message}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function notScanned(path: string, length: number): ScanFinding {
  const message = `only its first ${String(length)} characters were scanned`;
  return { rule: 'not-scanned', severity: SCAN_RULES['not-scanned'].severity, path, line: 1, column: 1, message };
}

/** Keeps one finding per rule and line: the one with the highest severity. */
function sortAndDeduplicate(findings: readonly ScanFinding[]): readonly ScanFinding[] {
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
