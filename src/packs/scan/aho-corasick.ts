/** Finds all occurrences of many literals in a text with one pass over it (the Aho-Corasick algorithm). Literals are distinct, not empty and ASCII. */

/** By index of the literal: the positions of its last character, ascending. Literals that do not occur are absent. */
export type LiteralEnds = ReadonlyMap<number, readonly number[]>;

const ASCII = 128;
/** States are stored in 16 bits to keep the table small. */
const MAX_STATES = 0xff_ff;

export function openAhoCorasick(literals: readonly string[]): (text: string) => LiteralEnds {
  const { transitions, shift, columns, firstOutput, outputs } = buildAutomaton(literals);
  return (text) => {
    const found = new Map<number, number[]>();
    const codes = characterCodes(text);
    let state = 0;
    for (let at = 0; at < codes.length; at += 1) {
      const code = codes[at] ?? 0;
      state = code < ASCII ? (transitions[(state << shift) | (columns[code] ?? 0)] ?? 0) : 0;
      if (state < firstOutput) continue;
      for (const literal of outputs[state - firstOutput] ?? []) {
        const ends = found.get(literal);
        if (ends === undefined) found.set(literal, [at]);
        else ends.push(at);
      }
    }
    return found;
  };
}

/** A typed array, because reading it is several times faster than `charCodeAt`. */
function characterCodes(text: string): Uint16Array {
  const bytes = Buffer.allocUnsafeSlow(text.length * 2);
  bytes.write(text, 'utf16le');
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
}

interface Automaton {
  /** The next state by state and column. */
  readonly transitions: Uint16Array;
  /** The number of columns as a power of two. */
  readonly shift: number;
  /** The column of each ASCII character; 0 for characters that occur in no literal. */
  readonly columns: Uint8Array;
  /** Literals end at this state and all later ones, so that the search needs no table to know it. */
  readonly firstOutput: number;
  /** The literals that end at each of these states. */
  readonly outputs: readonly (readonly number[])[];
}

function buildAutomaton(literals: readonly string[]): Automaton {
  const alphabet = [...new Set(literals.join(''))];
  const shift = Math.ceil(Math.log2(alphabet.length + 1));
  const columns = new Uint8Array(ASCII);
  for (const [at, character] of alphabet.entries()) columns[character.charCodeAt(0)] = at + 1;
  const maxStates = literals.reduce((sum, { length }) => sum + length, 1);
  if (maxStates > MAX_STATES)
    throw new RangeError(`the literals need ${String(maxStates)} states; the limit is ${String(MAX_STATES)}`);
  const trie = new Uint16Array(maxStates << shift);
  const literalAt = new Map<number, number>();
  let count = 1;
  for (const [index, literal] of literals.entries()) {
    let state = 0;
    for (let at = 0; at < literal.length; at += 1) {
      const cell = (state << shift) | (columns[literal.charCodeAt(at)] ?? 0);
      if (trie[cell] === 0) {
        trie[cell] = count;
        count += 1;
      }
      state = trie[cell] ?? 0;
    }
    literalAt.set(state, index);
  }
  const transitions = trie.subarray(0, count << shift);
  return { ...renumber(transitions, shift, addFailureLinks(transitions, shift, literalAt)), shift, columns };
}

/** Completes the trie breadth-first: a missing transition of a state is the one of its longest proper suffix. Returns the literals of each state. */
function addFailureLinks(
  transitions: Uint16Array,
  shift: number,
  literalAt: ReadonlyMap<number, number>,
): readonly (readonly number[] | undefined)[] {
  const suffixOf = new Uint16Array(transitions.length >> shift);
  const outputOf: (readonly number[] | undefined)[] = [];
  const queue = [0];
  for (const state of queue) {
    const suffix = suffixOf[state] ?? 0;
    const own = literalAt.get(state);
    const inherited = outputOf[suffix];
    outputOf[state] = own === undefined ? inherited : [own, ...(inherited ?? [])];
    for (let column = 1; column < 1 << shift; column += 1) {
      const cell = (state << shift) | column;
      const next = transitions[cell] ?? 0;
      const fallback = state === 0 ? 0 : (transitions[(suffix << shift) | column] ?? 0);
      if (next === 0) transitions[cell] = fallback;
      else {
        suffixOf[next] = fallback;
        queue.push(next);
      }
    }
  }
  return outputOf;
}

/** Moves the states at which literals end behind the others. The first state stays. */
function renumber(
  transitions: Uint16Array,
  shift: number,
  outputOf: readonly (readonly number[] | undefined)[],
): Pick<Automaton, 'transitions' | 'firstOutput' | 'outputs'> {
  const states = [...outputOf.keys()];
  const plain = states.filter((state) => outputOf[state] === undefined);
  const order = [...plain, ...states.filter((state) => outputOf[state] !== undefined)];
  const numberOf = new Uint16Array(order.length);
  for (const [number, state] of order.entries()) numberOf[state] = number;
  const renumbered = new Uint16Array(transitions.length);
  for (const [number, state] of order.entries())
    for (let column = 1; column < 1 << shift; column += 1)
      renumbered[(number << shift) | column] = numberOf[transitions[(state << shift) | column] ?? 0] ?? 0;
  return {
    transitions: renumbered,
    firstOutput: plain.length,
    outputs: order.slice(plain.length).map((state) => outputOf[state] ?? []),
  };
}
