/** The list of skills that a site publishes: both versions of the proposal, both spellings of digests. */
import { isValidName } from '../../core/skill-name.ts';
import { isObject } from '../../core/json/json-schema.ts';
import { parseJson } from '../../core/json/parse-json.ts';
import { quoted } from '../../core/text/text.ts';
import { ARCHIVE_LIMITS } from '../../core/archive-limits.ts';
import { openPathJudge } from './portable-name.ts';
import { isRefusal, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';

/** Paths of lists, the newer first; the files of a skill lie beside the list. */
export const INDEX_PATHS = ['/.well-known/agent-skills/', '/.well-known/skills/'] as const;
export const MAX_INDEX_BYTES = 4 * 1024 * 1024;
const MAX_SKILLS = 2_000;
const MAX_FILES = 1_000;

/** `url` as it stands in the list; `sha256` in hex. */
interface PromisedSkill<T extends string> {
  readonly type: T;
  readonly name: string;
  readonly url: string;
  readonly sha256: string;
}

/** The older version: files below `<name>/`, nothing promised of their bytes. */
interface ListedSkill {
  readonly type: 'files';
  readonly name: string;
  readonly files: readonly string[];
}

export type SiteSkill = PromisedSkill<'skill-md'> | PromisedSkill<'archive'> | ListedSkill;

/** Reads a list. One wrong entry refuses all of it: who leaves out silently hides what was changed. */
export function readSiteIndex(text: string): readonly SiteSkill[] | PackRefusal {
  const value = parseJson(text);
  const entries = isObject(value) ? value['skills'] : undefined;
  if (!Array.isArray(entries))
    return packRefusal('source/failed', 'the list of the site is no JSON with a list of skills');
  if (entries.length > MAX_SKILLS)
    return packRefusal('archive/too-many', `the list of the site has more than ${String(MAX_SKILLS)} skills`);
  const skills: SiteSkill[] = [];
  const names = new Set<string>();
  for (const entry of entries) {
    const skill = readEntry(entry);
    if ('code' in skill) return skill;
    if (names.has(skill.name))
      return packRefusal('pack/two-skills', `the list of the site has ${quoted(skill.name)} twice`);
    names.add(skill.name);
    skills.push(skill);
  }
  return skills;
}

function readEntry(entry: unknown): SiteSkill | PackRefusal {
  const { name, type, url, digest, files } = isObject(entry) ? entry : {};
  if (typeof name !== 'string' || !isValidName(name))
    return packRefusal(
      'pack/name',
      `the list of the site has the name ${quoted(String(name))}, which no skill can have`,
    );
  if (Array.isArray(files) && url === undefined) return readFiles(name, files);
  if (typeof url !== 'string' || (type !== 'skill-md' && type !== 'archive'))
    return packRefusal('source/failed', `the list of the site says neither skill-md nor archive of ${quoted(name)}`);
  const sha256 = typeof digest === 'string' ? readDigest(digest) : undefined;
  if (sha256 === undefined)
    return packRefusal(
      'source/digest',
      `the list of the site promises no SHA-256 of ${quoted(name)}, by which it could be checked`,
    );
  return { type, name, url, sha256 };
}

function readFiles(name: string, files: readonly unknown[]): SiteSkill | PackRefusal {
  const names = files.filter((file) => typeof file === 'string');
  if (names.length !== files.length || files.length > MAX_FILES)
    return packRefusal(
      'archive/too-many',
      `the list of the site has no list of at most ${String(MAX_FILES)} files for ${quoted(name)}`,
    );
  const judge = openPathJudge(ARCHIVE_LIMITS);
  for (const file of names) {
    const usable = judge.judge(file, 'file');
    if (isRefusal(usable)) return usable;
  }
  if (!names.includes('SKILL.md'))
    return packRefusal('pack/no-skill', `${quoted(name)} has no SKILL.md in the list of the site`);
  return { type: 'files', name, files: names };
}

/** `sha256:<hex>` or `sha256-<base64>`, as hex. */
export function readDigest(text: string): string | undefined {
  const hex = /^sha256:([0-9a-f]{64})$/i.exec(text)?.[1];
  if (hex !== undefined) return hex.toLowerCase();
  const base64 = /^sha256-([A-Za-z0-9+/_-]{43})=?$/.exec(text)?.[1];
  if (base64 === undefined) return undefined;
  const binary = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  return Array.from(binary, (character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}
