/** Recognizes the format of a case file by its content. */
import { isObject, type JsonPath } from '#core';
import type { ForeignShape } from './foreign/read-foreign.ts';
import { INPUT_KEYS, hasExpectation, textAt } from './community-keys.ts';

export type CaseShape =
  | ForeignShape
  | 'own'
  | 'case-folder'
  | 'evals'
  | 'scenarios'
  | 'trigger-set'
  | 'trigger-lists'
  | 'trigger-csv';

interface RecognizedItem {
  readonly path: JsonPath;
  readonly value: unknown;
  readonly polarity?: boolean;
}

export type Recognized =
  | {
      readonly type: 'cases';
      readonly shape: CaseShape;
      readonly items: readonly RecognizedItem[];
      /** The object around the list, with the skill name and defaults. */
      readonly head: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'empty' }
  | { readonly type: 'other'; readonly reason: string };

type Item = Readonly<Record<string, unknown>>;

const LIST_KEYS = 'evals cases scenarios test_cases tests queries prompts triggers trigger_tests'.split(' ');
const POSITIVE_KEYS = ['should_trigger_prompts', 'shouldTrigger', 'should_trigger', 'positive', 'positives', 'trigger'];
const NEGATIVE_KEYS =
  'should_not_trigger_prompts shouldNotTrigger should_not_trigger negative negatives no_trigger'.split(' ');

export function recognize(value: unknown, isCsv: boolean): Recognized {
  if (Array.isArray(value)) return recognizeList(value, [], {}, isCsv);
  if (!isObject(value)) return { type: 'other', reason: 'the file holds neither an object nor a list' };
  const hasList = LIST_KEYS.some((key) => Array.isArray(value[key])) || polarItems(value, []).length > 0;
  const isSingle = isOwn(value) || (hasInput(value) && hasExpectation(value)) || isFolderCase(value);
  if (hasList || !isSingle || isRunMetadata(value)) return recognizeGroups(value);
  const shape = isFolderCase(value) ? 'case-folder' : isOwn(value) ? 'own' : isTrigger(value) ? 'trigger-set' : 'evals';
  return { type: 'cases', shape, items: [{ path: [], value }], head: {} };
}

/** Lists of results, which repeat the queries of cases. */
const OUTCOME_KEYS: ReadonlySet<string> = new Set(['results', 'runs', 'history', 'iterations']);

/** Joins all lists of a file: cases and trigger queries may be in one file under any keys. */
function recognizeGroups(value: Item): Recognized {
  const read = Object.keys(value)
    .filter((key) => Array.isArray(value[key]) && !isPolarKey(key) && !OUTCOME_KEYS.has(key))
    .map((key) => listUnder(value, key));
  const own = read.find((list) => list.type === 'cases' && list.shape === 'own');
  if (own !== undefined) return own;
  const lists = read.flatMap((list) => (list.type === 'cases' ? [list] : []));
  const polar = [[], ...Object.keys(value).map((key) => [key])].flatMap((at) => {
    const [key] = at;
    const around = key === undefined ? value : value[key];
    return isObject(around) ? polarItems(around, at) : [];
  });
  const items = [...lists.flatMap((list) => list.items), ...polar];
  if (items.length > 0) return { type: 'cases', shape: lists[0]?.shape ?? 'trigger-lists', items, head: value };
  if (hasEmptyList(value)) return { type: 'empty' };
  const key = LIST_KEYS.find((name) => Array.isArray(value[name]));
  return key === undefined ? { type: 'other', reason: otherReason(value) } : listUnder(value, key);
}

function hasEmptyList(value: Item): boolean {
  return Object.entries(value).some(
    ([key, list]) =>
      Array.isArray(list) && list.length === 0 && (isPolarKey(key) || key === 'evals' || key === 'cases'),
  );
}

function isPolarKey(key: string): boolean {
  return POSITIVE_KEYS.includes(key) || NEGATIVE_KEYS.includes(key);
}

function polarItems(value: Item, at: JsonPath): readonly RecognizedItem[] {
  return [...POSITIVE_KEYS, ...NEGATIVE_KEYS].flatMap((key) => {
    const list: unknown = value[key];
    if (!Array.isArray(list)) return [];
    const polarity = POSITIVE_KEYS.includes(key);
    return list.map((item: unknown, place) => ({ path: [...at, key, place], value: item, polarity }));
  });
}

function listUnder(value: Item, key: string): Recognized {
  const list = [value[key]].flat();
  const read = recognizeList(list, [key], value, false);
  // These keys always hold cases; invalid entries are reported one by one.
  if (read.type !== 'other' || (key !== 'evals' && key !== 'cases')) return read;
  return { type: 'cases', shape: key === 'cases' ? 'own' : 'evals', items: toItems(list, [key]), head: value };
}

function recognizeList(list: readonly unknown[], at: JsonPath, head: Item, isCsv: boolean): Recognized {
  if (list.length === 0) return { type: 'empty' };
  const objects = list.filter(isObject);
  const isCsvCase = isCsv && objects.some((row) => hasInput(row) && hasExpectation(row));
  const shape = isCsvCase ? 'trigger-csv' : isCsv ? undefined : detectShape(objects, at);
  if (shape !== undefined) return { type: 'cases', shape, items: toItems(list, at), head };
  return { type: 'other', reason: listReason(objects) };
}

function toItems(list: readonly unknown[], at: JsonPath): readonly RecognizedItem[] {
  return list.map((value, place) => ({ path: [...at, place], value }));
}

/** Any entry can decide, because single entries may be broken. */
function detectShape(objects: readonly Item[], at: JsonPath): CaseShape | undefined {
  if (objects.some(isFolderCase)) return 'case-folder';
  if (objects.some(isOwn)) return 'own';
  const cases = objects.filter((item) => hasInput(item) && hasExpectation(item) && !isSearchQuery(item));
  if (cases.length === 0) return undefined;
  if (at[0] === 'scenarios') return 'scenarios';
  return cases.some(isTrigger) ? 'trigger-set' : 'evals';
}

/** Also recognizes a misspelled `expect` by its keys; the schema then reports the correct name. */
function isOwn(item: Item): boolean {
  if (!Object.hasOwn(item, 'input')) return false;
  const isOurs = (value: unknown): boolean => isObject(value) && Object.keys(value).some((key) => OWN_KEYS.test(key));
  return ['expect', 'mock', 'constraints'].some((key) => isObject(item[key])) || Object.values(item).some(isOurs);
}

const OWN_KEYS = /^(?:skills_(?:all_of|any_of|none_of|only)|sequence|disclosure|security|streaming)$/;

function isTrigger(item: Item): boolean {
  return (
    ['should_trigger', 'shouldTrigger', 'polarity'].some((key) => Object.hasOwn(item, key)) ||
    typeof item['trigger'] === 'string'
  );
}

function hasInput(item: Item): boolean {
  return textAt(item, INPUT_KEYS) !== undefined;
}

/** A query with the documents that a search engine must find. */
function isSearchQuery(item: Item): boolean {
  return (
    ['expected_files', 'expected_in_top_k', 'expected_docs', 'relevant'].some((key) => Object.hasOwn(item, key)) &&
    !isTrigger(item)
  );
}

/** The metadata file of skill-creator, which repeats the prompt. */
function isRunMetadata(value: Item): boolean {
  return Object.hasOwn(value, 'eval_id') && !Object.hasOwn(value, 'id');
}

function isFolderCase(value: Item): boolean {
  return typeof value['input'] === 'string' && isObject(value['expected']);
}

function listReason(objects: readonly Item[]): string {
  if (objects.length === 0) return 'the list contains no objects';
  if (objects.some(isSearchQuery)) return 'search engine queries with expected documents';
  if (objects.some((item) => Object.hasOwn(item, 'pattern') && Object.hasOwn(item, 'run')))
    return 'rules that run a command for a pattern';
  return objects.some(hasInput) ? 'the entries have requests but no expectations' : 'the entries have no requests';
}

function otherReason(value: Item): string {
  const has = (...keys: readonly string[]): boolean => keys.every((key) => Object.hasOwn(value, key));
  if (has('turns')) return 'answers of a scripted model';
  if (has('slug') && (has('latest') || has('history'))) return 'metadata of a published skill';
  if (isRunMetadata(value) || has('expectations', 'summary')) return 'metadata of a run';
  if (has('results')) return 'a report of results';
  if (has('slug') || has('name', 'version')) return 'a manifest';
  if (has('fixture')) return 'expected findings of a scanner';
  if (has('$schema', 'properties') || has('type', 'properties')) return 'a schema';
  return 'neither a case nor a list of cases';
}
