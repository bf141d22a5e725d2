/** The static scan of a skill. It applies rules to the files and neither executes nor fetches anything. */
import { compareText, printable, quoted } from '#core';
import type { ScanFile, ScanFinding, ScanSeverity } from './finding.ts';
import { findHiddenText, type HiddenText } from './hidden.ts';
import { toFinding, matchText, type Hit } from './match.ts';
import { isDocument } from './passages.ts';
import { explainsAttacks, rateHit, readTopic, type Topic } from './rate.ts';
import {
  findAcrossFiles,
  findInFile,
  findSplitOrders,
  findUndeclaredAccess,
  type ScannedFile,
} from './combined-rules.ts';
import { findEncoded } from './encoded.ts';
import { findCapabilities } from './capabilities.ts';
import { isExecutedText } from './flow/executed-text.ts';
import { findFlowFindings } from './flow/report-flows.ts';
import { SCAN_RULES, type RuleId } from './rules.ts';

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
type KnownTexts = Map<number, TextScan[]>;

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
  const found = [
    ...scanned.flatMap(({ findings }) => findings),
    ...findAcrossFiles(scanned),
    ...findSplitOrders(scanned, topic),
    ...findUndeclaredAccess(scanned, declared.allowedTools),
    ...findEncoded(files, topic),
  ];
  const has = (...signals: readonly string[]): readonly FileScan[] =>
    scanned.filter(({ hits }) => hits.some(({ means }) => signals.includes(means)));
  const mayStartDownload = has('fetches').length > 0 && has('starts').length > 0;
  // Documents name settings to say where a key goes; those that reach no host need no flows.
  const mayReach = has('reaches').some(({ file }) => !isDocument(file));
  const settings = has('settings').filter((one) => (mayReach && !isDocument(one.file)) || has('reaches').includes(one));
  const flowing = [...has('flow', ...(mayStartDownload ? ['fetches', 'starts'] : [])), ...settings].map(
    ({ file }) => file,
  );
  const ends = [...new Set([...flowing, ...files.filter((file) => isExecutedText(file, files))])];
  // The message of a pattern has the text that it found.
  const { findings, folded } = findFlowFindings(files, { ends, topic });
  const precise = [...found, ...findings.filter((one) => !found.some((other) => isSamePlace(other, one)))];
  const more = findCapabilities(scanned, folded, topic).filter((one) => !precise.some((other) => isKnown(one, other)));
  return sortAndDeduplicate([...precise, ...more]);
}

function isSamePlace(a: ScanFinding, b: ScanFinding): boolean {
  return a.rule === b.rule && a.severity === b.severity && a.path === b.path && a.line === b.line;
}

/** What a precise rule found in a file needs no second finding about the whole of it. */
function isKnown(one: ScanFinding, other: ScanFinding): boolean {
  return one.rule === other.rule && one.path === other.path && RANKS[other.severity] <= RANKS[one.severity];
}

/** Rules that look at more than one file. */
export const CROSS_FILE_RULES: ReadonlySet<string> = new Set(['effect-of-script', 'undeclared-access']);

interface FileScan extends ScannedFile {
  readonly findings: readonly ScanFinding[];
}

function scanFile(whole: ScanFile, topic: Topic, known: KnownTexts): FileScan {
  const path = printable(whole.path);
  const fileFindings = checkFile(whole, path);
  if (whole.binary !== undefined) return { file: whole, path, hits: [], isExplained: false, findings: fileFindings };
  const isTooLong = whole.text.length > MAX_SCANNED;
  const file = isTooLong ? { ...whole, text: whole.text.slice(0, MAX_SCANNED) } : whole;
  const text = scanText(file, known);
  const hits = text.hits.map((hit) => rateHit(hit, { file, topic, isExplained: text.explainsAttacks }));
  const scanned = { file, path, hits, isExplained: text.explainsAttacks };
  const findings = [
    ...fileFindings,
    ...hits.flatMap((hit) => toFinding(hit, path) ?? []),
    ...text.hidden.map(({ rule, severity, ...rest }) => ({ rule, severity, path, ...rest })),
    ...findInFile(scanned, topic),
    ...(isTooLong || whole.isCut === true ? [notScanned(path, file.text.length)] : []),
  ];
  return { ...scanned, findings: withoutRepeats(findings) };
}

function scanText(file: ScanFile, known: KnownTexts): TextScan {
  const { text } = file;
  const isProse = isDocument(file);
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

interface NameRule {
  readonly rule: RuleId;
  readonly severity?: ScanSeverity;
  readonly name: RegExp;
  readonly says: string;
}

/** Matched against the path in lower case. */
const NAMES: readonly NameRule[] = [
  {
    rule: 'persistence',
    name: /(?:^|\/)(?:\.git\/hooks\/|\.husky\/|\.vscode\/tasks\.json$|\.idea\/runconfigurations\/|\.envrc$)/,
    says: 'programs run this file by themselves',
  },
  {
    rule: 'persistence',
    severity: 'medium',
    name: /(?:^|\/)\.(?:bashrc|zshrc|profile)$/,
    says: 'shells run this file in a home folder',
  },
  {
    rule: 'agent-memory',
    name: /(?:^|\/)(?:\.claude\/(?:settings(?:\.local)?\.json|hooks\/)|\.mcp\.json$|\.cursorrules$|\.cursor\/rules\/|\.windsurfrules$|copilot-instructions\.md$)/,
    says: 'agents take orders from this file',
  },
  {
    rule: 'agent-memory',
    severity: 'low',
    name: /^(?:claude|agents|gemini)\.md$/,
    says: 'agents that work in this folder take orders from this file',
  },
  {
    rule: 'install-hook',
    severity: 'high',
    name: /(?:^|\/)(?:sitecustomize|usercustomize)\.py$|\.pth$/,
    says: 'Python runs this file whenever it starts',
  },
  {
    rule: 'install-hook',
    severity: 'low',
    name: /(?:^|\/)(?:conftest\.py|setup\.py|binding\.gyp)$/,
    says: 'tools run this file by themselves',
  },
  {
    rule: 'credential-path',
    severity: 'medium',
    name: /(?:^|\/)(?:\.npmrc|\.pypirc|\.netrc|\.env(?:\.local|\.production)?|id_rsa|id_ed25519|[^/]+\.pem|credentials\.json)$/,
    says: 'this file usually holds credentials',
  },
];

function checkFile(file: ScanFile, path: string): readonly ScanFinding[] {
  const lower = file.path.toLowerCase();
  const at = (rule: RuleId, severity: ScanSeverity, message: string): ScanFinding => ({
    rule,
    severity,
    path,
    line: 1,
    column: 1,
    message,
  });
  const named = NAMES.filter(({ name }) => name.test(lower)).map(({ rule, severity, says }) =>
    at(rule, severity ?? SCAN_RULES[rule].severity, `${says}: ${quoted(file.path)}`),
  );
  if (file.binary === 'program') {
    const severity = file.isExecutable ? 'high' : SCAN_RULES['native-program'].severity;
    named.push(at('native-program', severity, `a program that cannot be read: ${quoted(file.path)}`));
  }
  if (file.binary === 'archive')
    named.push(at('nested-archive', SCAN_RULES['nested-archive'].severity, `an archive: ${quoted(file.path)}`));
  return named;
}
