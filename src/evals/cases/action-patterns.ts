/** Reads action patterns and `sequence` sentences. */
import type { WrittenPattern } from './case-schema.ts';
import type { ActionExpectations, ActionPattern } from './case.ts';
import { isObject } from '../../core/json/json-schema.ts';
import { parseJson } from '../../core/json/parse-json.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { patternProblem } from './pattern-check.ts';
import type { CaseReport } from './problem.ts';
import { addProblem } from './problem.ts';

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
    any_outcome: anyOutcome,
  }: Exclude<WrittenPattern, string> = typeof written === 'string' ? { tool: written } : written;
  if (!TOOL.test(tool)) {
    const hint = 'write a tool name such as load_skill; * matches any characters';
    addProblem(report, { at, message: `invalid tool name ${quoted(tool)}`, hint });
    return undefined;
  }
  if (given !== undefined && !hasValidExpressions(report, given, at)) return undefined;
  return {
    tool,
    ...(given === undefined ? {} : { arguments: given }),
    ...(exact === true ? { exact } : {}),
    ...(anyOutcome === true ? { anyOutcome } : {}),
  };
}

/** Arguments of the form `/expression/` are regular expressions. */
function hasValidExpressions(report: CaseReport, given: Readonly<Record<string, unknown>>, at: JsonPath): boolean {
  return Object.entries(given).every(([key, value]) => {
    if (typeof value !== 'string' || value.length < 3 || !value.startsWith('/') || !value.endsWith('/')) return true;
    const problem = patternProblem(value.slice(1, -1));
    if (problem !== undefined) addProblem(report, { at: [...at, 'arguments', key], ...problem });
    return problem === undefined;
  });
}

type Sequence = Required<Pick<ActionExpectations, 'unordered' | 'forbid' | 'before'>>;

/** Reads sentences such as `must_occur load_skill before run_script`. A tool name may be followed by its arguments as JSON. */
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
      addProblem(report, { at: here, message: `invalid sequence ${quoted(line)}`, hint: SEQUENCE_HINT });
    } else if (first !== undefined && parts.length === 1) {
      (verb === 'forbid' ? forbid : unordered).push(first);
    } else if (first !== undefined && then !== undefined) {
      // The key of the format; the object is never awaited.
      // oxlint-disable-next-line unicorn/no-thenable
      before.push({ first, then });
    }
  }
  return { unordered, forbid, before };
}

function wordPattern(report: CaseReport, written: string, at: JsonPath): ActionPattern | undefined {
  const [, tool = '', given] = /^([^\s{]*)\s*(\{[\s\S]*\})?$/.exec(written) ?? [];
  if (given === undefined) return readPattern(report, tool === '' ? written : tool, at);
  const parsed = parseJson(given);
  if (isObject(parsed)) return readPattern(report, { tool, arguments: parsed }, at);
  addProblem(report, { at, message: `${quoted(given)} is not a JSON object`, hint: 'write TOOL {"name": "value"}' });
  return undefined;
}
