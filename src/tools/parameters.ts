import {
  jsonSchema,
  failure,
  isObject,
  nearest,
  quoted,
  type ActionProblem,
  type JsonSchema,
  type ObjectSchema,
  type Offer,
  type Action,
  type OfType,
  type ToolRow,
} from '#core';

export type ToolInput = Parameters<ToolRow['toActions']>[0];

/** With more skills than this the schemas do not list their names; the model finds them in the catalog and by search. */
export const MOST_NAMES_IN_ENUM = 256;
/** The maximum and default number of search results. */
export const MOST_RESULTS = 50;
export const DEFAULT_RESULTS = 5;

/** No file that is shown is longer. */
const LAST_OFFSET = 10_000_000;

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
export function skillChoice({ skills }: Offer): JsonSchema {
  const isFew = skills.length > 0 && skills.length <= MOST_NAMES_IN_ENUM;
  return isFew ? { ...skillName, enum: skills, isOpen: true } : skillName;
}

/** A skill by name, and by source if several skills have that name. */
export function skillReference(name: JsonSchema = skillName): ObjectSchema {
  return jsonSchema.section(
    'The skill.',
    { name, source: named(jsonSchema.text('The source of the skill: project, user, builtin.')) },
    ['name'],
  );
}

/** A parameter whose name says enough: a model is sent its type only. */
export function named(schema: JsonSchema): JsonSchema {
  return { ...schema, brief: 'type' };
}

/** A parameter that a model is not sent: the answer to a wrong call explains it. */
export function rare(schema: JsonSchema): JsonSchema {
  return { ...schema, brief: 'none' };
}

export function texts(description: string): JsonSchema {
  return { type: 'array', description, items: { type: 'string', description: 'One of them.' } };
}

export function searchParameters(): ObjectSchema {
  return jsonSchema.section(
    'What to search for.',
    {
      query: named(jsonSchema.text('What the task needs, in a few words.')),
      n: rare(jsonSchema.count('How many to return.', 1, MOST_RESULTS, DEFAULT_RESULTS)),
    },
    ['query'],
  );
}

export function readSearch(input: ToolInput): OfType<Action, 'search_skills'> {
  const n = readNumber(input, 'n');
  return { type: 'search_skills', query: readText(input, 'query'), n };
}

/** Readers for validated input: a value of another type counts as absent. */
export function readText(input: ToolInput, key: string): string {
  return readOptionalText(input, key) ?? '';
}

export function readOptionalText(input: ToolInput, key: string): string | undefined {
  const value = Object.hasOwn(input, key) ? input[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

export function readNumber(input: ToolInput, key: string): number | undefined {
  const value = Object.hasOwn(input, key) ? input[key] : undefined;
  return typeof value === 'number' ? value : undefined;
}

/** The lines that two parameters name. Without the first, reading starts at line 1. */
export function readLineRange(
  input: ToolInput,
  first: string,
  last: string,
): { readonly lines?: NonNullable<OfType<Action, 'read_file'>['lines']> } {
  const from = readNumber(input, first);
  const to = readNumber(input, last);
  if (from === undefined && to === undefined) return {};
  return { lines: { from: from ?? 1, to } };
}

export function isSet(input: ToolInput, key: string): boolean {
  return Object.hasOwn(input, key) && input[key] === true;
}

export function readList(input: ToolInput, key: string): readonly unknown[] {
  const value = Object.hasOwn(input, key) ? input[key] : undefined;
  return Array.isArray(value) ? value : [];
}

export function readTexts(input: ToolInput, key: string): readonly string[] {
  return readList(input, key).filter((item) => typeof item === 'string');
}

/** Reads `{name, source}` as an action names a skill. */
export function readSkillReference(value: unknown): { readonly skill: string; readonly source?: string } {
  if (!isObject(value)) return { skill: '' };
  const source = readOptionalText(value, 'source');
  return { skill: readText(value, 'name'), ...(source === undefined || source === '' ? {} : { source }) };
}

/** Resolves a path to a skill and a file, or explains why it does not resolve. */
export function located(path: string, offer: Offer): NonNullable<ReturnType<Offer['locate']>> | ActionProblem {
  const found = offer.locate(path);
  if (found !== undefined) return found;
  const [first = ''] = path.replace(/^[./\\]+/, '').split(/[/\\]/);
  return failure('path/not-offered', `${quoted(path)} is not inside any skill`, {
    hint: 'use <skill>/<path in the skill>, or the absolute path of a file in the skill folder',
    nearest: nearest(first, offer.skills),
  });
}

/** Where to continue a file; every tool that reads has it, so that no part of a file is unreachable. */
export const offsetParameter = named(
  jsonSchema.count('Where to continue a file that was cut, as its note says.', 0, LAST_OFFSET),
);

export function readOffset(input: ToolInput): { readonly offset?: number } {
  const offset = readNumber(input, 'offset');
  return offset === undefined ? {} : { offset };
}
