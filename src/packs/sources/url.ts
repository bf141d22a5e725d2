/** Stages an archive or a SKILL.md from an address. */
import path from 'node:path';

import { isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import { SKILL_FILE_NAME } from './skill-folders.ts';
import { ARCHIVE_NAME } from './source-address.ts';
import { sourceText } from './source-text.ts';
import type { StagedSource, PackSource, StageContext } from './source.ts';
import { quoted } from '#core';
import { archiveEnding, unpack } from './archive.ts';
import { downloadBytes, downloadTo } from './download.ts';
import { StagedSkill } from './staged-skill.ts';
import { MAX_SIGNATURE_BYTES } from './top-files.ts';

/** Larger than any SKILL.md that the loader accepts. */
export const MAX_SKILL_FILE_BYTES = 8 * 1024 * 1024;

type UrlSource = Extract<PackSource, { type: 'url' }>;

export async function stageUrl(source: UrlSource, context: StageContext): Promise<StagedSource | PackRefusal> {
  const { pathname } = new URL(source.url);
  if (pathname.endsWith(`/${SKILL_FILE_NAME}`)) return await stageSkillFile(source, pathname, context);
  const file = path.join(context.to, `archive${archiveEnding(pathname)}`);
  const downloaded = await downloadTo(source.url, file, { ...context, maxBytes: context.limits.maxArchiveBytes });
  if (isRefusal(downloaded)) return downloaded;
  const signature = await signatureBeside(source.url, context);
  return await unpack(
    {
      file,
      shown: source.url,
      fallbackName: path.posix.basename(pathname).replace(ARCHIVE_NAME, ''),
      resolved: { source: sourceText(source), kind: 'url', archive: `sha256:${downloaded.sha256}` },
      signature: signature === undefined ? undefined : { of: 'archive', text: signature, payload: file },
    },
    context,
  );
}

async function stageSkillFile(
  source: UrlSource,
  pathname: string,
  context: StageContext,
): Promise<StagedSource | PackRefusal> {
  const downloaded = await downloadBytes(source.url, { ...context, maxBytes: MAX_SKILL_FILE_BYTES });
  if (isRefusal(downloaded)) return downloaded;
  const archive = `sha256:${downloaded.sha256}`;
  if (context.expect?.archive !== undefined && context.expect.archive !== archive)
    return packRefusal(
      'source/digest',
      `${quoted(source.url, 200)} has ${archive}, expected ${context.expect.archive}`,
    );
  const fallbackName = path.posix.basename(path.posix.dirname(pathname)) || 'skill';
  const skill = new StagedSkill({ folder: '', path: context.tree, fallbackName, limits: context.limits });
  skill.wholeFile(SKILL_FILE_NAME, false, downloaded.content);
  return {
    type: 'staged',
    resolved: { source: sourceText(source), kind: 'url', archive },
    folder: context.tree,
    skills: [await skill.finish()],
    unusable: [],
    leftOut: [],
  };
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
