/** The scan policy: which findings stop an install. */
import { describeValue, isObject, nearest, quoted } from '#core';
import {
  DEFAULT_SCAN_POLICY,
  SCAN_SEVERITIES,
  SCAN_VERDICTS,
  type ScanFinding,
  type ScanPolicy,
  type ScanVerdict,
} from './finding.ts';
import { SCAN_RULES, isRuleId } from './rules.ts';

/** A policy with any mistake is rejected whole, because it is unknown what it was meant to stop. */
export interface ScanPolicyProblems {
  readonly type: 'invalid';
  /** Lower case, safe to print. */
  readonly problems: readonly string[];
}

/** The findings by verdict. */
export interface PolicyResult {
  readonly stops: readonly ScanFinding[];
  readonly warnings: readonly ScanFinding[];
  readonly ignored: readonly ScanFinding[];
}

const MAX_PROBLEMS = 20;

/** Validates a parsed policy file. `severities` and `rules` are optional; missing entries have the default verdict. */
export function readScanPolicy(value: unknown): ScanPolicy | ScanPolicyProblems {
  if (!isObject(value)) return invalid([`expected the scan policy to be an object, got ${describeValue(value)}`]);
  const problems: string[] = [];
  for (const key of Object.keys(value))
    if (!['severities', 'rules', '$schema'].includes(key))
      problems.push(unknownName('key', key, ['severities', 'rules']));
  const severities = readVerdicts(value, 'severities', SCAN_SEVERITIES, problems);
  const rules = readVerdicts(value, 'rules', Object.keys(SCAN_RULES), problems);
  if (problems.length > 0) return invalid(problems);
  return { severities: { ...DEFAULT_SCAN_POLICY.severities, ...severities }, rules };
}

export function isScanPolicy(read: ScanPolicy | ScanPolicyProblems): read is ScanPolicy {
  return !('problems' in read);
}

function readVerdicts(
  policy: Readonly<Record<string, unknown>>,
  key: 'severities' | 'rules',
  names: readonly string[],
  problems: string[],
): Readonly<Record<string, ScanVerdict>> {
  const given = Object.hasOwn(policy, key) ? policy[key] : undefined;
  if (given === undefined) return {};
  if (!isObject(given)) {
    problems.push(`expected ${key} to be an object, got ${describeValue(given)}`);
    return {};
  }
  const verdicts: [string, ScanVerdict][] = [];
  for (const [name, verdict] of Object.entries(given)) {
    if (!names.includes(name)) problems.push(unknownName(key === 'rules' ? 'rule' : 'severity', name, names));
    else if (isVerdict(verdict)) verdicts.push([name, verdict]);
    else
      problems.push(`expected ${key}.${name} to be one of ${SCAN_VERDICTS.join(', ')}, got ${describeValue(verdict)}`);
    if (problems.length > MAX_PROBLEMS) break;
  }
  return Object.fromEntries(verdicts);
}

function isVerdict(value: unknown): value is ScanVerdict {
  return SCAN_VERDICTS.some((verdict) => verdict === value);
}

function unknownName(kind: string, name: string, known: readonly string[]): string {
  const [meant] = nearest(name, known, 1);
  return `unknown ${kind} ${quoted(name)}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function invalid(problems: readonly string[]): ScanPolicyProblems {
  return { type: 'invalid', problems: problems.slice(0, MAX_PROBLEMS) };
}

function decideVerdict({ rule, severity }: ScanFinding, policy: ScanPolicy): ScanVerdict {
  const own = isRuleId(rule) && Object.hasOwn(policy.rules, rule) ? policy.rules[rule] : undefined;
  const verdict = own ?? policy.severities[severity];
  // Only these two let a finding pass; a program may pass a policy with other words.
  return verdict === 'warn' || verdict === 'ignore' ? verdict : 'stop';
}

/** A skill at one digest, as `install.scan_allow` names it. */
export interface ReviewedSkill {
  readonly name: string;
  readonly digest: string;
}

/** The option that accepts the findings of one skill at one digest. */
export function allowOption({ name, digest }: ReviewedSkill): string {
  return `--set install.scan_allow.${name}=${digest}`;
}

/** Turns findings that stop an install into warnings if the user accepted this skill at this digest. */
export function acceptReviewed(
  result: PolicyResult,
  { name, digest }: ReviewedSkill,
  allowed: Readonly<Record<string, string>>,
): PolicyResult {
  if (result.stops.length === 0 || !Object.hasOwn(allowed, name) || allowed[name] !== digest) return result;
  return { stops: [], warnings: [...result.stops, ...result.warnings], ignored: result.ignored };
}

export function applyScanPolicy(
  findings: readonly ScanFinding[],
  policy: ScanPolicy = DEFAULT_SCAN_POLICY,
): PolicyResult {
  const by = (wanted: ScanVerdict): readonly ScanFinding[] =>
    findings.filter((finding) => decideVerdict(finding, policy) === wanted);
  return { stops: by('stop'), warnings: by('warn'), ignored: by('ignore') };
}
