/**
 * Finds what makes a suite say more than it measures: answers that are given away, graders that pass on anything, missing negatives,
 * duplicates. Nothing is run. Cases with scripted answers are left out, because they test no model.
 */
import { countText, quoted } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { isSkillNamed } from '../cases/suite.ts';
import type { CaseFinding, LintedCase, LintFinding, SkillText } from './finding.ts';
import { graderFindings } from './graders.ts';
import { oneAnswerFindings, sameCheckFindings } from './one-answer.ts';
import { readSkillTexts } from './skill-texts.ts';
import { groupSameRequests } from '../report/same-requests.ts';
import { toAskedRequest } from '../cases/asked-request.ts';

export interface LintOptions {
  /** `trigger` measures which skill loads; then a suite without negatives has no precision. */
  readonly kind: 'cases' | 'trigger';
  /** Skill folders for cases that name none. */
  readonly skills: readonly string[];
}

export function lintSuite(cases: readonly EvalCase[], { kind, skills }: LintOptions): readonly LintFinding[] {
  const readTarget = skillReader(skills);
  const asked = cases
    .filter(({ answers }) => answers?.type !== 'script')
    .map((evalCase): LintedCase => ({ evalCase, skillFiles: readTarget(evalCase) }));
  const place = ({ evalCase }: LintedCase, finding: CaseFinding): LintFinding => ({
    code: 'input/invalid',
    ...evalCase.place,
    ...finding,
  });
  return [
    ...asked.flatMap((one) => graderFindings(one).map((finding) => place(one, finding))),
    ...namingFindings(asked).map(([one, finding]) => place(one, finding)),
    ...balanceFindings(asked, kind).map(([one, finding]) => place(one, finding)),
    ...listAlike(asked).map(([one, finding]) => place(one, finding)),
    ...unexaminedFindings(asked).map(([one, finding]) => place(one, finding)),
    ...duplicateFindings(asked).map(([one, finding]) => place(one, finding)),
  ];
}

/** The first names the answer that both are about. */
function listAlike(cases: readonly LintedCase[]): readonly Placed[] {
  const found = oneAnswerFindings(cases);
  return found.length > 0 ? found : sameCheckFindings(cases);
}

const MOST_NAMES = 5;

/** Once for each skill. What a person looks at, such as an image, is not named. */
function unexaminedFindings(cases: readonly LintedCase[]): readonly Placed[] {
  return [...new Map(cases.map((one) => [one.skillFiles, one])).values()].flatMap((one): readonly Placed[] => {
    const names = one.skillFiles.filter(({ isUnread }) => isUnread === true).map(({ file }) => file);
    if (names.length === 0 || (one.evalCase.expect.output ?? []).length === 0) return [];
    const more = names.length > MOST_NAMES ? ` and ${String(names.length - MOST_NAMES)} more` : '';
    const message = `not examined for expected texts: ${names.slice(0, MOST_NAMES).join(', ')}${more}`;
    const hint = 'they are binary, packed, or larger than 512 KiB: check that they do not give answers away';
    return [[one, { rule: 'not-examined', severity: 'warning', message, hint }]];
  });
}

/** Reads each skill once. */
function skillReader(skills: readonly string[]): (evalCase: EvalCase) => readonly SkillText[] {
  const texts = new Map<string, readonly SkillText[]>();
  return ({ skills: { target, folders } }) => {
    if (target === undefined) return [];
    const key = [target, ...folders].join('\n');
    const known = texts.get(key);
    if (known !== undefined) return known;
    const folder = [...folders, ...skills].find((one) => isSkillNamed(one, target));
    const found = folder === undefined ? [] : readSkillTexts(folder);
    texts.set(key, found);
    return found;
  };
}

type Placed = readonly [LintedCase, CaseFinding];

/** Whether a request asks for the skill by its name. A name of one common word, such as `pdf`, counts only where it is called. */
function namesSkill({ input, skills: { target } }: EvalCase): boolean {
  if (target === undefined) return false;
  const name = target.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const called = new RegExp(
    `(?:^|[\\s"'\`(])[/$@]${name}(?![\\w-])|(?<![\\w-])${name}["'\`]?\\s+skill\\b|\\bskill\\s+["'\`]?${name}(?![\\w-])`,
    'i',
  );
  return called.test(input) || (target.includes('-') && new RegExp(`(?<![\\w-])${name}(?![\\w-])`, 'i').test(input));
}

/** If every request that should load a skill names it, nothing shows that it loads by itself. */
function namingFindings(cases: readonly LintedCase[]): readonly Placed[] {
  return groupByTarget(cases.filter(({ evalCase }) => evalCase.expect.trigger !== false)).flatMap((group) => {
    const named = group.filter(({ evalCase }) => namesSkill(evalCase));
    const severity = named.length === group.length ? ('error' as const) : ('warning' as const);
    return named.map((one): Placed => {
      const name = quoted(one.evalCase.skills.target ?? '');
      const message =
        severity === 'error'
          ? `every request about ${name} names it, so that nothing shows whether it loads by itself`
          : `the request names the skill ${name}`;
      return [
        one,
        { rule: 'skill-in-request', severity, message, hint: 'ask as a user does who does not know the skill' },
      ];
    });
  });
}

/** Without negatives, a skill that always loads looks perfect; without positives, one that never loads. */
function balanceFindings(cases: readonly LintedCase[], kind: LintOptions['kind']): readonly Placed[] {
  // A case in quarantine does not count.
  const asked = cases.filter(
    ({ evalCase: { expect, quarantine } }) =>
      quarantine === undefined && (expect.trigger !== undefined || expect.skills !== undefined),
  );
  const severity = kind === 'trigger' ? 'error' : 'warning';
  const isQuiet = ({ evalCase: { expect } }: LintedCase): boolean =>
    expect.trigger === false || expect.skills?.only?.length === 0 || expect.skills?.noneOf !== undefined;
  const targets = groupByTarget(asked);
  return targets.flatMap((group): readonly Placed[] => {
    const [first] = group;
    if (first === undefined) return [];
    const name = quoted(first.evalCase.skills.target ?? '');
    // A request for another skill is one that must not load this one.
    if (!asked.some(isQuiet) && targets.length === 1) {
      const message = `no request must leave ${name} unloaded, so that precision cannot be measured`;
      const hint = 'add requests that sound like it and are not, with trigger: false or should_trigger: false';
      return [[first, { rule: 'no-negatives', severity, message, hint }]];
    }
    const quiet = asked.filter((one) => isQuiet(one) || !group.includes(one));
    const [many, few] = [countDifferent(group.filter((one) => !isQuiet(one))), countDifferent(quiet)];
    if (kind === 'trigger' && few > 0 && many >= few * MOST_UNBALANCED) {
      const message = `${countText(many, 'different request')} must load ${name}, and only ${String(few)} must not, so that precision says little`;
      const hint = 'add requests that sound like it and are not, with trigger: false or should_trigger: false';
      return [[first, { rule: 'few-negatives', severity: 'warning', message, hint }]];
    }
    if (kind === 'trigger' && group.every(isQuiet)) {
      const message = `no request must load ${name}, so that recall cannot be measured`;
      const hint = 'add requests that the skill is for, with trigger: true or should_trigger: true';
      return [[first, { rule: 'no-positives', severity, message, hint }]];
    }
    return [];
  });
}

/** A skill that loads for half of the requests that it is not for passes one of them by chance. */
const MOST_UNBALANCED = 4;

function countDifferent(cases: readonly LintedCase[]): number {
  return groupSameRequests(cases.map(({ evalCase }) => toAskedRequest(evalCase))).length;
}

function groupByTarget(cases: readonly LintedCase[]): readonly (readonly LintedCase[])[] {
  const groups = new Map<string, LintedCase[]>();
  for (const one of cases) {
    const { target } = one.evalCase.skills;
    if (target !== undefined) groups.set(target, [...(groups.get(target) ?? []), one]);
  }
  return [...groups.values()];
}

/** Each case is reported once, against the first case that it repeats. */
function duplicateFindings(cases: readonly LintedCase[]): readonly Placed[] {
  const groups = groupSameRequests(cases.map(({ evalCase }) => toAskedRequest(evalCase)));
  const repeated = new Map(groups.flatMap(([first = '', ...others]) => others.map((id) => [id, first] as const)));
  return cases.flatMap((one): readonly Placed[] => {
    const first = repeated.get(one.evalCase.id);
    if (first === undefined) return [];
    const other = cases.find(({ evalCase }) => evalCase.id === first)?.evalCase.expect.trigger;
    const { trigger } = one.evalCase.expect;
    if (trigger !== undefined && other !== undefined && trigger !== other) {
      const opposite = `the request is that of ${quoted(first)}, which expects the opposite: no skill meets both`;
      return [[one, { rule: 'duplicate', severity: 'error', message: opposite, hint: 'remove one of them' }]];
    }
    const message = `the request is nearly the same as that of ${quoted(first)}`;
    const hint = 'it counts as one case: ask something else, or use repeat to run it several times';
    return [[one, { rule: 'duplicate', severity: 'warning', message, hint }]];
  });
}
