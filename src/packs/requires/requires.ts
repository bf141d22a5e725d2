/**
 * Skills that a skill needs: `requires: {skills: [...]}`, `skill:NAME` in a plain list of `requires`, and `metadata.requires-skills`
 * for files that every host must accept. An entry is `name`, `name@range`, `name from source`, or both.
 */
import { BETWEEN_NAMES } from '../../format/requires.ts';
import { isTooLong, readName } from '../../core/skill-name.ts';
import { parseJson } from '../../core/json/parse-json.ts';
import type { SkillHead } from '../../core/skill.ts';
import { hiddenCharacters, quoted } from '../../core/text/text.ts';
import { isRange } from '../../platform/version-range.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';

export interface SkillRequirement {
  readonly name: string;
  /** Versions that will do; any where absent. */
  readonly range?: string;
  /** Where its author gets it from, as for `readSource`. A stranger's word: nothing is fetched from it before a person has seen it. */
  readonly source?: string;
}

export interface UnreadRequirement {
  readonly entry: string;
  /** Lower case, for people. */
  readonly reason: string;
}

export interface RequirementReading {
  /** Each once, in the order of the file. */
  readonly requirements: readonly SkillRequirement[];
  readonly unread: readonly UnreadRequirement[];
}

const MAX_ENTRIES = 100;
const MAX_ENTRY = 500;
const META_KEY = 'requires-skills';
const PREFIX = /^skills?:\s*/i;
/** A name, a range after `@` or at its own sign, and a source after ` from `. */
const NAME_AND_REST = /^([^\s@<>=!~^]+)\s*(.*)$/s;

/** What a head says about other skills. What cannot be read is told: see `unreadRefusal`. */
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

/** A need that cannot be read is one that nobody can meet. `name`: whose it is. */
export function unreadRefusal(name: string, { unread }: RequirementReading): PackRefusal | undefined {
  const [first] = unread;
  if (first === undefined) return undefined;
  return packRefusal('requires/missing', `what ${quoted(name)} needs cannot be read: ${first.reason}`);
}

/** Text with commas; a list that somebody wrote under `metadata` is kept there as JSON. */
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

/** One entry as it is written. */
export function readRequirement(entry: string): SkillRequirement | UnreadRequirement {
  const unread = (reason: string): UnreadRequirement => ({ entry: entry.slice(0, MAX_ENTRY), reason });
  if (entry.length > MAX_ENTRY) return unread(`${quoted(entry)} has more than ${String(MAX_ENTRY)} characters`);
  if (/[\r\n]/.test(entry) || hiddenCharacters(entry) !== undefined)
    return unread(`${quoted(entry)} has characters that do not show`);
  const { needed, source } = withoutSource(entry.trim());
  const [, written = '', rest = ''] = NAME_AND_REST.exec(needed) ?? [];
  const { name, problem } = readName(written);
  if (name === undefined || problem !== undefined || isTooLong(name))
    return unread(`${quoted(entry)} does not start with the name of a skill`);
  const range = rest.startsWith('@') ? rest.slice(1).trim() : rest;
  if (rest !== '' && !isRange(range)) return unread(`${quoted(entry)}: ${quoted(range)} is no range of versions`);
  if (source === '' || source?.startsWith('-') === true) return unread(`${quoted(entry)} gives no source after from`);
  return { name, ...(rest === '' ? {} : { range }), ...(source === undefined ? {} : { source }) };
}

function withoutSource(entry: string): { readonly needed: string; readonly source?: string } {
  const at = /\sfrom(?:\s|$)/.exec(entry)?.index;
  return at === undefined
    ? { needed: entry }
    : { needed: entry.slice(0, at).trim(), source: entry.slice(at + 5).trim() };
}

/** A requirement as it is written: read again by `readRequirement`. */
export function requirementText({ name, range, source }: SkillRequirement): string {
  return `${name}${range === undefined ? '' : `@${range}`}${source === undefined ? '' : ` from ${source}`}`;
}
