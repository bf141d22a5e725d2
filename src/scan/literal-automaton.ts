/**
 * Finds all literals of all patterns in one pass (Aho-Corasick): a state is the longest start of a literal that ends at the current
 * character. There are two first states, because some literals count only at the start of a word. Several spaces count as one.
 */
import type { Literal } from './regex-prefilter.ts';

export interface AutomatonLiteral extends Literal {
  /** What a caller calls the literal. */
  readonly id: number;
}

export interface LiteralAutomaton {
  /** The next state by state and column, plus `ENDS` if literals end there. */
  readonly next: Uint16Array;
  /** The number of columns as a power of two. */
  readonly shift: number;
  /** The column of each ASCII character. Upper-case letters have those of lower-case ones, and control characters that of the space. */
  readonly columns: Uint8Array;
  /** The ids of the literals that end in a state are `ids` from `firstIds[state]` to `firstIds[state + 1]`. */
  readonly firstIds: Uint32Array;
  readonly ids: Uint16Array;
}

/** The state before a word. */
export const START = 0;
/** The state after a character of a word. */
const IN_WORD = 1;
export const ENDS = 0x8000;
const STATE = ENDS - 1;

const ASCII = 128;
const SPACE = 0x20;
/** Columns of characters that are in no literal. */
const OTHER = 0;
const OTHER_IN_WORD = 1;

/** The literals are in lower case and ASCII. */
export function buildAutomaton(literals: readonly AutomatonLiteral[]): LiteralAutomaton {
  const { columns, count } = assignColumns(literals);
  const shift = Math.ceil(Math.log2(count));
  const maxStates = literals.reduce((sum, { text, isAtWordStart }) => sum + text.length * (isAtWordStart ? 1 : 2), 2);
  const next = new Uint16Array(maxStates << shift);
  /** By state: the column that led to it, its last child, and the child before it. */
  const [column, child, sibling] = [new Uint8Array(maxStates), new Uint16Array(maxStates), new Uint16Array(maxStates)];
  const ends: number[][] = [[], []];
  for (const { text, isAtWordStart, id } of literals)
    for (let first = START; first <= (isAtWordStart ? START : IN_WORD); first += 1) {
      let state = first;
      for (let at = 0; at < text.length; at += 1) {
        const by = columns[text.charCodeAt(at)] ?? OTHER;
        const cell = (state << shift) | by;
        if (next[cell] === 0) {
          const made = ends.push([]) - 1;
          column[made] = by;
          sibling[made] = child[state] ?? 0;
          child[state] = made;
          next[cell] = made;
        }
        state = next[cell] ?? 0;
      }
      ends[state]?.push(id);
    }
  const isWordColumn = wordColumns(columns, 1 << shift);
  // From short to long, so that the state without the first character is complete before it is needed.
  const states = new Uint16Array(ends.length);
  const shorter = new Uint16Array(ends.length);
  states[1] = IN_WORD;
  for (let at = 0, made = 2; at < made; at += 1) {
    const state = states[at] ?? 0;
    const row = state << shift;
    if (state > IN_WORD) {
      const other = (shorter[state] ?? 0) << shift;
      next.copyWithin(row, other, other + (1 << shift));
    } else for (let by = 0; by < 1 << shift; by += 1) next[row | by] = isWordColumn[by] === 1 ? IN_WORD : START;
    for (let each = child[state] ?? 0; each !== 0; each = sibling[each] ?? 0) {
      const cell = row | (column[each] ?? 0);
      const without = (next[cell] ?? 0) & STATE;
      shorter[each] = without;
      ends[each]?.push(...(ends[without] ?? []));
      next[cell] = ends[each]?.length === 0 ? each : each | ENDS;
      states[made] = each;
      made += 1;
    }
  }
  const space = columns[SPACE] ?? OTHER;
  for (let state = 0; state < ends.length; state += 1) {
    const after = (next[(state << shift) | space] ?? START) & STATE;
    next[(after << shift) | space] = after;
  }
  const firstIds = new Uint32Array(ends.length + 1);
  for (const [state, { length }] of ends.entries()) firstIds[state + 1] = (firstIds[state] ?? 0) + length;
  return { next: next.subarray(0, ends.length << shift), shift, columns, firstIds, ids: Uint16Array.from(ends.flat()) };
}

function assignColumns(literals: readonly AutomatonLiteral[]): {
  readonly columns: Uint8Array;
  readonly count: number;
} {
  const columns = Uint8Array.from({ length: ASCII }, (_, code) => (isWordCharacter(code) ? OTHER_IN_WORD : OTHER));
  let count = OTHER_IN_WORD + 1;
  for (const { text } of literals)
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if ((columns[code] ?? 0) > OTHER_IN_WORD) continue;
      columns[code] = count;
      count += 1;
    }
  for (let code = 0x41; code <= 0x5a; code += 1) columns[code] = columns[code + 0x20] ?? OTHER;
  columns.fill(columns[SPACE] ?? OTHER, 0, SPACE);
  return { columns, count };
}

function wordColumns(columns: Uint8Array, count: number): Uint8Array {
  const isWord = new Uint8Array(count);
  for (let code = 0; code < ASCII; code += 1) if (isWordCharacter(code)) isWord[columns[code] ?? OTHER] = 1;
  return isWord;
}

/** The same characters as `\w`. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || (code >= 0x41 && code <= 0x5a)
  );
}
