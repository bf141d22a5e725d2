/** Checks the name and the kind of a file. */
import { quoted } from '#core';
import type { ScanFile, ScanFinding, ScanSeverity } from './finding.ts';
import { SCAN_RULES, type RuleId } from './rules.ts';

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

export function checkFile(file: ScanFile, path: string): readonly ScanFinding[] {
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
