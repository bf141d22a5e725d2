import type { SkillEntry } from '../core/skill.ts';
import type { Distrust } from '../runtime/skill-trust.ts';

/** The version of every JSON value the commands print. It grows when a field changes its meaning or goes. */
const SCHEMA = 1;

export function jsonText(value: object): string {
  return JSON.stringify({ schema: SCHEMA, ...value }, undefined, 2);
}

/** A skill as `list` and `inspect` print it, in a fixed order; `trusted` stands there where it is not. */
export function skillJson(entry: SkillEntry, distrust?: Distrust): object {
  const { id, name, description, source, group, dir, file, controls, meta, digest, state, license, compatibility } =
    entry;
  return {
    name,
    description,
    source,
    dir,
    controls,
    meta,
    digest,
    state,
    id,
    group,
    file,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    ...(distrust === undefined ? {} : { trusted: false, distrust }),
  };
}
