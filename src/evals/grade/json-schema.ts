/**
 * A JSON Schema of whoever wrote a case, against a value. The keywords that describe values are checked; one that is not known here is
 * named, never passed over, for a check that does not look must not pass.
 */
import { isObject } from '../../core/json/json-schema.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { stableJson } from '../../core/json/stable-json.ts';
import { quoted } from '../../core/text/text.ts';
import { describeValue } from '../../core/text/value-text.ts';
import { readLinearRegex } from './linear-regex.ts';

export type SchemaVerdict =
  | { readonly type: 'fits' }
  | { readonly type: 'differs'; readonly message: string }
  /** The schema itself cannot be used. */
  | { readonly type: 'unusable'; readonly message: string };

/** Thrown inside, caught at the door. */
class SchemaUnusable extends Error {
  override readonly name = 'SchemaUnusable';
}

export function checkAnySchema(value: unknown, schema: unknown): SchemaVerdict {
  try {
    const message = problemOf(value, schema, { path: [], depth: 0, whole: { schema, steps: 0 } });
    return message === undefined ? { type: 'fits' } : { type: 'differs', message };
  } catch (error) {
    if (error instanceof SchemaUnusable) return { type: 'unusable', message: error.message };
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;
type Keyword = (value: unknown, wanted: unknown, place: Place) => string | undefined;

interface Spot {
  readonly path: JsonPath;
  readonly depth: number;
  readonly whole: Whole;
}

interface Place extends Spot {
  /** That the keyword stands in. */
  readonly schema: Fields;
}

/** What `$ref` refers to, and how often a schema was held against a value so far. */
interface Whole {
  readonly schema: unknown;
  steps: number;
}

const DEEPEST = 300;
/** References can double the work at every level. */
const MOST_STEPS = 100_000;

function problemOf(value: unknown, schema: unknown, { path, depth, whole }: Spot): string | undefined {
  if (depth > DEEPEST) throw new SchemaUnusable('the schema is nested too deep, or refers to itself without end');
  whole.steps += 1;
  if (whole.steps > MOST_STEPS) throw new SchemaUnusable('the schema takes too many steps');
  if (schema === true) return undefined;
  if (schema === false) return `${at(path)} must not be there`;
  if (!isObject(schema)) throw new SchemaUnusable(`a schema must be an object, not ${describeValue(schema)}`);
  for (const [name, wanted] of Object.entries(schema)) {
    if (ANNOTATIONS.has(name)) continue;
    const keyword = KEYWORDS.get(name);
    if (keyword === undefined) throw new SchemaUnusable(`the keyword ${quoted(name)} is not checked here`);
    const problem = keyword(value, wanted, { path, depth: depth + 1, whole, schema });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const ANNOTATIONS: ReadonlySet<string> = new Set(
  '$schema $id $comment $defs definitions title description default examples deprecated readOnly writeOnly format'.split(
    ' ',
  ),
);

function at(path: JsonPath): string {
  return path.length === 0 ? 'the value' : quoted(path.join('.'));
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

function checkType(value: unknown, wanted: unknown, { path }: Place): string | undefined {
  const names = listOf(Array.isArray(wanted) ? wanted : [wanted], 'type');
  const tests = names.map((name) => (typeof name === 'string' && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined));
  if (tests.includes(undefined)) throw new SchemaUnusable(`the type ${quoted(String(names))} is not known`);
  return tests.some((test) => test?.(value) === true)
    ? undefined
    : `${at(path)} must be ${names.join(' or ')}, not ${describeValue(value)}`;
}

function same(a: unknown, b: unknown): boolean {
  return stableJson(a) === stableJson(b);
}

/** A bound for numbers, lengths or counts. */
function bound(
  measure: (value: unknown) => number | undefined,
  holds: (amount: number, limit: number) => boolean,
  words: string,
): Keyword {
  return (value, wanted, { path }) => {
    if (typeof wanted !== 'number' || !Number.isFinite(wanted))
      throw new SchemaUnusable(`a bound must be a finite number, not ${describeValue(wanted)}`);
    const amount = measure(value);
    if (amount === undefined || holds(amount, wanted)) return undefined;
    return `${at(path)} must ${words} ${String(wanted)}, not ${String(amount)}`;
  };
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const lengthOf = (value: unknown): number | undefined => (typeof value === 'string' ? [...value].length : undefined);
const countOf = (value: unknown): number | undefined => (Array.isArray(value) ? value.length : undefined);
const keysOf = (value: unknown): number | undefined => (isObject(value) ? Object.keys(value).length : undefined);
const isLeast = (amount: number, limit: number): boolean => amount >= limit;
const isMost = (amount: number, limit: number): boolean => amount <= limit;

function listOf(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new SchemaUnusable(`${name} must be a list, not ${describeValue(value)}`);
  return value;
}

function objectOf(value: unknown, name: string): Fields {
  if (!isObject(value)) throw new SchemaUnusable(`${name} must be an object, not ${describeValue(value)}`);
  return value;
}

function checkPattern(value: unknown, wanted: unknown, { path }: Place): string | undefined {
  const reading = readLinearRegex(String(wanted));
  if (reading.type === 'refused') throw new SchemaUnusable(reading.message);
  return typeof value !== 'string' || reading.regex.test(value)
    ? undefined
    : `${at(path)} must match ${quoted(String(wanted))}, not ${describeValue(value)}`;
}

function checkProperties(value: unknown, wanted: unknown, { path, ...spot }: Place): string | undefined {
  const schemas = Object.entries(objectOf(wanted, 'properties'));
  if (!isObject(value)) return undefined;
  return first(schemas, ([key, schema]) =>
    Object.hasOwn(value, key) ? problemOf(value[key], schema, { ...spot, path: [...path, key] }) : undefined,
  );
}

function checkAdditional(value: unknown, wanted: unknown, { path, schema, ...spot }: Place): string | undefined {
  const known = isObject(schema['properties']) ? schema['properties'] : {};
  if (!isObject(value)) return undefined;
  return first(Object.entries(value), ([key, item]) =>
    Object.hasOwn(known, key) ? undefined : problemOf(item, wanted, { ...spot, path: [...path, key] }),
  );
}

function checkRequired(value: unknown, wanted: unknown, { path }: Place): string | undefined {
  const keys = listOf(wanted, 'required');
  if (!isObject(value)) return undefined;
  return first(keys, (key) =>
    Object.hasOwn(value, String(key)) ? undefined : `${at([...path, String(key)])} is missing`,
  );
}

function checkItems(value: unknown, wanted: unknown, { path, ...spot }: Place): string | undefined {
  if (!Array.isArray(value)) return undefined;
  return first([...value.entries()], ([place, item]) => problemOf(item, wanted, { ...spot, path: [...path, place] }));
}

/** A part of the same schema, by a JSON pointer; nothing is fetched. */
function checkReference(value: unknown, wanted: unknown, spot: Spot): string | undefined {
  if (typeof wanted !== 'string' || !/^#(?:\/|$)/.test(wanted))
    throw new SchemaUnusable(`$ref must be "#" or begin with "#/", not ${describeValue(wanted)}`);
  const steps = pointerSteps(wanted);
  let part: unknown = spot.whole.schema;
  for (const step of steps) part = memberOf(part, step);
  if (part === undefined) throw new SchemaUnusable(`$ref ${quoted(wanted)} leads nowhere`);
  return problemOf(value, part, spot);
}

function pointerSteps(reference: string): readonly string[] {
  try {
    return decodeURIComponent(reference)
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch (error) {
    if (error instanceof URIError) throw new SchemaUnusable(`$ref ${quoted(reference)} is not encoded as it should be`);
    throw error;
  }
}

function memberOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return /^\d{1,6}$/.test(key) ? value[Number(key)] : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** How many of the schemas fit. */
function fitting(value: unknown, wanted: unknown, spot: Spot): number {
  return listOf(wanted, 'anyOf, allOf and oneOf').filter((schema) => problemOf(value, schema, spot) === undefined)
    .length;
}

function first<Item>(items: readonly Item[], problem: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = problem(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['type', checkType],
  [
    'enum',
    (value, wanted, { path }) =>
      listOf(wanted, 'enum').some((one) => same(one, value)) ? undefined : `${at(path)} is none of those allowed`,
  ],
  [
    'const',
    (value, wanted, { path }) =>
      same(value, wanted) ? undefined : `${at(path)} must be ${describeValue(wanted)}, not ${describeValue(value)}`,
  ],
  ['minimum', bound(numberOf, isLeast, 'be at least')],
  ['maximum', bound(numberOf, isMost, 'be at most')],
  ['exclusiveMinimum', bound(numberOf, (amount, limit) => amount > limit, 'be more than')],
  ['exclusiveMaximum', bound(numberOf, (amount, limit) => amount < limit, 'be less than')],
  ['minLength', bound(lengthOf, isLeast, 'have a length of at least')],
  ['maxLength', bound(lengthOf, isMost, 'have a length of at most')],
  ['minItems', bound(countOf, isLeast, 'have at least so many items:')],
  ['maxItems', bound(countOf, isMost, 'have at most so many items:')],
  ['minProperties', bound(keysOf, isLeast, 'have at least so many keys:')],
  ['maxProperties', bound(keysOf, isMost, 'have at most so many keys:')],
  ['pattern', checkPattern],
  ['properties', checkProperties],
  ['additionalProperties', checkAdditional],
  ['required', checkRequired],
  ['items', checkItems],
  ['$ref', checkReference],
  [
    'uniqueItems',
    (value, wanted, { path }) =>
      wanted === true && Array.isArray(value) && new Set(value.map(stableJson)).size < value.length
        ? `${at(path)} has an item twice`
        : undefined,
  ],
  [
    'anyOf',
    (value, wanted, place) => (fitting(value, wanted, place) > 0 ? undefined : `${at(place.path)} fits none of anyOf`),
  ],
  [
    'oneOf',
    (value, wanted, place) => {
      const count = fitting(value, wanted, place);
      return count === 1 ? undefined : `${at(place.path)} fits ${String(count)} of oneOf`;
    },
  ],
  ['allOf', (value, wanted, spot) => first(listOf(wanted, 'allOf'), (one) => problemOf(value, one, spot))],
  [
    'not',
    (value, wanted, spot) =>
      problemOf(value, wanted, spot) === undefined ? `${at(spot.path)} fits what it must not` : undefined,
  ],
]);
