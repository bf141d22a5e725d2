/** The edit that moves a field of ours from the top level under `metadata`, where every validator accepts it. */
import { dependenciesText } from './dependencies.ts';
import type { MapEntry, MapNode, YamlNode } from './node.ts';
import type { Edit, Report } from './report.ts';
import { writeYaml } from './write.ts';

/** Agents such as Claude Code read these at the top level only, so that a move would lift the restriction there. */
const READ_BY_OTHERS: ReadonlySet<string> = new Set(['disable-model-invocation', 'user-invocable', 'paths']);

/** Returns nothing for a field that does not fit into one line of text, or where `metadata` is not a block of lines. */
export function moveUnderMetadata(report: Report, map: MapNode, entry: MapEntry): Edit | undefined {
  const { text } = report;
  const { key, keyStart, value } = entry;
  const written = value === undefined || READ_BY_OTHERS.has(key) ? undefined : oneLineText(report, entry, value);
  if (value === undefined || written === undefined || text.charAt(keyStart - 1) !== '\n') return undefined;
  const end = value.start + text.slice(value.start, value.end).trimEnd().length;
  const feed = text.indexOf('\n', end);
  if (text.slice(end, feed).trim() !== '') return undefined;
  const line = `${key}: ${writeYaml(written)}`;
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

/** The value as one line. A map of dependencies has a form of text; comments in it would be lost. */
function oneLineText(report: Report, { key, keyEnd }: MapEntry, value: YamlNode): string | undefined {
  const lost = value.type === 'scalar' ? '\n' : '#';
  if (report.text.slice(keyEnd, value.end).includes(lost)) return undefined;
  if (value.type === 'scalar') return value.style === 'block' ? undefined : value.value;
  return key === 'dependencies' && value.type === 'map' ? dependenciesText(report, value) : undefined;
}
