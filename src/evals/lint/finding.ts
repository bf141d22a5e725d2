/** What the checks of a suite find. */
import type { EvalCase } from '../cases/case.ts';
import type { CaseProblem } from '../cases/problem.ts';

type LintRule =
  | 'passes-on-request'
  | 'passes-on-empty'
  | 'passes-on-wrong'
  | 'passes-on-opposite'
  | 'number-without-edges'
  | 'expected-in-request'
  | 'expected-in-skill'
  | 'expected-in-files'
  | 'expected-hidden'
  | 'one-answer'
  | 'same-check'
  | 'not-examined'
  | 'expects-skill-name'
  | 'skill-in-request'
  | 'format-only'
  | 'few-negatives'
  | 'no-negatives'
  | 'no-positives'
  | 'duplicate';

/** What a rule says about one case. */
export interface CaseFinding extends Pick<CaseProblem, 'severity' | 'message' | 'hint'> {
  readonly rule: LintRule;
}

export interface LintFinding extends CaseProblem {
  readonly rule: LintRule;
}

/** The case with the texts of its skill, SKILL.md first; empty if it is not known. */
export interface LintedCase {
  readonly evalCase: EvalCase;
  readonly skillFiles: readonly SkillText[];
}

export interface SkillText {
  readonly file: string;
  /** It may hold text that was not read. */
  readonly isUnread?: true;
  readonly text: string;
}
