/** The result of every frontmatter reader: YAML reduced to text, lists and maps, with offsets into the file's text. */

export type YamlNode = ScalarNode | ListNode | MapNode;

export interface ScalarNode {
  readonly type: 'scalar';
  readonly value: string;
  readonly style: 'plain' | 'single' | 'double' | 'block';
  /** First character, a quote or block sign included. */
  readonly start: number;
  /** Just after the last character; for a block scalar the end of the frontmatter. */
  readonly end: number;
}

export interface ListNode {
  readonly type: 'list';
  /** Empty items are not kept. */
  readonly items: readonly YamlNode[];
  readonly flow: boolean;
  /** The offset of the bracket or of the first item. */
  readonly start: number;
  /** Just after the closing bracket; for a block list the end of its last item. */
  readonly end: number;
}

export interface MapNode {
  readonly type: 'map';
  readonly entries: readonly MapEntry[];
  readonly flow: boolean;
  readonly start: number;
  readonly end: number;
}

export interface MapEntry {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  /** Absent for null: `key:`, `key: ~`, `key: null`. */
  readonly value: YamlNode | undefined;
}

/** YAML's words for null. In quotes they are text. */
export function isNull(node: ScalarNode): boolean {
  if (node.style !== 'plain') return false;
  const { value } = node;
  return value === '' || value === '~' || value === 'null' || value === 'Null' || value === 'NULL';
}

/** The offset of a character of a value; the start of the value if it was written as an escape. */
export function locateInValue(text: string, node: ScalarNode, character: string): number {
  const found = text.indexOf(character, node.start);
  return found === -1 || found >= node.end ? node.start : found;
}

/** A value as JSON. Plain numbers and booleans keep their spelling (`1.10` stays `1.10`); other plain values are text. */
export function jsonText(node: YamlNode | undefined): string {
  if (node === undefined) return 'null';
  if (node.type === 'scalar')
    return node.style === 'plain' && isJsonWord(node.value) ? node.value : JSON.stringify(node.value);
  if (node.type === 'list') return `[${node.items.map(jsonText).join(',')}]`;
  const seen = new Set<string>();
  const parts: string[] = [];
  for (const { key, value } of node.entries) {
    if (seen.has(key) || isUnsafeKey(key)) continue;
    seen.add(key);
    parts.push(`${JSON.stringify(key)}:${jsonText(value)}`);
  }
  return `{${parts.join(',')}}`;
}

/** Keys that could change the prototype of an object in later code. */
export function isUnsafeKey(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype';
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export function isJsonWord(value: string): boolean {
  return value === 'true' || value === 'false' || (value.length <= 40 && JSON_NUMBER.test(value));
}
