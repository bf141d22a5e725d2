/** Rates findings by where they are: text that is shown is not code that runs, and a skill about attacks quotes them. */
import type { ScanFile, ScanSeverity } from './finding.ts';
import { isCommandFile } from './flow/executed-text.ts';
import type { Hit } from './match.ts';
import { isDocument, proseOrCode, type Passage } from './passages.ts';

/** What a skill says that it is about. */
export interface Topic {
  /** The frontmatter of SKILL.md in lower case, without the name. */
  readonly text: string;
  readonly isAboutAttacks: boolean;
}

const MAX_TOPIC = 4_000;
const ABOUT_ATTACKS =
  /\b(?:pen(?:etration)?[ -]?test|privilege escalation|escalate privileges|privesc|exploit|vulnerabilit|red[ -]team|ethical hack|ctf\b|malware|malicious|prompt injection|injection attack|xss|cross-site scripting|sql injection|traversal|forensic|threat hunt|security (?:audit|scan|review|test|research|issue|polic)|credential theft|(?:reverse|bind|web) ?shells?\b|backdoor|phishing|ransomware|keylogger|rootkit|incident response)/;

export function readTopic(files: readonly ScanFile[]): Topic {
  const whole = files.find(isSkillFile)?.text ?? '';
  const end = whole.indexOf('\n---', 3);
  const text = whole.startsWith('---') && end !== -1 ? whole.slice(0, Math.min(end, MAX_TOPIC)).toLowerCase() : '';
  const topic = withoutName(text);
  return { text: topic, isAboutAttacks: ABOUT_ATTACKS.test(topic) };
}

const NAME = /^name: *["']?([\w-]{1,80}).*$/m;

export const readName = (instructions: string): string => NAME.exec(instructions)?.[1] ?? '';

/** A name says nothing of what a skill does. Where it is one word, the same word elsewhere may say it. */
export function withoutName(instructions: string): string {
  const own = readName(instructions);
  const rest = instructions.replace(NAME, '');
  return own.includes('-') ? rest.replaceAll(own, ' ') : rest;
}

function isSkillFile({ path }: ScanFile): boolean {
  return path === 'SKILL.md';
}

/** Rules whose text delivers an attack to those who follow it, in any document. */
const DELIVERS: ReadonlySet<string> = new Set([
  'password-archive',
  'download-and-run',
  'encoded-payload',
  'collect-and-send',
  'hidden-action',
]);
const DATA = /(?<!(?:^|\/)(?:package|composer|deno))\.(?:jsonl?|csv|tsv|ya?ml|xml|log|yara?|rules|sigma)$/i;
/** A list of what is forbidden, or an expression that searches for it. */
const PATTERN_LIST =
  /(?<!script)(?:block|deny|denied|forbid|danger|disallow|banned|blacklist|suspicious|malicious)\w{0,24}["'\]]{0,2} ?[:=]|\\[sbdw](?:[+*)\]|]|\{\d)|\(\?[:=!]|\$\w{1,40} ?= ?["'{][^\n]{1,200}["'}/] (?:ascii|nocase|wide|fullword)\b/i;
const SENDS = /\b(?:curl|wget|post|send|upload|fetch|requests?|forward|transmit|report|webhook(?:_| )?url|submit)\b/i;
const HOST =
  /(?:https?|wss?):\/\/([^\s/'"`:?#)]{1,253})|\/dev\/(?:tcp|udp)\/([^\s/]{1,253})|\b(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})\b/gi;
const NOT_REAL =
  /^(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254|0|203\.0\.113|198\.51\.100|192\.0\.2)\.|^[^.]{1,253}$|example|evil|attack|malicious|target|victim|hacker|your|[<{$[]|\.(?:test|invalid|local|svc|internal)$/i;
/** Attacks that do nothing where their host does not exist. */
const NEEDS_HOST: ReadonlySet<string> = new Set([
  'collect-and-send',
  'download-and-run',
  'reverse-shell',
  'hidden-action',
]);
/** Names that are reserved for documentation, and those that speak of attackers: what is sent there does not arrive. */
const RESERVED =
  /(?:^|\.)(?:example|test|invalid|localhost)$|(?:^|\.)example\.(?:com|org|net)$|^(?:www\.)?(?:evil|attacker|malicious|hacker|victim)(?:-?(?:site|server|host|domain))?\.(?:com|org|net|io|tld|site)$|^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\./i;

/** What is known about the file of a finding. `isExplained`: the document explains attacks, so it quotes their wording. */
export interface RatingContext {
  readonly file: ScanFile;
  readonly topic: Topic;
  readonly isExplained?: boolean;
}

/** Hosts that exist: addresses and names that are not placeholders. */
function namesRealHost(text: string): boolean {
  return [...text.matchAll(HOST)].some(([, url, device, address]) => !NOT_REAL.test(url ?? device ?? address ?? ''));
}

/** Whether a text names hosts, all of which are made up. */
function namesReservedHost(text: string): boolean {
  const hosts = [...text.matchAll(HOST)].map(([, url, device, address]) => url ?? device ?? address ?? '');
  return hosts.length > 0 && hosts.every((host) => RESERVED.test(host));
}

/** Whether what stops an install elsewhere is only shown here: `text` is the passage. */
function isShown(rule: string, text: string, { file, topic, isExplained = false }: RatingContext): boolean {
  // A browser runs what is in these.
  if (/\.(?:svg|html?)$/i.test(file.path)) return false;
  if (!isDocument(file)) return (DATA.test(file.path) && !isCommandFile(file)) || PATTERN_LIST.test(text);
  if ((topic.isAboutAttacks || (isExplained === true && !isSkillFile(file))) && !namesRealHost(text)) return true;
  if (NEEDS_HOST.has(rule) && namesReservedHost(text)) return true;
  if (isSkillFile(file)) return rule === 'covert-channel' && !SENDS.test(text);
  return !DELIVERS.has(rule);
}

const UPLOADS: ReadonlySet<string> = new Set(['exfiltration', 'copy-elsewhere']);
const URL_HOST = /https?:\/\/([a-z0-9.-]{3,253})/g;
/** Shorter names, such as `co` in `co.uk`, do not identify a service. */
const MIN_LABEL = 5;
const MIN_EXPLANATIONS = 3;

/** In a passage: an instruction has no reason to speak of those who attack. */
const EXPLAINS_ATTACK = /\b(?:attackers?|exploitable|exploitation|malware|yara|forensics?|threat model|cve-\d)/i;

/** In a document, several times. */
const EXPLAINS_ATTACKS =
  /\b(?:attackers?|exploit(?:s|ed|able|ation)?|vulnerab(?:le|ility|ilities)|misconfigur\w{1,8}|malware|yara|forensics?|threat model|severity: |cve-\d)\b/i;

/** Whether a document explains attacks. */
export function explainsAttacks(passages: readonly Passage[]): boolean {
  let left = MIN_EXPLANATIONS;
  return passages.some(({ kind, text }) => kind === 'body' && EXPLAINS_ATTACKS.test(text) && (left -= 1) === 0);
}

/**
 * A critical hit becomes `high` if it is only shown. A high hit becomes `medium` if the passage or the document explains attacks, or if it
 * uploads to the service that the skill is for; an agent reads SKILL.md as instructions, so there only the passage counts.
 */
export function rateHit(hit: Hit, { file, topic, isExplained }: RatingContext): Hit {
  const { severity, passage } = hit;
  if (severity === 'critical')
    return isShown(hit.means, passage.text, { file, topic, isExplained }) || isCommented(hit)
      ? { ...hit, severity: 'high' }
      : hit;
  if (severity !== 'high') return hit;
  const isProse = proseOrCode(passage.kind) === 'prose';
  const isQuoted = (isExplained && !isSkillFile(file)) || (isProse && EXPLAINS_ATTACK.test(passage.text));
  return isQuoted || uploadsToOwnService(hit, topic) ? { ...hit, severity: 'medium' } : hit;
}

const COMMANDS: ReadonlySet<string> = new Set([
  'resource-abuse',
  'mass-deletion',
  'destructive-command',
  'reverse-shell',
]);

/** A command in a comment explains the code beside it. */
function isCommented({ means, passage: { kind, text } }: Hit): boolean {
  return COMMANDS.has(means) && (kind === 'comment' || (kind === 'script' && /^(?:#(?!!)|\/\/)/.test(text)));
}

/** The severity of a combined or data-flow finding, which is critical unless it is only shown. */
export function rateFinding(rule: string, text: string, context: RatingContext): ScanSeverity {
  return isShown(rule, text, context) ? 'high' : 'critical';
}

function uploadsToOwnService({ means, passage }: Hit, topic: Topic): boolean {
  if (topic.text === '' || !UPLOADS.has(means)) return false;
  const hosts = [...passage.text.toLowerCase().matchAll(URL_HOST)].map(([, host]) => host ?? '');
  return hosts.length > 0 && hosts.every((host) => isOwnService(host, topic));
}

/** Whether the skill says that it is for the service of this host. */
function isOwnService(host: string, { text }: Topic): boolean {
  const [label = '', top = ''] = host.split('.').slice(-2);
  if (label.length < MIN_LABEL || !/^[\w-]+$/.test(label)) return false;
  return text.includes(`${label}.${top}`) || new RegExp(`\\b${label}\\b`).test(text);
}
