/** What a skill says about its arguments: their names, and what a person is shown while typing. */
import { findFences } from '../format/fences.ts';
import { MAX_LIBRARY_TEXT, findTooDeep } from '../format/guard.ts';
import type { MapEntry, MapNode, ScalarNode, YamlNode } from '../format/node.ts';
import { cutPieces } from '../format/pieces.ts';
import { readPlain } from '../format/plain.ts';
import { cleanText } from '../core/text/text.ts';

export interface ArgumentFields {
  readonly names: readonly string[];
  /** What a person is shown while typing: `[issue] [branch]`. */
  readonly hint?: string;
}

/** The names that the text of a SKILL.md declares: `arguments: [issue, branch]` or `arguments: issue branch`. */
export async function argumentNames(skillMd: string): Promise<readonly string[]> {
  return (await readArgumentFields(skillMd)).names;
}

/**
 * `arguments` and `argument-hint`, at the top level or under `metadata`. They are in no head, because nobody needs them before the
 * skill is called.
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
    const { readYaml } = await import('../format/yaml.ts');
    const reading = readYaml(text, start, end);
    if (reading.type === 'map') return reading.map;
  }
  return readFieldByField(text, start, end);
}

/** `argument-hint: [issue] [branch]` is everywhere and is not YAML; it must not take the other field with it. */
function readFieldByField(text: string, start: number, end: number): MapNode {
  const entries = cutPieces(text, start, end).pieces.flatMap((piece): readonly MapEntry[] => {
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

/** What is no text keeps its place under a name that nothing can be called by. */
function itemText(item: YamlNode): string {
  return item.type === 'scalar' ? item.value : '-';
}

/** `argument-hint: [issue]` is a list to YAML and meant as it stands. */
function hintText(text: string, hint: YamlNode): string {
  return cleanText(hint.type === 'scalar' ? hint.value : text.slice(hint.start, hint.end)).trim();
}
