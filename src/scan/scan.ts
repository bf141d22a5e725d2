/** The static scan of a skill. It applies rules to the files and neither executes nor fetches anything. */
import { compareText, printable, quoted } from '#core';
import type { ScanFile, ScanFinding, ScanSeverity } from './finding.ts';
import { findHiddenText, type HiddenText } from './hidden.ts';
import { toFinding, matchText, type Hit } from './match.ts';
import { isDocument, type Passage } from './passages.ts';
import { findAcrossFiles, findInFile, findUndeclaredAccess, type ScannedFile } from './combined-rules.ts';
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

/** What the frontmatter and a document say they are about. */
interface Subject {
  /** The frontmatter of SKILL.md in lower case. */
  readonly topic: string;
  /** The document explains attacks, so it quotes their wording. Never true for SKILL.md, which an agent reads as instructions. */
  readonly isAboutAttacks: boolean;
}

const UPLOADS: ReadonlySet<string> = new Set(['exfiltration', 'copy-elsewhere']);

const HOST = /https?:\/\/([a-z0-9.-]{3,253})/g;

/** Shorter names, such as `co` in `co.uk`, do not identify a service. */
const MIN_LABEL = 5;

const MAX_TOPIC = 4_000;

const MIN_EXPLANATIONS = 3;

/** In a passage: an instruction has no reason to speak of those who attack. */
const EXPLAINS_ATTACK = /\b(?:attackers?|exploitable|exploitation|malware|yara|forensics?|threat model|cve-\d)/i;

/** In a document, several times. */
const EXPLAINS_ATTACKS =
  /\b(?:attackers?|exploit(?:s|ed|able|ation)?|vulnerab(?:le|ility|ilities)|misconfigur\w{1,8}|malware|yara|forensics?|threat model|severity: |cve-\d)\b/i;

function readTopic(files: readonly ScanFile[]): string {
  const text = files.find(isSkillFile)?.text ?? '';
  const end = text.indexOf('\n---', 3);
  return text.startsWith('---') && end !== -1 ? text.slice(0, Math.min(end, MAX_TOPIC)).toLowerCase() : '';
}

function isSkillFile({ path }: ScanFile): boolean {
  return path === 'SKILL.md';
}

/** Whether a document explains attacks. */
function explainsAttacks(passages: readonly Passage[]): boolean {
  let left = MIN_EXPLANATIONS;
  return passages.some(({ kind, text }) => kind === 'body' && EXPLAINS_ATTACKS.test(text) && (left -= 1) === 0);
}

/** A high hit becomes `medium` if the passage or the document explains attacks, or if it uploads to the service that the skill is for. */
function withinSubject(hit: Hit, { topic, isAboutAttacks: isExplained }: Subject): Hit {
  if (hit.severity !== 'high') return hit;
  const isQuoted = isExplained || (isProse(hit.passage) && EXPLAINS_ATTACK.test(hit.passage.text));
  return isQuoted || uploadsToOwnService(hit, topic) ? { ...hit, severity: 'medium' } : hit;
}

function isProse({ kind }: Passage): boolean {
  return kind === 'body' || kind === 'comment';
}

function uploadsToOwnService({ means, passage }: Hit, topic: string): boolean {
  if (topic === '' || !UPLOADS.has(means)) return false;
  const hosts = [...passage.text.toLowerCase().matchAll(HOST)].map(([, host]) => host ?? '');
  return hosts.length > 0 && hosts.every((host) => isNamed(host, topic));
}

function isNamed(host: string, topic: string): boolean {
  const [label = '', top = ''] = host.split('.').slice(-2);
  return label.length >= MIN_LABEL && (topic.includes(`${label}.${top}`) || new RegExp(`\\b${label}\\b`).test(topic));
}
