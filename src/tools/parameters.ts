import {
  jsonSchema,
  failure,
  nearest,
  quoted,
  type ActionProblem,
  type JsonSchema,
  type Offer,
  type Action,
  type OfType,
} from '#core';

/** With more skills than this the schemas do not list their names; the model finds them in the catalog and by search. */
const MOST_NAMES_IN_ENUM = 256;
/** The maximum and default number of search results. */
const MOST_RESULTS = 50;
export const DEFAULT_RESULTS = 5;

/** No file that is shown is longer: its bytes are bounded by 4 for each character of the longest answer. */
const LAST_OFFSET = 40_000_000;

/** The name of a skill that was loaded or listed. */
export const skillName = {
  type: 'string',
  description: 'Name of the skill.',
  brief: 'type',
} as const satisfies JsonSchema;

/**
 * The name of a skill where it is chosen, which is the only place that lists the names. Unknown names pass the schema: the action answers
 * with the nearest ones.
 */
export function skillChoice({ skills }: Offer): typeof skillName {
  const listed = { ...skillName, enum: skills, isOpen: true };
  return skills.length > 0 && skills.length <= MOST_NAMES_IN_ENUM ? listed : skillName;
}

/** A skill by name, and by source if several skills have that name. */
export function skillReference(name = skillName) {
  const source = named(jsonSchema.text('The source of the skill: project, user, builtin.'));
  return jsonSchema.section('The skill.', { name, source }, ['name']);
}

/** A parameter whose name says enough: a model is sent its type only. */
export function named<S extends JsonSchema>(schema: S): S & { readonly brief: 'type' } {
  return { ...schema, brief: 'type' };
}

/** A parameter that a model is not sent: the answer to a wrong call explains it. */
export function rare<S extends JsonSchema>(schema: S): S & { readonly brief: 'none' } {
  return { ...schema, brief: 'none' };
}

/** Parameters that only some sessions have. Nothing requires them, so their values may be absent in any case. */
export function onlyIf<P extends Readonly<Record<string, JsonSchema>>>(isOffered: boolean, parameters: P): P {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return isOffered ? parameters : ({} as P);
}

export function texts(description: string) {
  return jsonSchema.list(description, jsonSchema.text('One of them.'));
}

export function searchParameters() {
  return jsonSchema.section(
    'What to search for.',
    {
      query: named(jsonSchema.text('What the task needs, in a few words.')),
      n: rare(jsonSchema.count('How many to return.', 1, MOST_RESULTS, DEFAULT_RESULTS)),
    },
    ['query'],
  );
}

/** The lines between two numbers, of which models often give one. */
export function lineRange(from: number | undefined, to: number | undefined): OfType<Action, 'read_file'>['lines'] {
  return from === undefined && to === undefined ? undefined : { from: from ?? 1, to };
}

/** Resolves a path to a skill and a file, or explains why it does not resolve. */
export function located(path: string, offer: Offer): NonNullable<ReturnType<Offer['locate']>> | ActionProblem {
  const found = offer.locate(path);
  if (found !== undefined) return withTrailingSpace(found, path, offer);
  const [first = ''] = path.replace(/^[./\\]+/, '').split(/[/\\]/);
  return failure('path/not-offered', `${quoted(path)} is not inside any skill`, {
    hint: 'use <skill>/<path in the skill>, or the absolute path of a file in the skill folder',
    nearest: nearest(first, offer.skills),
  });
}

/** Spaces after a path are a slip of the model, unless the loaded skill lists a file whose name ends with them. */
function withTrailingSpace(
  found: NonNullable<ReturnType<Offer['locate']>>,
  path: string,
  offer: Offer,
): NonNullable<ReturnType<Offer['locate']>> {
  const exact = `${found.path}${path.slice(path.trimEnd().length)}`;
  const isListed = offer.loaded().some(({ id, files }) => id === found.skill && files.includes(exact));
  return isListed ? { ...found, path: exact } : found;
}

/** Where to continue a file; every tool that reads has it, so that no part of a file is unreachable. */
export const offsetParameter = named(
  jsonSchema.count('Where to continue a file that was cut, as its note says.', 0, LAST_OFFSET),
);
