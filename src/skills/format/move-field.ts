/** The edit that moves a field of ours from the top level under `metadata`, where every validator accepts it. */
import type { MapEntry, MapNode } from './node.ts';
import type { Edit, Report } from './report.ts';
import { writeYaml } from './write.ts';

/** Agents such as Claude Code read these at the top level only, so that a move would lift the restriction there. */
const READ_BY_OTHERS: ReadonlySet<string> = new Set(['disable-model-invocation', 'user-invocable', 'paths']);

/** Returns nothing for a field that is not one line of text, or where `metadata` is not a block of lines. */
export function moveUnderMetadata({ text }: Report, map: MapNode, entry: MapEntry): Edit | undefined {
  const { key, keyStart, value } = entry;
  const feed = text.indexOf('\n', keyStart);
  if (READ_BY_OTHERS.has(key) || value?.type !== 'scalar' || value.style === 'block' || value.end > feed)
    return undefined;
  if (text.charAt(keyStart - 1) !== '\n' || text.slice(value.end, feed).trim() !== '') return undefined;
  const line = `${key}: ${writeYaml(value.value)}`;
  const metadata = map.entries.find((each) => each.key === 'metadata');
  if (metadata === undefined) return { offset: keyStart, length: feed - keyStart, text: `metadata:\n  ${line}` };
  if (metadata.value?.type !== 'map' || metadata.value.flow) return undefined;
  const [first] = metadata.value.entries;
  if (first === undefined || metadata.value.entries.some((each) => each.key === key)) return undefined;
  const indent = text.slice(text.lastIndexOf('\n', first.keyStart) + 1, first.keyStart);
  if (indent.trim() !== '') return undefined;
  if (keyStart < first.keyStart) {
    const between = text.slice(feed + 1, first.keyStart);
    return { offset: keyStart, length: first.keyStart - keyStart, text: `${between}${line}\n${indent}` };
  }
  const offset = first.keyStart;
  return { offset, length: feed + 1 - offset, text: `${line}\n${indent}${text.slice(offset, keyStart)}` };
}
