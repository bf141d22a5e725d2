import { isObject } from './json-schema.ts';

/** JSON with sorted keys, so that equal values give equal text. Undefined values are left out. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (isObject(item) ? sorted(item) : item));
}

function sorted(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
