/** The scan policy: which findings stop an install. */
import { compareText, describeValue, isObject, nearest, quoted, type Problem } from '#core';
import {
  DEFAULT_SCAN_POLICY,
  SCAN_SEVERITIES,
  SCAN_VERDICTS,
  type ScanFinding,
  type ScanPolicy,
  type ScanVerdict,
} from './finding.ts';
import { SCAN_RULES, isRuleId } from './rules.ts';

/** The findings by verdict. */
export interface PolicyResult {
  /** Rules of warnings that would stop the install, had the user not accepted them; sorted. */
  readonly accepted: readonly string[];
  readonly stops: readonly ScanFinding[];
  readonly warnings: readonly ScanFinding[];
  readonly ignored: readonly ScanFinding[];
}

const MAX_PROBLEMS = 20;

/**
 * Validates a parsed policy file. `severities` and `rules` are optional; missing entries have the default verdict. A policy with any
 * mistake is rejected whole, because it is unknown what it was meant to stop.
 */
export function readScanPolicy(value: unknown): ScanPolicy | Problem {
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

function readVerdicts(
  policy: Readonly<Record<string, unknown>>,
  key: 'severities' | 'rules',
  names: readonly string[],
  problems: string[],
): Readonly<Record<string, ScanVerdict>> {
  const verdictsByName = Object.hasOwn(policy, key) ? policy[key] : undefined;
  if (verdictsByName === undefined) return {};
  if (!isObject(verdictsByName)) {
    problems.push(`expected ${key} to be an object, got ${describeValue(verdictsByName)}`);
    return {};
  }
  const verdicts: [string, ScanVerdict][] = [];
  for (const [name, verdict] of Object.entries(verdictsByName)) {
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

function invalid(problems: readonly string[]): Problem {
  const message = problems.slice(0, MAX_PROBLEMS).join('; ');
  return { code: 'pack/scan', message, hint: 'correct the scan policy' };
}

function decideVerdict({ rule, severity }: ScanFinding, policy: ScanPolicy): ScanVerdict {
  const own = isRuleId(rule) && Object.hasOwn(policy.rules, rule) ? policy.rules[rule] : undefined;
  const verdict = own ?? policy.severities[severity];
  // Only these two let a finding pass; a program may pass a policy with other words.
  return verdict === 'warn' || verdict === 'ignore' ? verdict : 'stop';
}

/** What `accepts` names does not stop the install, but is a warning: the user reviewed exactly these files. */
export function applyScanPolicy(
  findings: readonly ScanFinding[],
  policy: ScanPolicy = DEFAULT_SCAN_POLICY,
  accepts: (rule: string) => boolean = () => false,
): PolicyResult {
  const by = (verdict: ScanVerdict): readonly ScanFinding[] =>
    findings.filter((finding) => decideVerdict(finding, policy) === verdict);
  const [stopping, warnings, ignored] = [by('stop'), by('warn'), by('ignore')];
  const reviewed = stopping.filter(({ rule }) => accepts(rule));
  return {
    accepted: [...new Set(reviewed.map(({ rule }) => rule))].toSorted(compareText),
    stops: stopping.filter(({ rule }) => !accepts(rule)),
    warnings: [...reviewed, ...warnings],
    ignored,
  };
}
