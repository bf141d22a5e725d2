/** Reads `requires` (a list, text with commas, or a map of lists by kind) as one list of text. */
import type { ListNode, MapNode, YamlNode } from './node.ts';
import { readScalarText, type Report } from './report.ts';

export interface RequiredEntries {
  /** Entries of a map get their kind as a prefix: `bin:jq`, `skill:pdf@>=2`. Absent if nothing could be read. */
  readonly entries?: readonly string[];
  /** Every entry was understood. */
  readonly isWhole: boolean;
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['bins', 'bin'],
  ['bin', 'bin'],
  ['env', 'env'],
  ['pip', 'pip'],
  ['python', 'pip'],
  ['npm', 'npm'],
  ['node', 'npm'],
  ['skills', 'skill'],
  ['skill', 'skill'],
]);

export function requiredEntries(report: Report, node: YamlNode): RequiredEntries {
  if (node.type === 'scalar') return { entries: splitText(readScalarText(report, node)), isWhole: true };
  if (node.type === 'map') return entriesByKind(report, node);
  const texts: string[] = [];
  for (const item of node.items) {
    if (item.type !== 'scalar') return { isWhole: false };
    const text = readScalarText(report, item);
    if (text !== '') texts.push(text);
  }
  return { entries: texts, isWhole: true };
}

function splitText(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function entriesByKind(report: Report, { entries }: MapNode): RequiredEntries {
  const read: string[] = [];
  let isWhole = true;
  for (const { key, value } of entries) {
    const kind = KINDS.get(key.toLowerCase());
    const texts = value === undefined ? [] : readTexts(report, value, kind === 'skill');
    if (kind === undefined || texts.includes(undefined)) isWhole = false;
    if (kind === undefined) continue;
    for (const text of texts) if (text !== undefined && text !== '') read.push(`${kind}:${text}`);
  }
  return read.length === 0 && !isWhole ? { isWhole } : { entries: read, isWhole };
}

/** An item that is not text becomes `undefined`. Version ranges may contain commas, so a list of skills is split only between names. */
function readTexts(report: Report, value: YamlNode, isOfSkills: boolean): readonly (string | undefined)[] {
  if (value.type === 'scalar') {
    const text = readScalarText(report, value);
    return isOfSkills ? text.split(BETWEEN_NAMES).map((part) => part.trim()) : splitText(text);
  }
  const { items }: Pick<ListNode, 'items'> = value.type === 'list' ? value : { items: [value] };
  return items.map((item) => {
    if (item.type === 'scalar') return readScalarText(report, item);
    return isOfSkills && item.type === 'map' ? skillText(report, item) : undefined;
  });
}

/** A comma that does not continue a version range, as in `pdf@>=1,<2, xlsx`. */
export const BETWEEN_NAMES = /[,\n](?!\s*(?:[<>=!~^*]|v?\d+(?:[.\s,]|$)))/;

/** Converts `{name, version, source}` to the equivalent line of text. */
function skillText(report: Report, { entries }: MapNode): string | undefined {
  const fields = new Map<string, string>();
  for (const { key, value } of entries) {
    if (value === undefined) continue;
    if (value.type !== 'scalar' || !SKILL_FIELDS.has(key)) return undefined;
    if (!fields.has(key)) fields.set(key, readScalarText(report, value));
  }
  const [name, version, source] = [fields.get('name'), fields.get('version'), fields.get('source')];
  if (name === undefined) return undefined;
  return `${name}${version === undefined ? '' : `@${version}`}${source === undefined ? '' : ` from ${source}`}`;
}

const SKILL_FIELDS: ReadonlySet<string> = new Set(['name', 'version', 'source']);
