import { isObject, type JsonSchema, type ObjectSchema } from './json-schema.ts';

/** Longer lists of values are not spelled out. */
const LONGEST_ENUM = 8;

/** Writes a schema in one line, as TypeScript would: `{skill: {name: string, source?: string}, args?: string[]}`. */
export function schemaText(schema: JsonSchema): string {
  if (!isOwn(schema)) return 'any';
  if ('anyOf' in schema) return schema.anyOf.map(schemaText).join(' | ');
  switch (schema.type) {
    case 'string': {
      const { enum: values, isOpen } = schema;
      const isShort = values !== undefined && values.length <= LONGEST_ENUM && isOpen !== true;
      return isShort ? values.map((value) => JSON.stringify(value)).join(' | ') : 'string';
    }
    case 'integer':
    case 'number':
    case 'boolean':
      return schema.type;
    case 'array': {
      const item = schemaText(schema.items);
      return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return 'properties' in schema ? objectText(schema) : '{[name: string]: string}';
  }
}

/** Schemas of MCP servers may use all of JSON Schema. */
function isOwn(schema: JsonSchema): boolean {
  if ('anyOf' in schema) return Array.isArray(schema.anyOf);
  return schema.type === 'array' ? isObject(schema.items) : OWN_TYPES.has(schema.type);
}

const OWN_TYPES: ReadonlySet<string> = new Set(['string', 'integer', 'boolean', 'object']);

function objectText({ properties, required = [] }: ObjectSchema): string {
  const fields = Object.entries(properties).map(([name, property]) => {
    // A model was not sent this parameter: the answer to a wrong call is where it learns of it.
    const about = property.brief === 'none' ? ` /* ${property.description ?? ''} */` : '';
    return `${name}${required.includes(name) ? '' : '?'}: ${schemaText(property)}${about}`;
  });
  return `{${fields.join(', ')}}`;
}
