import type { Observation, OfType } from '#core';

export function toSkillIdentity({
  id,
  name,
  source,
  dir,
}: OfType<Observation, 'skill-loaded'>['skill']): OfType<Observation, 'skill-loaded'>['skill'] {
  return { id, name, source, dir };
}
