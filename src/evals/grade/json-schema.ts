/**
 * Validates a value against a JSON Schema (2020-12) that the author of a case wrote. Unknown keywords make the schema unusable, because
 * an ignored keyword would let a check pass. Nothing is fetched, patterns run in linear time, and the whole check has a deadline.
 */
import { isNativeError } from 'node:util/types';
import { runInNewContext } from 'node:vm';

import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

import { describeValue, isObject, quoted } from '#core';
import { readLinearRegex } from './linear-regex.ts';

export type SchemaVerdict =
  | { readonly type: 'fits' }
  | { readonly type: 'differs'; readonly message: string }
  /** The schema itself cannot be used. */
  | { readonly type: 'unusable'; readonly message: string };

const MAX_DEPTH = 300;
/** References can double the work at every level, so the number of steps has no useful static bound. */
const DEADLINE_MS = 2000;

const TOO_DEEP = `the schema is nested deeper than ${String(MAX_DEPTH)} levels or refers to itself without end`;

export function checkJsonSchema(value: unknown, schema: unknown): SchemaVerdict {
  try {
    const check = (): SchemaVerdict => validate(value, ownSchema(schema));
    // The timeout of `vm` also ends functions from outside its context.
    const verdict: SchemaVerdict = runInNewContext('check()', { check }, { timeout: DEADLINE_MS });
    return verdict;
  } catch (error) {
    if (error instanceof RangeError) return unusable(TOO_DEEP);
    if (!isNativeError(error)) throw error;
    const isLate = 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    if (isLate) return unusable(`checking the schema took longer than ${String(DEADLINE_MS)} ms`);
    return unusable(error.message.replace(/^strict mode: /, ''));
  }
}

/** The dialect and the address that a schema states must not lead Ajv to other schemas. */
function ownSchema(schema: unknown): unknown {
  requireSafe(schema, MAX_DEPTH);
  const { $schema: _dialect, $id: _address, ...rest } = isObject(schema) ? schema : {};
  return isObject(schema) ? rest : schema;
}

/** Ajv follows `$ref` by plain property access: `#/$defs/toString` would find a method that every object inherits. */
function requireSafe(value: unknown, depth: number): void {
  if (depth < 0) throw new RangeError(TOO_DEEP);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const steps = key === '$ref' && typeof item === 'string' ? decodeURIComponent(item).split('/').slice(1) : [];
    if (steps.some((step) => step in Object.prototype))
      throw new Error(`can't resolve reference ${quoted(String(item))}`);
    requireSafe(item, depth - 1);
  }
}

function validate(value: unknown, schema: unknown): SchemaVerdict {
  if (typeof schema !== 'boolean' && !isObject(schema))
    return unusable(`a schema must be an object or a boolean, got ${describeValue(schema)}`);
  // An asynchronous schema returns a promise instead of a verdict.
  if (isObject(schema) && '$async' in schema) return unusable('unknown keyword: "$async"');
  const run = AJV.compile(schema);
  const isValid = run(value);
  if (isObject(schema)) AJV.removeSchema(schema);
  if (isValid) return { type: 'fits' };
  // The last error is the outermost one: `anyOf` itself and not one of its branches.
  const error = run.errors?.at(-1);
  return { type: 'differs', message: error === undefined ? 'the value does not fit the schema' : errorText(error) };
}

const AJV = openAjv();

function openAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strictTypes: false,
    strictTuples: false,
    ownProperties: true,
    validateFormats: false,
    verbose: true,
    logger: false,
    code: { regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
  });
  // Compiles the meta-schema now, outside the deadline of a check.
  // Only a schema that says `$async` gives a promise.
  // oxlint-disable-next-line typescript/no-floating-promises
  ajv.validateSchema({});
  return ajv;
}

/** Ajv caches patterns by the text of the returned object, so each one needs its own `toString`. */
function linearPattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const reading = readLinearRegex(pattern);
  if (reading.type === 'refused') throw new Error(reading.message);
  return { test: (text) => reading.regex.test(text), toString: () => `/${pattern}/u` };
}

function errorText({ keyword, instancePath, params, message = '', data, schema }: ErrorObject): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const at = (...more: readonly unknown[]): string =>
    path.length + more.length === 0 ? 'the value' : quoted([...path, ...more].join('.'));
  switch (keyword) {
    case 'required':
      return `${at(params['missingProperty'])} is missing`;
    case 'additionalProperties':
      return `${at(params['additionalProperty'])} is not allowed`;
    case 'unevaluatedProperties':
      return `${at(params['unevaluatedProperty'])} is not allowed`;
    case 'false schema':
      return `${at()} is not allowed`;
    case 'enum':
      return `${at()} must be one of ${[schema].flat().map(describeValue).join(', ')}, got ${describeValue(data)}`;
    case 'const':
      return `${at()} must be ${describeValue(schema)}, got ${describeValue(data)}`;
    default:
      return `${at()} ${message}, got ${describeValue(data)}`;
  }
}

function unusable(message: string): SchemaVerdict {
  return { type: 'unusable', message };
}
