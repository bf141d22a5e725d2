/** Builds schemas. Each function keeps the exact type of what it is given, so that `FromSchema` works on the result. */
import type { JsonSchema } from './json-schema.ts';

/** Any text. */
export function text(description: string): { readonly type: 'string'; readonly description: string } {
  return { type: 'string', description };
}

/** One of some words. */
export function choice<const Values extends readonly string[]>(
  description: string,
  values: Values,
  byDefault?: Values[number],
): { readonly type: 'string'; readonly description: string; readonly enum: Values; readonly default?: string } {
  return { type: 'string', description, enum: values, ...(byDefault === undefined ? {} : { default: byDefault }) };
}

export function flag(
  description: string,
  byDefault = false,
): { readonly type: 'boolean'; readonly description: string; readonly default: boolean } {
  return { type: 'boolean', description, default: byDefault };
}

export interface CountSchema {
  readonly type: 'integer';
  readonly description: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}

export function count(description: string, minimum: number, maximum: number, byDefault?: number): CountSchema {
  const fallback = byDefault === undefined ? {} : { default: byDefault };
  return { type: 'integer', description, minimum, maximum, ...fallback };
}

/** A number that need not be whole. */
export function amount(
  description: string,
  minimum: number,
  maximum: number,
): { readonly type: 'number'; readonly description: string; readonly minimum: number; readonly maximum: number } {
  return { type: 'number', description, minimum, maximum };
}

export interface ListSchema<Items> {
  readonly type: 'array';
  readonly description: string;
  readonly maxItems?: number;
  readonly items: Items;
}

export function list<Items extends JsonSchema>(
  description: string,
  items: Items,
  maxItems?: number,
): ListSchema<Items> {
  return { type: 'array', description, ...(maxItems === undefined ? {} : { maxItems }), items };
}

/** Values by any names. */
export function map<Values extends JsonSchema | true>(
  description: string,
  values: Values,
): { readonly type: 'object'; readonly description: string; readonly additionalProperties: Values } {
  return { type: 'object', description, additionalProperties: values };
}

/** Named values and no others; the required ones must be given. */
export function section<
  Properties extends Readonly<Record<string, JsonSchema>>,
  Required extends string & keyof Properties = never,
>(
  description: string,
  properties: Properties,
  required?: readonly Required[],
): {
  readonly type: 'object';
  readonly description: string;
  readonly additionalProperties: false;
  readonly properties: Properties;
  readonly required?: readonly NoInfer<Required>[];
} {
  const needed = required === undefined ? {} : { required };
  return { type: 'object', description, additionalProperties: false, properties, ...needed };
}

/** Builds our own schemas outside of core: `jsonSchema.text('A name.')`. */
export const jsonSchema = { text, choice, flag, count, amount, list, map, section } as const;
