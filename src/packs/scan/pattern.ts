/** What a rule looks for, as data. Every pattern must be cheap on any text: `test/packs/scan/patterns.test.ts` judges their sources. */
import type { ScanSeverity } from './finding.ts';
import type { RuleId } from './rules.ts';

/** Something that is no finding by itself, but makes one of others near it. */
export type Signal = 'send' | 'collect' | 'standing' | 'urged' | 'remove' | 'run-script';

/** `prose` is what a reader is told, `code` what would run; `any` is both, because commands are told too. */
export type PatternPlace = 'prose' | 'code' | 'any';

export interface Pattern {
  readonly means: RuleId | Signal;
  /** Instead of that of the rule. */
  readonly severity?: ScanSeverity;
  readonly in: PatternPlace;
  /** Over lower case text in which a line is a passage: global, at most one gap, `.` for what lies between. */
  readonly find: RegExp;
  /** A match is at least so many letters, digits, `+` and `/` in a row: most texts have no such run, and are not searched. */
  readonly longRun?: number;
  /** Must be in the same passage too. */
  readonly also?: RegExp;
  /** Must not be in the same passage. */
  readonly unless?: RegExp;
  /** Counts in prose even after "never" or "do not": wording that is itself a prohibition, or is bad wherever it stands. */
  readonly evenDenied?: true;
  /** Lower case; what was found follows. */
  readonly says: string;
}

/** "never", "do not" and their like, shortly before what they deny in the same sentence. "Do not forget to" denies nothing. */
const DENIAL =
  /\b(?:never|not|don't|cannot|can't|won't|avoid|avoids|instead of|refuse|refuses|reject|rejects|block|blocks|blocked|prevent|prevents|detect|detects|flag|flags|against|forbidden|prohibited|dangerous|anti-pattern|check for|look for|scan for|search for|warn)\b(?! (?:forget|fail|hesitate|skip|only|omit|neglect))(?:(?![.;!?] )[^\n]){0,60}$/;

/** The same in Chinese, whose words have no borders. */
const CHINESE_DENIAL =
  /(?:不要|不得|不可|不能|不应|切勿|请勿|绝不|严禁|禁止|避免|防止|拒绝|警惕|检测|识别)(?!忘|错过|只|仅)[^\n。;!?]{0,20}$/;

/** Whether the words before a place take back what follows. */
export function isDenied(before: string): boolean {
  const near = before.slice(-80);
  return DENIAL.test(near) || CHINESE_DENIAL.test(near);
}
