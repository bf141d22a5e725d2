import type { RuleOrigin } from '../core/access.ts';
import { isRule, readRule } from './policy-rule.ts';
import type { PolicyRule } from './policy-rule.ts';

const BUILT_IN: RuleOrigin = { layer: 'built-in', where: '' };

/** Files that are executed later, and the files of records and rules: tools never write them. */
const NEVER_WRITTEN = ['.git/**', '.agent/config.json', '.agent/runs/**', '.agent/trash/**', '.agent/artifacts/**'];

/** Records, approvals, trust and keys, which could tell a model what it is not meant to know; and the data of git. */
const NEVER_READ = [
  '.git',
  '.git/**',
  '.agent/approvals.json',
  '.agent/evals/**',
  '.agent/keys.json',
  '.agent/pending/**',
  '.agent/runs/**',
  '.agent/seal.key',
  '.agent/trust.json',
];

/** Files that other programs and agents treat as instructions: every change needs approval. */
const ASKED_BEFORE_WRITING = [
  '.agent/**',
  '.agents/**',
  '.claude/**',
  '.codex/**',
  '.cursor/**',
  '.gemini/**',
  '.github/**',
  '.husky/**',
  '.idea/**',
  '.vscode/**',
  '.envrc',
  '.gitattributes',
  '.gitmodules',
  '.mcp.json',
  '.npmrc',
  '.pre-commit-config.yaml',
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
  'SKILL.md',
];

/** Files that usually contain secrets: a model needs approval to read them. */
const ASKED_BEFORE_READING = [
  '.env',
  '.env.*',
  '*.key',
  '*.kdbx',
  '*.p12',
  '*.pem',
  '*.pfx',
  '.aws/**',
  '.docker/config.json',
  '.git-credentials',
  '.git/config',
  '.gnupg/**',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.ssh/**',
  'credentials.json',
  'id_dsa*',
  'id_ecdsa*',
  'id_ed25519*',
  'id_rsa*',
];

/** Rules that always apply, at any depth. The configuration can only add to them. */
export function builtInRules(): readonly PolicyRule[] {
  return [
    ...rulesFor('deny', ['write_file', 'delete_file'], NEVER_WRITTEN),
    ...rulesFor('deny', ['read_file', 'grep', 'list_dir'], NEVER_READ),
    ...rulesFor('ask', ['write_file', 'delete_file'], ASKED_BEFORE_WRITING),
    ...rulesFor('ask', ['read_file', 'grep', 'host_input'], ASKED_BEFORE_READING),
    ...rulesFor('ask', ['host_input'], NEVER_READ),
  ];
}

/** Committed as examples, without values. */
const EXAMPLE = /\.(?:example|sample|template|dist|defaults?|schema)$/;
const SECRET = namePattern(ASKED_BEFORE_READING);
const NEVER = namePattern(NEVER_WRITTEN);
const PROTECTED = namePattern([...NEVER_WRITTEN, ...ASKED_BEFORE_WRITING]);

/** Whether programs must not read a file or folder of a mounted folder: secrets, and records of runs. Git needs all of `.git`. */
export function isSecretPath(relative: string): boolean {
  return (
    relative === '.agent' || (SECRET.test(relative) && !EXAMPLE.test(relative) && !/(?:^|\/)\.git\//.test(relative))
  );
}

/** Whether a file is never written for a program, at any depth of an absolute or relative path. */
export function isNeverWritten(file: string): boolean {
  return prefixesOf(file).some((prefix) => NEVER.test(prefix));
}

/** Whether a file needs approval before it is written for a program. */
export function isAskedBeforeWriting(file: string): boolean {
  return prefixesOf(file).some((prefix) => PROTECTED.test(prefix));
}

function prefixesOf(file: string): readonly string[] {
  const parts = file.split('/');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** Whether a file or folder of a mounted folder stays read-only, because other tools run or obey it. */
export function isProtectedPath(relative: string): boolean {
  return PROTECTED.test(relative);
}

/** Matches the patterns above at any depth, and folders whose whole content a pattern names. */
function namePattern(patterns: readonly string[]): RegExp {
  const texts = patterns.map((pattern) =>
    pattern
      .replace(/\/\*\*$/, '')
      .replaceAll('.', '\\.')
      .replaceAll('*', '[^/]*'),
  );
  return new RegExp(`(?:^|/)(?:${texts.join('|')})$`);
}

/** One rule per pattern for all tools keeps the list short. */
function rulesFor(
  effect: 'deny' | 'ask',
  tools: readonly [string, ...string[]],
  patterns: readonly string[],
): readonly PolicyRule[] {
  const rules = patterns.map((pattern) => readRule(`${tools[0]}(**/${pattern})`, { effect, origin: BUILT_IN }));
  return rules.filter(isRule).map((rule) => ({ ...rule, tools }));
}
