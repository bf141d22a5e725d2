/** Lowers the severity of wording that fits the subject of a skill or a document. */
import type { ScanFile } from './finding.ts';
import type { Hit } from './match.ts';
import type { Passage } from './passages.ts';

/** What the frontmatter and a document say they are about. */
export interface Subject {
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

export function readTopic(files: readonly ScanFile[]): string {
  const text = files.find(isSkillFile)?.text ?? '';
  const end = text.indexOf('\n---', 3);
  return text.startsWith('---') && end !== -1 ? text.slice(0, Math.min(end, MAX_TOPIC)).toLowerCase() : '';
}

export function isSkillFile({ path }: ScanFile): boolean {
  return path === 'SKILL.md';
}

/** Whether a document explains attacks. */
export function explainsAttacks(passages: readonly Passage[]): boolean {
  let left = MIN_EXPLANATIONS;
  return passages.some(({ kind, text }) => kind === 'body' && EXPLAINS_ATTACKS.test(text) && (left -= 1) === 0);
}

/** A high hit becomes `medium` if the passage or the document explains attacks, or if it uploads to the service that the skill is for. */
export function withinSubject(hit: Hit, { topic, isAboutAttacks: isExplained }: Subject): Hit {
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
