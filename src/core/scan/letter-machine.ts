/**
 * Where many texts stand in another one, seen in one pass over it, one step for each character: the machine of Aho and Corasick. All texts are
 * of ASCII.
 */
export interface LetterMachine {
  /** The texts, by number, that end together at a place: `ends` of what is seen counts in these. */
  readonly endings: readonly (readonly number[])[];
  readonly placesIn: (text: string) => SeenEnds;
}

/** Where texts end, in chains of places from the last to the first: arrays for each would take as long as the pass. */
export interface SeenEnds {
  /** The text, one byte for each character; 0 for what is not ASCII. */
  readonly bytes: Uint8Array;
  /** The numbers of the endings that were seen. */
  readonly seen: readonly number[];
  /** By the number of an ending the last of its chain. */
  readonly last: Uint32Array;
  /** By links of chains, from 1 on: the place of the last character of the texts, and the link before, or 0. */
  readonly at: Uint32Array;
  readonly before: Uint32Array;
}

/** In rows of numbers: from a state, by the column of a character, to the next one, with `ENDS` where texts end there. */
interface Table {
  readonly rows: Uint16Array;
  /** A row has 2 to this power of columns. */
  readonly shift: number;
  /** By character; 0 for all that stand in no text. */
  readonly columns: Uint8Array;
  /** By state the number of the ending. */
  readonly endingOf: Uint16Array;
  readonly endings: readonly (readonly number[])[];
}

const ASCII = 128;
const ENDS = 0x80_00;
const STATE = 0x7f_ff;

export function openLetterMachine(texts: readonly string[]): LetterMachine {
  const table = tableOf(texts);
  const { endings, endingOf } = table;
  const encoder = new TextEncoder();
  return {
    endings,
    placesIn(text) {
      const bytes = new Uint8Array(text.length);
      // What is not ASCII takes more bytes than there are, and is not read to its end.
      if (encoder.encodeInto(text, bytes).read < text.length) asciiOf(text, bytes);
      const [at, states] = [new Uint32Array(text.length + 2), new Uint16Array(text.length + 2)];
      const links = passOver(bytes, table, at, states);
      const seen: number[] = [];
      const last = new Uint32Array(endings.length);
      const before = new Uint32Array(links + 1);
      for (let link = 1; link <= links; link += 1) {
        const ending = endingOf[(states[link] ?? 0) & STATE] ?? 0;
        const known = last[ending] ?? 0;
        if (known === 0) seen.push(ending);
        before[link] = known;
        last[ending] = link;
      }
      return { bytes, seen, last, at, before };
    },
  };
}

/** One byte for each character, 0 for what is not ASCII. */
function asciiOf(text: string, bytes: Uint8Array): void {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    bytes[at] = code < ASCII ? code : 0;
  }
}

/**
 * Gives how many places there are at which texts end; from 1 on, `at` has their last characters and `states` the states there. A function of its
 * own, and without a branch in the loop: which characters end a text cannot be foreseen, and a wrong guess costs more than to write each down.
 */
function passOver(bytes: Uint8Array, { rows, shift, columns }: Table, at: Uint32Array, states: Uint16Array): number {
  let state = 0;
  let next = 1;
  for (let place = 0; place < bytes.length; place += 1) {
    state = rows[((state & STATE) << shift) | (columns[bytes[place] ?? 0] ?? 0)] ?? 0;
    at[next] = place;
    states[next] = state;
    next += state >> 15;
  }
  return next - 1;
}

/** A state while the machine is built: where each character leads, and where to go on when none does. */
interface Node {
  readonly next: Map<number, Node>;
  readonly ends: number[];
  otherwise: Node | undefined;
}

function tableOf(texts: readonly string[]): Table {
  const letters = [...new Set(texts.join(''))];
  const columns = new Uint8Array(ASCII);
  for (const [place, letter] of letters.entries()) columns[letter.charCodeAt(0)] = place + 1;
  const nodes = nodesOf(texts, columns);
  if (nodes.length > STATE) throw new RangeError('too many texts for one machine');
  const numbers = new Map(nodes.map((node, number) => [node, number]));
  const shift = Math.ceil(Math.log2(letters.length + 1));
  const rows = new Uint16Array(nodes.length << shift);
  const endingOf = new Uint16Array(nodes.length);
  const endings: (readonly number[])[] = [];
  for (const [number, node] of nodes.entries()) {
    const row = number << shift;
    // Where a character leads nowhere, it leads where it does from the longest shorter ending, whose row is complete by now.
    const other = node.otherwise === undefined ? row : (numbers.get(node.otherwise) ?? 0) << shift;
    rows.copyWithin(row, other, other + (1 << shift));
    for (const [column, next] of node.next)
      rows[row | column] = (numbers.get(next) ?? 0) | (next.ends.length > 0 ? ENDS : 0);
    if (node.ends.length > 0) endingOf[number] = endings.push(node.ends) - 1;
  }
  return { rows, shift, columns, endingOf, endings };
}

/** All nodes, those of shorter texts first; each knows that of its longest proper ending, and the texts which end with it. */
function nodesOf(texts: readonly string[], columns: Uint8Array): readonly Node[] {
  const top: Node = { next: new Map(), ends: [], otherwise: undefined };
  for (const [number, text] of texts.entries()) {
    let node = top;
    for (const letter of text) {
      const column = columns[letter.charCodeAt(0)] ?? 0;
      const next = node.next.get(column) ?? { next: new Map(), ends: [], otherwise: undefined };
      node.next.set(column, next);
      node = next;
    }
    node.ends.push(number);
  }
  const nodes = [top];
  for (const node of nodes)
    for (const [column, next] of node.next) {
      let shorter = node.otherwise;
      while (shorter !== undefined && !shorter.next.has(column)) shorter = shorter.otherwise;
      next.otherwise = shorter?.next.get(column) ?? top;
      next.ends.push(...next.otherwise.ends);
      nodes.push(next);
    }
  return nodes;
}
