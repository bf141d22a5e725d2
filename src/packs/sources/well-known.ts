/** Stages skills from the index of a site. A skill whose bytes do not match the index is refused; the others are staged. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { ARCHIVE_LIMITS, isObject, isValidName, parseJson, problemError, quoted } from '#core';
import { removeTree } from '#platform';
import { leftOutLine, findOmission, SKILL_FILE_NAME } from './skill-folders.ts';
import { accepted, asRefusal, isRefusal, orRefusal, packRefusal, refused, type PackProblem } from '../problems.ts';
import { ARCHIVE_NAME } from './source-text.ts';
import type { PackSource, SourceContents, SourceSkill, StageContext, UnusableSkill } from './source.ts';
import { archiveEnding, extractArchive, requireLocked, skillAt, unpack } from './archive.ts';
import { downloadBytes, downloadTo } from './download.ts';
import { findSkills } from './folder.ts';
import { StagedSkill } from './staged-skill.ts';
import { MAX_SIGNATURE_BYTES, noSkill } from './top-files.ts';
import { openPathValidator } from './portable-name.ts';

export interface SiteIndex {
  /** Address of the folder that contains the index. */
  readonly base: string;
  readonly skills: readonly SiteSkill[];
  readonly unusable: readonly UnusableSkill[];
}

export async function stageSite(
  source: Extract<PackSource, { type: 'well-known' }>,
  context: StageContext,
): Promise<SourceContents> {
  const { only, onProgress, ...quiet } = context;
  const index = await findIndex(source.url, quiet);
  const isWanted = ({ name }: { readonly name: string }): boolean => only?.includes(name) !== false;
  const selected = index.skills.filter(isWanted);
  const unusable = index.unusable.filter(isWanted);
  if (index.skills.length + index.unusable.length === 0) throw noSkill(source.url, []);
  if (selected.length + unusable.length === 0)
    throw refused('pack/unknown-skill', `${quoted(source.url, 200)} does not list a skill of that name`);
  mkdirSync(context.tree);
  const skills: SourceSkill[] = [];
  const leftOut: string[] = [];
  const site: Site = {
    index,
    context: quiet,
    leftOut,
    budget: { bytes: context.limits.maxBytes, files: context.limits.maxEntries },
  };
  for (const skill of selected) {
    const staged = await stageSkill(skill, site);
    if ('refusal' in staged) unusable.push(staged);
    else skills.push(staged);
    onProgress?.({ step: 'fetch', done: skills.length, total: selected.length });
  }
  return { skills, unusable, leftOut };
}

/** Throws a refusal. */
export async function findIndex(site: string, context: StageContext): Promise<SiteIndex> {
  let missing = packRefusal('source/missing', `${quoted(site, 200)} has no index of skills`);
  for (const folder of INDEX_PATHS) {
    const base = `${site}${folder}`;
    const found = await downloadBytes(`${base}index.json`, { ...context, maxBytes: MAX_INDEX_BYTES });
    if (!isRefusal(found)) return { base, ...readSiteIndex(found.content.toString('utf8')) };
    missing = found;
    if (missing.code !== 'source/missing') break;
  }
  throw problemError(missing);
}

interface Site {
  readonly index: SiteIndex;
  readonly context: StageContext;
  readonly leftOut: string[];
  /** Remaining limits for all skills together. */
  readonly budget: { bytes: number; files: number };
}

const SITE_PROBLEMS: ReadonlySet<PackProblem> = new Set(['source/failed', 'archive/too-large', 'archive/too-many']);

/** Connection problems refuse the site, because the next skill would have to wait for them again, and so do limits, which are for all skills. */
async function stageSkill(skill: SiteSkill, site: Site): Promise<SourceSkill | UnusableSkill> {
  try {
    return await downloadSkill(skill, site);
  } catch (error) {
    const refusal = asRefusal(error);
    if (SITE_PROBLEMS.has(refusal.code)) throw error;
    await removeTree(path.join(site.context.tree, skill.name));
    return { folder: skill.name, name: skill.name, refusal };
  }
}

async function downloadSkill(skill: SiteSkill, site: Site): Promise<SourceSkill> {
  if (skill.type === 'archive') return await stagePackedSkill(skill, site);
  const { tree, limits } = site.context;
  const { name } = skill;
  const staged = new StagedSkill({ folder: name, path: path.join(tree, name), fallbackName: name, limits });
  if (skill.type !== 'files') {
    staged.wholeFile(SKILL_FILE_NAME, false, await downloadContent(skill.url, skill.sha256, site));
    return { ...(await staged.finish()), ...(await signatureFor(skill, path.join(tree, name, SKILL_FILE_NAME), site)) };
  }
  for (const file of skill.files) {
    const omission = findOmission(file, 'file');
    if (omission !== undefined) {
      site.leftOut.push(leftOutLine({ ...omission, path: `${name}/${omission.path}` }));
      continue;
    }
    const below = [name, ...file.split('/')].map(encodeURIComponent).join('/');
    staged.wholeFile(file, false, await downloadContent(below, undefined, site));
  }
  return await staged.finish();
}

async function downloadContent(url: string, sha256: string | undefined, site: Site): Promise<Buffer> {
  const address = sha256 === undefined ? resolveOnSite(url, site) : resolveAddress(url, site);
  site.budget.files -= 1;
  if (site.budget.files < 0) throw refused('archive/too-many', 'the skills of the site have too many files');
  const maxBytes = Math.min(MAX_SKILL_FILE_BYTES, site.budget.bytes);
  const found = accepted(await downloadBytes(address, { ...site.context, maxBytes, namedBy: site.index.base }));
  site.budget.bytes -= found.bytes;
  if (sha256 !== undefined) mustBe(address, found.sha256, sha256);
  return found.content;
}

async function stagePackedSkill(skill: PromisedSkill, site: Site): Promise<SourceSkill> {
  const { context, leftOut, budget } = site;
  const { tree, to, limits } = context;
  const address = resolveAddress(skill.url, site);
  const file = path.join(to, `${skill.name}${archiveEnding(new URL(address).pathname)}`);
  const maxBytes = Math.min(limits.maxArchiveBytes, budget.bytes);
  const downloaded = accepted(await downloadTo(address, file, { ...context, maxBytes, namedBy: site.index.base }));
  mustBe(address, downloaded.sha256, skill.sha256);
  const folder = path.join(tree, skill.name);
  const extracted = accepted(await extractArchive(file, folder, context));
  budget.bytes -= extracted.bytes;
  if (extracted.problems[0] !== undefined) throw problemError(extracted.problems[0].refusal);
  leftOut.push(...extracted.leftOut.map((line) => `${skill.name}/${line}`));
  // The proposal requires the skill at the top of its archive; packs have a folder of its name there.
  const [found, second] = findSkills(folder).folders;
  if (found === undefined || second !== undefined) {
    const much = found === undefined ? 'no skill' : 'more than one skill';
    throw refused('pack/no-skill', `the archive of ${quoted(skill.name)} has ${much}`);
  }
  const staged = await skillAt(tree, found === '' ? skill.name : `${skill.name}/${found}`, skill.name);
  return { ...staged, ...(await signatureFor(skill, file, site)) };
}

/** A signature that the index promises must be there: otherwise the skill would count as unsigned. */
async function signatureFor(
  { signature }: PromisedSkill,
  payload: string,
  site: Site,
): Promise<Pick<SourceSkill, 'signature'>> {
  if (signature === undefined) return {};
  const found = accepted(
    await downloadBytes(resolveOnSite(signature, site), {
      ...site.context,
      maxBytes: MAX_SIGNATURE_BYTES,
    }),
  );
  return { signature: { of: 'archive', text: found.content.toString('utf8'), payload } };
}

/** Resolves an address of the index. Another origin may serve the file, because the index has its digest. */
function resolveAddress(url: string, { index }: Site): string {
  const isPlain = !/[\x00-\x20\x7f\\]/.test(url) && URL.canParse(url, index.base);
  if (!isPlain)
    throw refused('source/refused', `the index refers to ${quoted(url, 200)}, which is not a valid address`);
  return new URL(url, index.base).href;
}

/** Resolves the address of a file without a digest in the index: only the site itself may serve it. */
function resolveOnSite(url: string, site: Site): string {
  const address = resolveAddress(url, site);
  if (new URL(address).origin !== new URL(site.index.base).origin)
    throw refused('source/refused', `the index refers to ${quoted(url, 200)}, which is not on the site`);
  return address;
}

function mustBe(address: string, found: string, promised: string): void {
  if (found !== promised)
    throw refused('source/digest', `${quoted(address, 200)} has sha256:${found}, the index has sha256:${promised}`);
}

/** Names the version of the index; one without it has the format before 0.2.0. */
export const DISCOVERY_SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';

/** Paths of the index, newest version first. The files of a skill are relative to it. */
const INDEX_PATHS = ['/.well-known/agent-skills/', '/.well-known/skills/'] as const;
const MAX_INDEX_BYTES = 4 * 1024 * 1024;
const MAX_SKILLS = 2_000;
const MAX_FILES = 1_000;

interface NamedSkill {
  readonly name: string;
  /** Untrusted text; empty if the index has none. */
  readonly description: string;
}

/** `url` as in the index; `sha256` in hex. */
interface PromisedSkill extends NamedSkill {
  readonly type: 'skill-md' | 'archive';
  readonly url: string;
  readonly sha256: string;
  /** Address of the minisign signature of the file. */
  readonly signature?: string;
}

/** The older version: files below `<name>/`, without digests. */
interface ListedSkill extends NamedSkill {
  readonly type: 'files';
  readonly files: readonly string[];
}

type SiteSkill = PromisedSkill | ListedSkill;

/** Parses an index. An invalid entry is returned with its refusal, so that it is shown and not silently dropped. Throws a refusal. */
function readSiteIndex(text: string): Omit<SiteIndex, 'base'> {
  const value = parseJson(text);
  const { $schema: schema, skills: entries } = isObject(value) ? value : {};
  if (schema !== undefined && schema !== DISCOVERY_SCHEMA)
    throw refused(
      'source/failed',
      `the index of the site has the $schema ${quoted(typeof schema === 'string' ? schema : JSON.stringify(schema), 200)}, expected ${DISCOVERY_SCHEMA}`,
      { hint: 'a newer version of Skillwright may read it' },
    );
  if (!Array.isArray(entries))
    throw refused('source/failed', 'the index of the site is not a JSON object with a "skills" list');
  if (entries.length > MAX_SKILLS)
    throw refused('archive/too-many', `the index of the site has more than ${String(MAX_SKILLS)} skills`);
  const skills: SiteSkill[] = [];
  const unusable: UnusableSkill[] = [];
  const names = new Set<string>();
  for (const [place, entry] of entries.entries()) {
    const skill = orRefusal(() => readEntry(entry));
    const name = isObject(entry) && typeof entry['name'] === 'string' ? entry['name'] : `entry ${String(place + 1)}`;
    if ('code' in skill) unusable.push({ folder: name, name, refusal: skill });
    else if (names.has(skill.name)) {
      const refusal = packRefusal('pack/two-skills', `the index of the site has ${quoted(skill.name)} twice`);
      unusable.push({ folder: name, name, refusal });
    } else skills.push(skill);
    names.add(name);
  }
  return { skills, unusable };
}

function readEntry(entry: unknown): SiteSkill {
  if (!isObject(entry))
    throw refused('pack/name', `the index of the site has ${quoted(JSON.stringify(entry))}, expected a JSON object`);
  const { name, type, url, digest, files, signature, description: text } = entry;
  const description = typeof text === 'string' ? text : '';
  if (typeof name !== 'string' || !isValidName(name))
    throw refused(
      'pack/name',
      name === undefined
        ? 'the index of the site has an entry without a "name"'
        : `the index of the site has the invalid skill name ${quoted(typeof name === 'string' ? name : JSON.stringify(name))}`,
    );
  if (Array.isArray(files) && url === undefined) return readFiles({ name, description }, files);
  if (typeof url !== 'string' || (type !== 'skill-md' && type !== 'archive'))
    throw refused('source/failed', `the index of the site must have the type skill-md or archive for ${quoted(name)}`);
  const sha256 = typeof digest === 'string' ? readDigest(digest) : undefined;
  if (sha256 === undefined)
    throw refused('source/digest', `the index of the site has no SHA-256 digest for ${quoted(name)}`);
  if (signature !== undefined && typeof signature !== 'string')
    throw refused('source/failed', `the index of the site has an invalid "signature" for ${quoted(name)}`);
  return { type, name, description, url, sha256, signature };
}

function readFiles({ name, description }: NamedSkill, files: readonly unknown[]): SiteSkill {
  const names = files.filter((file) => typeof file === 'string');
  if (names.length !== files.length || files.length > MAX_FILES)
    throw refused(
      'archive/too-many',
      `the index of the site must list at most ${String(MAX_FILES)} files for ${quoted(name)}`,
    );
  const paths = openPathValidator(ARCHIVE_LIMITS);
  for (const file of names) paths.check(file, 'file');
  if (!names.includes('SKILL.md'))
    throw refused('pack/no-skill', `${quoted(name)} has no SKILL.md in the index of the site`);
  return { type: 'files', name, description, files: names };
}

/** Converts `sha256:<hex>` or `sha256-<base64>` to hex. */
function readDigest(text: string): string | undefined {
  const hex = /^sha256:([0-9a-f]{64})$/i.exec(text)?.[1];
  if (hex !== undefined) return hex.toLowerCase();
  const base64 = /^sha256-([A-Za-z0-9+/_-]{43})=?$/.exec(text)?.[1];
  if (base64 === undefined) return undefined;
  const binary = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  return Array.from(binary, (character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

/** Larger than any SKILL.md that the loader accepts. */
const MAX_SKILL_FILE_BYTES = 8 * 1024 * 1024;

type UrlSource = Extract<PackSource, { type: 'url' }>;

export async function stageUrl(source: UrlSource, context: StageContext): Promise<SourceContents> {
  const { pathname } = new URL(source.url);
  if (pathname.endsWith(`/${SKILL_FILE_NAME}`)) return await stageSkillFile(source, pathname, context);
  const file = path.join(context.to, `archive${archiveEnding(pathname)}`);
  const { maxArchiveBytes: maxBytes } = context.limits;
  const { sha256 } = accepted(await downloadTo(source.url, file, { ...context, maxBytes }));
  const signature = await signatureBeside(source.url, context);
  const fallbackName = path.posix.basename(pathname).replace(ARCHIVE_NAME, '');
  return await unpack({ file, shown: source.url, fallbackName, archive: `sha256:${sha256}`, signature }, context);
}

async function stageSkillFile(source: UrlSource, pathname: string, context: StageContext): Promise<SourceContents> {
  const downloaded = accepted(await downloadBytes(source.url, { ...context, maxBytes: MAX_SKILL_FILE_BYTES }));
  const archive = `sha256:${downloaded.sha256}`;
  requireLocked(archive, source.url, context);
  const fallbackName = path.posix.basename(path.posix.dirname(pathname)) || 'skill';
  const skill = new StagedSkill({ folder: '', path: context.tree, fallbackName, limits: context.limits });
  skill.wholeFile(SKILL_FILE_NAME, false, downloaded.content);
  return { skills: [await skill.finish()], archive };
}

/** Failures are ignored: if a signature is required, its absence is reported later. */
async function signatureBeside(url: string, context: StageContext): Promise<string | undefined> {
  if (new URL(url).search !== '') return undefined;
  const { onProgress: _, ...quiet } = context;
  const found = await downloadBytes(`${url}.minisig`, { ...quiet, maxBytes: MAX_SIGNATURE_BYTES });
  const text = isRefusal(found) ? '' : found.content.toString('utf8');
  // Some servers answer every request with a page.
  return text.startsWith('untrusted comment:') ? text : undefined;
}
