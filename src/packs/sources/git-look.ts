/** Which commit a branch or tag of a repository is now, without fetching anything of it. */
import path from 'node:path';

import { PackRefused } from '../problems.ts';
import type { PackSource } from './source.ts';
import type { Bringing } from './bring-options.ts';
import { runGit } from './git-program.ts';
import type { OwnRepository } from './git-program.ts';

const FULL_COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const LINE = /^([0-9a-f]{40}|[0-9a-f]{64})\t(.+)$/;

/**
 * Nothing where it cannot be told this way: no such ref, the start of a commit's name, a server that does not answer. Whoever wants to
 * know why brings the source. Nothing is written.
 */
export async function lookAtGit(
  source: Extract<PackSource, { type: 'git' }>,
  bringing: Bringing,
): Promise<string | undefined> {
  const { url, ref = 'HEAD' } = source;
  if (FULL_COMMIT.test(ref)) return ref;
  if (url.startsWith('file:') && bringing.network.allowFile !== true) return undefined;
  const commits = await listRefs(ref, { folder: path.join(bringing.to, 'repository'), url, bringing });
  // The order in which git itself takes a name; what a tag points at stands behind it.
  for (const name of [ref, `refs/${ref}`, `refs/tags/${ref}`, `refs/heads/${ref}`]) {
    const commit = commits.get(`${name}^{}`) ?? commits.get(name);
    if (commit !== undefined) return commit;
  }
  return undefined;
}

/** Commits by the names of their refs; none where git fails, or is not there. */
async function listRefs(ref: string, own: OwnRepository): Promise<ReadonlyMap<string, string>> {
  const commits = new Map<string, string>();
  try {
    const { exitCode, output } = await runGit(own, ['ls-remote', '--', own.url, ref, `${ref}^{}`]);
    for (const line of exitCode === 0 ? output.toString('latin1').split('\n') : []) {
      const [, commit, name] = LINE.exec(line) ?? [];
      if (commit !== undefined && name !== undefined) commits.set(name, commit);
    }
  } catch (error) {
    if (!(error instanceof PackRefused)) throw error;
  }
  return commits;
}
