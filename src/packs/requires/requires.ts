/**
 * Parses skill requirements: `requires: {skills: [...]}`, `skill:NAME` in a plain `requires` list, and `metadata.requires-skills` for files
 * that must be valid for every host. An entry is `name`, `name@range`, `name from source`, or a combination.
 */
import { BETWEEN_NAMES } from '#skills';
import {
  hiddenCharacters,
  isValidName,
  parseJson,
  quoted,
  readName,
  sliceStart,
  compareText,
  nearest,
  type SkillHead,
} from '#core';
import { isRange, isInRange } from '#platform';
import { packRefusal, type PackProblem, type PackRefusal } from '../problems.ts';

export interface SkillRequirement {
  readonly name: string;
  /** Accepted versions (default: any). */
  readonly range?: string;
  /** The author's source, as for `readSource`. Untrusted: nothing is fetched from it before the user has seen it. */
  readonly source?: string;
}

export interface UnreadRequirement {
  readonly entry: string;
  /** In lower case, for the user. */
  readonly reason: string;
}

export interface RequirementReading {
  /** Without duplicates, in file order. */
  readonly requirements: readonly SkillRequirement[];
  readonly unread: readonly UnreadRequirement[];
}

const MAX_ENTRIES = 100;
const MAX_ENTRY = 500;
const META_KEY = 'requires-skills';
const PREFIX = /^skills?:\s*/i;
/** A name, a range after `@` or an operator, and a source after ` from `. */
const NAME_AND_REST = /^([^\s@<>=!~^]+)\s*(.*)$/s;

/** Parses all requirements of a head. Entries that cannot be parsed are returned in `unread`. */
export function readRequirements({ controls, meta }: Pick<SkillHead, 'controls' | 'meta'>): RequirementReading {
  const listed = (controls.requires ?? []).filter((entry) => PREFIX.test(entry));
  const inMetadata = Object.hasOwn(meta, META_KEY) ? metaEntries(meta[META_KEY] ?? '') : [];
  const entries = [...listed.map((entry) => entry.replace(PREFIX, '')), ...inMetadata];
  const requirements = new Map<string, SkillRequirement>();
  const unread: UnreadRequirement[] = [];
  for (const entry of entries.slice(0, MAX_ENTRIES)) {
    const read = readRequirement(entry);
    if ('reason' in read) unread.push(read);
    else {
      const key = JSON.stringify([read.name, read.range, read.source]);
      if (!requirements.has(key)) requirements.set(key, read);
    }
  }
  if (entries.length > MAX_ENTRIES)
    unread.push({ entry: '', reason: `there are more than ${String(MAX_ENTRIES)} entries` });
  return { requirements: [...requirements.values()], unread };
}

/** Comma-separated text. A YAML list under `metadata` is stored as JSON. */
function metaEntries(text: string): readonly string[] {
  const written = text.trim();
  const parts = jsonTexts(written) ?? written.split(BETWEEN_NAMES);
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function jsonTexts(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  const value = parseJson(text);
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))) : [];
}

export function readRequirement(entry: string): SkillRequirement | UnreadRequirement {
  const unread = (reason: string): UnreadRequirement => ({ entry: sliceStart(entry, MAX_ENTRY), reason });
  if (entry.length > MAX_ENTRY) return unread(`${quoted(entry)} has more than ${String(MAX_ENTRY)} characters`);
  if (/[\r\n]/.test(entry) || hiddenCharacters(entry) !== undefined)
    return unread(`${quoted(entry)} has invisible characters`);
  const { needed, source } = withoutSource(entry.trim());
  const [, written = '', rest = ''] = NAME_AND_REST.exec(needed) ?? [];
  const { name, problem } = readName(written);
  if (!isValidName(name) || problem !== undefined) return unread(`${quoted(entry)} does not start with a skill name`);
  const range = rest.startsWith('@') ? rest.slice(1).trim() : rest;
  if (rest !== '' && !isRange(range)) return unread(`${quoted(entry)}: ${quoted(range)} is not a valid version range`);
  if (source === '' || source?.startsWith('-') === true) return unread(`${quoted(entry)} has no source after "from"`);
  return { name, ...(rest === '' ? {} : { range }), source };
}

function withoutSource(entry: string): { readonly needed: string; readonly source?: string } {
  const at = /\sfrom(?:\s|$)/.exec(entry)?.index;
  return at === undefined
    ? { needed: entry }
    : { needed: entry.slice(0, at).trim(), source: entry.slice(at + 5).trim() };
}

/** Formats a requirement so that `readRequirement` can parse it. */
export function requirementText({ name, range, source }: SkillRequirement): string {
  return `${name}${range === undefined ? '' : `@${range}`}${source === undefined ? '' : ` from ${source}`}`;
}

export interface RequiringSkill {
  readonly name: string;
  readonly version?: string;
  readonly requires: readonly SkillRequirement[];
}

export interface ResolveRequest {
  /** Skills to install or update. They take precedence over installed skills of the same name. */
  readonly wanted: readonly RequiringSkill[];
  readonly installed: readonly RequiringSkill[];
  /** Other skills of the same source, used if nothing else meets a requirement. */
  readonly available: readonly RequiringSkill[];
}

export interface MissingSkill {
  readonly requirement: SkillRequirement;
  readonly neededBy: string;
  /** Similar names, for the first few missing skills only. */
  readonly nearest: readonly string[];
}

export interface VersionProblem {
  readonly requirement: SkillRequirement;
  readonly neededBy: string;
  /** Absent if the skill has no version. */
  readonly found?: string;
  readonly where: 'wanted' | 'installed' | 'available';
  /** A matching version that the source offers. The user must install it by name, because it would replace the installed one. */
  readonly offered?: string;
}

export interface Resolution {
  /** Names to install, each after its requirements, without installed skills that stay. */
  readonly order: readonly string[];
  /** Names in `order` that the user did not request. */
  readonly added: readonly string[];
  readonly missing: readonly MissingSkill[];
  /** Each cycle starts and ends with its first name in sort order; at most `MAX_CYCLES`. */
  readonly cycles: readonly (readonly string[])[];
  readonly versionProblems: readonly VersionProblem[];
}

const MAX_CYCLES = 20;
/** Number of missing skills for which similar names are searched. */
const MAX_TAUGHT = 10;

type Where = VersionProblem['where'];

interface Graph {
  readonly request: ResolveRequest;
  readonly byName: Readonly<Record<Where, ReadonlyMap<string, RequiringSkill>>>;
}

export function resolveRequirements(request: ResolveRequest): Resolution {
  const graph: Graph = {
    request,
    byName: {
      wanted: firstByName(request.wanted),
      installed: firstByName(request.installed),
      available: firstByName(request.available),
    },
  };
  const { order, cycles } = walk(graph);
  const entering = new Set(order);
  const added = order.filter((name) => !graph.byName.wanted.has(name));
  const checked = [
    ...order,
    ...[...graph.byName.installed.keys()].sort(compareText).filter((name) => !entering.has(name)),
  ];
  const found = checked.flatMap((name) => findProblems(graph, name, entering));
  return {
    order,
    added,
    missing: withNearest(
      graph,
      found.filter((problem): problem is MissingSkill => 'nearest' in problem),
    ),
    cycles,
    versionProblems: found.filter((problem): problem is VersionProblem => 'where' in problem),
  };
}

function firstByName(skills: readonly RequiringSkill[]): ReadonlyMap<string, RequiringSkill> {
  const byName = new Map<string, RequiringSkill>();
  for (const skill of skills) if (!byName.has(skill.name)) byName.set(skill.name, skill);
  return byName;
}

function find({ byName }: Graph, name: string): { readonly skill: RequiringSkill; readonly where: Where } | undefined {
  for (const where of ['wanted', 'installed', 'available'] as const) {
    const skill = byName[where].get(name);
    if (skill !== undefined) return { skill, where };
  }
  return undefined;
}

/** Required names, sorted and unique. Missing requirements of installed skills are not installed. */
function neededNames(graph: Graph, name: string): readonly string[] | undefined {
  const found = find(graph, name);
  if (found === undefined) return undefined;
  const names = [...new Set(found.skill.requires.map((requirement) => requirement.name))].sort(compareText);
  return found.where === 'installed' ? names.filter((needed) => find(graph, needed)?.where !== 'available') : names;
}

interface Visit {
  readonly name: string;
  readonly needs: readonly string[];
  next: number;
}

/** Depth-first search with an explicit stack, so that long chains cannot overflow it. Installed skills are visited only to find cycles. */
function walk(graph: Graph): Pick<Resolution, 'order' | 'cycles'> {
  const done = new Set<string>();
  const open = new Map<string, number>();
  const order: string[] = [];
  const cycles: string[][] = [];
  const stack: Visit[] = [];
  const enter = (name: string): void => {
    const needs = done.has(name) ? undefined : neededNames(graph, name);
    if (needs === undefined) return;
    open.set(name, stack.length);
    stack.push({ name, needs, next: 0 });
  };
  for (const start of [...graph.byName.wanted.keys()].sort(compareText)) {
    enter(start);
    for (let visit = stack.at(-1); visit !== undefined; visit = stack.at(-1)) {
      const needed = visit.needs[visit.next];
      visit.next += 1;
      if (needed === undefined) {
        stack.pop();
        open.delete(visit.name);
        done.add(visit.name);
        if (find(graph, visit.name)?.where !== 'installed') order.push(visit.name);
        continue;
      }
      const at = open.get(needed);
      if (at === undefined) enter(needed);
      else if (cycles.length < MAX_CYCLES) cycles.push(circle(stack.slice(at).map(({ name }) => name)));
    }
  }
  return { order, cycles: cycles.sort((a, b) => compareText(a.join('\n'), b.join('\n'))) };
}

function circle(names: readonly string[]): string[] {
  const first = names.reduce((least, name, at) => (compareText(name, names[least] ?? '') < 0 ? at : least), 0);
  const turned = [...names.slice(first), ...names.slice(0, first)];
  return [...turned, ...turned.slice(0, 1)];
}

/** For installed skills that stay, only checks requirements that are about to change. */
function findProblems(
  graph: Graph,
  name: string,
  entering: ReadonlySet<string>,
): readonly (MissingSkill | VersionProblem)[] {
  const skill = find(graph, name)?.skill;
  return (skill?.requires ?? []).flatMap((requirement): readonly (MissingSkill | VersionProblem)[] => {
    if (!entering.has(name) && !entering.has(requirement.name)) return [];
    const found = find(graph, requirement.name);
    if (found === undefined) return [{ requirement, neededBy: name, nearest: [] }];
    if (isMet(found.skill, requirement)) return [];
    const offered = graph.byName.available.get(requirement.name);
    return [
      {
        requirement,
        neededBy: name,
        found: found.skill.version,
        where: found.where,
        ...(found.where === 'installed' && offered?.version !== undefined && isMet(offered, requirement)
          ? { offered: offered.version }
          : {}),
      },
    ];
  });
}

/** A version without a number matches no range. */
function isMet({ version }: RequiringSkill, { range }: SkillRequirement): boolean {
  return range === undefined || (version !== undefined && /^v?\d/.test(version) && isInRange(version, range));
}

/** The search visits all names, so it is limited to the first few. */
function withNearest({ byName }: Graph, missing: readonly MissingSkill[]): readonly MissingSkill[] {
  if (missing.length === 0) return missing;
  const known = new Set([byName.wanted, byName.installed, byName.available].flatMap((skills) => [...skills.keys()]));
  const names = [...known].sort(compareText);
  return missing.map((gap, at) => (at < MAX_TAUGHT ? { ...gap, nearest: nearest(gap.requirement.name, names) } : gap));
}

/** The first problem: cycles before missing skills before versions. Undefined if all requirements are met. */
export function requirementRefusal({ cycles, missing, versionProblems }: Resolution): PackRefusal | undefined {
  const [cycle] = cycles;
  if (cycle !== undefined) return refusal('requires/cycle', cycle.map((name) => quoted(name)).join(' needs '), cycles);
  const [gap] = missing;
  if (gap !== undefined) {
    const meant = gap.nearest.length === 0 ? '' : ` (${gap.nearest.map((name) => quoted(name)).join(', ')}?)`;
    return refusal(
      'requires/missing',
      `${quoted(gap.neededBy)} needs ${quoted(requirementText(gap.requirement), 200)}, which is not available${meant}`,
      missing,
    );
  }
  const [problem] = versionProblems;
  return problem === undefined ? undefined : refusal('requires/version', versionText(problem), versionProblems);
}

function versionText({ requirement, neededBy, found, where, offered }: VersionProblem): string {
  const has = found === undefined ? 'has no version' : `is ${quoted(found)}`;
  const also = offered === undefined ? '' : `; the source has ${quoted(offered)}`;
  return `${quoted(neededBy)} needs ${quoted(requirementText(requirement), 200)}, and the ${where} one ${has}${also}`;
}

function refusal(code: PackProblem, message: string, all: readonly unknown[]): PackRefusal {
  return packRefusal(code, all.length === 1 ? message : `${message}, and ${String(all.length - 1)} more`);
}
