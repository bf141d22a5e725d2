/** Which findings stop an install: the file a person writes, and the judgement by it. */
import { isObject } from '../../core/json/json-schema.ts';
import { nearest } from '../../core/nearest.ts';
import { quoted } from '../../core/text/text.ts';
import { describeValue } from '../../core/text/value-text.ts';
import { DEFAULT_SCAN_POLICY, SCAN_SEVERITIES, SCAN_VERDICTS } from './finding.ts';
import type { ScanFinding, ScanPolicy, ScanVerdict } from './finding.ts';
import { SCAN_RULES, isRuleId } from './rules.ts';

/** A policy that means nothing in one place is not used in the others: what it should have stopped is unknown. */
export interface ScanPolicyProblems {
  readonly type: 'invalid';
  /** Lower case, safe to print. */
  readonly problems: readonly string[];
}

export interface ScanJudgement {
  readonly stops: readonly ScanFinding[];
  readonly warnings: readonly ScanFinding[];
  readonly ignored: readonly ScanFinding[];
}

const MAX_PROBLEMS = 20;

/** A policy as a file has it: `severities` and `rules`, both optional. What is not said is as in the defaults. */
export function readScanPolicy(value: unknown): ScanPolicy | ScanPolicyProblems {
  if (!isObject(value)) return invalid([`a scan policy is an object, not ${describeValue(value)}`]);
  const problems: string[] = [];
  for (const key of Object.keys(value))
    if (!['severities', 'rules', '$schema'].includes(key))
      problems.push(unknownWord('key', key, ['severities', 'rules']));
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
    problems.push(`${key} is an object, not ${describeValue(given)}`);
    return {};
  }
  const verdicts: [string, ScanVerdict][] = [];
  for (const [name, verdict] of Object.entries(given)) {
    if (!names.includes(name)) problems.push(unknownWord(key === 'rules' ? 'rule' : 'severity', name, names));
    else if (isVerdict(verdict)) verdicts.push([name, verdict]);
    else problems.push(`${key}.${name} is one of ${SCAN_VERDICTS.join(', ')}, not ${describeValue(verdict)}`);
    if (problems.length > MAX_PROBLEMS) break;
  }
  return Object.fromEntries(verdicts);
}

function isVerdict(value: unknown): value is ScanVerdict {
  return SCAN_VERDICTS.some((verdict) => verdict === value);
}

function unknownWord(kind: string, word: string, known: readonly string[]): string {
  const [meant] = nearest(word, known, 1);
  return `there is no ${kind} ${quoted(word)}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function invalid(problems: readonly string[]): ScanPolicyProblems {
  return { type: 'invalid', problems: problems.slice(0, MAX_PROBLEMS) };
}

/** What a policy says about one finding. A rule's own verdict counts before that of the severity. */
export function verdictOf({ rule, severity }: ScanFinding, policy: ScanPolicy): ScanVerdict {
  const own = isRuleId(rule) && Object.hasOwn(policy.rules, rule) ? policy.rules[rule] : undefined;
  return own ?? policy.severities[severity];
}

export function judge(findings: readonly ScanFinding[], policy: ScanPolicy = DEFAULT_SCAN_POLICY): ScanJudgement {
  const by = (wanted: ScanVerdict): readonly ScanFinding[] =>
    findings.filter((finding) => verdictOf(finding, policy) === wanted);
  return { stops: by('stop'), warnings: by('warn'), ignored: by('ignore') };
}
