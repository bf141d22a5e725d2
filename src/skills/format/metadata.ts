/** `metadata`: a map of text, which also carries the extension fields. */
import { wrongType } from './controls.ts';
import { isExtension, likelyField, restrictingField, type FieldName } from './fields.ts';
import {
  isJsonWord,
  isUnsafeKey,
  jsonText,
  type MapEntry,
  type MapNode,
  type ScalarNode,
  type YamlNode,
} from './node.ts';
import { addDiagnostic, readScalarText, type Report } from './report.ts';
import { replacing } from './write.ts';
import { cleanText, quoted } from '#core';

/** Reads `metadata` and adds its extension fields to `stated`. The result has no prototype, so that no key can reach one. */
export function readMetadata(report: Report, stated: Map<FieldName, MapEntry[]>): Readonly<Record<string, string>> {
  const meta: Record<string, string> = Object.create(null);
  for (const field of ['version', 'author'] as const) {
    const entry = stated.get(field)?.[0];
    if (entry?.value === undefined) continue;
    if (entry.value.type !== 'scalar') wrongType(report, entry.key, entry.value, 'text');
    meta[field] = metaText(report, entry.value);
  }
  for (const { key, value } of stated.get('metadata') ?? []) {
    if (value === undefined) continue;
    if (value.type === 'map') readEntries(report, value, { stated, meta });
    else wrongType(report, key, value, 'a map of text');
  }
  return meta;
}

function readEntries(
  report: Report,
  map: MapNode,
  { stated, meta }: { readonly stated: Map<FieldName, MapEntry[]>; readonly meta: Record<string, string> },
): void {
  const seen = new Set<string>();
  for (const entry of map.entries) {
    const { key, keyStart, value } = entry;
    if (isUnsafeKey(key)) {
      addDiagnostic(report, {
        code: 'frontmatter/unsafe-key',
        at: keyStart,
        message: `the key ${quoted(key)} under metadata is refused`,
      });
      continue;
    }
    const repeated = seen.has(key);
    if (repeated)
      addDiagnostic(report, {
        code: 'frontmatter/duplicate-key',
        at: keyStart,
        message: `${quoted(key)} is given twice under metadata`,
      });
    seen.add(key);
    const field = likelyField(key);
    const restricts = field !== undefined && restrictingField(field) !== undefined;
    if (field !== undefined && (restricts || isExtension(field))) addStatement(stated, field, entry);
    if (value === undefined || repeated) continue;
    if (value.type !== 'scalar') {
      // `readControls` reports restrictions that cannot be read.
      if (!(restricts && value.type === 'map')) reportNotText(report, key, value);
    } else if (value.style === 'plain' && isJsonWord(value.value) && !restricts) reportUnquoted(report, key, value);
    const name = report.isVisible ? key : cleanText(key);
    if (!(name in meta)) meta[name] = metaText(report, value);
  }
}

function reportNotText(report: Report, key: string, { type, start }: YamlNode): void {
  const kind = type === 'list' ? 'a list' : 'a map';
  const message = `metadata ${quoted(key)} is ${kind}, expected text`;
  addDiagnostic(report, { code: 'metadata/not-text', at: start, message, instead: 'it is kept as JSON text' });
}

function reportUnquoted(report: Report, key: string, node: ScalarNode): void {
  addDiagnostic(report, {
    code: 'metadata/unquoted',
    at: node.start,
    message: `metadata ${quoted(key)} is ${node.value} without quotes; other parsers do not read it as text`,
    edit: replacing(node, `"${node.value}"`),
  });
}

/** Appends, because a top-level entry takes precedence over one in `metadata` unless the field restricts. */
function addStatement(stated: Map<FieldName, MapEntry[]>, field: FieldName, entry: MapEntry): void {
  const entries = stated.get(field);
  if (entries === undefined) stated.set(field, [entry]);
  else entries.push(entry);
}

function metaText(report: Report, value: NonNullable<MapEntry['value']>): string {
  return value.type === 'scalar' ? readScalarText(report, value) : cleanText(jsonText(value));
}
