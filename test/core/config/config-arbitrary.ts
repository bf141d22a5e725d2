import fc from 'fast-check';

import { CONFIG_SCHEMA, type Config } from '../../../src/core/config/config.ts';
import type { Setting } from '../../../src/core/config/config-settings.ts';
import type { JsonSchema } from '../../../src/core/json/json-schema.ts';

/** Few, so that two configurations often speak about the same. */
const HOSTS = [
  'a.example.org',
  '*.example.org',
  'b.example.org:8443',
  'b.example.org:*',
  '10.0.0.1',
  'private://10.0.0.1',
];
const RULES = ['Read', 'Write', 'Bash(git status:*)', 'WebFetch(domain:example.org)'];

/** Configurations that the schema takes, made from the schema itself: a new key is tried without a line here. */
export const anyConfig: fc.Arbitrary<Config> = fromSchema(CONFIG_SCHEMA, '') as fc.Arbitrary<Config>;

/** Values of one setting. */
export function settingArbitrary({ schema, path }: Setting): fc.Arbitrary<unknown> {
  return fromSchema(schema, path.at(-1) ?? '');
}

function fromSchema(schema: JsonSchema, key: string): fc.Arbitrary<unknown> {
  if ('anyOf' in schema) return fc.oneof(...schema.anyOf.map((option) => fromSchema(option, key)));
  switch (schema.type) {
    case 'string':
      if (key === 'network') return fc.constantFrom(...HOSTS);
      if (['allow', 'ask', 'deny'].includes(key)) return fc.constantFrom(...RULES);
      return schema.enum === undefined ? fc.constantFrom('one', 'two', 'three') : fc.constantFrom(...schema.enum);
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 1_000 } = schema;
      return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1_000) });
    }
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(fromSchema(schema.items, key), { maxLength: 3 });
    case 'object':
      if (!('properties' in schema)) {
        const entry = schema.additionalProperties;
        const value =
          entry === true || entry === undefined ? fc.constantFrom(0, 'x', { y: 1 }) : fromSchema(entry, key);
        return fc.dictionary(fc.constantFrom('pdf', 'csv', 'a.b'), value, { maxKeys: 2 });
      }
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties)
            .filter(([name]) => name !== '$schema')
            .map(([name, property]) => [name, fromSchema(property, name)]),
        ),
        { requiredKeys: [...(schema.required ?? [])] },
      );
  }
}
