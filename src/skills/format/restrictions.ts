/**
 * Finds restricting fields in text that no reader could parse. A mistake elsewhere in the file must not lift a restriction, so
 * everything that looks like one counts.
 */
import type { RestrictingField } from './fields.ts';

export interface LooseRestriction {
  readonly field: RestrictingField;
  readonly at: number;
}

const WORDS: ReadonlyMap<string, RestrictingField> = new Map([
  ['allowed', 'allowed-tools'],
  ['disallowed', 'disallowed-tools'],
  ['disable', 'disable-model-invocation'],
  ['user', 'user-invocable'],
  ['paths', 'paths'],
]);
/** A restricting key at the start of a line, after everything before the first letter has been removed. */
const KEY_AT_START =
  /^(?:(allowed|disallowed)[-_ .]?tools?(?!\p{L})|(disable)[-_ .]?model[-_ .]?invocations?(?!\p{L})|(user)[-_ .]?invocable(?!\p{L})|(paths)["'`*_ \t]*[:=：])/iu;
/** A restricting key inside a broken flow map: after a brace, a comma or a quote. */
const KEY_IN_FLOW =
  /[{,"'\s](?:(allowed|disallowed)[-_ .]?tools?(?!\p{L})|(disable)[-_ .]?model[-_ .]?invocations?(?!\p{L})|(user)[-_ .]?invocable(?!\p{L})|(paths)["' \t]*[:=：])/giu;
/** A quick test for the first letters of the keys, or for a first letter followed by a possibly invisible character. */
const MAY_BE_KEY = /^[^A-Za-z#\x80-\uffff]*(?:[aA][lL]|[dD][iI]|[uU][sS]|[pP][aA]|[adupADUP](?![ -~])|[\x80-\uffff])/;
const FIRST_LETTER = /[\p{L}#]/u;
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Mn}]/gu;

/** Every line from `start` to `end` that begins with a restricting key, except comments. Lines end with LF or CR LF. */
export function findLineRestrictions(text: string, start: number, end: number): readonly LooseRestriction[] {
  const found: LooseRestriction[] = [];
  for (let line = start; line < end;) {
    const feed = text.indexOf('\n', line);
    const lineEnd = feed === -1 || feed > end ? end : feed;
    const field = keyOfLine(text.slice(line, Math.min(lineEnd, line + 300)));
    if (field !== undefined) found.push({ field, at: firstVisible(text, line, lineEnd) });
    line = lineEnd + 1;
  }
  return found;
}

/** Every restricting key in a broken flow map. */
export function findFlowRestrictions(text: string, start: number, end: number): readonly LooseRestriction[] {
  const found: LooseRestriction[] = [];
  for (const match of text.slice(start, end).matchAll(KEY_IN_FLOW)) {
    const field = fieldOfMatch(match);
    if (field !== undefined) found.push({ field, at: start + match.index + 1 });
  }
  return found;
}

function keyOfLine(line: string): RestrictingField | undefined {
  if (!MAY_BE_KEY.test(line)) return undefined;
  const visible = line.replaceAll(INVISIBLE, (character) => (character === '\t' ? ' ' : ''));
  const first = FIRST_LETTER.exec(visible);
  if (first === null || first[0] === '#') return undefined;
  return fieldOfMatch(KEY_AT_START.exec(visible.slice(first.index)));
}

function fieldOfMatch(match: RegExpExecArray | null): RestrictingField | undefined {
  const word = match?.slice(1).find((group) => group !== undefined);
  return word === undefined ? undefined : WORDS.get(word.toLowerCase());
}

function firstVisible(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && text.charCodeAt(at) <= 0x20) at += 1;
  return at < to ? at : from;
}
