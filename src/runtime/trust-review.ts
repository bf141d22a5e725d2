import { listSkillFiles } from '#skills';
import { inConfined, isInside, openTreeDigests, realPath } from '#platform';
import { skillRequirements } from '#sandbox';
import type { SkillEntry, Surroundings } from '#core';
import { createRuntime } from './runtime.ts';

/** A skill as shown to a person before it is trusted. */
export interface ReviewedSkill {
  readonly name: string;
  readonly source: string;
  readonly dir: string;
  readonly scripts: number;
  readonly files: number;
  readonly wants: SkillWants;
  /** Tree digest; absent if it cannot be computed, see `problem`. */
  readonly digest?: string;
  /** Digest of the frontmatter. */
  readonly head: string;
  readonly problem?: string;
}

/** What a skill says that it uses. The sandbox and the policy decide what it gets. */
interface SkillWants {
  /** `allowed-tools`; absent if the skill makes no statement. */
  readonly tools?: readonly string[];
  readonly programs: readonly string[];
  readonly secrets: readonly string[];
  readonly network: boolean;
}

interface SkillFolder {
  readonly surroundings: Surroundings;
  readonly folder: string;
}

/**
 * Reads the files of skills. Nothing is run. Without a list: the skills below a folder as found from `surroundings.cwd`; if there are none,
 * the skills directly in the folder.
 */
export async function reviewSkills(
  reviewed: readonly SkillEntry[] | SkillFolder,
  signal?: AbortSignal,
): Promise<readonly ReviewedSkill[]> {
  const skills = 'folder' in reviewed ? await skillsIn(reviewed) : reviewed;
  const found: ReviewedSkill[] = [];
  const digests = openTreeDigests();
  for (const skill of skills) {
    const { name, source, dir, digest: head } = skill;
    const { files } = listSkillFiles(dir);
    const read = await digests.of(dir, { signal });
    found.push({
      name,
      source,
      dir,
      scripts: files.filter(({ kind }) => kind === 'script').length,
      files: files.length,
      wants: readSkillWants(skill),
      ...(read.type === 'digest' ? { digest: read.digest } : { problem: read.message }),
      head,
    });
  }
  return found;
}

async function skillsIn({ surroundings, folder }: SkillFolder): Promise<readonly SkillEntry[]> {
  const real = realPath(folder);
  const found = await skillsBelow(real, surroundings, []);
  return found.length > 0 ? found : skillsBelow(real, surroundings, [real]);
}

function readSkillWants({
  dir,
  controls: { allowedTools, requires = [] },
  compatibility = '',
}: SkillEntry): SkillWants {
  const needs = inConfined(
    dir,
    (directory) => skillRequirements({ directory, requires, compatibility }),
    () => [],
  );
  const named = (kind: (typeof needs)[number]['kind']): readonly string[] => [
    ...new Set(needs.filter((need) => need.kind === kind).map((need) => need.name)),
  ];
  return {
    tools: allowedTools,
    programs: named('program'),
    secrets: named('variable'),
    network: named('network').length > 0,
  };
}

async function skillsBelow(
  folder: string,
  surroundings: Surroundings,
  roots: readonly string[],
): Promise<readonly SkillEntry[]> {
  const { index } = await createRuntime({ ...surroundings, roots, cache: false });
  return index.all.filter(({ dir }) => isInside(realPath(dir), folder));
}
