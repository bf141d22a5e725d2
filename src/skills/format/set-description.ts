/** Replaces the description in the text of a SKILL.md and leaves everything else as it is. */
import { findFences } from './fences.ts';
import { foldYaml, quoteYaml } from './write.ts';
import { readYaml } from './yaml.ts';

/** Undefined if the frontmatter has no block of keys with a description. */
export function setDescription(text: string, description: string): string | undefined {
  const found = findFences(text);
  if (found.type !== 'found') return undefined;
  const { start, close } = found.fences;
  const reading = readYaml(text, start, close);
  if (reading.type !== 'map' || reading.map.flow) return undefined;
  const { entries } = reading.map;
  const place = entries.findIndex(({ key }) => key === 'description');
  const entry = entries[place];
  if (entry === undefined) return undefined;
  const end = entries[place + 1]?.keyStart ?? close;
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const value = (foldYaml(description) ?? quoteYaml(description)).replaceAll('\n', newline);
  const written = text.slice(entry.keyStart, end);
  // Comments and blank lines above the next key belong to it.
  const kept = /(?<=^|\n)(?:[ \t]*(?:#[^\n]*)?\r?\n)*$/.exec(written.slice(written.indexOf('\n') + 1))?.[0] ?? '';
  return `${text.slice(0, entry.keyStart)}description: ${value}${newline}${kept}${text.slice(end)}`;
}
