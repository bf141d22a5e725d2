/** Finds all occurrences of many literals in a text with one pass over it (the Aho-Corasick algorithm). Literals are distinct, not empty and ASCII. */

export interface AhoCorasick {
  /** The sets of literals that can end at the same position, as indexes into the given list. */
  readonly outputs: readonly (readonly number[])[];
  /** By index into `outputs`: the positions of the last characters, ascending. Outputs that do not occur are absent. */
  readonly search: (text: string) => ReadonlyMap<number, readonly number[]>;
}

const ASCII = 128;
/** States are stored in 16 bits to keep the table small. */
const MAX_STATES = 0xff_ff;

export function openAhoCorasick(literals: readonly string[]): AhoCorasick {
  const { transitions, width, columns, outputOf, outputs } = buildAutomaton(literals);
  return {
    outputs,
    search(text) {
      const found = new Map<number, number[]>();
      let state = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        state = code < ASCII ? (transitions[state * width + (columns[code] ?? 0)] ?? 0) : 0;
        const output = outputOf[state] ?? 0;
        if (output === 0) continue;
        const positions = found.get(output - 1);
        if (positions === undefined) found.set(output - 1, [at]);
        else positions.push(at);
      }
      return found;
    },
  };
}

interface Automaton {
  /** The next state by state and column. */
  readonly transitions: Uint16Array;
  readonly width: number;
  /** The column of each ASCII character; 0 for characters that occur in no literal. */
  readonly columns: Uint8Array;
  /** By state: 1 + the index of its output; 0 if no literal ends there. */
  readonly outputOf: Uint16Array;
  readonly outputs: readonly (readonly number[])[];
}

function buildAutomaton(literals: readonly string[]): Automaton {
  const alphabet = [...new Set(literals.join(''))];
  const width = alphabet.length + 1;
  const columns = new Uint8Array(ASCII);
  for (const [at, character] of alphabet.entries()) columns[character.charCodeAt(0)] = at + 1;
  const maxStates = literals.reduce((sum, { length }) => sum + length, 1);
  if (maxStates > MAX_STATES)
    throw new RangeError(`the literals need ${String(maxStates)} states; the limit is ${String(MAX_STATES)}`);
  const trie = new Uint16Array(maxStates * width);
  const literalAt = new Map<number, number>();
  let count = 1;
  for (const [index, literal] of literals.entries()) {
    let state = 0;
    for (const character of literal) {
      const cell = state * width + (columns[character.charCodeAt(0)] ?? 0);
      if (trie[cell] === 0) {
        trie[cell] = count;
        count += 1;
      }
      state = trie[cell] ?? 0;
    }
    literalAt.set(state, index);
  }
  return { ...addFailureLinks(trie.slice(0, count * width), width, literalAt), width, columns };
}

/** Completes the trie breadth-first: a missing transition of a state is the one of its longest proper suffix that is in the trie. */
function addFailureLinks(
  transitions: Uint16Array,
  width: number,
  literalAt: ReadonlyMap<number, number>,
): Pick<Automaton, 'transitions' | 'outputOf' | 'outputs'> {
  const count = transitions.length / width;
  const suffixOf = new Uint16Array(count);
  const outputOf = new Uint16Array(count);
  const outputs: (readonly number[])[] = [];
  const queue = [0];
  for (const state of queue) {
    const suffix = suffixOf[state] ?? 0;
    const own = literalAt.get(state);
    const inherited = outputOf[suffix] ?? 0;
    if (own === undefined) outputOf[state] = inherited;
    else outputOf[state] = outputs.push([own, ...(outputs[inherited - 1] ?? [])]);
    for (let column = 1; column < width; column += 1) {
      const cell = state * width + column;
      const next = transitions[cell] ?? 0;
      const fallback = state === 0 ? 0 : (transitions[suffix * width + column] ?? 0);
      if (next === 0) transitions[cell] = fallback;
      else {
        suffixOf[next] = fallback;
        queue.push(next);
      }
    }
  }
  return { transitions, outputOf, outputs };
}
