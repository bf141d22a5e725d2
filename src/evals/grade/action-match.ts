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
  /** The resolved name of the skill of the action. */
  readonly skill?: string;
}

export interface ActionMatcher {
  matches(request: RequestedAction): boolean;
  /** Like `matches`, but a call that became several actions counts once. */
  counts(request: RequestedAction): boolean;
}

export type MatcherReading =
  | { readonly type: 'matcher'; readonly matcher: ActionMatcher }
  | { readonly type: 'refused'; readonly message: string };

type ValueTest = (value: unknown) => boolean;

export function readActionPattern(pattern: ActionPattern): MatcherReading {
  const names = compileGlob(pattern.tool, { hidden: true });
  const tests: (readonly [string, ValueTest])[] = [];
  for (const [name, wanted] of Object.entries(pattern.arguments ?? {})) {
    const test = valueTest(wanted);
    if (typeof test === 'string') return { type: 'refused', message: `${patternText(pattern)}: ${test}` };
    tests.push([name, test]);
  }
  const isExact = pattern.exact === true;
  const fits = (fields: unknown, skill?: string): boolean => {
    if (!isObject(fields)) return tests.length === 0 && !isExact;
    if (isExact && Object.keys(fields).some((name) => !tests.some(([wanted]) => wanted === name))) return false;
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
    type: 'matcher',
    matcher: {
      matches: (request) => matchesAction(request) || matchesTool(request),
      counts: (request) => matchesAction(request) || (request.tool?.isFirst === true && matchesTool(request)),
    },
  };
}

export function patternText({ tool, arguments: fields = {}, exact }: ActionPattern): string {
  const wanted = Object.entries(fields).map(([name, value]) => `${name} ${quoted(stableJson(value) ?? '', 80)}`);
  if (wanted.length === 0) return tool;
  return `${tool} with ${exact === true ? 'exactly ' : ''}${wanted.join(', ')}`;
}

/** Tests for equality, or for a match if the text is `/expression/`, at any depth. Returns a message for an invalid expression. */
function valueTest(wanted: unknown): ValueTest | string {
  const regex = typeof wanted === 'string' ? readSlashedRegex(wanted) : undefined;
  if (regex?.type === 'refused') return regex.message;
  if (regex !== undefined) return (value) => regex.regex.test(typeof value === 'string' ? value : toText(value));
  if (Array.isArray(wanted)) return listTest(wanted);
  if (isObject(wanted)) return objectTest(wanted);
  return (value) => Object.is(value, wanted);
}

function listTest(wanted: readonly unknown[]): ValueTest | string {
  const tests = wanted.map(valueTest);
  const problem = tests.find((test) => typeof test === 'string');
  if (typeof problem === 'string') return problem;
  return (value) =>
    Array.isArray(value) &&
    value.length === tests.length &&
    tests.every((test, place) => typeof test === 'function' && test(value[place]));
}

function objectTest(wanted: Readonly<Record<string, unknown>>): ValueTest | string {
  const keys = Object.keys(wanted);
  const inOrder = listTest(Object.values(wanted));
  if (typeof inOrder === 'string') return inOrder;
  return (value) =>
    isObject(value) && Object.keys(value).length === keys.length && inOrder(keys.map((key) => ownField(value, key)));
}

function toText(value: unknown): string {
  return value === undefined ? '' : (stableJson(value) ?? '');
}

function ownField(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
