/**
 * Reads frontmatter that is not valid YAML. The text is split into one piece per field; valid pieces are parsed normally, and only
 * the broken ones are repaired, so that one mistake affects one field and produces one diagnostic.
 */
import { fieldOfKey, likelyField, restrictingField, type FieldName, type RestrictingField } from './fields.ts';
import { MAX_LIBRARY_TEXT, findTooDeep } from './guard.ts';
import type { MapEntry, MapNode, YamlNode } from './node.ts';
import { readPlain } from './plain.ts';
import { repairPiece, repairTail, textRestriction } from './repair.ts';
import { splitPieces, splitIndented, type Piece } from './pieces.ts';
import { addDiagnostic, STRICTEST, type Report } from './report.ts';
import { findFlowRestrictions, findLineRestrictions, type LooseRestriction } from './restrictions.ts';
import type { YamlReading } from './yaml.ts';
import { quoteYaml } from './write.ts';
import { quoted } from '#core';

export interface Rescue {
  readonly map: MapNode;
  readonly unreadable: ReadonlySet<RestrictingField>;
  readonly refusal?: Extract<YamlReading, { type: 'refused' }>;
}

/** The YAML library, passed as a parameter so that this file does not load it. */
export type ReadYaml = (text: string, start: number, end: number) => YamlReading;

interface Work {
  readonly report: Report;
  readonly readYaml: ReadYaml;
  /** The report's text with tabs in indentation replaced by spaces; offsets are the same. */
  readonly text: string;
  readonly entries: MapEntry[];
  /** Offsets of the keys that were parsed unambiguously. */
  readonly clean: Set<number>;
  /** Length of the text that the library has parsed so far. */
  libraryText: number;
  refusal?: Extract<YamlReading, { type: 'refused' }>;
}

export interface RescueInput {
  /** The report's text with tabs in indentation replaced by spaces; offsets are the same. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Reads field by field from `start` to `end`. Returns `undefined` if nothing looks like a field. */
export function rescueFields(
  report: Report,
  readYaml: ReadYaml,
  { text, start, end }: RescueInput,
): Rescue | undefined {
  const { pieces, stray } = splitPieces(text, start, end);
  if (pieces.length === 0) return undefined;
  const work: Work = { report, readYaml, text, entries: [], clean: new Set(), libraryText: 0 };
  if (stray !== undefined) reportStray(work, stray.start);
  for (const piece of pieces) readPiece(work, piece);
  const unreadable = closeRestrictions(work, start, end);
  const map: MapNode = { type: 'map', entries: work.entries, flow: false, start, end };
  return { map, unreadable, refusal: work.refusal };
}

function readPiece(work: Work, piece: Piece): void {
  const field = likelyField(piece.key);
  const restricts = field !== undefined && restrictingField(field) !== undefined;
  const hasTail = piece.tailEnd > piece.end;
  // Lines below a restriction may belong to it, so its value is ambiguous.
  if (restricts && hasTail) return;
  const entry = readWhole(work, piece);
  if (restricts && entry?.value !== undefined && isFolded(work.text, entry.value)) return;
  if (entry !== undefined && !(hasTail && field !== 'metadata' && isOpenText(entry.value))) {
    keepClean(work, entry);
    if (hasTail) reportStray(work, piece.end);
    return;
  }
  if (work.refusal !== undefined) return;
  if (hasTail && field !== 'metadata') {
    addText(work, piece, repairTail(work.report, work.text, piece));
    return;
  }
  // `name: x` with an indented `description: y` below it is two fields, not one text.
  const [own, ...moved] = splitIndented(work.text, piece, field);
  if (moved.length > 0 && own !== undefined) {
    readPiece(work, own);
    for (const each of moved) readMoved(work, each);
  } else if (field === 'metadata' && piece.rest === '') readChildren(work, piece);
  else readBroken(work, piece, field);
  if (hasTail) reportStray(work, piece.end);
}

/** Whether quoting the value is a safe repair: not if the author started a list or a map. */
function isTextField({ rest }: Piece, field: FieldName | undefined): boolean {
  if (field === 'metadata' || field === 'requires') return false;
  return field !== undefined || !/^[[{]/.test(rest);
}

/** Unquoted text over several lines: in a broken file it is unclear whether the further lines belong to it. */
function isFolded(text: string, value: YamlNode): boolean {
  return value.type === 'scalar' && value.style === 'plain' && text.slice(value.start, value.end).includes('\n');
}

/** Text without a closing character, so that the lines below may continue it. */
function isOpenText(value: YamlNode | undefined): boolean {
  return value === undefined || (value.type === 'scalar' && (value.style === 'plain' || value.style === 'block'));
}

function reportStray(work: Work, at: number): void {
  const line = work.text.slice(at, work.text.indexOf('\n', at)).trim();
  addDiagnostic(work.report, {
    code: 'frontmatter/invalid-yaml',
    at,
    message: `the line ${quoted(line)} is not a field`,
    hint: 'remove it, or indent it to make it part of the field above',
  });
}

/** Parses a piece that is valid on its own. */
function readWhole(work: Work, piece: Piece): MapEntry | undefined {
  const plain = piece.column === 0 ? readPlain(work.text, piece.start, piece.end) : undefined;
  if (plain?.entries.length === 1) return plain.entries[0];
  work.libraryText += piece.end - piece.start;
  if (work.libraryText > MAX_LIBRARY_TEXT || findTooDeep(work.text, piece.start, piece.end) !== undefined)
    return undefined;
  const reading = work.readYaml(work.text, piece.start, piece.end);
  if (reading.type === 'refused') work.refusal ??= reading;
  if (reading.type !== 'map' || reading.map.entries.length !== 1) return undefined;
  reportLoose(work.report, reading.loose);
  return reading.map.entries[0];
}

export function reportLoose(report: Report, loose: Extract<YamlReading, { type: 'map' }>['loose']): void {
  for (const node of loose) {
    addDiagnostic(report, {
      code: 'frontmatter/unquoted',
      at: node.start,
      message: `YAML reads ${quoted(node.value)} as an alias, expected text in quotes`,
      edit: { offset: node.start, length: node.end - node.start, text: quoteYaml(node.value) },
    });
  }
}

function keepClean(work: Work, entry: MapEntry): void {
  work.entries.push(entry);
  work.clean.add(entry.keyStart);
  // Under any other field a restriction is misplaced and probably has the wrong indentation.
  if (fieldOfKey(entry.key) === 'metadata' && entry.value?.type === 'map') addChildren(work, entry.value.entries);
}

/** Marks the keys inside a valid `metadata` as parsed, so that they are not reported as stray restrictions. */
function addChildren(work: Work, children: readonly MapEntry[]): void {
  for (const { key, keyStart, value } of children) {
    const restricts = restrictingField(likelyField(key) ?? '') !== undefined;
    if (!(restricts && value !== undefined && isFolded(work.text, value))) work.clean.add(keyStart);
    addKeys(work.clean, value);
  }
}

function addKeys(clean: Set<number>, value: YamlNode | undefined): void {
  if (value?.type === 'list') for (const item of value.items) addKeys(clean, item);
  if (value?.type !== 'map') return;
  for (const entry of value.entries) {
    clean.add(entry.keyStart);
    addKeys(clean, entry.value);
  }
}

/** Reads a wrongly indented field. Restricting fields are left to `closeRestrictions`. */
function readMoved(work: Work, piece: Piece): void {
  const field = likelyField(piece.key);
  if (field !== undefined && restrictingField(field) !== undefined) return;
  addDiagnostic(work.report, {
    code: 'frontmatter/invalid-yaml',
    at: piece.keyStart,
    message: `${quoted(piece.key)} is indented, expected at the start of its line`,
    hint: 'remove the spaces before it',
    edit: { offset: piece.start, length: piece.keyStart - piece.start, text: '' },
  });
  const entry = readWhole(work, piece);
  if (entry !== undefined) work.entries.push(entry);
  else if (work.refusal === undefined) readBroken(work, piece, field);
}

/** Reads `metadata` with a broken line piece by piece. */
function readChildren(work: Work, piece: Piece): void {
  const children: MapEntry[] = [];
  const inner: Work = { ...work, entries: children };
  const { pieces } = splitPieces(work.text, piece.bodyStart, piece.end);
  for (const child of pieces) {
    const entry = readWhole(inner, child);
    const field = likelyField(child.key);
    if (entry !== undefined) {
      children.push(entry);
      addChildren(work, [entry]);
    } else if (inner.refusal === undefined) readBroken(inner, child, field);
  }
  work.libraryText = inner.libraryText;
  if (inner.refusal !== undefined) work.refusal ??= inner.refusal;
  const value: YamlNode = { type: 'map', entries: children, flow: false, start: piece.keyStart, end: piece.end };
  work.entries.push({ key: piece.key, keyStart: piece.keyStart, keyEnd: piece.keyEnd, value });
}

function readBroken(work: Work, piece: Piece, field: FieldName | undefined): void {
  const { report, text } = work;
  if (field !== undefined && restrictingField(field) !== undefined) {
    const node = textRestriction(report, piece);
    if (node === undefined) return;
    addText(work, piece, node);
    work.clean.add(piece.keyStart);
    return;
  }
  // `read-head.ts` reports excessive nesting once for the whole file.
  const isTooDeep = findTooDeep(text, piece.start, piece.end) !== undefined;
  addText(work, piece, isTooDeep ? undefined : repairPiece(report, text, piece, { isText: isTextField(piece, field) }));
}

function addText(work: Work, { key, keyStart, keyEnd }: Piece, value: YamlNode | undefined): void {
  work.entries.push({ key, keyStart, keyEnd, value });
}

/** The restrictions that the text contains but that were not parsed unambiguously. */
function closeRestrictions(
  { report, text, clean, entries }: Work,
  start: number,
  end: number,
): ReadonlySet<RestrictingField> {
  const unreadable = new Set<RestrictingField>();
  const loose: LooseRestriction[] = findLineRestrictions(text, start, end).filter(({ at }) => !clean.has(at));
  if (text.charCodeAt(start) === 0x7b) loose.push(...findFlowRestrictions(text, start, end));
  for (const { key, keyStart, value } of entries) {
    const broken = value === undefined || value.type === 'scalar';
    if (fieldOfKey(key) !== 'metadata' || !broken) continue;
    const next = entries.find((other) => other.keyStart > keyStart)?.keyStart ?? end;
    loose.push(...findFlowRestrictions(text, keyStart + key.length, next));
  }
  for (const { field, at } of loose) {
    if (!unreadable.has(field)) {
      addDiagnostic(report, {
        code: 'field/unreadable-restriction',
        at,
        message: `${field} is present but cannot be read`,
        instead: STRICTEST,
        edit: quotingEdit(text, at),
      });
    }
    unreadable.add(field);
  }
  return unreadable;
}

/** Quotes a one-line value that is invalid only because of its colons: `allowed-tools: Bash(git: *)`. */
function quotingEdit(
  text: string,
  at: number,
): { readonly offset: number; readonly length: number; readonly text: string } | undefined {
  const feed = text.indexOf('\n', at);
  const line = text.slice(at, feed === -1 ? text.length : feed).trimEnd();
  const colon = line.indexOf(': ');
  const next = text.charCodeAt(feed + 1);
  const value = line.slice(colon + 2).trim();
  // Only for keys at the start of a line, without continuation lines, quotes or nesting.
  if (colon === -1 || (at > 0 && text.charCodeAt(at - 1) !== 0x0a) || next === 0x20 || next === 0x09) return undefined;
  if (!value.includes(': ') || /["'#[\]{}|>&!]/.test(value)) return undefined;
  return { offset: at + line.length - value.length, length: value.length, text: quoteYaml(value) };
}
