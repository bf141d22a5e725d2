/** Generates values that a schema accepts, and values that it must reject. */
import { isObject, type JsonSchema, type openRandom } from '#core';

type SeededRandom = ReturnType<typeof openRandom>;

type Input = Readonly<Record<string, unknown>>;

/** Strings that every schema without an enum accepts. */
const PLAIN: readonly [string, ...string[]] = [
  'hello',
  'SKILL.md',
  'references/guide.md',
  'scripts/run.mjs',
  'out/**',
  'workspace://work/inputs/a.csv',
  'echo hi',
  'what is in this table?',
  '分析这个文件',
  '',
];

export const ESCAPES: readonly [string, ...string[]] = [
  '../../../../etc/passwd',
  '/etc/shadow',
  'scripts/../../../x',
  '..\\..\\windows\\system.ini',
  '%2e%2e%2fetc%2fpasswd',
  'references/\0.md',
  'file:///etc/passwd',
  '~/.ssh/id_rsa',
  'workspace://../../x',
  'skill://other/../../x',
  'host:///etc/passwd',
  '/proc/self/environ',
  'con:',
  '$(touch pwned)',
  '; rm -rf /',
  'a\u202egpj.sh',
];

export const UNKNOWN_SKILLS: readonly [string, ...string[]] = [
  'no-such-skill',
  '',
  'CSV-REPORT ',
  '../csv-report',
  'сsv-report',
  '__proto__',
  'constructor',
  'a'.repeat(5000),
  '*',
];

/** Deeper than any hand-written schema. */
const MAX_DEPTH = 8;

/** A value that the schema accepts. `text` generates its free strings. */
export function validValue(
  schema: JsonSchema,
  random: SeededRandom,
  text: (random: SeededRandom) => string = (source) => source.pick(PLAIN),
  depth = 0,
): unknown {
  if ('anyOf' in schema) {
    const [first, ...rest] = schema.anyOf;
    return first === undefined ? null : validValue(random.pick([first, ...rest]), random, text, depth + 1);
  }
  switch (schema.type) {
    case 'string': {
      const [first, ...rest] = schema.enum ?? [];
      return first === undefined ? text(random) : random.pick([first, ...rest]);
    }
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = minimum + 10 } = schema;
      return minimum + random.below(Math.min(maximum - minimum, 10) + 1);
    }
    case 'boolean':
      return random.isChance(2);
    case 'array': {
      const length = depth > MAX_DEPTH ? 0 : random.below(Math.min(schema.maxItems ?? 3, 3) + 1);
      return Array.from({ length }, () => validValue(schema.items, random, text, depth + 1));
    }
    case 'object':
      return 'properties' in schema ? validObject(schema, random, text, depth) : {};
  }
}

function validObject(
  { properties, required = [] }: Extract<JsonSchema, { readonly properties: unknown }>,
  random: SeededRandom,
  text: (random: SeededRandom) => string,
  depth: number,
): Input {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([key]) => required.includes(key) || (depth <= MAX_DEPTH && random.isChance(3)))
      .map(([key, property]) => [key, validValue(property, random, text, depth + 1)]),
  );
}

/** Replaces one value by one of a wrong type or out of bounds. */
export function withWrongType(input: unknown, random: SeededRandom): unknown {
  const wrong = (was: unknown): unknown =>
    random.pick<unknown>([
      null,
      -1,
      1e308,
      true,
      [],
      {},
      [[[was]]],
      { value: was },
      typeof was === 'string' ? 7 : 'seven',
    ]);
  return changedKey(input, random, wrong) ?? wrong(input);
}

export function withoutOne(input: unknown, random: SeededRandom): unknown {
  return changedKey(input, random, () => undefined) ?? {};
}

function changedKey(input: unknown, random: SeededRandom, change: (was: unknown) => unknown): Input | undefined {
  if (!isObject(input)) return undefined;
  const [first, ...rest] = Object.keys(input);
  if (first === undefined) return undefined;
  const key = random.pick([first, ...rest]);
  return { ...input, [key]: change(input[key]) };
}

export function withTexts(value: unknown, text: () => string): unknown {
  if (typeof value === 'string') return text();
  if (Array.isArray(value)) return value.map((item: unknown) => withTexts(item, text));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, text)]));
}
