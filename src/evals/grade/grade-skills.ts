/** Which skills were loaded: the question of triggers, and what else a case says about them. */
import type { EvalCase } from '../cases/case.ts';
import type { CheckResult } from '../report/result.ts';
import { judged, listText, notJudged } from './check.ts';
import type { CheckHead } from './check.ts';
import { loadedNames } from './run-facts.ts';
import type { LoadFact, RunFacts } from './run-facts.ts';

export function gradeSkills({ expect, skills: { target } }: EvalCase, { loads }: RunFacts): readonly CheckResult[] {
  const { trigger, skills } = expect;
  const head = (id: string, asked: string): CheckHead => ({ id, kind: 'trigger', asked });
  const loaded = loadedNames({ loads });
  const showing = (names: readonly string[]): readonly number[] =>
    loads.filter(({ skill }) => names.includes(skill)).map(({ seq }) => seq);
  const checks: CheckResult[] = [];
  if (trigger !== undefined) checks.push(gradeTrigger(trigger, target, loads));
  if (skills?.allOf !== undefined) {
    const missing = skills.allOf.filter((name) => !loaded.includes(name));
    const wrong = missing.length === 0 ? '' : `not loaded: ${listText(missing)}; loaded: ${listText(loaded)}`;
    checks.push(
      judged(head('skills.all_of', `all of ${listText(skills.allOf)} are loaded`), wrong, showing(skills.allOf)),
    );
  }
  if (skills?.anyOf !== undefined) {
    const isAny = skills.anyOf.some((name) => loaded.includes(name));
    const asked = `one of ${listText(skills.anyOf)} is loaded`;
    checks.push(
      judged(head('skills.any_of', asked), isAny ? '' : `loaded: ${listText(loaded)}`, showing(skills.anyOf)),
    );
  }
  if (skills?.noneOf !== undefined) {
    const wrong = skills.noneOf.filter((name) => loaded.includes(name));
    const asked = `none of ${listText(skills.noneOf)} is loaded`;
    checks.push(
      judged(head('skills.none_of', asked), wrong.length === 0 ? '' : `loaded: ${listText(wrong)}`, showing(wrong)),
    );
  }
  if (skills?.only !== undefined) {
    const { only } = skills;
    const wrong = loaded.filter((name) => !only.includes(name));
    const asked = only.length === 0 ? 'no skill is loaded' : `none but ${listText(only)} is loaded`;
    checks.push(
      judged(head('skills.only', asked), wrong.length === 0 ? '' : `loaded: ${listText(wrong)}`, showing(wrong)),
    );
  }
  return checks;
}

/** A skill that a program put there was not triggered by the query. */
function gradeTrigger(isWanted: boolean, target: string | undefined, loads: readonly LoadFact[]): CheckResult {
  const head: CheckHead = {
    id: 'trigger',
    kind: 'trigger',
    asked: `${target ?? 'the skill'} ${isWanted ? 'fires' : 'stays quiet'}`,
  };
  if (target === undefined) return notJudged(head, 'the case names no skill that could fire');
  const own = loads.filter(({ skill, isRequired }) => skill === target && !isRequired);
  const fired = own.length > 0;
  const loaded = `loaded: ${listText(loadedNames({ loads }))}`;
  return judged(
    head,
    fired === isWanted ? '' : `it ${fired ? 'fired' : 'did not fire'}; ${loaded}`,
    own.map(({ seq }) => seq),
  );
}
