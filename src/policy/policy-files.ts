import path from 'node:path';

import { checkPolicyFile, diagnose, printable, quoted, type Diagnostic } from '#core';
import { readCheckedJson, realPath, resolveWithHome } from '#platform';
import { contradictions, joinPolicies, ownPolicy, type WrittenPolicy, type PolicyConfig } from './written-policy.ts';

const MAX_INCLUDE_DEPTH = 8;
const MAX_INCLUDED_FILES = 64;

export interface PolicySource {
  /** The file, the variable or the option. */
  readonly where: string;
  /** Base of relative paths. */
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

/** State of one reading. */
interface Walk {
  readonly home: string | undefined;
  /** Real paths of files already read. */
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
  const read = readCheckedJson(file, checkPolicyFile);
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
