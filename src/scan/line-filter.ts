/**
 * Tells in one pass over a text in which lines each expression can match: those with a literal that its matches contain. Running every
 * expression on every line instead makes an install take almost three times as long.
 */

/** By index of the expression: the lines that can have matches, ascending. */
type Candidates = ReadonlyMap<number, readonly number[]>;

/** Scripts that are not Latin, such as Chinese. Typographic characters, such as dashes, are common in all texts. */
const CHINESE = /[\u0370-\u1cff\u2e80-\u9fff\uac00-\ud7af]/;

/** Opens a filter for lines in lower case. Expressions are ASCII, except for those with Chinese characters, and match no line end. */
export function openLineFilter(expressions: readonly string[]): (lines: readonly string[]) => Candidates {
  const literals = expressions.map((source) => (CHINESE.test(source) ? [] : requiredLiterals(source)));
  const { next, width, columns, ends } = buildAutomaton(literals);
  const unfiltered = [...expressions.keys()].filter((at) => literals[at]?.length === 0);
  return (lines) => {
    const candidates = new Map<number, number[]>();
    for (let line = 0; line < lines.length; line += 1) {
      const text = lines[line] ?? '';
      let state = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        state = code < ASCII ? (next[state * width + (columns[code] ?? 0)] ?? 0) : 0;
        if (state < ENDS) continue;
        state -= ENDS;
        for (const expression of ends[state] ?? []) {
          const known = candidates.get(expression);
          if (known === undefined) candidates.set(expression, [line]);
          else if (known.at(-1) !== line) known.push(line);
        }
      }
    }
    const isChinese = lines.some((line) => CHINESE.test(line));
    for (const expression of unfiltered)
      if (isChinese || !CHINESE.test(expressions[expression] ?? '')) candidates.set(expression, [...lines.keys()]);
    return candidates;
  };
}

/** An Aho-Corasick automaton. Its state is the longest start of a literal that ends at the current character. */
interface Automaton {
  /** The next state by state and column, plus `ENDS` if literals end there. */
  readonly next: Int32Array;
  /** The number of columns. */
  readonly width: number;
  /** The column of each ASCII character; 0 for those that are in no literal. */
  readonly columns: Uint8Array;
  /** By state: the expressions with a literal that ends in it. */
  readonly ends: readonly (readonly number[])[];
}

const ASCII = 128;
const ENDS = 1 << 24;

function buildAutomaton(literals: readonly (readonly string[])[]): Automaton {
  const columns = new Uint8Array(ASCII);
  const characters = [...new Set(literals.flat().join(''))];
  for (const [at, character] of characters.entries()) columns[character.charCodeAt(0)] = at + 1;
  const width = characters.length + 1;
  const next = new Int32Array(width * (1 + literals.flat().join('').length));
  const ends: number[][] = [[]];
  for (const [expression, texts] of literals.entries())
    for (const text of texts) {
      let state = 0;
      for (const character of text) {
        const cell = state * width + (columns[character.charCodeAt(0)] ?? 0);
        if (next[cell] === 0) next[cell] = ends.push([]) - 1;
        state = next[cell] ?? 0;
      }
      ends[state]?.push(expression);
    }
  // From short to long, so that the state without the first character is complete before it is needed.
  const states = [0];
  const shorter = new Int32Array(ends.length);
  for (const state of states)
    for (let column = 0; column < width; column += 1) {
      const cell = state * width + column;
      const child = next[cell] ?? 0;
      const without = state === 0 ? 0 : (next[(shorter[state] ?? 0) * width + column] ?? 0);
      if (child === 0) next[cell] = without;
      else {
        shorter[child] = without % ENDS;
        ends[child]?.push(...(ends[without % ENDS] ?? []));
        if (ends[child]?.length !== 0) next[cell] = child + ENDS;
        states.push(child);
      }
    }
  return { next, width, columns, ends };
}

/** Characters without a special meaning and without a quantifier. */
const PLAIN = /(?:[\w '",:;<>=&%@#!~`/-](?![?*+{]))+/y;
const GROUP = /\((?:\?(?:<?[=!]|:))?/y;
const ONE = /\[(?:\\.|[^\\\]])*\]|\\.|./y;
const QUANTIFIER = /(?:(?:\{\d+(?:,\d*)?\}|[*+?])\??)?/y;
const OPTIONAL = /^(?:[?*]|\{0)/;
/** A literal set: every match contains at least one of them. */
type Literals = readonly string[];

/** Literals of which every match of an expression contains one; empty if there are none. Parses the syntax that the scan patterns use. */
function requiredLiterals(source: string): Literals {
  let at = 0;
  /** Consumes a match of a sticky expression; empty if it does not match. */
  const take = (token: RegExp): string => {
    token.lastIndex = at;
    const found = token.exec(source)?.[0] ?? '';
    at += found.length;
    return found;
  };
  /** Reads alternatives up to the end of their group, after the literal text `before`. Returns the literals of the whole group. */
  const alternatives = (before: string): Literals => {
    const all = [sequence(before)];
    while (source[at] === '|') {
      at += 1;
      all.push(sequence(before));
    }
    return all.some(({ length }) => length === 0) ? [] : all.flat();
  };
  /** The set of literals that excludes most lines. */
  const sequence = (before: string): Literals => {
    let best: Literals = [];
    let run = before;
    const consider = (set: Literals): void => {
      if (shortest(set) > shortest(best) || (shortest(set) === shortest(best) && set.length < best.length)) best = set;
    };
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const opening = take(GROUP);
      const plain = opening === '' ? take(PLAIN) : '';
      if (opening !== '') {
        const inside = alternatives(run);
        at += 1;
        const isOptional = OPTIONAL.test(take(QUANTIFIER));
        consider(isOptional || /[=!]$/.test(opening) ? [run] : inside);
        run = '';
      } else if (plain !== '') run += plain;
      else {
        const one = take(ONE);
        const literal = toLiteral(one);
        if (one === String.raw`\b`) continue;
        if (take(QUANTIFIER) === '' && literal !== undefined) run += literal;
        else {
          consider([run]);
          run = '';
        }
      }
    }
    consider([run]);
    return best;
  };
  return alternatives('');
}

function shortest(literals: Literals): number {
  return literals.length === 0 ? 0 : Math.min(...literals.map(({ length }) => length));
}

/** The text of an escaped or plain character; undefined for classes and anchors. */
function toLiteral(one: string): string | undefined {
  if (one.startsWith('\\')) return /\\[A-Za-z0-9]/.test(one) ? undefined : one.slice(1);
  return /^[[.^$]/.test(one) ? undefined : one;
}
