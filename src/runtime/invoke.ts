/** Invocations of skills by a person: `/name arguments`. Arguments are substituted into the text like Claude Code does. */
import { delimit, cleanText, type Action, type ActionFailed, type Observation, type OfType } from '#core';
import { argumentNames } from '#skills';
import { performAction } from './perform.ts';
import type { ActionContext } from './action-context.ts';

/** A skill that a person invoked, as a message for the conversation. */
export interface Invocation {
  readonly type: 'invoked';
  readonly loaded: OfType<Observation, 'skill-loaded'>;
  readonly action: OfType<Action, 'load_skill'>;
  /** The text after the name. */
  readonly arguments: string;
  /** The instructions with substituted arguments, delimited. */
  readonly text: string;
  /** Placeholders without a value; they stay in the text. */
  readonly unfilled: readonly string[];
}

/** Parses `/name arguments`; returns nothing if the message is not an invocation. Skills that are hidden from the model can be invoked. */
export async function invokeSkill(
  message: string,
  contextFor: (action: Action) => ActionContext,
): Promise<Invocation | ActionFailed | undefined> {
  const call = parseInvocation(message);
  if (call === undefined) return undefined;
  // A preload, because the arguments are new even if the content is not.
  const action = { type: 'load_skill', skill: call.name, preload: true } as const;
  const loaded = await performAction(action, contextFor(action));
  if (loaded.type === 'failed') return loaded;
  const wholeFile = { ...action, whole: true };
  const whole = await performAction(wholeFile, contextFor(wholeFile));
  if (loaded.type !== 'skill-loaded' || whole.type !== 'skill-loaded') return undefined;
  const names = await argumentNames(whole.text);
  const { text, unfilled } = expandArguments(loaded.text, { text: call.arguments, names });
  const { name, source, dir } = loaded.skill;
  const attributes = { name, source, dir, digest: loaded.report.digest, called_by: 'person' };
  return {
    type: 'invoked',
    loaded,
    action,
    arguments: call.arguments,
    text: delimit({ tag: 'skill_content', attributes, text }),
    unfilled,
  };
}

export interface SkillArguments {
  /** The arguments as typed. */
  readonly text: string;
  /** Declared names, by position. */
  readonly names?: readonly string[];
}

export interface ExpandedText {
  readonly text: string;
  /** Placeholders without a value, each once. */
  readonly unfilled: readonly string[];
}

/** Splits words like a shell: quotes and backslashes. Nothing is expanded; `&&`, `|` and `>` are ordinary words. */
export function splitArguments(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (character === '\\' && next !== '' && (quote === '' || (quote === '"' && '"\\$`'.includes(next)))) {
      word = (word ?? '') + next;
      at += 1;
    } else if (quote === '' && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (character === quote) quote = '';
    else if (quote === '' && WHITE_SPACE.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}

const WHITE_SPACE = /\s/;

interface Placeholder {
  readonly start: number;
  readonly end: number;
  /** Number of backslashes before it. */
  readonly escapes: number;
  /** Whether numbers count from 0 or 1 depends on the whole text; indexes and names have a fixed position. */
  readonly value: { readonly type: 'all' } | { readonly type: 'number' | 'index' | 'name'; readonly at: number };
}

/** Limits how often placeholders can repeat a long argument; beyond it they stay as written. */
const MAX_SUBSTITUTED = 1_000_000;

/**
 * Substitutes `$ARGUMENTS`, `$ARGUMENTS[0]`, `$1`, `$name` and `${name}`. Current Claude Code counts from 0, earlier versions from 1: a
 * text with `$0`
 * or `$ARGUMENTS[0]` counts from 0, any other from 1.
 *
 * A backslash before a placeholder keeps it literal. Substituted text is not scanned again. If no placeholder was filled, the arguments are
 * appended as a paragraph, so that they are never lost.
 */
export function expandArguments(body: string, { text, names = [] }: SkillArguments): ExpandedText {
  const typed = cleanText(text);
  const words = splitArguments(typed);
  const placeholders = findPlaceholders(body, toNamedPositions(names));
  const base = placeholders.some((placeholder) => !isEscaped(placeholder) && countsFromZero(placeholder)) ? 0 : 1;
  const unfilled = new Set<string>();
  let room = MAX_SUBSTITUTED + typed.length;
  let isFilled = false;
  let out = '';
  let from = 0;
  for (const placeholder of placeholders) {
    const { start, end, escapes, value } = placeholder;
    const written = body.slice(start, end);
    out += body.slice(from, start - Math.ceil(escapes / 2));
    from = end;
    const argument = value.type === 'all' ? typed : words[value.type === 'number' ? value.at - base : value.at];
    if (isEscaped(placeholder)) out += written;
    else if (argument === undefined || argument.length > room) {
      out += written;
      unfilled.add(written);
    } else {
      out += argument;
      room -= argument.length;
      isFilled = true;
    }
  }
  out += body.slice(from);
  if (!isFilled && typed.trim() !== '') out = withParagraph(out.trimEnd(), `ARGUMENTS: ${typed.trim()}`);
  return { text: out, unfilled: [...unfilled] };
}

function withParagraph(text: string, paragraph: string): string {
  return text === '' ? paragraph : `${text}\n\n${paragraph}`;
}

/** `\\` is a backslash, so only an odd number escapes. */
function isEscaped({ escapes }: Placeholder): boolean {
  return escapes % 2 === 1;
}

function countsFromZero({ value }: Placeholder): boolean {
  return value.type === 'index' || (value.type === 'number' && value.at === 0);
}

const ARGUMENTS = 'ARGUMENTS';
const NUMBERED = /^(?:0|[1-9]\d?)$/;
const INDEX = /^\[(\d{1,2})\]/;
const ARGUMENT_NAME = /^[\p{L}_][\p{L}\p{N}_-]{0,63}$/u;
/** Letters beyond the basic plane appear as surrogates here. */
const NAME_START = /[\p{L}_\ud800-\udbff]/u;
const MAX_ARGUMENTS = 100;
/** Characters that extend a name. A letter of another script ends an ASCII name: `$issue号`. */
const CONTINUES_NAME = /^\w/;

interface NamedPosition {
  readonly name: string;
  readonly at: number;
}

/** Longest first: `$branch-name` is `branch-name` if declared, otherwise `branch`. Invalid names keep their position. */
function toNamedPositions(names: readonly string[]): readonly NamedPosition[] {
  return names
    .slice(0, MAX_ARGUMENTS)
    .map((name, at) => ({ name, at }))
    .filter(({ name }) => ARGUMENT_NAME.test(name) && name !== ARGUMENTS)
    .toSorted((a, b) => b.name.length - a.name.length);
}

function findPlaceholders(body: string, names: readonly NamedPosition[]): readonly Placeholder[] {
  const found: Placeholder[] = [];
  for (let start = body.indexOf('$'); start !== -1;) {
    const read = readPlaceholder(body, start + 1, names);
    if (read !== undefined) {
      let escapes = 0;
      while (body.charAt(start - escapes - 1) === '\\') escapes += 1;
      found.push({ start, end: read.end, escapes, value: read.value });
    }
    start = body.indexOf('$', read?.end ?? start + 1);
  }
  return found;
}

/** Reads the placeholder after the `$` before `at`. `$HOME`, `$(date)` and undeclared names are not placeholders. */
function readPlaceholder(
  body: string,
  at: number,
  names: readonly NamedPosition[],
): Pick<Placeholder, 'end' | 'value'> | undefined {
  if (body.startsWith(ARGUMENTS, at)) {
    const end = at + ARGUMENTS.length;
    const index = INDEX.exec(body.slice(end, end + 4));
    if (index !== null) return { end: end + index[0].length, value: { type: 'index', at: Number(index[1]) } };
    if (!CONTINUES_NAME.test(body.charAt(end))) return { end, value: { type: 'all' } };
  }
  let digits = at;
  while (digits - at < 3 && isDigit(body.charCodeAt(digits))) digits += 1;
  if (digits > at) {
    const number = body.slice(at, digits);
    // `$100` is a price.
    return NUMBERED.test(number) ? { end: digits, value: { type: 'number', at: Number(number) } } : undefined;
  }
  const isBraced = body.charAt(at) === '{';
  const from = isBraced ? at + 1 : at;
  if (!NAME_START.test(body.charAt(from))) return undefined;
  for (const { name, at: position } of names) {
    if (!body.startsWith(name, from)) continue;
    const end = from + name.length;
    const isWhole = isBraced ? body.charAt(end) === '}' : !CONTINUES_NAME.test(body.charAt(end));
    if (isWhole) return { end: isBraced ? end + 1 : end, value: { type: 'name', at: position } };
  }
  return undefined;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Parses a message that starts with `/name`, `/source/name` or `/plugin:name`. The caller checks whether the skill exists. */
export function parseInvocation(message: string): { readonly name: string; readonly arguments: string } | undefined {
  const text = message.trim();
  if (!text.startsWith('/')) return undefined;
  const head = text.slice(1, 2 + MAX_INVOCATION);
  const end = head.search(WHITE_SPACE);
  const name = end === -1 ? text.slice(1) : head.slice(0, end);
  if (name.length > MAX_INVOCATION || !INVOCATION.test(name) || isPath(name)) return undefined;
  return { name, arguments: text.slice(1 + name.length).trim() };
}

const MAX_INVOCATION = 200;
const INVOCATION = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.-]*(?:[/:][\p{L}\p{N}][\p{L}\p{M}\p{N}_.-]*)?$/u;
const EXTENSION = /\.[A-Za-z]\w{0,7}$/;
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set(
  'applications bin boot dev etc home lib library mnt opt private proc root run sbin srv sys system tmp users usr var volumes'.split(
    ' ',
  ),
);

/** A name with a slash may be a path: if the first part is a top-level system folder, or the second part has a file extension. */
function isPath(name: string): boolean {
  const slash = name.indexOf('/');
  return slash !== -1 && (SYSTEM_FOLDERS.has(name.slice(0, slash).toLowerCase()) || EXTENSION.test(name));
}
