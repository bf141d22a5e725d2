import { failure } from '../core/failure-codes.ts';
import type { Failure } from '../core/failure-codes.ts';
import type { SkillIndex } from '../registry/index-skills.ts';
import { nearest } from '../core/nearest.ts';
import { resolveSkill } from '../registry/resolve-skill.ts';
import { findLoaded } from '../core/session.ts';
import type { AskedBy, SessionState } from '../core/session.ts';
import { isForModel } from '../core/skill.ts';
import type { SkillEntry } from '../core/skill.ts';
import { quoted } from '../core/text/text.ts';

export interface SkillFinder {
  readonly index: SkillIndex;
  readonly askedBy: AskedBy;
  readonly state: SessionState | undefined;
  /** Why a skill may not be used by anybody yet; nothing where it may. */
  readonly distrust: (skill: SkillEntry) => Promise<string | undefined>;
}

export type Found =
  | { readonly type: 'found'; readonly skill: SkillEntry }
  | { readonly type: 'failed'; readonly failure: Failure };

/** The skill that is meant, if whoever asks may have it: a model may not choose what was kept for people, nor the other way round. */
export async function findSkill(
  wanted: { readonly skill: string; readonly source?: string },
  context: SkillFinder,
): Promise<Found> {
  const { index, askedBy, state, distrust } = context;
  const skill = resolveSkill(index, wanted.skill, wanted.source);
  if (skill === undefined || skill.state === 'disabled') return unknownSkill(wanted, context);
  const reason = await distrust(skill);
  if (reason !== undefined) {
    return { type: 'failed', failure: failure('skill/untrusted', reason) };
  }
  const isOpen = state !== undefined && findLoaded(state, skill.id) !== undefined;
  const isAllowed =
    isOpen || askedBy === 'program' || (askedBy === 'model' ? isForModel(skill.state) : skill.controls.userInvocable);
  if (isAllowed) return { type: 'found', skill };
  const [who, hint] =
    askedBy === 'model'
      ? ['the model', 'a person may call it by its name; choose another skill or ask for it']
      : ['a person', 'its author keeps it for the model'];
  const message = `the skill ${quoted(skill.name)} is not for ${who} to choose`;
  return { type: 'failed', failure: failure('skill/not-offered', message, { hint }) };
}

function unknownSkill(
  { skill, source }: { readonly skill: string; readonly source?: string },
  { index, askedBy }: SkillFinder,
): Found {
  const names = index.skills
    .filter(({ state }) => (askedBy === 'model' ? isForModel(state) : state !== 'disabled'))
    .map(({ name }) => name);
  const near = nearest(skill.slice(skill.lastIndexOf('/') + 1), names);
  const where = source === undefined ? '' : ` in source ${quoted(source)}`;
  const message = `there is no skill called ${quoted(skill)}${where}`;
  // A short list teaches more than "search": all of it fits into the answer.
  return {
    type: 'failed',
    failure: failure('skill/unknown', message, { nearest: near.length > 0 || names.length > 12 ? near : names }),
  };
}
