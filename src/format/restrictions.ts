/**
 * Finds restricting fields in text that no reader understood. A restriction that an author wrote and a mistake elsewhere broke
 * must not be lifted by the mistake, so everything that looks like one counts.
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
/** The key at the start of what is left of a line when everything before its first letter is taken away. */
const KEY_AT_START =
  /^(?:(allowed|disallowed)[-_ .]?tools?(?!\p{L})|(disable)[-_ .]?model[-_ .]?invocations?(?!\p{L})|(user)[-_ .]?invocable(?!\p{L})|(paths)["'`*_ \t]*[:=：])/iu;
/** The same anywhere inside a broken flow map: after a brace, a comma or a quote. */
const KEY_IN_FLOW =
  /[{,"'\s](?:(allowed|disallowed)[-_ .]?tools?(?!\p{L})|(disable)[-_ .]?model[-_ .]?invocations?(?!\p{L})|(user)[-_ .]?invocable(?!\p{L})|(paths)["' \t]*[:=：])/giu;
/**
 * The same of a line of visible ASCII in lower case, counted from its start. The patterns above know all letters, and take long to
 * compile, as would these if they ignored case.
 */
const ASCII_KEY =
  /^[^a-z#]*(?:(allowed|disallowed)[-_ .]?tools?(?![a-z])|(disable)[-_ .]?model[-_ .]?invocations?(?![a-z])|(user)[-_ .]?invocable(?![a-z])|(paths)["'`*_ ]*[:=])/;
const PRINTABLE = /^[ -~]*$/;
/** Whatever could be one of the words: their first letters, or one of them with something after it that may not show. */
const MAY_BE_KEY = /^[^A-Za-z#\x80-\uffff]*(?:[aA][lL]|[dD][iI]|[uU][sS]|[pP][aA]|[adupADUP](?![ -~])|[\x80-\uffff])/;
const FIRST_LETTER = /[\p{L}#]/u;
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Mn}]/gu;

/** Every line from `start` to `end` that begins with a restricting key, comments aside. `text` has LF or CR LF line ends. */
export function findLineRestrictions(text: string, start: number, end: number): readonly LooseRestriction[] {
  const found: LooseRestriction[] = [];
  for (let line = start; line < end;) {
    const feed = text.indexOf('\n', line);
    const lineEnd = feed === -1 || feed > end ? end : feed;
    const field = keyOfLine(text.slice(line, Math.min(lineEnd, line + 300)));
    if (field !== undefined) found.push({ field, at: firstInk(text, line, lineEnd) });
    line = lineEnd + 1;
  }
  return found;
}

/** Every restricting key in a flow map that could not be read. */
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
  if (PRINTABLE.test(line)) return fieldOfMatch(ASCII_KEY.exec(line.toLowerCase()));
  const visible = line.replaceAll(INVISIBLE, (character) => (character === '\t' ? ' ' : ''));
  const first = FIRST_LETTER.exec(visible);
  if (first === null || first[0] === '#') return undefined;
  return fieldOfMatch(KEY_AT_START.exec(visible.slice(first.index)));
}

function fieldOfMatch(match: RegExpExecArray | null): RestrictingField | undefined {
  const word = match?.slice(1).find((group) => group !== undefined);
  return word === undefined ? undefined : WORDS.get(word.toLowerCase());
}

function firstInk(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && text.charCodeAt(at) <= 0x20) at += 1;
  return at < to ? at : from;
}
