import { listSkillFiles } from '../loader/files.ts';
import { isInside, realPath } from '../platform/fs/paths.ts';
import { readTreeDigest } from '../platform/fs/tree-digest.ts';
import type { Surroundings } from '../core/config/loaded-config.ts';
import { createRuntime } from './runtime.ts';

/** A skill as shown to a person before its folder is trusted. */
export interface ReviewedSkill {
  readonly name: string;
  readonly source: string;
  readonly dir: string;
  readonly scripts: number;
  readonly files: number;
  /** Tree digest; absent if it cannot be computed, see `problem`. */
  readonly digest?: string;
  readonly problem?: string;
}

export interface ReviewOptions {
  readonly surroundings: Surroundings;
  readonly folder: string;
  readonly signal?: AbortSignal;
}

/** The skills below a folder as found from `surroundings.cwd`; if there are none, the skills directly in the folder. Nothing is run. */
export async function reviewSkills({ surroundings, folder, signal }: ReviewOptions): Promise<readonly ReviewedSkill[]> {
  const real = realPath(folder);
  const found = await skillsBelow(real, surroundings, []);
  const skills = found.length > 0 ? found : await skillsBelow(real, surroundings, [real]);
  const reviewed: ReviewedSkill[] = [];
  for (const { name, source, dir } of skills) {
    const { files } = listSkillFiles(dir);
    const read = await readTreeDigest(dir, signal === undefined ? {} : { signal });
    reviewed.push({
      name,
      source,
      dir,
      scripts: files.filter(({ kind }) => kind === 'script').length,
      files: files.length,
      ...(read.type === 'digest' ? { digest: read.digest } : { problem: read.message }),
    });
  }
  return reviewed;
}

async function skillsBelow(
  folder: string,
  surroundings: Surroundings,
  roots: readonly string[],
): Promise<Awaited<ReturnType<typeof createRuntime>>['index']['all']> {
  const { index } = await createRuntime({ ...surroundings, roots, cache: false });
  return index.all.filter(({ dir }) => isInside(realPath(dir), folder));
}
