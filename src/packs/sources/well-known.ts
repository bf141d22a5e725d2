/** Skills that a site lists. What the list promises of their bytes must hold for every one of them, or nothing is taken. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { leftOutLine, leftOutOf } from './left-out.ts';
import { PackRefused, isRefusal, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { INDEX_PATHS, MAX_INDEX_BYTES, readSiteIndex } from './site-index.ts';
import type { SiteSkill } from './site-index.ts';
import { SKILL_FILE_NAME } from './skill-folders.ts';
import { sourceText } from './source-text.ts';
import type { BroughtSource, PackSource, SourceSkill } from './source.ts';
import { quoted } from '../../core/text/text.ts';
import { archiveEnding, skillAt } from './archive.ts';
import type { Bringing } from './bring-options.ts';
import { downloadBytes, downloadTo } from './download.ts';
import { findSkills } from './folder.ts';
import { StagedSkill, refuse } from './staged-skill.ts';
import { noSkill } from './top-files.ts';
import { MAX_SKILL_FILE_BYTES } from './url.ts';

interface SiteIndex {
  /** Of the folder that the list lies in. */
  readonly base: string;
  readonly skills: readonly SiteSkill[];
}

export async function bringSite(
  source: Extract<PackSource, { type: 'well-known' }>,
  bringing: Bringing,
): Promise<BroughtSource | PackRefusal> {
  const { only, onProgress, ...quiet } = bringing;
  const index = await findIndex(source.url, quiet);
  if (isRefusal(index)) return index;
  const wanted = only === undefined ? index.skills : index.skills.filter(({ name }) => only.includes(name));
  if (index.skills.length === 0) return noSkill(source.url, []);
  if (wanted.length === 0)
    return packRefusal('pack/unknown-skill', `${quoted(source.url, 200)} lists no skill of that name`);
  mkdirSync(bringing.tree);
  const skills: SourceSkill[] = [];
  const leftOut: string[] = [];
  const site: Site = {
    index,
    bringing: quiet,
    leftOut,
    budget: { bytes: bringing.limits.maxBytes, files: bringing.limits.maxEntries },
  };
  for (const skill of wanted) {
    skills.push(await bringSkill(skill, site));
    onProgress?.({ step: 'fetch', done: skills.length, total: wanted.length });
  }
  return {
    type: 'brought',
    resolved: { source: sourceText(source), kind: 'well-known' },
    folder: bringing.tree,
    skills,
    leftOut,
  };
}

async function findIndex(site: string, bringing: Bringing): Promise<SiteIndex | PackRefusal> {
  let missing: PackRefusal = packRefusal('source/missing', `${quoted(site, 200)} has no list of skills`);
  for (const folder of INDEX_PATHS) {
    const base = `${site}${folder}`;
    const found = await downloadBytes(`${base}index.json`, { ...bringing, maxBytes: MAX_INDEX_BYTES });
    if (isRefusal(found)) {
      if (found.code !== 'source/missing') return found;
      missing = found;
      continue;
    }
    const skills = readSiteIndex(found.content.toString('utf8'));
    return 'code' in skills ? skills : { base, skills };
  }
  return missing;
}

interface Site {
  readonly index: SiteIndex;
  readonly bringing: Bringing;
  readonly leftOut: string[];
  /** What may still come, of all skills together. */
  readonly budget: { bytes: number; files: number };
}

async function bringSkill(skill: SiteSkill, site: Site): Promise<SourceSkill> {
  if (skill.type === 'archive') return await bringPacked(skill, site);
  const { tree, limits } = site.bringing;
  const { name } = skill;
  const staged = new StagedSkill({ folder: name, path: path.join(tree, name), fallbackName: name, limits });
  if (skill.type === 'skill-md') {
    staged.wholeFile(SKILL_FILE_NAME, false, await contentOf(skill.url, skill.sha256, site));
    return await staged.finish();
  }
  for (const file of skill.files) {
    const omission = leftOutOf(file, 'file');
    if (omission !== undefined) {
      site.leftOut.push(leftOutLine({ ...omission, path: `${name}/${omission.path}` }));
      continue;
    }
    const below = [name, ...file.split('/')].map(encodeURIComponent).join('/');
    staged.wholeFile(file, false, await contentOf(below, undefined, site));
  }
  return await staged.finish();
}

async function contentOf(url: string, sha256: string | undefined, site: Site): Promise<Buffer> {
  const address = addressOf(url, site);
  site.budget.files -= 1;
  if (site.budget.files < 0) refuse(packRefusal('archive/too-many', 'the skills of the site have too many files'));
  const maxBytes = Math.min(MAX_SKILL_FILE_BYTES, site.budget.bytes);
  const found = await downloadBytes(address, { ...site.bringing, maxBytes });
  if (isRefusal(found)) throw new PackRefused(found);
  site.budget.bytes -= found.bytes;
  if (sha256 !== undefined) mustBe(address, found.sha256, sha256);
  return found.content;
}

async function bringPacked(skill: Extract<SiteSkill, { type: 'archive' }>, site: Site): Promise<SourceSkill> {
  const { bringing, leftOut, budget } = site;
  const { tree, to, limits, signal } = bringing;
  const address = addressOf(skill.url, site);
  const file = path.join(to, `${skill.name}${archiveEnding(new URL(address).pathname)}`);
  const maxBytes = Math.min(limits.maxArchiveBytes, budget.bytes);
  const downloaded = await downloadTo(address, file, { ...bringing, maxBytes });
  if (isRefusal(downloaded)) throw new PackRefused(downloaded);
  mustBe(address, downloaded.sha256, skill.sha256);
  const folder = path.join(tree, skill.name);
  const extracted = await bringing.extract(file, folder, { limits, ...(signal === undefined ? {} : { signal }) });
  if (isRefusal(extracted)) throw new PackRefused(extracted);
  budget.bytes -= extracted.bytes;
  leftOut.push(...extracted.leftOut.map((line) => `${skill.name}/${line}`));
  // The proposal wants the skill at the top of its archive; packs have a folder of its name there.
  const [found, second] = findSkills(folder).folders;
  if (found === undefined || second !== undefined) {
    const much = found === undefined ? 'no skill' : 'more than one skill';
    throw new PackRefused(packRefusal('pack/no-skill', `the archive of ${quoted(skill.name)} has ${much}`));
  }
  return await skillAt(tree, found === '' ? skill.name : `${skill.name}/${found}`, skill.name);
}

/** An address of the list; it must be of the same site. */
function addressOf(url: string, { index }: Site): string {
  const isPlain = !/[\x00-\x20\x7f\\]/.test(url) && URL.canParse(url, index.base);
  const resolved = isPlain ? new URL(url, index.base) : undefined;
  if (resolved?.origin !== new URL(index.base).origin)
    throw new PackRefused(
      packRefusal('source/refused', `the list points at ${quoted(url, 200)}, which is no address of the site`),
    );
  return resolved.href;
}

function mustBe(address: string, found: string, promised: string): void {
  if (found !== promised)
    refuse(
      packRefusal(
        'source/digest',
        `${quoted(address, 200)} has sha256:${found}, and the list promises sha256:${promised}`,
      ),
    );
}
