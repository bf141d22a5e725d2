import { failure, type Failure } from '../core/failure-codes.ts';
import type { SkillEntry } from '../core/skill.ts';
import { quoted } from '../core/text/text.ts';
import type { ActionContext } from './action-context.ts';

/** The digest of all files of a skill, or why it cannot be computed. */
export async function skillDigest(
  skill: SkillEntry,
  { digests, signal }: Pick<ActionContext, 'digests' | 'signal'>,
): Promise<string | Failure> {
  const read = await digests.of(skill.dir, signal === undefined ? {} : { signal });
  if (read.type === 'digest') return read.digest;
  return failure('skill/invalid', `the files of the skill ${quoted(skill.name)} cannot be digested: ${read.message}`);
}
