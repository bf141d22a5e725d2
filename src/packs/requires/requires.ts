/**
 * Parses skill requirements: `requires: {skills: [...]}`, `skill:NAME` in a plain `requires` list, and `metadata.requires-skills` for files
 * that must be valid for every host. An entry is `name`, `name@range`, `name from source`, or a combination.
 */
import { BETWEEN_NAMES } from '#skills';
import { hiddenCharacters, parseJson, quoted, readName, sliceStart, type SkillHead, isValidName } from '#core';
import { isRange } from '#platform';

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

/** Parses one entry. */
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
