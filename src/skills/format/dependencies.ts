/**
 * Reads `dependencies`: the tools, MCP servers and programs that a skill needs, with `all` and `any`. The specification has no such field yet, so
 * nothing is enforced: what is missing is reported when the skill is chosen.
 */
import type { MapEntry, MapNode, YamlNode } from './node.ts';
import { readScalarText, type Report } from './report.ts';

/** One of each list is needed: `tool:NAME`, `mcp:NAME` or `bin:NAME`. */
type Dependencies = readonly (readonly string[])[];

export interface ReadDependencies {
  readonly needs: Dependencies;
  /** Every entry was understood. */
  readonly isWhole: boolean;
}

type Kind = 'tool' | 'mcp' | 'bin';

const KINDS: ReadonlyMap<string, Kind | 'other'> = new Map([
  ...['tool', 'tools'].map((key): [string, Kind] => [key, 'tool']),
  ...['mcp', 'mcp-server', 'mcp-servers', 'server', 'servers'].map((key): [string, Kind] => [key, 'mcp']),
  ...['bin', 'bins', 'program', 'programs', 'command', 'commands'].map((key): [string, Kind] => [key, 'bin']),
  // The proposal names them, and nothing here can look for them.
  ...['resource', 'resources', 'prompt', 'prompts'].map((key): [string, 'other'] => [key, 'other']),
]);

const MAX_NEEDS = 200;
const MAX_DEPTH = 6;
const NAME = /^[\w@*][\w.:/@*+-]{0,127}$/;
const NOTHING: ReadDependencies = { needs: [], isWhole: true };
const UNKNOWN: ReadDependencies = { needs: [], isWhole: false };

/** Whether the value has the form of the proposal. Text, lists and other maps name packages or skills in other systems. */
export function statesDependencies(value: YamlNode | undefined): value is MapNode {
  return value?.type === 'map' && value.entries.some(({ key }) => isKnown(toWord(key)));
}

function isKnown(word: string): boolean {
  return word === 'all' || word === 'any' || KINDS.has(word);
}

function toWord(key: string): string {
  return key.toLowerCase().replaceAll('_', '-');
}

/** A map at the top level or under `metadata`, or text under `metadata`. */
export function readDependencies(report: Report, { value }: MapEntry): ReadDependencies {
  if (value?.type === 'scalar') return { needs: needsOfText(readScalarText(report, value)), isWhole: true };
  if (!statesDependencies(value)) return NOTHING;
  const { needs, isWhole } = readAll(report, value, 'tool', MAX_DEPTH);
  return { needs: needs.slice(0, MAX_NEEDS), isWhole: isWhole && needs.length <= MAX_NEEDS };
}

/**
 * `tool:get_order, mcp:github | bin:gh`. Without a kind, text names packages or skills in other systems. Another kind is kept as it is
 * written, so that it is reported as missing.
 */
function needsOfText(text: string): Dependencies {
  return text
    .split(',')
    .map((part) => part.split('|').map((one) => one.trim()))
    .filter((names) => names.every((name) => /^[a-z][a-z-]*:(?!\/\/)/.test(name) && NAME.test(name)))
    .map((names) => names.filter((name) => KINDS.get(name.slice(0, name.indexOf(':'))) !== 'other'))
    .filter((names) => names.length > 0)
    .slice(0, MAX_NEEDS);
}

/** The text under `metadata` that means the same as the map; undefined if the text would say less. */
export function dependenciesText(report: Report, map: MapNode): string | undefined {
  const { needs, isWhole } = readAll(report, map, 'tool', MAX_DEPTH);
  if (!isWhole || needs.length === 0 || namesOther(map)) return undefined;
  const text = needs.map((names) => names.join(' | ')).join(', ');
  return JSON.stringify(needsOfText(text)) === JSON.stringify(needs) ? text : undefined;
}

function namesOther(node: YamlNode): boolean {
  if (node.type === 'list') return node.items.some(namesOther);
  if (node.type === 'scalar') return false;
  return node.entries.some(
    ({ key, value }) => KINDS.get(toWord(key)) === 'other' || (value !== undefined && namesOther(value)),
  );
}

/** Everything that the node names is needed. */
function readAll(report: Report, node: YamlNode, kind: Kind, depth: number): ReadDependencies {
  if (depth === 0) return UNKNOWN;
  if (node.type === 'list') return join(node.items.map((item) => readAll(report, item, kind, depth - 1)));
  if (node.type === 'scalar') {
    const name = withKind(readScalarText(report, node), kind);
    return name === undefined ? UNKNOWN : { needs: [[name]], isWhole: true };
  }
  return join(
    node.entries.map(({ key, value }) => {
      const word = toWord(key);
      if (value === undefined) return NOTHING;
      if (word === 'all') return readAll(report, value, kind, depth - 1);
      if (word === 'any') return readAny(report, value, kind, depth - 1);
      const own = KINDS.get(word);
      if (own === 'other') return NOTHING;
      return own === undefined ? UNKNOWN : readAll(report, value, own, depth - 1);
    }),
  );
}

/** One of what the node names is needed. A choice between groups is not understood. */
function readAny(report: Report, node: YamlNode, kind: Kind, depth: number): ReadDependencies {
  const items = node.type === 'list' ? node.items : [node];
  const read = items.map((item) => readAll(report, item, kind, depth));
  const names = read.flatMap(({ needs }) => (needs.length === 1 ? (needs[0] ?? []) : []));
  if (read.some(({ needs, isWhole }) => !isWhole || needs.length > 1)) return UNKNOWN;
  return { needs: names.length === 0 ? [] : [names], isWhole: true };
}

function join(read: readonly ReadDependencies[]): ReadDependencies {
  return { needs: read.flatMap(({ needs }) => needs), isWhole: read.every(({ isWhole }) => isWhole) };
}

function withKind(text: string, kind: Kind): string | undefined {
  const [, prefix, rest = ''] = /^(tool|mcp|bin):\s*(.+)$/.exec(text) ?? [];
  const name = prefix === undefined ? text : rest;
  return NAME.test(name) ? `${prefix ?? kind}:${name}` : undefined;
}
