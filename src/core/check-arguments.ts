/**
 * Compares the arguments of public functions with their declared types, for callers without a type checker. The build derives the
 * descriptions from the types (scripts/argument-types.js) and wraps every function that an entry point exports.
 */
import { invalidInput } from './errors.ts';
import { nearest } from './nearest.ts';
import { quoted } from './text/text.ts';

type ArgumentType =
  | 'any'
  | 'string'
  | 'number'
  | 'boolean'
  | 'function'
  | 'object'
  | 'null'
  | 'undefined'
  | { readonly literal: string | number | boolean }
  | { readonly list: ArgumentType }
  | { readonly map: ArgumentType }
  /** A class of the language, by name. */
  | { readonly instance: string }
  | { readonly anyOf: readonly ArgumentType[] }
  /** Index of an object type in `types`. */
  | { readonly type: number };

interface FunctionType {
  readonly parameters: readonly { readonly name: string; readonly type: ArgumentType }[];
  readonly isAsync: boolean;
  /** Index of the returned object in `objects`. */
  readonly result?: number;
}

export interface ArgumentTypes {
  readonly functions: Readonly<Record<string, FunctionType>>;
  /** Objects whose methods are checked, too; `members` are such objects. */
  readonly objects: readonly {
    readonly methods: Readonly<Record<string, FunctionType>>;
    readonly members: Readonly<Record<string, number>>;
  }[];
  /** Of options, unknown members are refused: they are misspelled, or of another version. */
  readonly types: readonly { readonly isOptions: boolean; readonly members: Readonly<Record<string, ArgumentType>> }[];
}

type AnyFunction = (this: unknown, ...values: unknown[]) => unknown;

interface Mismatch {
  readonly path: string;
  readonly value: unknown;
  readonly expected: string;
  /** Names of known members, for one that is unknown. */
  readonly known?: readonly string[];
}

/**
 * Wraps a public function so that a wrong argument gives a `SkillError`, as a rejection if the function returns a promise. The methods of
 * the object that it returns are wrapped in place.
 */
export function checkedFunction<F extends AnyFunction>(name: string, described: ArgumentTypes, run: F): F {
  const type = described.functions[name];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it takes the same arguments and returns the same.
  return type === undefined ? run : (checkedCall(name, type, described, run) as F);
}

const wrapped = new WeakSet<object>();

function checkedCall(name: string, type: FunctionType, described: ArgumentTypes, run: AnyFunction): AnyFunction {
  const { parameters, isAsync, result } = type;
  const checked: AnyFunction = function (...values) {
    for (const [index, parameter] of parameters.entries()) {
      const [mismatch] = mismatches(values[index], parameter.type, parameter.name, described.types);
      if (mismatch === undefined) continue;
      const error = toError(name, mismatch);
      if (isAsync) return Promise.reject(error);
      throw error;
    }
    const returned = run.apply(this, values);
    if (result === undefined) return returned;
    if (!(returned instanceof Promise)) return checkMethods(returned, result, described);
    return returned.then((value: unknown) => checkMethods(value, result, described));
  };
  wrapped.add(checked);
  return Object.defineProperty(checked, 'name', { value: name });
}

function checkMethods(value: unknown, index: number, described: ArgumentTypes): unknown {
  const object = described.objects[index];
  if (object === undefined || !isAnyObject(value) || wrapped.has(value) || Object.isFrozen(value)) return value;
  wrapped.add(value);
  for (const [name, type] of Object.entries(object.methods)) {
    const own: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
    if (isFunction(own) && !wrapped.has(own))
      Object.defineProperty(value, name, { value: checkedCall(name, type, described, own) });
  }
  for (const [name, member] of Object.entries(object.members))
    checkMethods(Object.getOwnPropertyDescriptor(value, name)?.value, member, described);
  return value;
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function';
}

function mismatches(
  value: unknown,
  type: ArgumentType,
  path: string,
  types: ArgumentTypes['types'],
): readonly Mismatch[] {
  if (typeof value === 'string' && value.includes('\0') && PATH.test(path))
    return [{ path, value, expected: PATH_WITHOUT_NUL }];
  if (typeof type === 'string') return isOfKind(value, type) ? [] : [{ path, value, expected: describe(type) }];
  if ('anyOf' in type) {
    const attempts = type.anyOf.map((one) => mismatches(value, one, path, types));
    if (attempts.some((found) => found.length === 0)) return [];
    const withNul = attempts.flat().find(({ expected }) => expected === PATH_WITHOUT_NUL);
    if (withNul !== undefined) return [withNul];
    // The alternative that differs least inside of the value is the one that was meant.
    const [meant] = attempts
      .filter((found) => found.every((mismatch) => mismatch.path !== path))
      .toSorted((a, b) => a.length - b.length);
    return meant ?? [{ path, value, expected: describe(type) }];
  }
  if ('literal' in type) return value === type.literal ? [] : [{ path, value, expected: describe(type) }];
  if ('instance' in type) return tagOf(value) === type.instance ? [] : [{ path, value, expected: describe(type) }];
  if ('list' in type) {
    if (!Array.isArray(value)) return [{ path, value, expected: describe(type) }];
    return value.flatMap((item: unknown, index) => mismatches(item, type.list, `${path}[${index}]`, types));
  }
  if (!isAnyObject(value)) return [{ path, value, expected: describe(type) }];
  if ('map' in type)
    return Object.entries(value).flatMap(([key, item]) => mismatches(item, type.map, `${path}.${key}`, types));
  return memberMismatches(value, types[type.type], path, types);
}

function memberMismatches(
  value: object,
  described: ArgumentTypes['types'][number] | undefined,
  path: string,
  types: ArgumentTypes['types'],
): readonly Mismatch[] {
  if (described === undefined) return [];
  const { members, isOptions } = described;
  const known = Object.keys(members);
  const unknown = isOptions
    ? Object.entries(value).filter(([key, item]) => !known.includes(key) && item !== undefined)
    : [];
  return [
    ...unknown.map(([key, item]) => ({
      path: `${path}.${key}`,
      value: item,
      expected: `one of ${known.join(', ')}`,
      known,
    })),
    ...Object.entries(members).flatMap(([key, type]) =>
      mismatches(Reflect.get(value, key), type, `${path}.${key}`, types),
    ),
  ];
}

function toError(name: string, { path, value, expected, known }: Mismatch): ReturnType<typeof invalidInput> {
  if (known === undefined) {
    const state = value === undefined ? 'is missing' : `is ${describeValue(value, expected)}`;
    return invalidInput(`${name}: ${path} ${state}; expected ${expected}`, expected, `pass ${expected} as ${path}`);
  }
  const [probable] = nearest(path.slice(path.lastIndexOf('.') + 1), known, 1);
  const meant = probable === undefined ? '' : `; did you mean ${probable}?`;
  return invalidInput(`${name}: ${path} is not an option`, expected, `remove it${meant} Known: ${known.join(', ')}`);
}

/** Classes and proxies included; lists are not objects here. */
function isAnyObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfKind(value: unknown, kind: Extract<ArgumentType, string>): boolean {
  if (kind === 'any') return true;
  if (kind === 'object') return typeof value === 'object' && value !== null;
  if (kind === 'null') return value === null;
  return kind === 'number' ? typeof value === 'number' && !Number.isNaN(value) : typeof value === kind;
}

/** `AbortSignal`, `Map`; the same for instances of another realm. */
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

const PATH_WITHOUT_NUL = 'a path without NUL characters';
/** Names of arguments that are paths. */
const PATH = /(?:cwd|home|dir|directory|folder|file|fileName|path|root)s?(?:\[\d+\])?$/i;

const NOUNS: Readonly<Record<string, string>> = {
  any: 'any value',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
  null: 'null',
  undefined: 'nothing',
};

function describe(type: ArgumentType): string {
  if (typeof type === 'string') return NOUNS[type] ?? type;
  if ('anyOf' in type) {
    const choices = type.anyOf.filter((one) => one !== 'undefined').map(describe);
    return [...new Set(choices)].join(' or ');
  }
  if ('literal' in type) return JSON.stringify(type.literal);
  if ('instance' in type) return type.instance;
  return 'list' in type ? 'a list' : 'an object';
}

/** A string is shown only where the expected ones are known: others could be secret. */
function describeValue(value: unknown, expected: string): string {
  if (typeof value === 'string') return expected.includes('"') ? quoted(value) : 'a string';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
