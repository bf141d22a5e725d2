/**
 * Cases of other tools, written as our own format would write them. What has no equivalent is named in the report, never dropped
 * silently.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { compileGlob, isObject, isProblem, normaliseGlob, quoted, type JsonPath } from '#core';
import { quietly } from '#platform';
import type { CaseFile } from '../draft.ts';
import { addProblem } from '../problem.ts';
import { fileOfSuite } from '../suite.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ForeignCase {
  /** The file that contains the case. */
  readonly file: CaseFile;
  readonly at: JsonPath;
  readonly id?: string;
  /** In our own format, without an id. */
  readonly written: Fields;
  /** What the other tool grades and nothing here does. */
  readonly ungraded?: readonly string[];
}

/** A file that a suite names: another case file, or a plain text. */
interface OtherFile {
  readonly file: CaseFile;
  readonly value: unknown;
  /** The text as it is. */
  readonly text: string;
}

/** What the readers of suites need from the caller. */
export interface ForeignFiles {
  /** Opens a file by its absolute path. Returns undefined after reporting a problem at `at` of the suite. */
  readonly open: (path: string, at: JsonPath) => OtherFile | undefined;
  /** Names a case that is not run, with the reason. */
  readonly passOver: (file: string, reason: string) => void;
}

interface TextOptions {
  readonly ignoreCase?: boolean;
  readonly not?: boolean;
}

/** Collects the expectations of one case. `at` is its place, for what is not read. */
export class ForeignExpectations {
  readonly #texts: { readonly text: string; readonly ignoreCase: boolean; readonly not: boolean }[] = [];
  readonly #output: Record<'regex' | 'not_regex' | 'files', unknown[]> = { regex: [], not_regex: [], files: [] };
  readonly #json: { format?: 'json'; json_schema?: Fields } = {};
  readonly #rubric: string[] = [];
  readonly #lists = new Map<string, Set<string>>();
  readonly #actions: Record<'ordered' | 'unordered' | 'forbid', unknown[]> = { ordered: [], unordered: [], forbid: [] };
  readonly #constraints: Record<string, number> = {};
  readonly #file: CaseFile;
  readonly #at: JsonPath;
  #trigger: boolean | undefined;
  #outcome: string | undefined;
  /** See `ForeignCase`. */
  readonly ungraded: string[] = [];
  /** How many expectations were added, to find graders that add none. */
  added = 0;

  constructor(file: CaseFile, at: JsonPath) {
    this.#file = file;
    this.#at = at;
  }

  contains(texts: unknown, { ignoreCase = false, not = false }: TextOptions = {}): void {
    for (const text of toTexts(texts)) this.#texts.push({ text, ignoreCase, not });
    this.added += toTexts(texts).length;
  }

  /** One of the texts must occur. */
  containsAny(texts: unknown, { ignoreCase = false, not = false }: TextOptions = {}): void {
    const words = toTexts(texts).map(escapeRegex);
    if (words.length > 0) this.matches([`${ignoreCase ? '(?i)' : ''}(?:${words.join('|')})`], { not });
  }

  matches(patterns: unknown, { not = false, flags = '' }: TextOptions & { readonly flags?: string } = {}): void {
    const known = [...flags].filter((flag) => 'ims'.includes(flag)).join('');
    const prefix = known === '' ? '' : `(?${known})`;
    this.#output[not ? 'not_regex' : 'regex'].push(...toTexts(patterns).map((pattern) => `${prefix}${pattern}`));
    this.added += toTexts(patterns).length;
  }

  json(schema?: unknown): void {
    if (isObject(schema)) this.#json.json_schema = schema;
    else this.#json.format = 'json';
    this.added += 1;
  }

  outputFile(path: string, more: { readonly exists?: false; readonly contains?: string } = {}): void {
    this.#output.files.push({ path, ...more });
    this.added += 1;
  }

  rubric(line: unknown): void {
    if (typeof line !== 'string' || line.trim() === '') return;
    this.#rubric.push(line.trim());
    this.added += 1;
  }

  skills(key: 'skills_all_of' | 'skills_any_of' | 'skills_none_of' | 'skills_only', names: unknown): void {
    const known = this.#lists.get(key) ?? new Set();
    for (const name of toTexts(names)) known.add(localName(name));
    this.#lists.set(key, known);
    this.added += toTexts(names).length;
  }

  sequence(sentence: string): void {
    this.#lists.set('sequence', (this.#lists.get('sequence') ?? new Set()).add(sentence));
    this.added += 1;
  }

  tools(key: 'ordered' | 'unordered' | 'forbid', names: unknown): void {
    this.#actions[key].push(...toTexts(names).map(toolName));
    this.added += toTexts(names).length;
  }

  trigger(isExpected: boolean): void {
    this.#trigger = isExpected;
    this.added += 1;
  }

  outcome(name: 'done'): void {
    this.#outcome = name;
    this.added += 1;
  }

  limit(key: 'max_turns' | 'max_tool_calls' | 'max_tokens' | 'timeout_s', value: unknown): void {
    if (typeof value !== 'number' || value <= 0) return;
    this.#constraints[key] = Math.ceil(value);
    this.added += 1;
  }

  /** Names what is graded by the other tool and not here: the case can fail, but not pass. */
  unread(message: string, at: JsonPath = this.#at): void {
    const hint = 'without it the case cannot pass: write a text, an expression, a rubric line or a checker instead';
    addProblem(this.#file.report, at, message, hint, 'warning');
    this.ungraded.push(message);
  }

  /** Names what is read in another way, or not at all, and grades nothing. */
  note(message: string, hint: string, at: JsonPath = this.#at): void {
    addProblem(this.#file.report, at, message, hint, 'warning');
  }

  /** The keys `expect` and `constraints` of our own format. */
  write(): Fields {
    const isFolded = this.#texts.some(({ ignoreCase }) => ignoreCase);
    // Our format folds the case of all texts or of none, so that an exact text beside folded ones becomes an expression.
    const asText = (one: { readonly ignoreCase: boolean }): boolean => one.ignoreCase === isFolded;
    const texts = (not: boolean): readonly string[] =>
      this.#texts.filter((one) => one.not === not && asText(one)).map(({ text }) => text);
    const exact = (not: boolean): readonly string[] =>
      this.#texts.filter((one) => one.not === not && !asText(one)).map(({ text }) => escapeRegex(text));
    const output = filled({
      contains: texts(false),
      not_contains: texts(true),
      ...(isFolded ? { ignore_case: true } : {}),
      regex: [...exact(false), ...this.#output.regex],
      not_regex: [...exact(true), ...this.#output.not_regex],
      files: this.#output.files,
      ...this.#json,
    });
    return filled({
      expect: filled({
        ...Object.fromEntries([...this.#lists].map(([key, names]) => [key, [...names]])),
        ...(this.#trigger === undefined ? {} : { trigger: this.#trigger }),
        ...(this.#outcome === undefined ? {} : { outcome: this.#outcome }),
        actions: filled(this.#actions),
        output,
        rubric: this.#rubric,
      }),
      constraints: this.#constraints,
    });
  }
}

/** Without empty lists and objects, and without `skills_only: []`, which would mean that no skill may load. */
function filled(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => typeof value !== 'object' || Object.keys(value ?? {}).length > 0),
  );
}

export function toTexts(value: unknown): readonly string[] {
  return [value].flat().flatMap((item) => (typeof item === 'string' || typeof item === 'number' ? [String(item)] : []));
}

/** A literal text as an expression. In Unicode mode nothing else may be escaped. */
export function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

const TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^(?:bash|shell|powershell|execute|run_in_terminal)$/i, 'run_command'],
  [/^(?:read|view|read_file)$/i, 'read_file'],
  [/^(?:write|create|write_file)$/i, 'write_file'],
  [/^(?:edit|multiedit|str_replace|replace_string_in_file)$/i, 'edit_file'],
  [/^skill$/i, 'load_skill'],
];

/** Our name for the tool of another agent. */
export function toolName(name: string): string {
  return TOOLS.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}

/** The skill name without the plugin in front of it. */
export function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

/** Absolute paths of the files that a suite names by a path or a pattern, relative to itself. Reports what it does not find. */
export function filesNamed(
  { report, suite }: CaseFile,
  written: string,
  at: JsonPath,
  what: string,
): readonly string[] {
  if (!/[*?[{]/.test(written)) {
    const found = fileOfSuite(suite, written);
    if (found.type === 'found') return [found.path];
    const problem = found.type === 'missing' ? 'does not exist' : found.reason;
    addProblem(report, at, `the ${what} ${quoted(written, 120)} ${problem}`, 'write its path relative to this file');
    return [];
  }
  const pattern = normaliseGlob(written);
  const glob = isProblem(pattern) ? undefined : compileGlob(pattern);
  const names = quietly(() => readdirSync(suite.dir, { recursive: true, withFileTypes: true }), [])
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(suite.dir, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((name) => glob?.matches(name) === true && !name.includes('node_modules/'))
    .sort();
  if (names.length === 0)
    addProblem(report, at, `no ${what} matches ${quoted(written, 120)}`, 'write a path relative to this file');
  return names.map((name) => path.join(suite.dir, name));
}

/** Names an entry for messages: its name or its type. */
export function namedEntry(item: Fields): string {
  const { name, type } = item;
  const kind = quoted(typeof type === 'string' ? type : 'none');
  return typeof name === 'string' ? `${quoted(name)} of type ${kind}` : `of type ${kind}`;
}
