/**
 * Many texts as one tree of letters, in rows of numbers: from a node, by the column of a character, to the next node. Node 0 is the root, to
 * which nothing leads; column 0 is that of all characters that stand in no text.
 */
export interface LetterTree {
  readonly rows: Uint16Array;
  readonly width: number;
  readonly columns: Uint8Array;
  /** Which lists have the text that ends at a node. */
  readonly ends: readonly (readonly number[])[];
}

const ASCII = 128;
const NO_END: readonly number[] = [];

/** Of lists of texts, all of ASCII; a list is known by its number. */
export function letterTree(lists: readonly (readonly string[])[]): LetterTree {
  const together = lists.flat().join('');
  const letters = [...new Set(together)];
  const columns = new Uint8Array(ASCII);
  for (const [place, letter] of letters.entries()) columns[letter.charCodeAt(0)] = place + 1;
  const width = letters.length + 1;
  const rows = new Uint16Array(width * (together.length + 1));
  const ends: (readonly number[])[] = [NO_END];
  for (const [list, texts] of lists.entries())
    for (const text of texts) {
      let node = 0;
      for (let at = 0; at < text.length; at += 1) {
        const cell = node * width + (columns[text.charCodeAt(at)] ?? 0);
        if (rows[cell] === 0) rows[cell] = ends.push(NO_END) - 1;
        node = rows[cell] ?? 0;
      }
      ends[node] = [...(ends[node] ?? NO_END), list];
    }
  return { rows, width, columns, ends };
}

/** Adds the place to each list that has a text which stands there; places come in order. */
export function lettersFrom(tree: LetterTree, text: string, from: number, lists: (number[] | undefined)[]): void {
  const { rows, width, columns, ends } = tree;
  let node = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    node = code < ASCII ? (rows[node * width + (columns[code] ?? 0)] ?? 0) : 0;
    if (node === 0) return;
    const ending = ends[node] ?? NO_END;
    for (let place = 0; place < ending.length; place += 1) addPlace(lists, ending[place] ?? 0, from);
  }
}

function addPlace(lists: (number[] | undefined)[], list: number, at: number): void {
  const places = lists[list];
  if (places === undefined) lists[list] = [at];
  else if (places[places.length - 1] !== at) places.push(at);
}
