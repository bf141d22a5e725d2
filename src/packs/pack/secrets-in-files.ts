/**
 * Finds secrets in files that are about to be published. Only unambiguous formats are searched, because a match stops the pack;
 * `journal/redact/redact-shapes.ts` is broader, because there a false positive does no harm. Placeholders in documentation are ignored.
 */
import { positionOf } from '#core';

export interface FoundSecret {
  readonly kind: string;
  readonly line: number;
  readonly column: number;
}

interface Shape {
  readonly kind: string;
  /** Prefixes of the secret. */
  readonly starts: readonly string[];
  /** Full pattern. The first group, if any, must not look like a placeholder. */
  readonly whole: RegExp;
}

const SHAPES: readonly Shape[] = [
  {
    kind: 'a private key',
    starts: ['-----BEGIN '],
    whole:
      /-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:[\s"'+,]|\\[nr]){0,200}(?:[A-Za-z-]{1,30}: [^\r\n]{0,200}[\r\n]{1,4}){0,5}([A-Za-z0-9+/]{40})/y,
  },
  {
    kind: 'a minisign secret key',
    starts: ['RWQAAEIy', 'RWRTY0Iy'],
    whole: /RW(?:QAAEIy|RTY0Iy)[A-Za-z0-9+/]{64}([A-Za-z0-9+/]{96})[A-Za-z0-9+/]{43}=/y,
  },
  { kind: 'an age secret key', starts: ['AGE-SECRET-KEY-'], whole: /AGE-SECRET-KEY-1([0-9A-Z]{58})/y },
  { kind: 'a PuTTY private key', starts: ['PuTTY-User-Key-File-'], whole: /PuTTY-User-Key-File-\d: \S/y },
  { kind: 'an AWS access key', starts: ['AKIA', 'ASIA'], whole: /A[KS]IA([A-Z2-7]{16})(?![A-Za-z0-9])/y },
  {
    kind: 'a GitHub token',
    starts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    whole: /(?:gh[pousr]_([A-Za-z0-9]{36,255})|github_pat_(?:[A-Za-z0-9_]{60,255}))/y,
  },
  { kind: 'a GitLab token', starts: ['glpat-'], whole: /glpat-([\w-]{20,255})/y },
  {
    kind: 'an API key of a model provider',
    starts: ['sk-'],
    whole:
      /sk-(?:ant-|proj-|svcacct-|admin-|or-v1-)?((?=[\w-]{0,255}\d)(?=[\w-]{0,255}[A-Za-z])[A-Za-z0-9_-]{32,255})/y,
  },
  { kind: 'a Google API key', starts: ['AIza'], whole: /AIza([\w-]{35})(?![\w-])/y },
  { kind: 'a Google client secret', starts: ['GOCSPX-'], whole: /GOCSPX-([\w-]{28})/y },
  {
    kind: 'a Slack token',
    starts: ['xoxb-', 'xoxa-', 'xoxp-', 'xoxr-', 'xoxs-'],
    whole: /xox[abprs]-(\d{6,}[\w-]{10,255})/y,
  },
  {
    kind: 'a Slack webhook',
    starts: ['hooks.slack.com/'],
    whole: /hooks\.slack\.com\/services\/T\w{8,12}\/B\w{8,12}\/(\w{24})/y,
  },
  { kind: 'a Stripe key', starts: ['sk_live_', 'rk_live_'], whole: /[sr]k_live_([A-Za-z0-9]{20,255})/y },
  { kind: 'an npm token', starts: ['npm_'], whole: /npm_([A-Za-z0-9]{36})(?![A-Za-z0-9])/y },
  { kind: 'a PyPI token', starts: ['pypi-'], whole: /pypi-AgE([\w-]{50,255})/y },
  { kind: 'a Hugging Face token', starts: ['hf_'], whole: /hf_([A-Za-z]{34})(?![A-Za-z])/y },
  { kind: 'a SendGrid key', starts: ['SG.'], whole: /SG\.([\w-]{22})\.[\w-]{43}/y },
  { kind: 'an Azure storage key', starts: ['AccountKey='], whole: /AccountKey=([A-Za-z0-9+/]{86}==)/y },
  { kind: 'a signed token', starts: ['eyJ'], whole: /eyJ[\w-]{8,4096}\.eyJ[\w-]{8,4096}\.([\w-]{20,1024})/y },
];

/** Must not start inside a longer word, except for private keys. */
const STARTS = new RegExp(
  `-----BEGIN |(?<![A-Za-z0-9_])(?:${SHAPES.flatMap(({ starts }) => starts)
    .join('|')
    .replaceAll('.', '\\.')})`,
  'g',
);
/** Texts and runs that occur only in placeholders. */
const MADE_UP =
  /example|sample|dummy|placeholder|changeme|your|redacted|secret|fake|x{4}|0123456|1234567|abcdefg|(.)\1{5}/i;
const MIN_DIFFERENT = 8;
const MAX_FOUND = 100;

/** Finds secrets in text, or in bytes decoded as latin1: all patterns are ASCII. */
export function secretsInText(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  let from = 0;
  const starts = new RegExp(STARTS);
  for (let start = starts.exec(text); start !== null && found.length < MAX_FOUND; start = starts.exec(text)) {
    const secret = secretAt(text, start.index);
    if (secret === undefined) continue;
    const { line, column } = positionOf(text.slice(from), start.index - from);
    const before = found.at(-1);
    found.push({ kind: secret.kind, line: line - 1 + (before?.line ?? 1), column });
    from = text.lastIndexOf('\n', start.index) + 1;
    starts.lastIndex = start.index + secret.length;
  }
  return found;
}

function secretAt(text: string, at: number): { readonly kind: string; readonly length: number } | undefined {
  for (const { kind, starts, whole } of SHAPES) {
    if (!starts.some((start) => text.startsWith(start, at))) continue;
    const pattern = new RegExp(whole);
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    const [all, body = all] = match;
    if (!isMadeUp(body)) return { kind, length: all.length };
  }
  return undefined;
}

function isMadeUp(body: string): boolean {
  return MADE_UP.test(body) || new Set(body).size < MIN_DIFFERENT;
}

const SECRET_FILES: readonly (readonly [kind: string, path: RegExp])[] = [
  ['an environment file', /(?:^|\/)\.env(?:\.(?!example$|sample$|template$|dist$)[^/]*)?$/i],
  ['an SSH private key', /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i],
  ['a password file', /(?:^|\/)(?:\.netrc|_netrc|\.pgpass|\.git-credentials|\.htpasswd|\.aws\/credentials)$/i],
  ['a key store', /\.(?:p12|pfx|jks|keystore|kdbx)$/i],
];

/** The kind of secret that a file contains according to its name; undefined for other files. */
export function secretFileKind(path: string): string | undefined {
  return SECRET_FILES.find(([, pattern]) => pattern.test(path))?.[0];
}
