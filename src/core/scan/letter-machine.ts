/**
 * Where many texts stand in another one, seen in one pass over it, one step for each character: the machine of Aho and Corasick. All texts are
 * of ASCII, and have no line feed in them.
 */
export interface LetterMachine {
  /** The texts, by number, that end together at a place: `ends` of what is seen counts in these. */
  readonly endings: readonly (readonly number[])[];
  /** A way to go over one text after the other. It keeps its memory for the next: what it gives is good until then. */
  readonly openPass: () => (text: string) => SeenEnds;
}

/** Where texts end, in a chain for each ending, from its last place to its first: an array for each would take as long as the pass. */
export interface SeenEnds {
  /** The text, one byte for each character; 0 for what is not ASCII. */
  readonly bytes: Uint8Array;
  /** The numbers of the endings that were seen. */
  readonly seen: readonly number[];
  /** By the number of an ending the last link of its chain. */
  readonly last: Uint32Array;
  /** By links, from 1 on: the place of the last character of the texts, and the link before, or 0. */
  readonly at: Uint32Array;
  readonly before: Uint32Array;
}

/** In rows of numbers: from a state, by the column of a character, to the next one, with `ENDS` where texts end there. */
interface Table {
  readonly rows: Uint16Array;
  /** Of a row. Not rounded up to a power of two: a smaller table stays nearer to the processor. */
  readonly width: number;
  /** By character; 0 for all that stand in no text. */
  readonly columns: Uint8Array;
  /** By state the number of the ending. */
  readonly endingOf: Uint16Array;
  readonly endings: readonly (readonly number[])[];
}

const ASCII = 128;
const ENDS = 0x80_00;
const STATE = 0x7f_ff;
const LINE_FEED = 0x0a;

export function openLetterMachine(texts: readonly string[]): LetterMachine {
  const table = tableOf(texts);
  const encoder = new TextEncoder();
  return {
    endings: table.endings,
    openPass() {
      let memory = newMemory(table, FIRST_ROOM);
      return (text) => {
        if (memory.bytes.length < text.length) memory = newMemory(table, Math.ceil(1.25 * text.length));
        const { bytes, chains } = memory;
        // What is not ASCII takes more bytes than there are, and is not read to its end.
        if (encoder.encodeInto(text, bytes.subarray(0, text.length)).read < text.length) asciiOf(text, bytes);
        clear(chains);
        passOver(text.length, table, memory);
        return { bytes, ...chains };
      };
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

interface Chains {
  readonly seen: number[];
  readonly last: Uint32Array;
  readonly at: Uint32Array;
  readonly before: Uint32Array;
  links: number;
}

function clear(chains: Chains): void {
  for (const ending of chains.seen) chains.last[ending] = 0;
  chains.seen.length = 0;
  chains.links = 0;
}

/** One way through a part of the text: where it has come to, and what was noted. */
interface Runner {
  state: number;
  count: number;
  /** The last characters of texts, `count` of them. */
  readonly at: Uint32Array;
  /** The states there. */
  readonly states: Uint16Array;
}

/** For texts up to the length of `bytes`. Little of it is touched: most characters end no text. */
interface Memory {
  readonly bytes: Uint8Array;
  readonly chains: Chains;
  readonly first: Runner;
  readonly second: Runner;
}

const FIRST_ROOM = 8_192;

function newMemory({ endings }: Table, length: number): Memory {
  const numbers = (): Uint32Array => new Uint32Array(length + 1);
  const runner = (): Runner => ({ state: 0, count: 0, at: numbers(), states: new Uint16Array(length + 1) });
  return {
    bytes: new Uint8Array(length),
    chains: { seen: [], last: new Uint32Array(endings.length), at: numbers(), before: numbers(), links: 0 },
    first: runner(),
    second: runner(),
  };
}

function passOver(length: number, table: Table, { bytes, chains, first, second }: Memory): void {
  const middle = lineNear(bytes, length);
  const together = Math.min(middle, length - middle);
  runBoth(bytes, table, { first, second, length: together, ahead: middle });
  if (middle > together) runOn(bytes, table, { runner: first, from: together, to: middle });
  else runOn(bytes, table, { runner: second, from: middle + together, to: length });
  addLinks(chains, table, first);
  addLinks(chains, table, second);
}

interface Both {
  readonly first: Runner;
  readonly second: Runner;
  /** How far both go; the second is so many characters ahead of the first. */
  readonly length: number;
  readonly ahead: number;
}

/**
 * Two at a time: while the one waits for its next state, there is room for the other. And without a branch: which characters end a text cannot
 * be foreseen, and a wrong guess costs more than to write each of them down.
 */
function runBoth(bytes: Uint8Array, table: Table, { first, second, length, ahead }: Both): void {
  const { rows, width, columns } = table;
  const { at, states } = first;
  const { at: secondAt, states: secondStates } = second;
  let state = 0;
  let secondState = 0;
  let count = 0;
  let secondCount = 0;
  for (let place = 0; place < length; place += 1) {
    state = rows[Math.imul(state & STATE, width) + (columns[bytes[place] ?? 0] ?? 0)] ?? 0;
    secondState = rows[Math.imul(secondState & STATE, width) + (columns[bytes[place + ahead] ?? 0] ?? 0)] ?? 0;
    at[count] = place;
    states[count] = state;
    count += state >> 15;
    secondAt[secondCount] = place + ahead;
    secondStates[secondCount] = secondState;
    secondCount += secondState >> 15;
  }
  first.state = state;
  first.count = count;
  second.state = secondState;
  second.count = secondCount;
}

/** The rest of the longer part. */
function runOn(
  bytes: Uint8Array,
  { rows, width, columns }: Table,
  { runner, from, to }: { readonly runner: Runner; readonly from: number; readonly to: number },
): void {
  const { at, states } = runner;
  let { state, count } = runner;
  for (let place = from; place < to; place += 1) {
    state = rows[Math.imul(state & STATE, width) + (columns[bytes[place] ?? 0] ?? 0)] ?? 0;
    at[count] = place;
    states[count] = state;
    count += state >> 15;
  }
  runner.count = count;
}

function addLinks(chains: Chains, { endingOf }: Table, { at: noted, states, count }: Runner): void {
  const { seen, last, at, before } = chains;
  let { links } = chains;
  for (let note = 0; note < count; note += 1) {
    const ending = endingOf[(states[note] ?? 0) & STATE] ?? 0;
    const known = last[ending] ?? 0;
    if (known === 0) seen.push(ending);
    links += 1;
    at[links] = noted[note] ?? 0;
    before[links] = known;
    last[ending] = links;
  }
  chains.links = links;
}

/** Where a line starts, in the middle or not far from it: no text goes over the end of a line. The start of all where there is one line. */
function lineNear(bytes: Uint8Array, length: number): number {
  const end = bytes.lastIndexOf(LINE_FEED, length >> 1);
  if (end !== -1) return end + 1;
  const next = bytes.indexOf(LINE_FEED, length >> 1);
  return next < length ? next + 1 : 0;
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
  if (nodes.length > STATE || letters.includes('\n')) throw new RangeError('texts that one machine cannot seek');
  const numbers = new Map(nodes.map((node, number) => [node, number]));
  const width = letters.length + 1;
  const rows = new Uint16Array(nodes.length * width);
  const endingOf = new Uint16Array(nodes.length);
  const endings: (readonly number[])[] = [];
  for (const [number, node] of nodes.entries()) {
    const row = number * width;
    // Where a character leads nowhere, it leads where it does from the longest shorter ending, whose row is complete by now.
    const other = node.otherwise === undefined ? row : (numbers.get(node.otherwise) ?? 0) * width;
    rows.copyWithin(row, other, other + width);
    for (const [column, next] of node.next)
      rows[row + column] = (numbers.get(next) ?? 0) | (next.ends.length > 0 ? ENDS : 0);
    if (node.ends.length > 0) endingOf[number] = endings.push(node.ends) - 1;
  }
  return { rows, width, columns, endingOf, endings };
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
