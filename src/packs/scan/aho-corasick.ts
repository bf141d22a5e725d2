/**
 * Where many texts stand in another one, seen in one pass over it, one step for each character: the machine of Aho and Corasick. All texts are
 * of ASCII, have no line feed in them, and no two are alike.
 */
import { compareText } from '../../core/diagnostic.ts';

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

/** The texts in order: those that begin alike follow each other. */
interface Sorted {
  readonly texts: readonly string[];
  /** Of each, its number as it was given. */
  readonly numbers: readonly number[];
  /** Of each, how many characters it begins with as the one before does. */
  readonly shared: Uint16Array;
}

function sortedTexts(given: readonly string[]): Sorted {
  const numbers = [...given.keys()].sort((a, b) => compareText(given[a] ?? '', given[b] ?? ''));
  const texts = numbers.map((number) => given[number] ?? '');
  const shared = Uint16Array.from(texts, (text, at) => sharedStart(text, texts[at - 1] ?? ''));
  return { texts, numbers, shared };
}

function sharedStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return length;
}

/** A table while it is made. Its states are the starts of texts, shorter ones first. */
interface Making extends Table {
  readonly endings: (readonly number[])[];
  /** By state that of its longest proper ending: where the search goes on when no text does. */
  readonly otherwise: Uint16Array;
  /** By text the state that it has come to. */
  readonly reached: Uint16Array;
  count: number;
}

function tableOf(given: readonly string[]): Table {
  const sorted = sortedTexts(given);
  const { texts, shared } = sorted;
  const letters = [...new Set(given.join(''))];
  const columns = new Uint8Array(ASCII);
  for (const [place, letter] of letters.entries()) columns[letter.charCodeAt(0)] = place + 1;
  const states = texts.reduce((sum, text, at) => sum + text.length - (shared[at] ?? 0), 1);
  if (states > STATE || letters.includes('\n')) throw new RangeError('texts that one machine cannot seek');
  const width = letters.length + 1;
  const making: Making = {
    rows: new Uint16Array(states * width),
    width,
    columns,
    endingOf: new Uint16Array(states),
    endings: [],
    otherwise: new Uint16Array(states),
    reached: new Uint16Array(texts.length),
    count: 1,
  };
  for (let length = 1; making.count < states; length += 1) addStarts(making, sorted, length);
  return making;
}

/** The states of all starts of a length. */
function addStarts(making: Making, { texts, numbers, shared }: Sorted, length: number): void {
  const { reached, count: first } = making;
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at] ?? '';
    if (text.length < length) continue;
    // The shortest of those that start so comes first: it ends here, or none does.
    const own = text.length === length ? numbers[at] : undefined;
    const isKnown = (shared[at] ?? 0) >= length;
    reached[at] =
      (isKnown ? reached[at - 1] : addState(making, reached[at] ?? 0, text.charCodeAt(length - 1), own)) ?? 0;
  }
  const { rows, width, otherwise } = making;
  // Only now are the rows of shorter starts complete, which each begins as a copy of.
  for (let state = first; state < making.count; state += 1) {
    const other = Math.imul(otherwise[state] ?? 0, width);
    rows.copyWithin(Math.imul(state, width), other, other + width);
  }
}

/** The state to which a character leads from another. Where it led before is the longest proper ending of the new start. */
function addState(making: Making, from: number, character: number, own: number | undefined): number {
  const { rows, width, columns, endingOf, endings, otherwise, count: state } = making;
  const place = Math.imul(from, width) + (columns[character] ?? 0);
  const before = rows[place] ?? 0;
  const ends = [
    ...(own === undefined ? [] : [own]),
    ...(before >= ENDS ? (endings[endingOf[before & STATE] ?? 0] ?? []) : []),
  ];
  if (ends.length > 0) endingOf[state] = endings.push(ends) - 1;
  otherwise[state] = before & STATE;
  rows[place] = state | (ends.length > 0 ? ENDS : 0);
  making.count += 1;
  return state;
}
