/**
 * Parses skill requirements: `requires: {skills: [...]}`, `skill:NAME` in a plain `requires` list, and `metadata.requires-skills` for files
 * that must be valid for every host. An entry is `name`, `name@range`, `name from source`, or a combination.
 */
import { BETWEEN_NAMES } from '#skills';
import {
  findHidden,
  isValidName,
  parseJson,
  quoted,
  readName,
  sliceStart,
  compareText,
  nearest,
  type SkillHead,
} from '#core';
import { readRange } from '#platform';
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
  if (/[\r\n]/.test(entry) || findHidden(entry) !== undefined)
    return unread(`${quoted(entry)} has invisible characters`);
  const { needed, source } = withoutSource(entry.trim());
  const [, written = '', rest = ''] = NAME_AND_REST.exec(needed) ?? [];
  const { name, problem } = readName(written);
  if (!isValidName(name) || problem !== undefined) return unread(`${quoted(entry)} does not start with a skill name`);
  const range = rest.startsWith('@') ? rest.slice(1).trim() : rest;
  if (rest !== '' && !readRange(range).isUnderstood)
    return unread(`${quoted(entry)}: ${quoted(range)} is not a valid version range`);
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
  readonly requested: readonly RequiringSkill[];
  readonly installed: readonly RequiringSkill[];
  /** Other skills of the same source, used if nothing else meets a requirement. */
  readonly available: readonly RequiringSkill[];
}

export interface Resolution {
  /** Names of available skills that have to be installed as well, each after its requirements. */
  readonly added: readonly string[];
  /** The first problem: cycles before missing skills before versions. Absent if all requirements are met. */
  readonly refusal?: PackRefusal;
}

const MAX_CYCLES = 20;

interface FoundSkill extends RequiringSkill {
  readonly where: keyof ResolveRequest;
}

/** By name. Requested skills take precedence over installed ones, and those over available ones. */
type Found = ReadonlyMap<string, FoundSkill>;

export function resolveRequirements(request: ResolveRequest): Resolution {
  const found = new Map<string, FoundSkill>();
  for (const where of ['available', 'installed', 'requested'] as const)
    for (const skill of request[where].toReversed()) found.set(skill.name, { ...skill, where });
  const { order, cycles } = walk(found);
  const entering = new Set(order);
  const staying = [...found.values()].filter(({ where }) => where === 'installed').map(({ name }) => name);
  const missing: { readonly requirement: SkillRequirement; readonly neededBy: string }[] = [];
  const versions: string[] = [];
  for (const neededBy of [...order, ...staying.toSorted(compareText)])
    for (const requirement of found.get(neededBy)?.requires ?? []) {
      // For installed skills that stay, only requirements that are about to change are checked.
      if (!entering.has(neededBy) && !entering.has(requirement.name)) continue;
      const skill = found.get(requirement.name);
      if (skill === undefined) missing.push({ requirement, neededBy });
      else if (!isMet(skill, requirement)) versions.push(versionText(skill, requirement, { neededBy, request }));
    }
  const added = order.filter((name) => found.get(name)?.where === 'available');
  const [cycle] = cycles;
  const [gap] = missing;
  const [version] = versions;
  if (cycle !== undefined)
    return { added, refusal: refuse('requires/cycle', cycle.map((name) => quoted(name)).join(' needs '), cycles) };
  if (gap !== undefined) {
    const similar = nearest(gap.requirement.name, [...found.keys()].toSorted(compareText));
    const meant = similar.length === 0 ? '' : ` (${similar.map((name) => quoted(name)).join(', ')}?)`;
    const message = `${needText(gap.neededBy, gap.requirement)}, which is not available${meant}`;
    return { added, refusal: refuse('requires/missing', message, missing) };
  }
  return version === undefined ? { added } : { added, refusal: refuse('requires/version', version, versions) };
}

/** Required names, sorted and unique. Missing requirements of installed skills are not installed. */
function neededNames(found: Found, name: string): readonly string[] | undefined {
  const skill = found.get(name);
  if (skill === undefined) return undefined;
  const names = [...new Set(skill.requires.map((requirement) => requirement.name))].toSorted(compareText);
  return skill.where === 'installed' ? names.filter((needed) => found.get(needed)?.where !== 'available') : names;
}

interface Visit {
  readonly name: string;
  readonly needs: readonly string[];
  next: number;
}

/**
 * Depth-first search with an explicit stack, so that long chains cannot overflow it. Installed skills are visited only to find cycles, each
 * of which starts and ends with its first name in sort order.
 */
function walk(found: Found): { readonly order: readonly string[]; readonly cycles: readonly (readonly string[])[] } {
  const done = new Set<string>();
  const open = new Map<string, number>();
  const order: string[] = [];
  const cycles: (readonly string[])[] = [];
  const stack: Visit[] = [];
  const enter = (name: string): void => {
    const needs = done.has(name) ? undefined : neededNames(found, name);
    if (needs === undefined) return;
    open.set(name, stack.length);
    stack.push({ name, needs, next: 0 });
  };
  const names = [...found.values()].filter(({ where }) => where === 'requested').map(({ name }) => name);
  for (const start of names.toSorted(compareText)) {
    enter(start);
    for (let visit = stack.at(-1); visit !== undefined; visit = stack.at(-1)) {
      const needed = visit.needs[visit.next];
      visit.next += 1;
      if (needed === undefined) {
        stack.pop();
        open.delete(visit.name);
        done.add(visit.name);
        if (found.get(visit.name)?.where !== 'installed') order.push(visit.name);
        continue;
      }
      const at = open.get(needed);
      if (at === undefined) enter(needed);
      else if (cycles.length < MAX_CYCLES) cycles.push(circle(stack.slice(at).map(({ name }) => name)));
    }
  }
  return { order, cycles: cycles.toSorted((a, b) => compareText(a.join('\n'), b.join('\n'))) };
}

function circle(names: readonly string[]): readonly string[] {
  const first = names.reduce((least, name, at) => (compareText(name, names[least] ?? '') < 0 ? at : least), 0);
  const turned = [...names.slice(first), ...names.slice(0, first)];
  return [...turned, ...turned.slice(0, 1)];
}

/** A version without a number matches no range. */
function isMet({ version }: RequiringSkill, { range }: SkillRequirement): boolean {
  return range === undefined || (version !== undefined && /^v?\d/.test(version) && readRange(range).includes(version));
}

function needText(neededBy: string, requirement: SkillRequirement): string {
  return `${quoted(neededBy)} needs ${quoted(requirementText(requirement), 200)}`;
}

/** A matching version of the source is only named, because it would replace the installed one. */
function versionText(
  { where, version }: FoundSkill,
  requirement: SkillRequirement,
  { neededBy, request }: { readonly neededBy: string; readonly request: ResolveRequest },
): string {
  const offered = where === 'installed' ? request.available.find(({ name }) => name === requirement.name) : undefined;
  const has = version === undefined ? 'has no version' : `is ${quoted(version)}`;
  const isOffered = offered?.version !== undefined && isMet(offered, requirement);
  const also = isOffered ? `; the source has ${quoted(offered.version ?? '')}` : '';
  return `${needText(neededBy, requirement)}, and the ${where} one ${has}${also}`;
}

function refuse(code: PackProblem, message: string, all: readonly unknown[]): PackRefusal {
  return packRefusal(code, all.length === 1 ? message : `${message}, and ${String(all.length - 1)} more`);
}
