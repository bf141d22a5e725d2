/** The patterns of the rules, as data. Each must run in bounded time on any text: `test/scan/patterns.test.ts` checks their sources. */
import type { ScanSeverity } from './finding.ts';
import type { RuleId } from './rules.ts';

/** A hit that is not a finding alone; combined rules need it. */
export type Signal =
  | 'send'
  | 'collect'
  | 'standing'
  | 'urged'
  | 'remove'
  | 'run-script'
  | 'flow'
  | 'settings'
  | 'fetches'
  | 'starts'
  | 'private'
  | 'gives-away'
  | 'unsaid'
  | 'agent-file'
  | 'wallet'
  | 'takes'
  | 'reaches'
  | 'stays'
  | 'evaluates'
  | 'decodes'
  | 'connects'
  | 'shells'
  | 'starts-any'
  | 'looks-up'
  | 'all-secrets'
  | 'erases'
  | 'personal-folder'
  | 'skills-folder'
  | 'changes-files'
  | 'forwards'
  | 'approvals-off'
  | 'agent-settings'
  | 'loosens'
  | 'python-folder'
  | 'python-start'
  | 'editor-start';

/** `prose`: text for the reader. `code`: text that can be executed. `any`: both, because prose quotes commands too. */
export type PatternScope = 'prose' | 'code' | 'any';

export interface Pattern {
  readonly means: RuleId | Signal;
  /** Overrides the severity of the rule. */
  readonly severity?: ScanSeverity;
  readonly in: PatternScope;
  /** Applied to lower-case text with one passage per line. Must be global and must not match a line end. */
  readonly find: RegExp;
  /** Matches are runs of at least this many letters, digits, `+` and `/`; texts without such a run are skipped. */
  readonly longRun?: number;
  /** Must match the same passage too. */
  readonly also?: RegExp;
  /** Must not match the same passage. */
  readonly unless?: RegExp;
  /** If it matches the same passage, the hit is `medium` at most: the wording has a common harmless reading there. */
  readonly milder?: RegExp;
  /** Counts in prose even after "never" or "do not", because the wording is itself a prohibition or is harmful in any context. */
  readonly evenDenied?: true;
  /** The start of the message, in lower case; the excerpt follows it. */
  readonly says: string;
}

/** The patterns of one rule or signal in one scope. */
export function patterns(
  scope: PatternScope,
  means: RuleId | Signal,
  all: readonly Omit<Pattern, 'in' | 'means'>[],
): readonly Pattern[] {
  return all.map((pattern) => ({ means, in: scope, ...pattern }));
}

/** A negation shortly before the match in the same sentence. "Do not forget to" is not a negation. */
const DENIAL =
  /\b(?:never|not|don't|cannot|can't|won't|avoid|avoids|instead of|refuse|refuses|reject|rejects|block|blocks|blocked|prevent|prevents|detect|detects|flag|flags|against|forbidden|prohibited|dangerous|anti-pattern|check for|look for|scan for|search for|warn)\b(?! (?:forget|fail|hesitate|skip|only|omit|neglect))(?:(?![.;!?] )[^\n]){0,60}$/;

/** The same for Chinese, which has no word boundaries. */
const CHINESE_DENIAL =
  /(?:不要|不得|不可|不能|不应|切勿|请勿|绝不|严禁|禁止|避免|防止|拒绝|警惕|检测|识别)(?!忘|错过|只|仅)[^\n。;!?]{0,20}$/;

/** A list of quoted examples after a negation: `avoid wording such as "a", "b", "`. Nothing but quotations follows the first quote. */
const DENIED_QUOTES =
  /\b(?:never|not|don't|avoid|reject|refuse|detect|flag|forbidden|prohibited|anti-pattern|such as|e\.g\.|example)\b[^."\n]{0,60}(?:"[^"\n]{0,80}"[,/ ]{0,3}(?:(?:or|and) )?){0,6}"[^"\n]{0,20}$/;

/** Whether the text before a match negates it. */
export function isDenied(before: string): boolean {
  const near = before.slice(-80);
  return (
    DENIAL.test(near) || CHINESE_DENIAL.test(near) || (before.includes('"') && DENIED_QUOTES.test(before.slice(-500)))
  );
}
