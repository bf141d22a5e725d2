/** Validates the fields and builds the head: all rules about names, types and lengths, whichever reader found the fields. */
import { cleanText, countCharacters, findHidden, isValidName, quoted, readName, toSlug, type SkillHead } from '#core';
import { MAX_COMPATIBILITY, MAX_DESCRIPTION } from './checks.ts';
import { readControls, wrongType, type StatedFields } from './controls.ts';
import { statesDependencies } from './dependencies.ts';
import {
  fieldOfKey,
  findHost,
  isExtension,
  likelyField,
  restrictingField,
  type FieldName,
  type RestrictingField,
} from './fields.ts';
import { readMetadata } from './metadata.ts';
import { moveUnderMetadata } from './move-field.ts';
import { isUnsafeKey, locateInValue, type MapEntry, type MapNode, type ScalarNode, type YamlNode } from './node.ts';
import { addDiagnostic, readScalarText, STRICTEST, type Report, type Edit } from './report.ts';
import { findFlowRestrictions, findLineRestrictions, type LooseRestriction } from './restrictions.ts';
import type { HeadOptions, HeadSource } from './source.ts';
import { quoteYaml, replacing, writeYaml } from './write.ts';

export interface AssembleInput {
  readonly report: Report;
  readonly source: HeadSource;
  readonly options: HeadOptions;
  readonly map: MapNode;
  /** The offset after the opening fence line, where a missing field is inserted. */
  readonly start: number;
  /** Restricting fields that the text contains but no reader could parse. */
  readonly unreadable: ReadonlySet<RestrictingField>;
}

/** Returns `undefined` if the skill must be excluded; the report then contains the reason. */
export function assembleHead(input: AssembleInput): SkillHead | undefined {
  const { report, map, unreadable } = input;
  const stated = sortFields(report, map);
  const meta = readMetadata(report, stated);
  const name = readNameField(input, first(stated, 'name'));
  const description = readDescription(input, first(stated, 'description'));
  const license = readText(report, first(stated, 'license'));
  const compatibility = readCompatibility(report, first(stated, 'compatibility'));
  const controls = readControls(report, stated, withMisplaced(report, map, unreadable));
  if (name === undefined || description === undefined) return undefined;
  return { name, description, license, compatibility, controls, meta };
}

/** Adds restrictions found inside a value that must not be a map, or in a `metadata` that is not one: their meaning is unknown. */
function withMisplaced(
  report: Report,
  map: MapNode,
  unreadable: ReadonlySet<RestrictingField>,
): ReadonlySet<RestrictingField> {
  let all = unreadable;
  for (const { key, value } of map.entries) {
    const parent = fieldOfKey(key) ?? likelyField(key);
    if (value === undefined || parent === undefined || restrictingField(parent) !== undefined) continue;
    if (parent === 'metadata' ? value.type === 'map' : value.type === 'scalar') continue;
    for (const { field, at } of restrictionsIn(value, { inText: parent === 'metadata' })) {
      if (all.has(field)) continue;
      all = new Set([...all, field]);
      const message = `${field} is inside the value of ${quoted(key)}`;
      addDiagnostic(report, { code: 'field/unreadable-restriction', at, message, instead: STRICTEST });
    }
  }
  return all;
}

/** With `inText`, text is searched too: the author may have quoted the whole `metadata`. */
function restrictionsIn(node: YamlNode, options: { readonly inText: boolean }): readonly LooseRestriction[] {
  if (node.type === 'list') return node.items.flatMap((item) => restrictionsIn(item, options));
  if (node.type === 'scalar') {
    if (!options.inText) return [];
    const { value, start } = node;
    const found = [...findLineRestrictions(value, 0, value.length), ...findFlowRestrictions(value, 0, value.length)];
    return found.map(({ field }) => ({ field, at: start }));
  }
  return node.entries.flatMap(({ key, keyStart, value }) => {
    const field = restrictingField(likelyField(key) ?? '');
    const below = value === undefined || value.type === 'scalar' ? [] : restrictionsIn(value, options);
    return field === undefined ? below : [{ field, at: keyStart }, ...below];
  });
}

function first(stated: StatedFields, field: FieldName): MapEntry | undefined {
  return stated.get(field)?.[0];
}

/** Groups the entries by field. A duplicate is dropped, except for restricting fields and `metadata`, where every entry counts. */
function sortFields(report: Report, map: MapNode): Map<FieldName, MapEntry[]> {
  const stated = new Map<FieldName, MapEntry[]>();
  let others: Set<string> | undefined;
  for (const entry of map.entries) {
    const { key } = entry;
    const exact = fieldOfKey(key);
    const field = exact ?? likelyField(key);
    if (field === undefined) {
      if (others?.has(key) === true) reportDuplicate(report, entry);
      else reportUnknown(report, entry);
      others ??= new Set();
      others.add(key);
      continue;
    }
    if (exact === undefined) reportMisspelt(report, entry, field);
    else if (isExtension(field) && !(field === 'dependencies' && !statesDependencies(entry.value)))
      reportExtension(report, map, entry);
    else if (findHost(field) !== undefined) reportUnknown(report, entry);
    if (field === 'dependencies' && !statesDependencies(entry.value)) continue;
    const entries = stated.get(field);
    if (entries === undefined) stated.set(field, [entry]);
    else {
      if (exact !== undefined) reportDuplicate(report, entry, field);
      if (restrictingField(field) !== undefined || field === 'metadata') entries.push(entry);
    }
  }
  return stated;
}

function reportDuplicate(report: Report, { key, keyStart, value }: MapEntry, field?: FieldName): void {
  const restricts = field !== undefined && restrictingField(field) !== undefined;
  const lineEnd = report.text.indexOf('\n', keyStart) + 1;
  const oneLine = value === undefined || (value.type === 'scalar' && value.style !== 'block' && value.end < lineEnd);
  addDiagnostic(report, {
    code: 'frontmatter/duplicate-key',
    at: keyStart,
    message: `${quoted(key)} is given twice`,
    instead: restricts ? 'the stricter one is used' : 'the first one is used',
    edit: oneLine && !restricts ? { offset: keyStart, length: lineEnd - keyStart, text: '' } : undefined,
  });
}

function reportUnknown(report: Report, { key, keyStart }: MapEntry): void {
  if (isUnsafeKey(key)) {
    addDiagnostic(report, {
      code: 'frontmatter/unsafe-key',
      at: keyStart,
      message: `the key ${quoted(key)} is refused`,
    });
    return;
  }
  const host = findHost(key);
  addDiagnostic(report, {
    code: host === undefined ? 'field/unknown' : 'field/other-agent',
    at: keyStart,
    message: `${quoted(key)} is not a field of the specification${host === undefined ? '' : `; ${host} reads it`}`,
  });
}

function reportMisspelt(report: Report, { key, keyStart, keyEnd }: MapEntry, field: FieldName): void {
  addDiagnostic(report, {
    code: 'field/unknown',
    at: keyStart,
    message: `${quoted(key)} is read as ${field}`,
    hint: `write ${field}`,
    edit: { offset: keyStart, length: keyEnd - keyStart, text: field },
  });
}

function reportExtension(report: Report, map: MapNode, entry: MapEntry): void {
  addDiagnostic(report, {
    code: 'field/extension',
    at: entry.keyStart,
    message: `${quoted(entry.key)} is understood here, but is not in the specification`,
    edit: moveUnderMetadata(report, map, entry),
  });
}

function readNameField({ report, source, start }: AssembleInput, entry: MapEntry | undefined): string | undefined {
  const { directory } = source;
  const value = entry?.value;
  if (value?.type === 'scalar' && value.value === directory && isValidName(directory)) return directory;
  const folder = readName(directory).name;
  if (entry === undefined || value === undefined) {
    reportNoName(report, directory, { entry, start });
    return usableFolder(report, folder, start);
  }
  if (value.type !== 'scalar') {
    wrongType(report, 'name', value, 'text');
    return usableFolder(report, folder, start);
  }
  return readWrittenName(report, directory, value) ?? usableFolder(report, folder, start);
}

const FOLDER_NAME = "the folder's name is used";

/** Splits `org/skill-name`. */
function splitNamespace(written: string): { readonly namespace: string; readonly name: string } | undefined {
  const [namespace, name, ...more] = written.split('/');
  if (more.length > 0 || !isValidName(namespace) || !isValidName(name)) return undefined;
  return { namespace, name };
}

/** Returns `undefined` if the name is unusable; the caller then uses the folder's name. */
function readWrittenName(report: Report, directory: string, value: ScalarNode): string | undefined {
  const folder = readName(directory).name;
  const namespaced = splitNamespace(value.value);
  const { name, problem, isTooLong } = readName(value.value);
  if (namespaced !== undefined) {
    const message = `the name ${quoted(value.value)} has the namespace ${quoted(namespaced.namespace)}; other agents may refuse the slash`;
    const edit = isValidName(folder) && value.style !== 'block' ? replacing(value, writeYaml(folder)) : undefined;
    addDiagnostic(report, { code: 'name/invalid', at: value.start, message, edit });
    return value.value;
  }
  if (isValidName(name) && problem === undefined && name === folder) return name;

  const better = isValidName(folder) ? folder : toSlug(value.value);
  const edit = better === undefined || value.style === 'block' ? undefined : replacing(value, writeYaml(better));
  if (problem !== undefined) {
    const hint =
      better === undefined ? undefined : `use 1 to 64 lower-case letters, digits and single hyphens: ${better}`;
    const message = `the name ${quoted(value.value)} ${problem}`;
    const instead = name === undefined ? FOLDER_NAME : undefined;
    const code = value.value.trim() === '' ? 'name/missing' : 'name/invalid';
    addDiagnostic(report, { code, at: value.start, message, instead, hint, edit });
  }
  if (name === undefined) return undefined;
  if (isTooLong === true) {
    const message = `the name has ${countCharacters(name)} characters, expected at most 64`;
    addDiagnostic(report, { code: 'name/too-long', at: value.start, message, edit });
  }
  reportEscapes(report, value);
  // A name that becomes the folder's name when normalized has one problem, not two.
  const slug = problem === undefined ? name : toSlug(name);
  if (name !== folder && slug !== undefined && slug !== folder) {
    addDiagnostic(report, {
      code: 'name/directory-mismatch',
      at: value.start,
      message: `the name is ${quoted(name)}, but the folder is ${quoted(directory)}`,
      edit: better === folder ? edit : undefined,
    });
  }
  return name;
}

function reportNoName(
  report: Report,
  directory: string,
  { entry, start }: { readonly entry: MapEntry | undefined; readonly start: number },
): void {
  const text = writeYaml(directory.normalize('NFKC'));
  const edit =
    entry === undefined
      ? { offset: start, length: 0, text: `name: ${text}\n` }
      : { offset: entry.keyEnd + 1, length: 0, text: ` ${text}` };
  // The edit inserts text after the colon, so it needs `name:` and not `name: ~`.
  const isFree = entry === undefined || /^[ \t]*\r?\n/.test(report.text.slice(entry.keyEnd + 1, entry.keyEnd + 80));
  addDiagnostic(report, {
    code: 'name/missing',
    at: entry?.keyStart ?? start,
    message: 'there is no name',
    instead: FOLDER_NAME,
    edit: isValidName(directory.normalize('NFKC')) && isFree ? edit : undefined,
  });
}

function usableFolder(report: Report, name: string | undefined, start: number): string | undefined {
  if (name !== undefined) return name;
  addDiagnostic(report, {
    code: 'name/unusable',
    at: start,
    message: 'neither the file nor its folder has a usable name',
  });
  return undefined;
}

function readDescription({ report, options, start }: AssembleInput, entry: MapEntry | undefined): string | undefined {
  const value = entry?.value;
  const text = value === undefined ? '' : descriptionText(report, value);
  if (value === undefined || text === '') {
    const message =
      value === undefined || value.type !== 'map'
        ? 'there is no description'
        : 'the description is a map, expected text';
    addDiagnostic(report, {
      code: 'description/missing',
      at: entry?.keyStart ?? start,
      message,
      ...commentedOut(report, entry),
    });
    return '';
  }
  if (countCharacters(text) > MAX_DESCRIPTION) {
    const message = `the description has ${countCharacters(text)} characters, expected at most ${MAX_DESCRIPTION}`;
    addDiagnostic(report, { code: 'description/too-long', at: value.start, message });
  }
  if (value.type === 'scalar') reportEscapes(report, value);
  const hasBrackets = hasAngleBrackets(report, options, value.type === 'scalar' ? value : undefined, text);
  return hasBrackets && options.blockAngleBrackets === true ? undefined : text;
}

/** `description: # Chemistry`: YAML sees a comment, the author wrote a heading. */
function commentedOut(report: Report, entry: MapEntry | undefined): { readonly hint?: string; readonly edit?: Edit } {
  if (entry === undefined || entry.value !== undefined) return {};
  const line = report.text.slice(entry.keyEnd + 1, report.text.indexOf('\n', entry.keyEnd));
  const text = line.trim();
  if (!text.startsWith('#')) return {};
  const offset = entry.keyEnd + 1 + line.indexOf('#');
  const words = text.replace(/^#+/, '').trim();
  return {
    hint: '# starts a comment: put the text in quotes',
    edit: { offset, length: text.length, text: quoteYaml(words) },
  };
}

function descriptionText(report: Report, value: NonNullable<MapEntry['value']>): string {
  if (value.type === 'scalar') return readScalarText(report, value);
  if (value.type === 'map' && !value.flow) return '';
  const raw = value.flow ? report.text.slice(value.start, value.end) : '';
  const text = value.flow
    ? cleanText(raw)
    : value.type === 'list'
      ? value.items
          .map((item) => (item.type === 'scalar' ? readScalarText(report, item) : ''))
          .filter((item) => item !== '')
          .join('; ')
      : '';
  if (text !== '') {
    addDiagnostic(report, {
      code: 'field/type',
      at: value.start,
      message: `the description is ${value.type === 'list' ? 'a list' : 'a map'}, expected text`,
      instead: 'it is used as written',
      hint: 'put the text in double quotes',
      edit: value.flow && !raw.includes('\n') ? replacing(value, quoteYaml(raw)) : undefined,
    });
  }
  return text;
}

/** Only for brackets that the raw text does not show, such as `"\\u003c"`, where the whole frontmatter was checked. */
function hasAngleBrackets(report: Report, options: HeadOptions, node: ScalarNode | undefined, text: string): boolean {
  if (report.diagnostics.some(({ code }) => code === 'text/angle-brackets')) return true;
  const less = text.indexOf('<');
  const found = less === -1 ? text.indexOf('>') : less;
  if (found === -1) return false;
  const at =
    node === undefined ? report.text.indexOf(text.charAt(found)) : locateInValue(report.text, node, text.charAt(found));
  addDiagnostic(report, {
    code: 'text/angle-brackets',
    at,
    message: `${text.charAt(found)} in the description`,
    isError: options.blockAngleBrackets === true,
  });
  return true;
}

function readText(report: Report, entry: MapEntry | undefined): string | undefined {
  const value = entry?.value;
  if (entry === undefined || value === undefined) return undefined;
  if (value.type !== 'scalar') {
    wrongType(report, entry.key, value, 'text');
    return undefined;
  }
  reportEscapes(report, value);
  const text = readScalarText(report, value);
  return text === '' ? undefined : text;
}

function readCompatibility(report: Report, entry: MapEntry | undefined): string | undefined {
  const text = readText(report, entry);
  if (text !== undefined && countCharacters(text) > MAX_COMPATIBILITY) {
    const message = `compatibility has ${countCharacters(text)} characters, expected at most ${MAX_COMPATIBILITY}`;
    addDiagnostic(report, { code: 'compatibility/too-long', at: entry?.value?.start ?? 0, message });
  }
  if (text === undefined && entry !== undefined && (entry.value === undefined || entry.value.type === 'scalar'))
    addDiagnostic(report, { code: 'compatibility/empty', at: entry.keyStart, message: 'compatibility is empty' });
  return text;
}

/** Reports hidden characters written as escapes: `"\e[31m"`. `checks.ts` reports literal ones once for the whole text. */
function reportEscapes(report: Report, node: ScalarNode): void {
  if (node.style !== 'double') return;
  const found = findHidden(node.value);
  if (found === undefined || findHidden(report.text.slice(node.start, node.end)) !== undefined) return;
  addDiagnostic(report, {
    code: found.kind === 'control' ? 'text/control-characters' : 'text/hidden-characters',
    at: node.start,
    message: `${quoted(node.value)} has escapes for hidden characters, expected visible text`,
    edit: replacing(node, quoteYaml(cleanText(node.value))),
  });
}
