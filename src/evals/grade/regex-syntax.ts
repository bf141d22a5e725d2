/** A regular expression of JavaScript as a tree. What cannot be matched in one pass is named, with its place. */
import { codePointAt } from '../../core/text/code-point.ts';

export type RegexNode =
  /** `source`: one character, class or escape, as JavaScript writes it. */
  | { readonly type: 'character'; readonly source: string }
  | { readonly type: 'assert'; readonly kind: AssertKind }
  | { readonly type: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly type: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly type: 'repeat'; readonly part: RegexNode; readonly least: number; readonly most: number };

export type AssertKind = 'start' | 'end' | 'boundary' | 'inside';

export interface RegexOptions {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

/** Thrown inside, caught at the door of `linear-regex.ts`. */
export class RegexProblem extends Error {
  override readonly name = 'RegexProblem';
}

const DEEPEST = 200;
/** As `x{1000}`: more would make an automaton out of proportion. */
const MOST_REPEATS = 1_000;
const QUANTIFIER = /[*+?]|\{(\d+)(,(\d*))?\}/y;
const GROUP = /\((?:\?(?::|<[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*>))?/uy;
const ESCAPE =
  /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}(?:\\u[0-9a-f]{4})?|x[0-9a-f]{2}|c[a-z]|p\{[^}]*\}|[dswfnrtv]|0(?!\d)|[\^$\\.*+?()[\]{}|/])/iuy;
const CLASS = /\[(?:\\.|[^\]\\])*\]/suy;

export function parseRegex(source: string, { dotAll }: RegexOptions): RegexNode {
  let at = 0;
  const problem = (message: string): RegexProblem => new RegexProblem(`${message}, at character ${String(at + 1)}`);
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source) ?? undefined;
    at += found?.[0].length ?? 0;
    return found;
  };

  const choice = (depth: number): RegexNode => {
    if (depth > DEEPEST) throw problem('groups are nested too deep');
    const options = [sequence(depth)];
    while (source[at] === '|') {
      at += 1;
      options.push(sequence(depth));
    }
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { type: 'choice', options };
  };

  const sequence = (depth: number): RegexNode => {
    const parts: RegexNode[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(atom(depth)));
    return { type: 'sequence', parts };
  };

  const repeated = (part: RegexNode): RegexNode => {
    const [sign, first, comma, last] = take(QUANTIFIER) ?? [];
    if (sign === undefined) return part;
    if (part.type === 'assert') throw problem('nothing can be repeated here');
    // Lazy or greedy: the same texts match.
    if (source[at] === '?') at += 1;
    if (sign === '*') return { type: 'repeat', part, least: 0, most: Number.POSITIVE_INFINITY };
    if (sign === '+') return { type: 'repeat', part, least: 1, most: Number.POSITIVE_INFINITY };
    if (sign === '?') return { type: 'repeat', part, least: 0, most: 1 };
    const least = Number(first);
    const most = comma === undefined ? least : last === '' ? Number.POSITIVE_INFINITY : Number(last);
    if (most < least) throw problem('the numbers of a repetition are the wrong way round');
    if (least > MOST_REPEATS || (Number.isFinite(most) && most > MOST_REPEATS))
      throw problem(`more than ${String(MOST_REPEATS)} repetitions are counted`);
    return { type: 'repeat', part, least, most };
  };

  const atom = (depth: number): RegexNode => {
    const sign = source[at];
    if (sign === '(') return group(depth);
    if (sign === '\\') return escape();
    if (sign === '[') return characterClass();
    if (sign === '^' || sign === '$') {
      at += 1;
      return { type: 'assert', kind: sign === '^' ? 'start' : 'end' };
    }
    if (sign === '*' || sign === '+' || sign === '?' || sign === '{' || sign === '}' || sign === ']')
      throw problem(`${sign} must be written \\${sign} where it stands for itself`);
    const character = String.fromCodePoint(codePointAt(source, at));
    at += character.length;
    if (character === '.') return { type: 'character', source: dotAll ? '[^]' : '.' };
    return { type: 'character', source: character === '/' ? '\\/' : character };
  };

  const group = (depth: number): RegexNode => {
    if (/\(\?<?[=!]/y.test(source.slice(at, at + 4))) throw problem('look-around cannot be matched in linear time');
    take(GROUP);
    if (source[at] === '?') throw problem('this kind of group is not known');
    const inner = choice(depth + 1);
    if (source[at] !== ')') throw problem('a group is not closed');
    at += 1;
    return inner;
  };

  const escape = (): RegexNode => {
    const next = source[at + 1] ?? '';
    if (next === 'b' || next === 'B') {
      at += 2;
      return { type: 'assert', kind: next === 'b' ? 'boundary' : 'inside' };
    }
    if (/[1-9k]/.test(next)) throw problem('back references cannot be matched in linear time');
    const [text] = take(ESCAPE) ?? [];
    if (text === undefined) throw problem(`the escape \\${next} is not known`);
    return { type: 'character', source: text };
  };

  const characterClass = (): RegexNode => {
    const [text] = take(CLASS) ?? [];
    if (text === undefined) throw problem('a class is not closed');
    return { type: 'character', source: text };
  };

  const tree = choice(0);
  if (at < source.length) throw problem('a bracket closes nothing');
  return tree;
}
