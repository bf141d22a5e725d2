/** Patterns of actions, and sentences about their order, as people write them. */
import type { WrittenPattern } from './case-schema.ts';
import type { ActionExpectations, ActionPattern } from './case.ts';
import { isObject } from '../../core/json/json-schema.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { patternProblem } from './pattern-check.ts';
import type { CaseReport } from './problem.ts';
import { tell } from './problem.ts';

const TOOL = /^[\p{L}\p{N}_.:/*-]{1,128}$/u;
const SEQUENCE_HINT = 'write must_occur TOOL, must_occur TOOL before TOOL, or forbid TOOL';

export function readPatterns(
  report: CaseReport,
  written: readonly WrittenPattern[],
  at: JsonPath,
): readonly ActionPattern[] {
  return written.flatMap((pattern, place) => readPattern(report, pattern, [...at, place]) ?? []);
}

function readPattern(report: CaseReport, written: WrittenPattern, at: JsonPath): ActionPattern | undefined {
  const {
    tool = '',
    arguments: given,
    exact,
  }: Exclude<WrittenPattern, string> = typeof written === 'string' ? { tool: written } : written;
  if (!TOOL.test(tool)) {
    const hint = 'write the name of a tool, such as load_skill; * stands for any characters';
    tell(report, { at, message: `${quoted(tool)} is no name of a tool`, hint });
    return undefined;
  }
  if (given !== undefined && !hasGoodExpressions(report, given, at)) return undefined;
  return {
    tool,
    ...(given === undefined ? {} : { arguments: given }),
    ...(exact === true ? { exact } : {}),
  };
}

/** Arguments `/between slashes/` are expressions. */
function hasGoodExpressions(report: CaseReport, given: Readonly<Record<string, unknown>>, at: JsonPath): boolean {
  return Object.entries(given).every(([key, value]) => {
    if (typeof value !== 'string' || value.length < 3 || !value.startsWith('/') || !value.endsWith('/')) return true;
    const problem = patternProblem(value.slice(1, -1));
    if (problem !== undefined) tell(report, { at: [...at, 'arguments', key], ...problem });
    return problem === undefined;
  });
}

type Sequence = Pick<ActionExpectations, 'unordered' | 'forbid' | 'before'>;

/** `must_occur load_skill before run_script`. A tool may have its arguments behind it, as a JSON object. */
export function readSequence(report: CaseReport, lines: readonly string[], at: JsonPath): Sequence {
  const unordered: ActionPattern[] = [];
  const forbid: ActionPattern[] = [];
  const before: { readonly first: ActionPattern; readonly then: ActionPattern }[] = [];
  for (const [place, line] of lines.entries()) {
    const here = [...at, place];
    const [, verb, rest = ''] = /^\s*(must_occur|forbid)\s+(\S[\s\S]*)$/.exec(line) ?? [];
    const parts = verb === 'must_occur' ? rest.split(/\s+before\s+/) : [rest];
    const patterns = parts.map((part) => wordPattern(report, part.trim(), here));
    const [first, then] = patterns;
    if (verb === undefined || parts.length > 2) {
      tell(report, { at: here, message: `${quoted(line)} is no sentence about actions`, hint: SEQUENCE_HINT });
    } else if (first !== undefined && parts.length === 1) {
      (verb === 'forbid' ? forbid : unordered).push(first);
    } else if (first !== undefined && then !== undefined) {
      // The word of the sentence; nobody awaits it.
      // oxlint-disable-next-line unicorn/no-thenable
      before.push({ first, then });
    }
  }
  return { unordered, forbid, before };
}

function wordPattern(report: CaseReport, written: string, at: JsonPath): ActionPattern | undefined {
  const [, tool = '', given] = /^([^\s{]*)\s*(\{[\s\S]*\})?$/.exec(written) ?? [];
  if (given === undefined) return readPattern(report, tool === '' ? written : tool, at);
  const parsed = objectIn(given);
  if (parsed !== undefined) return readPattern(report, { tool, arguments: parsed }, at);
  tell(report, { at, message: `${quoted(given)} is no JSON object`, hint: 'write TOOL {"name": "value"}' });
  return undefined;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
