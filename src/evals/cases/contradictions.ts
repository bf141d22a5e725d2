/** Finds expectations that no run can meet. */
import type { ActionPattern, EvalCase, Expectations } from './case.ts';
import { compileGlob, quoted, stableJson, type JsonPath } from '#core';

export interface Contradiction {
  readonly at: JsonPath;
  readonly message: string;
}

type CheckedCase = Pick<EvalCase, 'skills' | 'expect' | 'limits' | 'forbidTools'>;

export function contradictions(one: CheckedCase): readonly Contradiction[] {
  return [
    ...skillContradictions(one),
    ...triggerContradictions(one),
    ...textContradictions(one.expect.output ?? []),
    ...orderContradictions(one.expect.actions?.before ?? []),
    ...forbiddenContradictions(one),
    ...limitContradictions(one),
  ];
}

function skillContradictions({ expect: { skills = {} } }: CheckedCase): readonly Contradiction[] {
  const { allOf = [], anyOf, noneOf = [], only } = skills;
  const found: Contradiction[] = [];
  const add = (key: string, message: string): void => void found.push({ at: ['expect', key], message });
  for (const name of allOf.filter((one) => noneOf.includes(one)))
    add('skills_none_of', `${quoted(name)} must be loaded and must not be loaded`);
  for (const name of allOf.filter((one) => only?.includes(one) === false))
    add('skills_only', `${quoted(name)} must be loaded, but skills_only does not list it`);
  if (anyOf?.length === 0) add('skills_any_of', 'skills_any_of is empty, so no run can pass');
  else if (anyOf?.every((name) => isExcluded(name, noneOf, only)) === true)
    add('skills_any_of', 'one of skills_any_of must be loaded, but other expectations exclude all of them');
  return found;
}

function isExcluded(name: string, noneOf: readonly string[], only: readonly string[] | undefined): boolean {
  return noneOf.includes(name) || only?.includes(name) === false;
}

function triggerContradictions({ skills: { target }, expect }: CheckedCase): readonly Contradiction[] {
  const { trigger, skills: { allOf = [], anyOf = [], noneOf = [], only } = {} } = expect;
  const at: JsonPath = ['expect', 'trigger'];
  if (trigger === undefined) return [];
  if (target === undefined) return [{ at, message: 'trigger needs a target skill: add skills.target' }];
  if (trigger && isExcluded(target, noneOf, only))
    return [{ at, message: `trigger expects ${quoted(target)} to load, but other expectations exclude it` }];
  if (!trigger && (allOf.includes(target) || (anyOf.length === 1 && anyOf[0] === target)))
    return [{ at, message: `trigger expects ${quoted(target)} not to load, but other expectations require it` }];
  return [];
}

function textContradictions(checks: NonNullable<Expectations['output']>): readonly Contradiction[] {
  const texts = checks.flatMap((check) => (check.type === 'contains' ? [check] : []));
  const required = texts.filter((check) => check.not !== true);
  return texts
    .filter((check) => check.not === true)
    .flatMap(({ text, ignoreCase }) => {
      const fold = (value: string): string => (ignoreCase === true ? value.toLowerCase() : value);
      const clash = required.find((other) => text !== '' && fold(other.text).includes(fold(text)));
      if (clash === undefined) return [];
      const message = `the answer must contain ${quoted(clash.text)} and must not contain ${quoted(text)}`;
      return [{ at: ['expect', 'output', 'not_contains'], message }];
    });
}

type Before = NonNullable<NonNullable<Expectations['actions']>['before']>;

function orderContradictions(before: Before): readonly Contradiction[] {
  const next = new Map<string, string[]>();
  for (const { first, then } of before) next.set(toKey(first), [...(next.get(toKey(first)) ?? []), toKey(then)]);
  const looping = before.find(({ first, then }) => leadsTo(next, toKey(then), toKey(first)));
  if (looping === undefined) return [];
  const { first, then } = looping;
  const message = `${quoted(first.tool)} must come before ${quoted(then.tool)} and, by other sentences, after it`;
  return [{ at: ['expect', 'sequence'], message }];
}

function leadsTo(next: ReadonlyMap<string, readonly string[]>, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const key of seen) for (const below of next.get(key) ?? []) seen.add(below);
  return seen.has(to);
}

function toKey(pattern: ActionPattern): string {
  return stableJson(pattern);
}

function forbiddenContradictions({
  expect: { actions = {}, security = {} },
  forbidTools,
}: CheckedCase): readonly Contradiction[] {
  const { ordered = [], unordered = [], before = [], forbid = [] } = actions;
  const required = [...ordered, ...unordered, ...before.map(({ first }) => first), ...(security.denied ?? [])];
  const forbidden = [...forbid, ...forbidTools.map((tool) => ({ tool }))];
  return required.flatMap((pattern) => {
    const clash = forbidden.find((other) => covers(other, pattern));
    if (clash === undefined) return [];
    return [{ at: ['expect'], message: `${quoted(pattern.tool)} must occur and is forbidden` }];
  });
}

function covers(wide: ActionPattern, narrow: ActionPattern): boolean {
  if (wide.arguments !== undefined && stableJson(wide.arguments) !== stableJson(narrow.arguments ?? {})) return false;
  return compileGlob(wide.tool, { hidden: true }).matches(narrow.tool);
}

function limitContradictions({ expect: { actions = {} }, limits }: CheckedCase): readonly Contradiction[] {
  const needed = (actions.ordered ?? []).length;
  if (limits.toolCalls === undefined || needed <= limits.toolCalls) return [];
  const message = `${String(needed)} actions must occur, but max_tool_calls is ${String(limits.toolCalls)}`;
  return [{ at: ['constraints', 'max_tool_calls'], message }];
}
