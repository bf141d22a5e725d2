/** What a skill says that it needs in `dependencies`, and what of it is not here. It hides nothing: a skill may work in part. */
import path from 'node:path';

import { quoted, type Config, type SkillEntry, type Surroundings } from '#core';
import { findProgram } from '#platform';
import { ownName } from '#policy';

export interface AvailableHere {
  readonly config: Config;
  readonly env: Surroundings['env'];
  /** The tools of a session; absent where no session is open, so that any tool may exist. */
  readonly tools?: readonly string[];
}

/** One sentence for each need that nothing here meets. */
export function missingDependencies({ controls, source }: SkillEntry, here: AvailableHere): readonly string[] {
  return (controls.dependencies ?? [])
    .filter((names) => !names.some((name) => isAvailable(name, source, here)))
    .map(
      (names) =>
        `the skill needs ${names.map(describeNeed).join(' or ')}, ${names.length > 1 ? 'none of which is' : 'which is not'} available here`,
    );
}

function isAvailable(need: string, source: string, { config, env, tools }: AvailableHere): boolean {
  const [kind, name] = split(need);
  switch (kind) {
    case 'bin':
      return findProgram(name, (env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin').split(path.delimiter)) !== undefined;
    case 'mcp':
      return Object.hasOwn(config.mcp_servers ?? {}, name) || source === `mcp:${name}`;
    case 'tool':
      return tools === undefined || tools.some((tool) => isTool(tool, name));
    default:
      return false;
  }
}

/** Servers prefix their tools here, and each system has names of its own for reading, writing and running. */
function isTool(tool: string, name: string): boolean {
  return tool === name || tool.endsWith(`__${name}`) || ownName(tool) === ownName(name);
}

const KINDS: Readonly<Record<string, string>> = { bin: 'the program', mcp: 'the MCP server', tool: 'the tool' };

function describeNeed(need: string): string {
  const [kind, name] = split(need);
  const known = KINDS[kind];
  return known === undefined ? `${quoted(need)} (neither tool, mcp nor bin)` : `${known} ${quoted(name)}`;
}

function split(need: string): readonly [kind: string, name: string] {
  const colon = need.indexOf(':');
  return [need.slice(0, colon), need.slice(colon + 1)];
}
