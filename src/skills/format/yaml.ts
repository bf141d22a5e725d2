/** Hardened YAML parsing: text only, no aliases, no tags but those of JSON's types, no exceptions. For frontmatter; other YAML documents have their own readers. */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Alias,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

import { isNull, type MapEntry, type MapNode, type ScalarNode, type YamlNode } from './node.ts';

export type YamlReading =
  | { readonly type: 'map'; readonly map: MapNode; readonly loose: readonly ScalarNode[] }
  /** The text uses a forbidden feature. */
  | {
      readonly type: 'refused';
      readonly code: 'frontmatter/alias' | 'frontmatter/tag';
      readonly at: number;
      readonly what: string;
    }
  /** Valid YAML, but not a map. */
  | { readonly type: 'other' }
  | { readonly type: 'empty' }
  | { readonly type: 'broken'; readonly at: number; readonly message: string };

interface Conversion {
  readonly text: string;
  /** Added to the library's offsets. */
  readonly base: number;
  readonly end: number;
  readonly anchors: ReadonlySet<string>;
  /** Values such as `*.ts`, which YAML reads as an undefined alias: the author meant text and omitted the quotes. */
  readonly loose: ScalarNode[];
  refusal?: Extract<YamlReading, { type: 'refused' }>;
}

/** Parses the lines from `start` to `end`; offsets in the result are relative to the start of `text`. */
export function readYaml(text: string, start: number, end: number): YamlReading {
  const part = text.slice(start, end);
  const document = parseDocument(part, {
    schema: 'failsafe',
    version: '1.2',
    strict: true,
    stringKeys: true,
    uniqueKeys: false,
    merge: false,
    logLevel: 'silent',
    prettyErrors: false,
  });
  const [error] = document.errors;
  if (error !== undefined)
    return { type: 'broken', at: start + Math.min(error.pos[0], part.length), message: error.message };
  const { contents } = document;
  if (contents === null) return { type: 'empty' };
  const conversion: Conversion = { text, base: start, end, anchors: findAnchors(part), loose: [] };
  const node = convert(conversion, contents);
  if (conversion.refusal !== undefined) return conversion.refusal;
  if (node?.type !== 'map') return node === undefined ? { type: 'empty' } : { type: 'other' };
  return { type: 'map', map: node, loose: conversion.loose };
}

/** Every name after an `&`: a superset of the anchors. */
function findAnchors(part: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const match of part.matchAll(/&([^\s,[\]{}]{1,100})/g)) if (match[1] !== undefined) names.add(match[1]);
  return names;
}

function convert(conversion: Conversion, node: unknown): YamlNode | undefined {
  if (isAlias(node)) return convertAlias(conversion, node);
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return undefined;
  if (node.anchor !== undefined)
    refuse(conversion, 'frontmatter/alias', `&${node.anchor}`, toOffset(conversion, node, 0));
  if (node.tag !== undefined && !isPlainTag(node.tag, node))
    refuse(conversion, 'frontmatter/tag', node.tag, toOffset(conversion, node, 0));
  if (isScalar(node)) return convertScalar(conversion, node);
  return isMap(node) ? convertMap(conversion, node) : convertList(conversion, node);
}

/** Whether a tag only repeats what the value is. Every scalar is text here, so that a number needs no tag, and none makes null of a text. */
function isPlainTag(tag: string, node: Scalar | YAMLMap | YAMLSeq): boolean {
  if (isScalar(node)) return SCALAR_TAGS.has(tag);
  return tag === (isMap(node) ? `${CORE}map` : `${CORE}seq`);
}

const CORE = 'tag:yaml.org,2002:';
const TEXT_TAG = `${CORE}str`;
const SCALAR_TAGS: ReadonlySet<string> = new Set([TEXT_TAG, `${CORE}int`, `${CORE}float`, `${CORE}bool`]);

function convertScalar(conversion: Conversion, node: Scalar): ScalarNode | undefined {
  const value = typeof node.value === 'string' ? node.value : '';
  const start = toOffset(conversion, node, 0);
  const written = STYLES.get(node.type ?? 'PLAIN') ?? 'plain';
  // `!!str null` is text, as it is in quotes.
  const style = written === 'plain' && node.tag === TEXT_TAG ? 'single' : written;
  const scalar: ScalarNode = {
    type: 'scalar',
    value,
    style,
    start,
    end: style === 'block' ? conversion.end : toOffset(conversion, node, 1),
  };
  return isNull(scalar) ? undefined : scalar;
}

const STYLES: ReadonlyMap<string, ScalarNode['style']> = new Map([
  ['PLAIN', 'plain'],
  ['QUOTE_SINGLE', 'single'],
  ['QUOTE_DOUBLE', 'double'],
  ['BLOCK_FOLDED', 'block'],
  ['BLOCK_LITERAL', 'block'],
]);

function convertMap(conversion: Conversion, node: YAMLMap): MapNode {
  const entries: MapEntry[] = [];
  let end = toOffset(conversion, node, 0);
  for (const pair of node.items) {
    // `null:` is an ordinary key, so the key's own value is used even if its conversion is null.
    convert(conversion, pair.key);
    const value = convert(conversion, pair.value);
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string' || pair.key.value === '') continue;
    const key = pair.key.value;
    const keyStart = toOffset(conversion, pair.key, 0);
    const keyEnd = toOffset(conversion, pair.key, 1);
    if (key === '<<') refuse(conversion, 'frontmatter/alias', key, keyStart);
    entries.push({ key, keyStart, keyEnd, value });
    end = value?.end ?? keyEnd;
  }
  const flow = node.flow === true;
  const start = flow ? toOffset(conversion, node, 0) : (entries[0]?.keyStart ?? toOffset(conversion, node, 0));
  return { type: 'map', entries, flow, start, end: flow ? toOffset(conversion, node, 1) : end };
}

function convertList(conversion: Conversion, node: YAMLSeq): YamlNode {
  const items = node.items.map((item) => convert(conversion, item)).filter((item) => item !== undefined);
  const flow = node.flow === true;
  const start = toOffset(conversion, node, 0);
  return {
    type: 'list',
    items,
    flow,
    start: flow ? start : (items[0]?.start ?? start),
    end: flow ? toOffset(conversion, node, 1) : (items.at(-1)?.end ?? start + 1),
  };
}

function convertAlias(conversion: Conversion, node: Alias): ScalarNode {
  const start = toOffset(conversion, node, 0);
  const end = toOffset(conversion, node, 1);
  if (conversion.anchors.has(node.source)) refuse(conversion, 'frontmatter/alias', `*${node.source}`, start);
  const scalar: ScalarNode = { type: 'scalar', value: conversion.text.slice(start, end), style: 'plain', start, end };
  conversion.loose.push(scalar);
  return scalar;
}

/** Keeps the first refusal, which is the one reported. */
function refuse(
  conversion: Conversion,
  code: 'frontmatter/alias' | 'frontmatter/tag',
  what: string,
  start: number,
): void {
  if (conversion.refusal !== undefined) return;
  // The indicator precedes the value, possibly on the line above.
  const sign = code === 'frontmatter/tag' ? '!' : what;
  let found = conversion.text.lastIndexOf(sign, start);
  if (sign === '!' && conversion.text.charAt(found - 1) === '!') found -= 1;
  conversion.refusal = { type: 'refused', code, what, at: found < conversion.base ? start : found };
}

function toOffset(
  conversion: Conversion,
  node: { readonly range?: readonly [number, number, number] | null | undefined },
  index: 0 | 1,
): number {
  return conversion.base + (node.range?.[index] ?? 0);
}
