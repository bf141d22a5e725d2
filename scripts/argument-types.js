// Derives from the declared types of the entry points what `checkedFunction` (src/core/check-arguments.ts) compares arguments with. The
// types are thus the only description of arguments, and every exported function is covered.
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { API, SignatureKind, SymbolFlags, TypeFlags } from 'typescript/unstable/sync';

/** Names of types that a caller writes for one call. */
const OPTIONS =
  /(?:Options|Settings|Limits|Choice|SessionPolicy|HintTexts|ScriptedTurn|ScriptedToolCall|Expectation)$|^__type$/;
const DERIVED = new Set(['Omit', 'Partial', 'Pick', 'Readonly', 'Required']);
const INSTANCES = new Set(['AbortSignal', 'Date', 'Map', 'ReadonlyMap', 'ReadonlySet', 'Set', 'URL', 'Uint8Array']);
/** Unions of more strings than these are long lists of codes, which are not repeated in every entry point. */
const MAX_LITERALS = 24;
const project = fileURLToPath(new URL('..', import.meta.url));

/**
 * `{ functions, objects, types }` for each entry point: its functions with their parameters, and by number the objects with methods that they
 * return and the types of their parameters.
 * Options are described completely. Of other objects, which users have from elsewhere, only the direct members are.
 */
export function argumentTypes(doors) {
  const api = new API({ cwd: project });
  try {
    const config = path.join(project, 'tsconfig.build.json');
    const { checker, program } = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    return new Map(
      doors.map((door) => [door, describeDoor(program.getSourceFile(path.join(project, `src/${door}.ts`)), checker)]),
    );
  } finally {
    api.close();
  }
}

function describeDoor(file, checker) {
  const types = [];
  const objects = [];
  const known = new Map();
  const knownObjects = new Map();
  const functions = {};
  for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(file))) {
    const target = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const type = checker.getTypeOfSymbol(target);
    const signatures = type === undefined ? [] : checker.getSignaturesOfType(type, SignatureKind.Call);
    if (signatures.length === 0) continue;
    const described = describeFunction(signatures);
    const isChecked = described.parameters.some((parameter) => parameter.type !== 'any');
    if (isChecked || described.result !== undefined) functions[symbol.name] = described;
  }
  return { functions, objects, types };

  function describeFunction(signatures) {
    const longest = Math.max(...signatures.map((signature) => signature.getParameters().length));
    const parameters = Array.from({ length: longest }, (_, index) => {
      const having = signatures.filter((one) => index < one.getParameters().length);
      const described = having.map((one) => describe(checker.getParameterType(one, index), 1));
      const absent = having.length < signatures.length ? ['undefined'] : [];
      const { name } = having[0].getParameters()[index];
      // Destructured parameters have no name.
      return { name: name.startsWith('__') ? 'options' : name, type: anyOf([...described, ...absent]) };
    });
    const results = signatures.map((one) => checker.getReturnTypeOfSignature(one));
    const isAsync = results.every((one) => one.getSymbol()?.name === 'Promise');
    const result = describeResult(isAsync ? checker.getTypeArguments(results[0])[0] : results[0]);
    return { parameters, isAsync, ...(result === undefined ? {} : { result }) };
  }

  /** The number of an object with methods, whose arguments are checked as well. */
  function describeResult(type) {
    if (type === undefined || !(type.flags & TypeFlags.Object) || isForeign(type.getSymbol())) return undefined;
    if (knownObjects.has(type.id)) return knownObjects.get(type.id);
    knownObjects.set(type.id, undefined);
    const members = checker.getPropertiesOfType(type).map((member) => [member.name, checker.getTypeOfSymbol(member)]);
    const signaturesOf = (member) => checker.getSignaturesOfType(member, SignatureKind.Call);
    if (!members.some(([, member]) => signaturesOf(member).length > 0)) return undefined;
    const object = { methods: {}, members: {} };
    knownObjects.set(type.id, objects.push(object) - 1);
    for (const [name, member] of members) {
      const signatures = signaturesOf(member);
      if (signatures.length > 0) object.methods[name] = describeFunction(signatures);
      else object.members[name] = describeResult(member);
    }
    return knownObjects.get(type.id);
  }

  /** `depth` says how many levels of objects other than options are described. */
  function describe(type, depth) {
    const { flags } = type;
    if (flags & TypeFlags.Undefined || flags & TypeFlags.Void) return 'undefined';
    if (flags & TypeFlags.Null) return 'null';
    if (flags & (TypeFlags.StringLiteral | TypeFlags.NumberLiteral)) return { literal: type.value };
    if (flags & TypeFlags.BooleanLiteral) return { literal: checker.typeToString(type) === 'true' };
    if (flags & TypeFlags.StringLike) return 'string';
    if (flags & TypeFlags.NumberLike) return 'number';
    if (flags & TypeFlags.BooleanLike) return 'boolean';
    if (type.isUnionType()) return anyOf(type.getTypes().map((one) => describe(one, depth)));
    if (type.isIntersectionType() && type.getTypes().some((one) => one.flags & TypeFlags.Primitive)) return 'any';
    if (!(flags & (TypeFlags.Object | TypeFlags.Intersection))) return 'any';
    return describeObject(type, depth);
  }

  function describeObject(type, depth) {
    const kinds = [SignatureKind.Call, SignatureKind.Construct];
    if (kinds.some((kind) => checker.getSignaturesOfType(type, kind).length > 0)) return 'function';
    if (checker.isArrayType(type)) return { list: describe(checker.getTypeArguments(type)[0], depth) };
    if (checker.isTupleType(type)) return { list: 'any' };
    const symbol = type.getSymbol();
    if (isForeign(symbol))
      return INSTANCES.has(symbol.name) ? { instance: symbol.name.replace('Readonly', '') } : 'object';
    const [index] = checker.getIndexInfosOfType(type);
    if (index !== undefined) return { map: describe(index.valueType, depth) };
    const isOptions = depth > 0 && OPTIONS.test(writtenName(type));
    if (!isOptions && depth === 0) return 'object';
    const key = `${type.id} ${depth}`;
    if (!known.has(key)) {
      known.set(key, types.length);
      const described = { isOptions, members: {} };
      types.push(described);
      for (const member of checker.getPropertiesOfType(type).filter(({ name }) => !name.startsWith('__@')))
        described.members[member.name] = describe(checker.getTypeOfSymbol(member), isOptions ? depth : depth - 1);
    }
    return { type: known.get(key) };
  }
}

/** The name of a type; of `Partial<T>`, `Omit<T, K>` and the like, that of `T`. */
function writtenName(type) {
  const alias = type.getAliasSymbol();
  if (DERIVED.has(alias?.name)) return writtenName(type.getAliasTypeArguments()[0]);
  return (alias ?? type.getSymbol())?.name ?? '__type';
}

/** Types of the language, of Node and of other packages: their values are taken as they are. */
function isForeign(symbol) {
  return (
    symbol?.declarations.some(({ path: file }) => /node_modules|lib\.[^/]*\.d\.ts$/.test(file)) === true &&
    symbol.name !== '__type'
  );
}

function anyOf(alternatives) {
  const flat = alternatives.flatMap((one) => one.anyOf ?? [one]);
  if (flat.includes('any')) return 'any';
  const all = [...new Map(flat.map((one) => [JSON.stringify(one), one])).values()];
  const isBoolean = [true, false].every((value) => all.some(({ literal }) => literal === value));
  const rest = isBoolean ? ['boolean', ...all.filter(({ literal }) => typeof literal !== 'boolean')] : all;
  if (rest.filter(({ literal }) => typeof literal === 'string').length > MAX_LITERALS)
    return anyOf(['string', ...rest.filter(({ literal }) => typeof literal !== 'string')]);
  return rest.length === 1 ? rest[0] : { anyOf: rest };
}
