/** Which skill a community case wants to be loaded, or to stay quiet. */
import type { Expectations } from './case.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { FLAG_KEYS, fieldOf, flagAt, textAt } from './community-keys.ts';
import type { CaseReport } from './problem.ts';
import { tell } from './problem.ts';

export interface SkillWish extends Pick<Expectations, 'trigger' | 'skills'> {
  readonly target: string | undefined;
}

interface Asked {
  readonly path: JsonPath;
  /** The skill that the file is about. */
  readonly target: string | undefined;
  readonly polarity?: boolean;
}

type Item = Readonly<Record<string, unknown>>;

/** With a flag, `expected_skill` is the skill in question; without one it is the answer, and nothing there means none. */
export function readSkillWish(report: CaseReport, item: Item, { path, target, polarity }: Asked): SkillWish {
  const own = textAt(item, ['skill', 'skill_name', 'target_skill']) ?? target;
  const expected = textAt(item, ['expected_skill']);
  const trigger = flagOf(report, item, path) ?? polarity ?? triggerOf(item);
  const skills = listedSkills(item);
  if (trigger !== undefined) {
    const meant = isNone(expected) ? own : expected;
    if (meant === undefined) {
      const hint = 'put the file into the evals folder of the skill, or write skill_name';
      tell(report, { at: path, message: 'nobody knows which skill should be loaded, or not', hint });
    }
    return { target: meant, trigger, ...(skills === undefined ? {} : { skills }) };
  }
  if (!Object.hasOwn(item, 'expected_skill')) return { target: own, ...(skills === undefined ? {} : { skills }) };
  return answered(item, expected, own);
}

/** `[{trigger, expected_behavior}]`: what stands under `trigger` loads the skill. */
function triggerOf(item: Item): boolean | undefined {
  return typeof item['trigger'] === 'string' && textAt(item, ['prompt', 'query', 'task', 'input']) === undefined
    ? true
    : undefined;
}

function answered(item: Item, expected: string | undefined, own: string | undefined): SkillWish {
  const acceptable = namesAt(item, 'acceptable_skills') ?? [];
  if (expected === undefined || isNone(expected))
    return {
      target: own,
      skills: { only: acceptable },
      ...(own === undefined || acceptable.includes(own) ? {} : { trigger: false }),
    };
  const others = acceptable.filter((name) => name !== expected);
  return others.length === 0
    ? { target: expected, trigger: true }
    : { target: expected, skills: { anyOf: [expected, ...others] } };
}

function listedSkills(item: Item): Expectations['skills'] {
  const allOf = namesAt(item, 'expected_skills');
  if (allOf === undefined) return undefined;
  return allOf.length === 0 ? { only: [] } : { allOf };
}

function namesAt(item: Item, key: string): readonly string[] | undefined {
  const value = fieldOf(item, [key]);
  if (typeof value === 'string')
    return value
      .split(/[,;|]/)
      .map((name) => name.trim())
      .filter((name) => name !== '');
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined;
}

function isNone(name: string | undefined): boolean {
  return name === undefined || /^(?:none|null|n\/a|-)$/i.test(name.trim());
}

/** Words that mean something else in other keys are not told; a flag that cannot be read is. */
function flagOf(report: CaseReport, item: Item, path: JsonPath): boolean | undefined {
  for (const key of FLAG_KEYS) {
    const value = fieldOf(item, [key]);
    const read = flagAt(key, value);
    if (read !== undefined) return read;
    if (value !== undefined && /trigger|activate/i.test(key)) {
      const written = quoted(typeof value === 'string' ? value : JSON.stringify(value));
      tell(report, { at: [...path, key], message: `${key} is ${written}`, hint: 'write true or false' });
    }
  }
  return undefined;
}
