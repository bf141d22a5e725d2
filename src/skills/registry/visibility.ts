/** Decides how visible a skill is. */
import { isProjectSource, type SkillEntry, type SkillHead, type SkillRoot } from '#core';

type Visibility = SkillEntry['state'];

/** Least visible first. */
const BY_VISIBILITY = [
  'disabled',
  'manual',
  'name-only',
  'auto',
  'pinned',
  'required',
] as const satisfies readonly Visibility[];

interface VisibleSkill {
  readonly head: SkillHead;
  readonly root: SkillRoot;
}

/** `user` and `project` are what the configuration of each says about the skill. */
export function chooseState(
  { head, root }: VisibleSkill,
  user: Visibility | undefined,
  project: Visibility | undefined,
): Visibility {
  const configured = stateFor(root, user, project);
  // A skill with `disable-model-invocation` is manual, unless the configuration requires or disables it.
  if (!head.controls.disableModelInvocation || configured === 'required' || configured === 'disabled')
    return configured;
  return 'manual';
}

/** A project can hide every skill, but shows more only of its own, and where the user says nothing. */
function stateFor(root: SkillRoot, user: Visibility | undefined, project: Visibility | undefined): Visibility {
  if (project === undefined) return user ?? 'auto';
  const most = user ?? (isProjectSource(root.source) ? project : 'auto');
  return BY_VISIBILITY.indexOf(project) < BY_VISIBILITY.indexOf(most) ? project : most;
}
