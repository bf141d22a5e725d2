/** Synonymous keys of community formats. */
import { isObject } from '#core';

type Item = Readonly<Record<string, unknown>>;

export const INPUT_KEYS: readonly string[] =
  'prompt task input question query utterance user_message message request text trigger'.split(' ');
export const ASSERTION_KEYS: readonly string[] = (
  'expected_output expected_outputs assertions expectations expected_behavior expected_behaviors ' +
  'expected_behaviour criteria evaluation_criteria acceptance_criteria success_criteria checks ' +
  'script_checks rubric expected trap'
).split(' ');
export const FLAG_KEYS: readonly string[] =
  'should_trigger shouldTrigger should_activate expected_trigger polarity label expected'.split(' ');
const SKILL_KEYS: readonly string[] = ['expected_skill', 'expected_skills', 'acceptable_skills'];
export const NAME_KEYS: readonly string[] = ['name', 'eval_name', 'title'];
export const ID_KEYS: readonly string[] = ['id', 'eval_id', 'case_id'];
export const FILE_KEYS: readonly string[] = ['files', 'input_files', 'attachments'];
export const TAG_KEYS: readonly string[] = ['tags', 'category', 'difficulty', 'group', 'mode', 'confidence'];

const READ: ReadonlySet<string> = new Set([...ASSERTION_KEYS, ...SKILL_KEYS, ...FLAG_KEYS]);
const EXPECTING = /(?:^|_)expect(?:ed|s)?(?:_|$)|^(?:must|should)_/;

/** Keys that ask for something in a file that has cases, and may mean anything in others. */
const ASKING =
  /^(?:forbid(?:den)?|avoids?|prohibit(?:ed)?|verif(?:y|ies|ication)|validat(?:e|ions?)|graders?|asserts?)(?:_|$)/;
const FORBIDDING = /^(?:forbid|avoid|prohibit)/;

/** The rubric line of a key that no reader knows, for a judge. */
export function describeExpectation(key: string, value: string): string {
  return `${FORBIDDING.test(key) ? 'Does none of what is forbidden' : key.replaceAll('_', ' ')}: ${value}`;
}

/** Whether a key of a case asks for something that no reader knows. */
export function isAsking(key: string, value: unknown): boolean {
  return ASKING.test(key) ? hasContent(value) : isExpectation(key, value);
}

function isExpectation(key: string, value: unknown): boolean {
  return EXPECTING.test(key) && !READ.has(key) && hasContent(value);
}

function hasContent(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return !(typeof value === 'object' && Object.keys(value).length === 0);
}

export function hasExpectation(item: Item): boolean {
  const isRequest = textAt(item, ['prompt', 'question', 'task', 'query']) !== undefined;
  return Object.entries(item).some(
    ([key, value]) =>
      (READ.has(key) && (!AMBIGUOUS.has(key) || (isRequest && !FLAGS_ONLY.has(key)))) ||
      isExpectation(key, value) ||
      (FLAG_KEYS.includes(key) && flagAt(key, value) !== undefined),
  );
}

/** Tests of ordinary programs use these keys too, as in `{input, expected}`. */
const AMBIGUOUS: ReadonlySet<string> = new Set(['label', 'expected', 'checks', 'criteria', 'polarity']);
const FLAGS_ONLY: ReadonlySet<string> = new Set(['label', 'polarity']);

/** Reads a trigger flag. `expected: 1` may be a result, but `expected: ACTIVATE` is a flag. */
export function flagAt(key: string, value: unknown): boolean | undefined {
  const isPlain = key !== 'expected' && key !== 'label';
  return isPlain || /activat|trigger|positive|negative/i.test(String(value)) ? readFlag(value) : undefined;
}

/** The first of the keys that holds a non-empty string. */
export function textAt(item: Item, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return undefined;
}

export function readInput(item: Item): string | undefined {
  const asked = textAt(item, INPUT_KEYS);
  const { context } = item;
  if (asked === undefined || context === undefined || context === null) return asked;
  return [...contextTexts(context), asked].join('\n\n');
}

function contextTexts(context: unknown): readonly string[] {
  if (typeof context === 'string') return context.trim() === '' ? [] : [context];
  if (!isObject(context)) return [JSON.stringify(context, undefined, 2)];
  const { situation, ...data } = context;
  const written = Object.keys(data).length === 0 ? [] : [JSON.stringify(data, undefined, 2)];
  return typeof situation === 'string' ? [situation, ...written] : [JSON.stringify(context, undefined, 2)];
}

const YES: ReadonlySet<string> = new Set('true yes y 1 positive trigger activate should_trigger'.split(' '));
const NO: ReadonlySet<string> = new Set(
  'false no n 0 negative no_trigger no_activate not_trigger should_not_trigger'.split(' '),
);

function readFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const word = String(value)
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return YES.has(word) ? true : NO.has(word) ? false : undefined;
}
