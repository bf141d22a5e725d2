/** Reads the argument names of a skill. They are not part of the head, because they are needed only when the skill is invoked. */
import { cleanText } from '#core';
import { findFences } from './fences.ts';
import { findTooDeep, MAX_LIBRARY_TEXT } from './guard.ts';
import type { MapNode, YamlNode } from './node.ts';
import { splitPieces } from './pieces.ts';

/** The names declared in SKILL.md or its `metadata`: `arguments: [issue, branch]` or `arguments: issue branch`. */
export async function argumentNames(skillMd: string): Promise<readonly string[]> {
  const found = findFences(skillMd);
  if (found.type !== 'found') return [];
  const { readYaml } = await import('./yaml.ts');
  const read = (start: number, end: number): MapNode | undefined => {
    if (end - start > MAX_LIBRARY_TEXT || findTooDeep(skillMd, start, end) !== undefined) return undefined;
    const reading = readYaml(skillMd, start, end);
    return reading.type === 'map' ? reading.map : undefined;
  };
  const { start, close } = found.fences;
  const whole = read(start, close);
  if (whole !== undefined) {
    const metadata = findValue(whole, 'metadata');
    const nested = metadata?.type === 'map' ? findValue(metadata, 'arguments') : undefined;
    return namesIn(findValue(whole, 'arguments') ?? nested);
  }
  // `argument-hint: [issue] [branch]` is common and not valid YAML; it must not invalidate this field.
  const piece = splitPieces(skillMd, start, close).pieces.find(({ key }) => key === 'arguments');
  const own = piece === undefined ? undefined : read(piece.start, piece.end);
  return own === undefined ? [] : namesIn(findValue(own, 'arguments'));
}

function findValue({ entries }: MapNode, field: string): YamlNode | undefined {
  return entries.find(({ key }) => key === field)?.value;
}

/** Items that are not text keep their position under an unusable name. */
function namesIn(value: YamlNode | undefined): readonly string[] {
  if (value === undefined || value.type === 'map') return [];
  const texts =
    value.type === 'scalar'
      ? value.value.split(/[\s,]+/)
      : value.items.map((item) => (item.type === 'scalar' ? item.value : '-'));
  return texts.map((name) => cleanText(name).trim()).filter((name) => name !== '');
}
