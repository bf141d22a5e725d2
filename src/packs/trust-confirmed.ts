import path from 'node:path';

import { readTreeDigest } from '../platform/fs/tree-digest.ts';
import { openTrust } from '../policy/trust.ts';
import type { SkillToTrust } from '../policy/trust.ts';
import type { Runtime } from '../runtime/runtime.ts';

/**
 * Trusts skills wherever the index finds them with exactly the bytes that the user confirmed. `confirmed` maps the names of installed
 * folders to tree digests; SKILL.md may declare another name. Throws `io/failed` if the trust cannot be stored.
 */
export async function trustConfirmed(
  runtime: Runtime,
  home: string | undefined,
  confirmed: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  const found = runtime.index.all.filter(({ dir }) => confirmed.has(path.basename(dir)));
  const distrusted = await runtime.distrust(found, { files: true });
  const skills: SkillToTrust[] = [];
  for (const { dir, digest: head } of found.filter((skill) => distrusted.has(skill.dir))) {
    const read = await readTreeDigest(dir);
    if (read.type === 'digest' && read.digest === confirmed.get(path.basename(dir)))
      skills.push({ dir, digest: read.digest, head });
  }
  if (skills.length > 0) await openTrust({ home, bind: 'digest' }).trustSkills(skills);
}
