import path from 'node:path';

import {
  EFFECTS,
  checkConfig,
  diagnose,
  printable,
  quoted,
  type Config,
  type Decision,
  type Diagnostic,
  type LoadedConfig,
} from '#core';
import { readCheckedJson, realPath, resolveWithHome } from '#platform';

const MAX_INCLUDE_DEPTH = 8;
const MAX_INCLUDED_FILES = 64;

export interface PolicySource {
  readonly where: string;
  readonly base: string;
  readonly home: string | undefined;
}

export interface PolicyRead {
  readonly policy: PolicyConfig;
  readonly diagnostics: readonly Diagnostic[];
  /** A file of rules could not be read, so its restrictions are unknown. */
  readonly isBroken: boolean;
}

/** Reads a policy and its includes: own rules first, then those of each file in order, each file once. */
export function readPolicy(written: WrittenPolicy, source: PolicySource): PolicyRead {
  const walk: Walk = { home: source.home, seen: new Set(), problems: [] };
  const policy = joinPolicies(readPolicies(written, source, [source.where], walk));
  return {
    policy,
    diagnostics: [...walk.problems, ...contradictions(policy).map(contradictionText)],
    isBroken: walk.problems.length > 0,
  };
}

interface Walk {
  readonly home: string | undefined;
  readonly seen: Set<string>;
  readonly problems: Diagnostic[];
}

/** `trail` is the chain of includes; a file that occurs in it includes itself. */
function readPolicies(
  written: WrittenPolicy,
  { where, base }: Pick<PolicySource, 'where' | 'base'>,
  trail: readonly string[],
  walk: Walk,
): readonly PolicyConfig[] {
  const included = (written.include ?? []).flatMap((name) => {
    const file = resolveWithHome(name, base, walk.home);
    const refusal = file === undefined ? 'there is no home folder' : findRefusal(file, trail, walk);
    if (file === undefined || refusal !== undefined) {
      walk.problems.push(includeProblem(where, `${quoted(name, 120)} cannot be included: ${String(refusal)}`));
      return [];
    }
    return includeFile(file, where, trail, walk);
  });
  return [ownPolicy(written, where), ...included];
}

function includeFile(file: string, from: string, trail: readonly string[], walk: Walk): readonly PolicyConfig[] {
  const real = realPath(file);
  if (walk.seen.has(real)) return [];
  walk.seen.add(real);
  const read = readCheckedJson(file, (value) => checkConfig(value, 'policy'));
  switch (read.type) {
    case 'absent':
      walk.problems.push(includeProblem(from, `${quoted(file, 200)} cannot be included: the file does not exist`));
      return [];
    case 'invalid':
      walk.problems.push(...read.diagnostics);
      return [];
    case 'read':
      return readPolicies(read.value, { where: file, base: path.dirname(file) }, [...trail, file], walk);
  }
}

function findRefusal(file: string, trail: readonly string[], { seen }: Walk): string | undefined {
  const real = realPath(file);
  const at = trail.findIndex((before) => realPath(before) === real);
  if (at !== -1) return `it includes itself: ${[...trail.slice(at), file].map(printable).join(' -> ')}`;
  if (trail.length > MAX_INCLUDE_DEPTH) return `includes are nested deeper than ${String(MAX_INCLUDE_DEPTH)} files`;
  if (!seen.has(real) && seen.size >= MAX_INCLUDED_FILES)
    return `more than ${String(MAX_INCLUDED_FILES)} files are included`;
  return undefined;
}

function includeProblem(file: string, message: string): Diagnostic {
  return diagnose({ code: 'policy/include', path: file, message }, 'lenient');
}

function contradictionText({ rule, loses, where, wins, by }: ReturnType<typeof contradictions>[number]): Diagnostic {
  const other = by === where ? '' : ` in ${quoted(by, 200)}`;
  return diagnose(
    {
      code: 'policy/contradiction',
      path: where,
      message: `${quoted(rule)} is in ${loses} and in ${wins}${other}: ${wins} applies`,
    },
    'lenient',
  );
}

export type PolicyConfig = LoadedConfig['policies'][number]['policy'];
export type WrittenRule = LoadedConfig['policies'][number]['policy']['allow'][number];

export type WrittenPolicy = NonNullable<Config['policy']>;

export interface Contradiction {
  readonly rule: string;
  readonly loses: Decision['effect'];
  /** The file with the rule that has no effect. */
  readonly where: string;
  readonly wins: Decision['effect'];
  readonly by: string;
}

export function ownPolicy(written: WrittenPolicy, where: string): PolicyConfig {
  const rules = (list: Decision['effect']): readonly WrittenRule[] =>
    (written[list] ?? []).map((text) => ({ rule: text, where }));
  return {
    default: written.default ?? {},
    allow: rules('allow'),
    ask: rules('ask'),
    deny: rules('deny'),
    allowedTools: written.allowed_tools,
  };
}

/** Concatenates the rules; for defaults and `allowed_tools`, the first value wins. */
export function joinPolicies(policies: readonly PolicyConfig[]): PolicyConfig {
  const rules = (list: Decision['effect']): readonly WrittenRule[] => policies.flatMap((policy) => policy[list]);
  return {
    default: Object.assign({}, ...policies.map((policy) => policy.default).reverse()),
    allow: rules('allow'),
    ask: rules('ask'),
    deny: rules('deny'),
    allowedTools: policies.find(({ allowedTools }) => allowedTools !== undefined)?.allowedTools,
  };
}

/** Finds rules with the same text and different effects. The strictest one wins; the others are reported. */
export function contradictions(policy: PolicyConfig): readonly Contradiction[] {
  const strictest = new Map<string, { readonly effect: Decision['effect']; readonly where: string }>();
  return EFFECTS.flatMap((list) =>
    policy[list].flatMap(({ rule: text, where }) => {
      const before = strictest.get(text);
      if (before === undefined) strictest.set(text, { effect: list, where });
      return before === undefined || before.effect === list
        ? []
        : [{ rule: text, loses: list, where, wins: before.effect, by: before.where }];
    }),
  );
}
