/**
 * Glob patterns: `*`, `?`, `**`, `[abc]`, `[!a]`, `{a,b}`. A pattern compiles to a nondeterministic automaton, so matching is linear in the
 * path for every pattern.
 */
import { codePointAt } from './text/code-point.ts';
import { failure, type ActionProblem, type FailureCode } from './failure-codes.ts';
import { findHidden, quoted } from './text/text.ts';

export interface Glob {
  /** Paths use forward slashes. Names that start with a dot match only if the pattern spells out the dot. */
  matches(path: string): boolean;
  /** Whether something below this folder could match. */
  reaches(folder: string): boolean;
  /** The folder that every match is in; empty for the root. */
  readonly prefix: string;
}

export interface GlobOptions {
  /** Wildcards also match names that start with a dot. Deny rules need this, or a dot would bypass them. */
  readonly hidden?: boolean;
}

/** `**` matches any number of folders, including none, if it is a whole path segment; elsewhere it is a `*`. */
export function compileGlob(pattern: string, { hidden = false }: GlobOptions = {}): Glob {
  // Compiled on first use, because most patterns of a policy are never matched.
  let compiled: Program | undefined;
  const program = (): Program => (compiled ??= readPattern(pattern, hidden));
  return {
    matches(path) {
      const known = (compiled ??= readPattern(pattern, hidden));
      // A policy has a hundred patterns, and these two tests rule out nearly all of them.
      return path.startsWith(known.literal) && path.endsWith(known.ending) && follow(known, path, false);
    },
    reaches: (folder) => folder === '' || follow(program(), `${folder}/`, true),
    get prefix() {
      const { literal } = program();
      return literal.slice(0, Math.max(0, literal.lastIndexOf('/')));
    },
  };
}

function readPattern(pattern: string, hidden: boolean): Program {
  const tokens = pairBraces(readTokens(Array.from(pattern)));
  return { ...assemble(tokens), literal: literalStart(tokens), ending: literalEnd(tokens), hidden };
}

type Token =
  | { readonly type: 'character'; readonly text: string }
  | { readonly type: 'any' | 'star' | 'folders' | 'open' | 'comma' | 'close' }
  | SetToken;

interface SetToken {
  readonly type: 'set';
  readonly isNegated: boolean;
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

function readTokens(text: readonly string[]): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    const set = character === '[' ? readSet(text, at) : undefined;
    if (set !== undefined) {
      tokens.push(set.token);
      at = set.end;
    } else if (character === '*') {
      const start = at;
      while (text[at + 1] === '*') at += 1;
      tokens.push({ type: at === start ? 'star' : 'folders' });
    } else tokens.push(SIGNS.get(character) ?? { type: 'character', text: character });
  }
  return tokens;
}

const SIGNS: ReadonlyMap<string, Token> = new Map([
  ['?', { type: 'any' }],
  ['{', { type: 'open' }],
  [',', { type: 'comma' }],
  ['}', { type: 'close' }],
]);

/** A leading bracket is literal, and so is a set that is never closed. */
function readSet(
  text: readonly string[],
  start: number,
): { readonly token: SetToken; readonly end: number } | undefined {
  const isNegated = text[start + 1] === '!' || text[start + 1] === '^';
  const first = start + (isNegated ? 2 : 1);
  const end = text.indexOf(']', first + 1);
  if (end === -1) return undefined;
  const ranges: (readonly [number, number])[] = [];
  for (let at = first; at < end; at += 1) {
    const from = toCodePoint(text[at]);
    const isRange = text[at + 1] === '-' && at + 2 < end;
    ranges.push([from, isRange ? toCodePoint(text[at + 2]) : from]);
    if (isRange) at += 2;
  }
  return { token: { type: 'set', isNegated, ranges }, end };
}

function toCodePoint(character: string | undefined): number {
  return character === undefined ? 0 : codePointAt(character, 0);
}

/** Braces without a partner or without a comma are literal, and so are commas outside of braces. */
function pairBraces(tokens: readonly Token[]): readonly Token[] {
  const plain: (Token | undefined)[] = tokens.map(asCharacter);
  const open: { readonly place: number; readonly commas: number[] }[] = [];
  for (const [place, { type }] of tokens.entries()) {
    if (type === 'open') open.push({ place, commas: [] });
    else if (type === 'comma') open.at(-1)?.commas.push(place);
    else if (type === 'close') {
      const group = open.pop();
      if (group === undefined || group.commas.length === 0) continue;
      for (const sign of [group.place, ...group.commas, place]) plain[sign] = undefined;
    }
  }
  return tokens.map((token, place) => plain[place] ?? token);
}

function asCharacter({ type }: Token): Token | undefined {
  const text = type === 'open' ? '{' : type === 'comma' ? ',' : type === 'close' ? '}' : undefined;
  return text === undefined ? undefined : { type: 'character', text };
}

function literalStart(tokens: readonly Token[]): string {
  let literal = '';
  for (const token of tokens) {
    if (token.type !== 'character') break;
    literal += token.text;
  }
  return literal;
}

function literalEnd(tokens: readonly Token[]): string {
  const last = tokens.findLastIndex(({ type }) => type !== 'character');
  const ending = literalStart(tokens.slice(last + 1));
  // `**`, also as the end of a group, may match nothing, and then without the slash behind it.
  return last !== -1 && ending.startsWith('/') ? ending.slice(1) : ending;
}

/** `next` holds state numbers. */
type State =
  | { readonly type: 'end' }
  | { readonly type: 'split'; readonly next: readonly number[] }
  | { readonly type: 'character'; readonly code: number; readonly next: number }
  | { readonly type: 'any'; readonly next: number }
  | { readonly type: 'set'; readonly set: SetToken; readonly next: number }
  | { readonly type: 'star'; readonly next: number }
  /** `**`, entered only at the start of a segment; `without` are the states behind its slash, for the case that it matches nothing. */
  | { readonly type: 'enter-folders'; readonly inside: number; readonly without: readonly number[] }
  /** Inside `**`; continues behind it only at the end of a segment. */
  | { readonly type: 'folders'; readonly next: number };

interface Program {
  readonly states: readonly State[];
  readonly start: number;
  /** The text that every match starts with. */
  readonly literal: string;
  /** The text that every match ends with. */
  readonly ending: string;
  readonly hidden: boolean;
}

const SLASH = 0x2f;
const DOT = 0x2e;

/** Assembles backwards, because each state refers to the next one. */
function assemble(tokens: readonly Token[]): Pick<Program, 'states' | 'start'> {
  const states: State[] = [{ type: 'end' }];
  const add = (state: State): number => states.push(state) - 1;
  /** Open groups: the state after the group, and the start states of its assembled alternatives. */
  const groups: { readonly after: number; readonly starts: number[] }[] = [];
  let next = 0;
  for (const token of tokens.toReversed()) {
    switch (token.type) {
      case 'character': {
        next = add({ type: 'character', code: toCodePoint(token.text), next });
        break;
      }
      case 'set': {
        next = add({ type: 'set', set: token, next });
        break;
      }
      case 'any':
      case 'star': {
        next = add({ type: token.type, next });
        break;
      }
      case 'folders': {
        const inside = add({ type: 'folders', next });
        const enter = add({ type: 'enter-folders', inside, without: behindSlash(states, next) });
        next = add({ type: 'split', next: [add({ type: 'star', next }), enter] });
        break;
      }
      case 'close': {
        groups.push({ after: next, starts: [] });
        break;
      }
      case 'comma': {
        const group = groups.at(-1);
        group?.starts.push(next);
        next = group?.after ?? next;
        break;
      }
      case 'open': {
        const group = groups.pop();
        next = add({ type: 'split', next: [...(group?.starts ?? []), next] });
        break;
      }
    }
  }
  return { states, start: next };
}

function behindSlash(states: readonly State[], from: number): readonly number[] {
  const found: number[] = [];
  const seen = new Set([from]);
  for (const place of seen) {
    const state = states[place];
    if (state?.type === 'split') for (const next of state.next) seen.add(next);
    else if (state?.type === 'character' && state.code === SLASH) found.push(state.next);
  }
  return found;
}

/** Whether the path matches; with `isOpenEnd`, whether some path with this prefix could match. */
function follow({ states, start, hidden }: Program, path: string, isOpenEnd: boolean): boolean {
  const seen = new Int32Array(states.length).fill(-1);
  const pending: number[] = [];
  let active: number[] = [];
  let at = 0;
  let isNameStart = true;
  const enter = (first: number, list: number[]): void => {
    const isNameEnd = at === path.length ? !isOpenEnd : path.charCodeAt(at) === SLASH;
    // A star that matches nothing must not let the dot behind it start a hidden name.
    const isPassed = hidden || !(isNameStart && path.charCodeAt(at) === DOT);
    pending.push(first);
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      const state = states[place];
      if (state === undefined || seen[place] === at) continue;
      seen[place] = at;
      if (state.type === 'split') pending.push(...state.next);
      else if (state.type === 'enter-folders') {
        if (isNameStart) pending.push(state.inside, ...state.without);
      } else {
        list.push(place);
        if ((state.type === 'star' && isPassed) || (state.type === 'folders' && isNameEnd)) pending.push(state.next);
      }
    }
  };
  enter(start, active);
  while (at < path.length && active.length > 0) {
    const code = codePointAt(path, at);
    const isHidden = !hidden && isNameStart && code === DOT;
    const following: number[] = [];
    const from = active;
    at += code > 0xffff ? 2 : 1;
    isNameStart = code === SLASH;
    for (const place of from) {
      const next = afterCharacter(states[place], place, code, isHidden);
      if (next !== undefined) enter(next, following);
    }
    active = following;
  }
  if (at < path.length) return false;
  return isOpenEnd ? active.some((place) => place !== 0) : seen[0] === at;
}

/** The next state after a character. Only a literal matches a slash, or the dot of a hidden name. */
function afterCharacter(state: State | undefined, place: number, code: number, isHidden: boolean): number | undefined {
  switch (state?.type) {
    case 'character': {
      return state.code === code ? state.next : undefined;
    }
    case 'any': {
      return code === SLASH || isHidden ? undefined : state.next;
    }
    case 'set': {
      const { ranges, isNegated } = state.set;
      const isListed = ranges.some(([from, to]) => code >= from && code <= to);
      return code === SLASH || isHidden || isListed === isNegated ? undefined : state.next;
    }
    case 'star': {
      return code === SLASH || isHidden ? undefined : place;
    }
    case 'folders': {
      return isHidden ? undefined : place;
    }
    default: {
      return undefined;
    }
  }
}

/** Paths of the workspace as the program sees them, for patterns that use its variables. */
export interface GlobVariables {
  /** Where the program sees the workspace. */
  readonly root?: string;
  /** Relative to the workspace. */
  readonly runDir?: string;
  readonly skillDir?: string;
}

const MAX_CHARACTERS = 1024;
const VARIABLE = /^\$(?:\{([A-Z_]+)\}|([A-Z_]+)(?=\/|$))/;
/** Also inside braces. */
const PARENT = /(?:^|[/{,])\.\.(?:$|[/},])/;
/** Links that staging creates in the folder of a skill; they lead back to the workspace. */
const SKILL_LINK = /^skills\/[^/*?[\]{}]+\/(out|work|inputs)(?=\/|$)/;

/**
 * Normalizes a pattern to be relative to the workspace: `$OUTPUT_DIR/**`, `${WORK_DIR}/x`, `./out/x`, `/workspace/out/x`,
 * `workspace://out/x`. Patterns that leave the workspace are refused.
 */
export function normaliseGlob(
  text: string,
  { root = '/workspace', runDir, skillDir }: GlobVariables = {},
): string | ActionProblem {
  if (text.trim() === '') return refused('path/empty', 'the pattern is empty', 'name files, such as out/*.txt');
  if (text.length > MAX_CHARACTERS)
    return refused(
      'path/too-long',
      `the pattern ${quoted(text)} has more than ${String(MAX_CHARACTERS)} characters`,
      'give a shorter pattern',
    );
  if (/[\x00-\x1f\x7f-\x9f]/.test(text) || findHidden(text) !== undefined)
    return refused(
      'path/control-character',
      `the pattern ${quoted(text)} contains an invisible character`,
      'use ? in its place',
    );
  if (text.includes('\\')) return refused('path/backslash', `the pattern ${quoted(text)} contains a backslash`);
  const folders = new Map([
    ['WORKSPACE_DIR', ''],
    ['OUTPUT_DIR', 'out'],
    ['WORK_DIR', 'work'],
    ['SKILLS_DIR', 'skills'],
    ...(runDir === undefined ? [] : [['RUN_DIR', runDir] as const]),
    ...(skillDir === undefined ? [] : [['SKILL_DIR', skillDir] as const]),
  ]);
  let relative = text.startsWith(SCHEME) ? text.slice(SCHEME.length) : text;
  const [variable, braced, bare] = VARIABLE.exec(relative) ?? [];
  if (relative.startsWith('$')) {
    const folder = folders.get(braced ?? bare ?? '');
    if (variable === undefined || folder === undefined)
      return refused(
        'path/absolute',
        `the pattern ${quoted(text)} starts with an unknown variable`,
        `start with one of ${[...folders.keys()].map((name) => `$${name}`).join(', ')}, or with a folder of the workspace`,
      );
    relative = folder + relative.slice(variable.length);
  } else if (relative === root || relative.startsWith(`${root}/`)) relative = relative.slice(root.length + 1);
  else if (/^(?:[/~]|[a-z][a-z0-9+.-]*:)/i.test(relative))
    return refused('path/absolute', `the pattern ${quoted(text)} is not relative to the workspace`, RELATIVE);
  if (PARENT.test(relative))
    return refused(
      'path/parent',
      `the pattern ${quoted(text)} contains ".."`,
      'stay inside the workspace: .. is not allowed',
    );
  const glob = relative
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
    .replace(SKILL_LINK, '$1')
    .replace(/^inputs(?=\/|$)/, 'work/inputs');
  if (glob === '')
    return refused('path/empty', `the pattern ${quoted(text)} is the workspace itself and names no file`, RELATIVE);
  return relative.endsWith('/') || FOLDERS.has(glob) ? `${glob}/**` : glob;
}

/** Naming one of these folders means its contents. */
const FOLDERS: ReadonlySet<string> = new Set(['out', 'work', 'work/inputs', 'runs', 'skills']);
const SCHEME = 'workspace://';
const RELATIVE = 'use a pattern relative to the workspace, such as out/*.txt or $OUTPUT_DIR/**';

function refused(code: FailureCode, message: string, hint?: string): ActionProblem {
  return failure(code, message, { hint });
}
