/** Matches the action patterns of a case. A pattern names a tool of the vocabulary or the type of an action. */
import { compileGlob, isObject, quoted, stableJson, type Action } from '#core';
import type { ActionPattern } from '../cases/case.ts';
import { readSlashedRegex } from './linear-regex.ts';

/** A requested action: the tool call that the model wrote, the action that it became, or both. */
export interface RequestedAction {
  readonly tool?: {
    readonly name: string;
    readonly input: unknown;
    /** A call that became several actions counts once, with the first of them. */
    readonly isFirst: boolean;
  };
  readonly action?: Action;
  readonly skill?: string;
}

export interface ActionMatcher {
  matches(request: RequestedAction): boolean;
  /** Like `matches`, but a call that became several actions counts once. */
  counts(request: RequestedAction): boolean;
}

type ValueTest = (value: unknown) => boolean;

/** Returns a message for an invalid expression. */
export function readActionPattern(pattern: ActionPattern): ActionMatcher | string {
  const names = compileGlob(pattern.tool, { hidden: true });
  const tests: (readonly [string, ValueTest])[] = [];
  for (const [name, expected] of Object.entries(pattern.arguments ?? {})) {
    const test = valueTest(expected);
    if (typeof test === 'string') return `${patternText(pattern)}: ${test}`;
    tests.push([name, test]);
  }
  const isExact = pattern.exact === true;
  const fits = (fields: unknown, skill?: string): boolean => {
    if (!isObject(fields)) return tests.length === 0 && !isExact;
    if (isExact && Object.keys(fields).some((name) => !tests.some(([expected]) => expected === name))) return false;
    return tests.every(
      ([name, test]) => test(ownField(fields, name)) || (name === 'skill' && skill !== undefined && test(skill)),
    );
  };
  const matchesTool = ({ tool }: RequestedAction): boolean =>
    tool !== undefined && names.matches(tool.name) && fits(tool.input);
  const matchesAction = ({ action, skill }: RequestedAction): boolean => {
    if (action === undefined || !names.matches(action.type)) return false;
    const { type: _, ...fields } = action;
    return fits(fields, skill);
  };
  return {
    matches: (request) => matchesAction(request) || matchesTool(request),
    counts: (request) => matchesAction(request) || (request.tool?.isFirst === true && matchesTool(request)),
  };
}

export function patternText({ tool, arguments: fields = {}, exact }: ActionPattern): string {
  const expected = Object.entries(fields).map(([name, value]) => `${name} ${quoted(stableJson(value) ?? '', 80)}`);
  if (expected.length === 0) return tool;
  return `${tool} with ${exact === true ? 'exactly ' : ''}${expected.join(', ')}`;
}

/** Tests for equality, or for a match if the text is `/expression/`, at any depth. Returns a message for an invalid expression. */
function valueTest(expected: unknown): ValueTest | string {
  const regex = typeof expected === 'string' ? readSlashedRegex(expected) : undefined;
  if (regex?.type === 'refused') return regex.message;
  if (regex !== undefined)
    return (value) => regex.regex.test(typeof value === 'string' ? value : (stableJson(value) ?? ''));
  if (Array.isArray(expected)) return listTest(expected);
  if (isObject(expected)) return objectTest(expected);
  return (value) => Object.is(value, expected);
}

function listTest(expected: readonly unknown[]): ValueTest | string {
  const tests = expected.map(valueTest);
  const problem = tests.find((test) => typeof test === 'string');
  if (typeof problem === 'string') return problem;
  return (value) =>
    Array.isArray(value) &&
    value.length === tests.length &&
    tests.every((test, place) => typeof test === 'function' && test(value[place]));
}

function objectTest(expected: Readonly<Record<string, unknown>>): ValueTest | string {
  const keys = Object.keys(expected);
  const inOrder = listTest(Object.values(expected));
  if (typeof inOrder === 'string') return inOrder;
  return (value) =>
    isObject(value) && Object.keys(value).length === keys.length && inOrder(keys.map((key) => ownField(value, key)));
}

function ownField(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
