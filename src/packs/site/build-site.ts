/**
 * Builds a static site that publishes skills: the index that `install https://...` and other clients read, archives, packs, signatures, and
 * a page per skill. The whole site is built beside its place and then moved there.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { compareText, quoted } from '#core';
import { isSystemError, makeFolders, readTextFile, removeTree, sha256, temporaryName } from '#platform';
import { parseSkillMd } from '#skills';
import { packName, packSkills, skillsToPack, type SkillToPack } from '../pack/pack.ts';
import type { BuiltPack } from '../pack/build-pack.ts';
import type { PackSettings } from '../pack-settings.ts';
import { accepted, asRefusal, findRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { DISCOVERY_SCHEMA } from '../sources/well-known.ts';
import { scanSkill } from '#scan';
import { acceptOptions, judgeFindings, readScanFiles } from '../inspect/scan-files.ts';
import { SIGNATURE_SUFFIX, signPack } from '../sign/sign.ts';
import { openSigningKey, type KeyChoice } from '../sign/keys.ts';
import { formatPublicLine, type SigningKey } from '../sign/minisign.ts';
import { markSite, recoverInterrupted, refuseForeign, replaceSite } from './replace-site.ts';
import { SITE_POLICY, indexPage, skillPage, type PageSite, type PageSkill } from './site-pages.ts';

export interface BuildSiteOptions {
  readonly settings: PackSettings;
  /** A text is a folder that is a skill or has skills in its direct subfolders. */
  readonly skills: readonly (SkillToPack | string)[];
  /** The folder of the site. The files of an earlier site are replaced, and others in it stay. */
  readonly out: string;
  readonly title: string;
  /** Address of the site for install commands on its pages. */
  readonly url?: string;
  readonly key?: SigningKey | KeyChoice;
  readonly now?: Date;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface BuiltSite {
  readonly type: 'built-site';
  readonly out: string;
  readonly skills: readonly PublishedSkill[];
  /** Agent Plugins, whose skills are published too. */
  readonly plugins: readonly PublishedPlugin[];
  readonly keyId?: string;
}

export interface PublishedSkill {
  readonly name: string;
  readonly version?: string;
  /** `sha256-tree:<hex>` of the files. */
  readonly digest: string;
  /** Paths below the site. */
  readonly page: string;
  readonly pack: string;
}

interface PublishedPlugin extends Pick<PublishedSkill, 'name' | 'version' | 'digest' | 'pack'> {
  /** SHA-256 of the pack. */
  readonly sha256: string;
}

const DISCOVERY = '.well-known/agent-skills';
const MAX_SKILL_MD = 16 * 1024 * 1024;
const MAX_REFUSALS = 20;

/** Returns every reason not to publish, and then leaves the folder as it was. Throws a refusal for a folder without skills. */
export async function buildSite(options: BuildSiteOptions): Promise<BuiltSite | readonly PackRefusal[]> {
  const { out } = options;
  const units = options.skills.flatMap((skill) =>
    typeof skill === 'string' ? accepted(skillsToPack(skill)) : [skill],
  );
  const [plugins, others] = [units.filter(isWhole), units.filter((unit) => !isWhole(unit))];
  const skills = [...others, ...plugins.flatMap(({ dir }) => skillsOfPlugin(dir))].toSorted((a, b) =>
    compareText(a.name, b.name),
  );
  const key = options.key === undefined || 'id' in options.key ? options.key : await openSigningKey(options.key);
  const work = temporaryName(out, '');
  try {
    await recoverInterrupted(out);
    refuseForeign(out);
    makeFolders(path.dirname(out));
    mkdirSync(work);
    const built = await fill(work, { skills, plugins }, { ...options, key });
    if ('type' in built) await replaceSite(work, out);
    return built;
  } catch (error) {
    const refusal = findRefusal(error);
    if (refusal !== undefined) return [refusal];
    if (!isSystemError(error)) throw error;
    return [packRefusal('pack/unwritable', `cannot write ${quoted(out, 200)} (${error.code})`, out)];
  } finally {
    await removeTree(work);
  }
}

function isWhole({ isPlugin }: SkillToPack): boolean {
  return isPlugin === true;
}

/** The skills of a plugin are published one by one, too. */
function skillsOfPlugin(dir: string): readonly SkillToPack[] {
  const found = skillsToPack(path.join(dir, 'skills'));
  return 'code' in found ? [] : found;
}

type FillOptions = BuildSiteOptions & { readonly key?: SigningKey };

async function fill(
  work: string,
  { skills, plugins }: { readonly skills: readonly SkillToPack[]; readonly plugins: readonly SkillToPack[] },
  options: FillOptions,
): Promise<BuiltSite | readonly PackRefusal[]> {
  const { key, title, url, out, signal, onProgress } = options;
  const site: PageSite = {
    title,
    url,
    key: key === undefined ? undefined : { id: key.id, line: formatPublicLine(key) },
  };
  const refusals: PackRefusal[] = [];
  const pages: PageSkill[] = [];
  const entries: object[] = [];
  for (const [at, skill] of skills.entries()) {
    signal?.throwIfAborted();
    try {
      const { page, entry } = await publish(skill, work, options);
      pages.push(page);
      entries.push(entry);
    } catch (error) {
      const refusal = asRefusal(error);
      refusals.push({ ...refusal, message: `${quoted(skill.name)}: ${refusal.message}` });
    }
    if (refusals.length >= MAX_REFUSALS) break;
    onProgress?.(at + 1, skills.length);
  }
  const published: PublishedPlugin[] = [];
  for (const plugin of refusals.length > 0 ? [] : plugins)
    try {
      published.push(await publishPlugin(plugin, work, options));
    } catch (error) {
      const refusal = asRefusal(error);
      refusals.push({ ...refusal, message: `${quoted(plugin.name)}: ${refusal.message}` });
    }
  if (refusals.length > 0) return refusals;
  const write = writerBelow(work);
  for (const page of pages) write(pagePath(page.name), skillPage(site, page));
  write('index.html', indexPage(site, pages, published));
  write(`${DISCOVERY}/index.json`, `${JSON.stringify({ $schema: DISCOVERY_SCHEMA, skills: entries }, undefined, 2)}\n`);
  // GitHub Pages leaves out folders that start with a dot, unless this file exists.
  write('.nojekyll', '');
  write(
    '_headers',
    `/*\n  Content-Security-Policy: ${SITE_POLICY}; frame-ancestors 'none'\n  X-Content-Type-Options: nosniff\n`,
  );
  markSite(work);
  return {
    type: 'built-site',
    out,
    skills: pages.map(({ name, version, digest, pack }) => ({
      name,
      version,
      digest,
      page: pagePath(name),
      pack: pack.path,
    })),
    plugins: published,
    keyId: key?.id,
  };
}

function pagePath(name: string): string {
  return `skills/${name}/index.html`;
}

function writerBelow(folder: string): (file: string, content: string | Uint8Array) => void {
  return (file, content) => {
    const place = path.join(folder, file);
    makeFolders(path.dirname(place));
    writeFileSync(place, content, { flag: 'wx' });
  };
}

interface Published {
  readonly page: PageSkill;
  readonly entry: object;
}

/** Writes the pack, its signature and the file of the index. Throws a refusal. */
async function publish(skill: SkillToPack, work: string, options: FillOptions): Promise<Published> {
  const { settings, key, signal } = options;
  const file = `packs/${packName([skill])}`;
  makeFolders(path.join(work, 'packs'));
  const pack = accepted(await packSkills({ settings, skills: [skill], out: path.join(work, file), signal }));
  const [manifest] = pack.manifest.skills;
  if (manifest === undefined) throw refused('pack/no-skill', 'the pack is empty');
  refuseFindings(skill, manifest.digest, settings);
  const read = readTextFile(path.join(skill.dir, 'SKILL.md'), MAX_SKILL_MD);
  if (read.type !== 'read') throw refused('source/changed', `SKILL.md cannot be read`, skill.dir);
  const { head, body } = parseSkillMd(
    { path: 'SKILL.md', directory: skill.name, fileName: 'SKILL.md', text: read.text, validUtf8: read.validUtf8 },
    { mode: 'lenient' },
  );
  const listed = await listedFile(skill, work, { pack, options });
  if (key !== undefined) {
    const { now = new Date() } = options;
    for (const signable of [file, `${DISCOVERY}/${listed.url}`])
      accepted(signPack({ file: path.join(work, signable), manifest: pack.manifest, key, now }));
  }
  const { version, digest, files } = manifest;
  const { description = '', license, compatibility } = head ?? {};
  const allowedTools = head?.controls.allowedTools;
  return {
    page: {
      name: skill.name,
      description,
      version,
      license,
      compatibility,
      allowedTools,
      digest,
      files,
      body,
      pack: { path: file, sha256: pack.sha256 },
    },
    entry: {
      name: skill.name,
      type: listed.type,
      description,
      url: listed.url,
      digest: `sha256:${listed.sha256}`,
      signature: key === undefined ? undefined : `${listed.url}${SIGNATURE_SUFFIX}`,
    },
  };
}

/** Writes the pack of a plugin and its signature. Throws a refusal. */
async function publishPlugin(
  plugin: SkillToPack,
  work: string,
  { settings, key, signal, now = new Date() }: FillOptions,
): Promise<PublishedPlugin> {
  const file = `plugins/${packName([plugin])}`;
  makeFolders(path.join(work, 'plugins'));
  const pack = accepted(await packSkills({ settings, skills: [plugin], out: path.join(work, file), signal }));
  const [manifest] = pack.manifest.skills;
  if (manifest === undefined) throw refused('pack/plugin', 'the pack is empty');
  refuseFindings(plugin, manifest.digest, settings);
  if (key !== undefined) accepted(signPack({ file: path.join(work, file), manifest: pack.manifest, key, now }));
  const { name, version, digest } = manifest;
  return { name, version, digest, pack: file, sha256: pack.sha256 };
}

interface Listed {
  readonly type: 'skill-md' | 'archive';
  /** Relative to the index. */
  readonly url: string;
  readonly sha256: string;
}

/** What the index points at: SKILL.md if that is all, or an archive with the skill at its top. */
async function listedFile(
  skill: SkillToPack,
  work: string,
  { pack, options }: { readonly pack: BuiltPack; readonly options: BuildSiteOptions },
): Promise<Listed> {
  const files = pack.manifest.skills[0]?.files ?? {};
  const only = Object.keys(files).length === 1 ? files['SKILL.md'] : undefined;
  if (only !== undefined) {
    const url = `${skill.name}/SKILL.md`;
    const bytes = readFileSync(path.join(skill.dir, 'SKILL.md'));
    if (sha256(bytes) !== only.sha256) throw refused('source/changed', 'SKILL.md changed while it was read');
    writerBelow(path.join(work, DISCOVERY))(url, bytes);
    return { type: 'skill-md', url, sha256: only.sha256 };
  }
  const url = `${skill.name}.zip`;
  const out = path.join(work, DISCOVERY, url);
  makeFolders(path.dirname(out));
  const { settings, signal } = options;
  const archive = accepted(await packSkills({ settings, skills: [skill], out, layout: 'skill', signal }));
  return { type: 'archive', url, sha256: archive.sha256 };
}

/** A site must not publish what its own `install` refuses. */
function refuseFindings({ name, dir }: SkillToPack, digest: string, settings: PackSettings): void {
  const reviewed = { name, digest };
  const { stops } = judgeFindings(scanSkill(accepted(readScanFiles(dir))), reviewed, settings);
  const [first] = stops;
  if (first === undefined) return;
  throw refused('pack/scan', `${first.path}:${String(first.line)}: ${first.message} (${first.rule})`, {
    path: first.path,
    hint: `review the files; to publish them anyway: ${acceptOptions(stops)}`,
  });
}
