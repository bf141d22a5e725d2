/** Reads the argument names and the argument hint of a skill. */
import { cleanText } from '#core';
import { findFences } from './fences.ts';
import { findTooDeep, MAX_LIBRARY_TEXT } from './guard.ts';
import { readPlain } from './plain.ts';
import { splitPieces } from './pieces.ts';
import type { MapEntry, MapNode, ScalarNode, YamlNode } from './node.ts';

export interface ArgumentFields {
  readonly names: readonly string[];
  /** Shown while typing: `[issue] [branch]`. */
  readonly hint?: string;
}

/** The names declared in SKILL.md: `arguments: [issue, branch]` or `arguments: issue branch`. */
export async function argumentNames(skillMd: string): Promise<readonly string[]> {
  return (await readArgumentFields(skillMd)).names;
}

/**
 * Reads `arguments` and `argument-hint`, at the top level or under `metadata`. They are not part of the head, because they are needed only
 * when the skill is invoked.
 */
export async function readArgumentFields(skillMd: string): Promise<ArgumentFields> {
  const found = findFences(skillMd);
  if (found.type !== 'found') return { names: [] };
  const map = await readFields(skillMd, found.fences.start, found.fences.close);
  const hint = fieldValue(map, 'argument-hint');
  const shown = hint === undefined ? '' : hintText(skillMd, hint);
  return { names: namesIn(fieldValue(map, 'arguments')), ...(shown === '' ? {} : { hint: shown }) };
}

async function readFields(text: string, start: number, end: number): Promise<MapNode> {
  const plain = readPlain(text, start, end);
  if (plain !== undefined) return plain;
  if (end - start <= MAX_LIBRARY_TEXT && findTooDeep(text, start, end) === undefined) {
    const { readYaml } = await import('./yaml.ts');
    const reading = readYaml(text, start, end);
    if (reading.type === 'map') return reading.map;
  }
  return readFieldByField(text, start, end);
}

/** `argument-hint: [issue] [branch]` is common and not valid YAML; it must not invalidate the other field. */
function readFieldByField(text: string, start: number, end: number): MapNode {
  const entries = splitPieces(text, start, end).pieces.flatMap((piece): readonly MapEntry[] => {
    const { key, keyStart, keyEnd, rest, valueStart } = piece;
    if (key !== 'arguments' && key !== 'argument-hint') return [];
    const read = readPlain(text, piece.start, piece.end);
    if (read !== undefined) return read.entries;
    if (key === 'arguments') return [];
    const value: ScalarNode = { type: 'scalar', value: rest, style: 'plain', start: valueStart, end: piece.bodyStart };
    return [{ key, keyStart, keyEnd, value }];
  });
  return { type: 'map', entries, flow: false, start, end };
}

function fieldValue({ entries }: MapNode, field: string): YamlNode | undefined {
  const own = entries.find(({ key }) => key === field)?.value;
  const metadata = entries.find(({ key }) => key === 'metadata')?.value;
  return own ?? (metadata?.type === 'map' ? metadata.entries.find(({ key }) => key === field)?.value : undefined);
}

function namesIn(value: YamlNode | undefined): readonly string[] {
  if (value === undefined || value.type === 'map') return [];
  const texts = value.type === 'scalar' ? value.value.split(/[\s,]+/) : value.items.map(itemText);
  return texts.map((name) => cleanText(name).trim()).filter((name) => name !== '');
}

/** Items that are not text keep their position under an unusable name. */
function itemText(item: YamlNode): string {
  return item.type === 'scalar' ? item.value : '-';
}

/** YAML parses `argument-hint: [issue]` as a list, but the text is meant. */
function hintText(text: string, hint: YamlNode): string {
  return cleanText(hint.type === 'scalar' ? hint.value : text.slice(hint.start, hint.end)).trim();
}
