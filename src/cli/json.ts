import { visibleJson, type SkillEntry } from '#core';
import type { Distrust } from '#runtime';

/** Version of the JSON that commands print. It increases when a field is removed or changes its meaning. */
const SCHEMA = 1;

/** The answer of a command as JSON. */
export function jsonText(value: object): string {
  return plainJson({ schema: SCHEMA, ...value });
}

/** The same on one line, for output that continues. */
export function lineJson(value: object): string {
  return visibleJson(JSON.stringify({ schema: SCHEMA, ...value }));
}

/** JSON in a format of its own, such as a configuration. Characters that act on a terminal are escaped. */
export function plainJson(value: object): string {
  return visibleJson(JSON.stringify(value, undefined, 2));
}

/** A skill as `list` and `inspect` print it, in a fixed order. */
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
    license,
    compatibility,
    trusted: distrust === undefined,
    distrust,
  };
}
