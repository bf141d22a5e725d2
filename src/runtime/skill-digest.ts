import { failure, quoted, type ActionProblem, type SkillEntry } from '#core';
import type { ActionContext } from './action-context.ts';

/** The digest of all files of a skill, or why it cannot be computed. */
export async function skillDigest(
  skill: SkillEntry,
  { digests, signal }: Pick<ActionContext, 'digests' | 'signal'>,
): Promise<string | ActionProblem> {
  const read = await digests.of(skill.dir, signal === undefined ? {} : { signal });
  if (read.type === 'digest') return read.digest;
  return failure('skill/invalid', `the files of the skill ${quoted(skill.name)} cannot be digested: ${read.message}`);
}
